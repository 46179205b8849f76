/** The programs of docs/webhooks.md, as printed there, with real deliveries. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  ATTEMPT_TIMEOUT_MS,
  DELIVERY_RETENTION_DAYS,
  EVENT_EXTRACTS_LIMIT_BYTES,
  KEY_SET_CACHE_SECONDS,
  PAYLOAD_LIMIT_BYTES,
} from '#domain/webhooks/delivery-limits.ts';
import { MAX_DELIVERY_ATTEMPTS, RETRY_DELAYS_MS } from '#domain/webhooks/retry-ladder.ts';
import { textAt } from '#test/support/api-world.ts';
import { findProgram, lacks, needs, type ProgramName } from '#test/support/programs.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type WholeService, wholeService } from '#test/support/whole-service.ts';
import { startExample } from './example-program.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = readFileSync(path.join(root, 'docs/webhooks.md'), 'utf8');
/** Programs by the file name in their first line. */
const PRINTED = new Map(
  [...PAGE.matchAll(/```\w+\n((?:#|\/\/) ([\w.]+)[^]*?)```/g)].map(([, program = '', name = '']) => [name, program]),
);
const PROGRAM_MAX_MS = 300_000;
const SIGNED_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
const MINUTE_MS = 60_000;

type Signed = Readonly<Record<(typeof SIGNED_HEADERS)[number], string>>;

let service: WholeService;
let folder: string;
let endpoint: { readonly id: string; readonly secret: string };
let keySetUrl: string;
let publicKey: string;

/** What creates the endpoint. */
const SETUP = ['bash', 'curl'] as const satisfies readonly ProgramName[];
before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'webhook-snippets-'));
  if (lacks(...SETUP) !== undefined) return;
  mkdirSync(path.join(folder, 'node_modules/@agent-mailbox'), { recursive: true });
  symlinkSync(path.join(root, 'client'), path.join(folder, 'node_modules/@agent-mailbox/client'));
  writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
  for (const [name, program] of PRINTED) writeFileSync(path.join(folder, name), program);
  service = await wholeService();
  const { key } = service.organization;
  const { stdout } = await run('bash', ['create.sh'], {
    cwd: folder,
    timeout: PROGRAM_MAX_MS,
    env: {
      PATH: process.env['PATH'],
      MAILBOX_URL: service.api.url,
      API_KEY: key['x-organization-key'],
      HOOK_URL: service.receiver.url,
    },
  });
  const created: unknown = JSON.parse(stdout);
  endpoint = { id: textAt(created, 'id'), secret: textAt(created, 'secret') };
  const keys = await service.call('GET', '/api/webhooks/signing-keys', { as: key });
  publicKey = textAt(keys.body, 'keys', 0, 'publicKey');
  keySetUrl =
    service.api.url + new URL(textAt(keys.body, 'keySetUrl')).pathname + new URL(textAt(keys.body, 'keySetUrl')).search;
});
after(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A delivery that was made just now. */
async function newDelivery(): Promise<{ headers: Signed; body: string }> {
  const sent = await service.call('POST', `/api/webhooks/${endpoint.id}/test`, {
    as: service.organization.key,
    body: { eventType: 'email_received' },
  });
  assert.equal(sent.status, 202, sent.text);
  const request = await waitUntil('the delivery', () => service.receiver.of(textAt(sent.body, 'id'))[0]);
  const [id, timestamp, signature] = SIGNED_HEADERS.map((name) => String(request.headers[name]));
  return {
    headers: {
      'webhook-id': id ?? '',
      'webhook-timestamp': timestamp ?? '',
      'webhook-signature': signature ?? '',
    },
    body: request.body,
  };
}

/** With the signatures of this version only. */
const only = (version: string, headers: Signed): Signed => ({
  ...headers,
  'webhook-signature': headers['webhook-signature']
    .split(' ')
    .filter((each) => each.startsWith(`${version},`))
    .join(' '),
});

async function compiledGo(): Promise<readonly [string, string[]]> {
  const env = {
    PATH: process.env['PATH'],
    HOME: homedir(),
    CGO_ENABLED: '0',
    GOTOOLCHAIN: 'local',
    GOPROXY: 'off',
    GOFLAGS: '',
  };
  await run('go', ['build', '-o', 'receiver', 'receiver.go'], { cwd: folder, timeout: PROGRAM_MAX_MS, env });
  return [path.join(folder, 'receiver'), []];
}

interface Language {
  readonly name: string;
  /** The programs for a kind of signature. */
  readonly programs: Readonly<Record<'v1' | 'v1a', readonly ProgramName[]>>;
  command(): Promise<readonly [program: string, args: string[]]>;
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'TypeScript',
    programs: { v1: [], v1a: [] },
    command: async () => [process.execPath, [path.join(folder, 'receiver.ts')]],
  },
  {
    name: 'Python',
    programs: { v1: ['python3'], v1a: ['python3', 'python3 with cryptography'] },
    command: async () => [findProgram('python3 with cryptography') ?? 'python3', [path.join(folder, 'receiver.py')]],
  },
  { name: 'Go', programs: { v1: ['go'], v1a: ['go'] }, command: compiledGo },
];

for (const language of LANGUAGES)
  describe(`the receiver in ${language.name}`, () => {
    for (const version of ['v1', 'v1a'] as const)
      test(`verifies ${version}, handles a delivery once, refuses everything else`, {
        ...needs(...SETUP, ...language.programs[version]),
        timeout: 2 * PROGRAM_MAX_MS,
      }, async () => {
        const port = await testPort();
        const [program, args] = await language.command();
        const key = version === 'v1' ? endpoint.secret : publicKey;
        const receiver = startExample(program, args, { WEBHOOK_KEY: key, PORT: String(port) });
        try {
          const send = async (headers: Signed, body: string): Promise<number> =>
            (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status;
          await waitUntil(`${language.name} to listen`, async () => {
            const { headers, body } = await newDelivery();
            return send(headers, `${body} `).then(
              () => true,
              () => false,
            );
          });
          const { headers, body } = await newDelivery();
          const other = version === 'v1' ? 'v1a' : 'v1';
          const forged = createHmac('sha256', Buffer.from(key.slice(key.indexOf('_') + 1), 'base64'))
            .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`)
            .digest('base64');
          const old = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 400) };
          assert.equal(await send(headers, `${body} `), 400, 'another body');
          assert.equal(await send({ ...headers, 'webhook-id': 'dlv_other' }, body), 400, 'another id');
          assert.equal(await send(only(other, headers), body), 400, `only ${other}`);
          assert.equal(await send(old, body), 400, 'another time');
          if (version === 'v1a')
            assert.equal(
              await send({ ...headers, 'webhook-signature': `v1,${forged}` }, body),
              400,
              'a public key is no secret',
            );
          const before = receiver.output();
          assert.doesNotMatch(before, /email_received/);
          assert.equal(await send(headers, body), 204);
          assert.equal(await send(only(version, headers), body), 204);
          await receiver.wrote(/email_received Where is my order 4711\?/);
          const next = await newDelivery();
          assert.equal(await send(next.headers, next.body), 204);
          await waitUntil('the next one', () => receiver.output().split('email_received').length === 3);
        } finally {
          await receiver.close();
        }
      });
  });

test(
  'the script for cURL and openssl verifies both, and refuses everything else',
  needs(...SETUP, 'openssl'),
  async () => {
    const verify = async (headers: Signed, body: string, env: Readonly<Record<string, string>>): Promise<string> => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      writeFileSync(path.join(folder, 'header.txt'), `POST /hook HTTP/1.1\r\n${lines.join('')}\r\n`);
      writeFileSync(path.join(folder, 'body.json'), body);
      const options = { cwd: folder, timeout: PROGRAM_MAX_MS, env: { PATH: process.env['PATH'], ...env } };
      return run('bash', ['verify.sh', 'header.txt', 'body.json'], options).then(
        ({ stdout }) => stdout.trim(),
        (error: { stderr?: string; code?: unknown }) => {
          assert.equal(error.code, 1, error.stderr);
          return String(error.stderr).trim().split('\n').at(-1) ?? '';
        },
      );
    };
    const { headers, body } = await newDelivery();
    const [SECRET, KEYS] = [{ WEBHOOK_SECRET: endpoint.secret }, { KEY_SET_URL: keySetUrl }];
    assert.equal(await verify(headers, body, SECRET), 'v1 is right');
    assert.equal(await verify(headers, body, KEYS), 'v1a is right');
    for (const env of [SECRET, KEYS]) {
      assert.equal(await verify(headers, `${body} `, env), 'no signature is right');
      const old = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 400) };
      assert.equal(await verify(old, body, env), 'too old or too new');
    }
    assert.equal(await verify(only('v1a', headers), body, SECRET), 'no signature is right');
    assert.equal(await verify(only('v1', headers), body, KEYS), 'no signature is right');
  },
);

test('the page has the numbers of the service', () => {
  const rows = [...PAGE.matchAll(/^\| (\d) \| (.+) \|$/gm)].map(([, number, text]) => [Number(number), text]);
  const inWords = (ms: number) => (ms < MINUTE_MS ? `${ms / 1_000} seconds` : `${ms / MINUTE_MS} minutes`);
  assert.deepEqual(rows, [[1, '–'], ...RETRY_DELAYS_MS.map((ms, i) => [i + 2, inWords(ms)])]);
  assert.equal(rows.length, MAX_DELIVERY_ATTEMPTS);
  for (const text of [
    `none within ${ATTEMPT_TIMEOUT_MS / 1_000} seconds`,
    `at most ${PAYLOAD_LIMIT_BYTES / 1_024} KiB`,
    `at most ${EVENT_EXTRACTS_LIMIT_BYTES / 1_024} KiB`,
    `for ${DELIVERY_RETENTION_DAYS} days`,
  ])
    assert.ok(PAGE.includes(text), text);
  assert.equal(KEY_SET_CACHE_SECONDS, 300, 'cached for five minutes');
  assert.deepEqual([...PRINTED.keys()].toSorted(), [
    'create.sh',
    'receiver.go',
    'receiver.py',
    'receiver.ts',
    'verify.sh',
  ]);
});
