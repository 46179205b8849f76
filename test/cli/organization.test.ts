/** The commands of an organization, as a person runs them, against the service as `npm start` runs it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verifyWebhook, type WebhookEvent } from '#client/index.ts';
import { at, textAt } from '#test/support/api-world.ts';
import { type CommandLine, commandLine, type Ended, withoutMarkers } from '#test/support/command-line.ts';
import { deliverBySmtp } from '#test/support/deliver-by-smtp.ts';
import { needs } from '#test/support/programs.ts';
import { keptService, type StartedService } from '#test/support/started-service.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const PROGRAM = fileURLToPath(new URL('../../cli/agent-mailbox.mjs', import.meta.url));
let service: StartedService;
let cli: CommandLine;
let session: string;

const done = (ended: Ended): string => {
  assert.equal(ended.code, 0, ended.stderr);
  return ended.stdout;
};
const ok = async (...args: string[]): Promise<string> => withoutMarkers(done(await cli.run(args)));
const okJson = async (...args: string[]): Promise<unknown> => JSON.parse(await ok(...args, '--json'));

before(async () => {
  ({ service } = await keptService());
  cli = commandLine(service.facts.apiUrl);
  const { email, password } = service.facts;
  const answer = await fetch(`${service.facts.apiUrl}/api/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  session = textAt(await answer.json(), 'token');
});
after(() => cli?.close());

describe('with an API key', () => {
  let mailbox: unknown;

  test('login keeps the key for its owner only, beside the mailboxes', async () => {
    assert.match(await ok('login', `--token=${service.facts.apiKey}`), /Logged in to /);
    const saved: unknown = JSON.parse(readFileSync(cli.configurationFile, 'utf8'));
    assert.equal(at(saved, 'organizations', 'default', 'apiKey'), service.facts.apiKey);
    assert.match(await ok('whoami'), /Organization/);
    assert.doesNotMatch(await ok('whoami'), /amk_/);
  });

  test('mailboxes are created, listed, changed, and opened without their token', async () => {
    mailbox = await okJson('mailboxes', 'create', 'by-command', '--purpose', 'Trying it');
    const id = textAt(mailbox, 'id');
    assert.match(await ok('mailboxes', 'list'), new RegExp(`${id} +${textAt(mailbox, 'address')} +active`));
    assert.equal(textAt(await okJson('mailboxes', 'update', id, '--name', 'By key'), 'name'), 'By key');
    await deliverBySmtp(service.facts, { to: textAt(mailbox, 'address'), subject: 'By key', text: 'Hello.' });
    await waitUntil('the mail', async () => (await ok('mail', 'inbox', '--mailbox', id)).includes('By key'));
    assert.match(await ok('mail', 'open', '1', '--mailbox', id), /Hello\./);
    const [thread] = at(await okJson('threads', 'list', '--mailbox', id), 'data') as unknown[];
    assert.match(await ok('threads', 'show', textAt(thread, 'id'), '--mailbox', id), /By key/);
    const reader = await okJson('mailboxes', 'create-token', id, 'Monitoring', '--access', 'read');
    const asReader = { env: { AGENT_MAILBOX_TOKEN: textAt(reader, 'token') } };
    assert.match((await cli.run(['mail', 'inbox'], asReader)).stdout, /By key/);
    const unsent = await cli.run(['mail', 'send', '--to', 'x@y.example', '--subject', 'S', '--text', 'x'], asReader);
    assert.match(unsent.stderr, /may only read/);
    assert.match(await ok('mailboxes', 'tokens', id), /Monitoring +read/);
    assert.match(await ok('mailboxes', 'revoke-token', id, textAt(reader, 'id'), '--yes'), /is revoked/);
    assert.equal((await cli.run(['mail', 'inbox'], asReader)).code, 3);
    assert.equal(textAt(await okJson('mailboxes', 'update', id, '--group', 'shell'), 'group'), 'shell');
    assert.match(await ok('mailboxes', 'groups'), /shell +1 +\d/);
    assert.match(await ok('mailboxes', 'messages', '--group', 'shell'), /By key/);
    assert.match(await ok('mailboxes', 'threads', '--group', 'shell'), /By key/);
    const draft = textAt(await okJson('drafts', 'create', '--subject', 'Later', '--mailbox', id), 'id');
    assert.match(await ok('drafts', 'update', draft, '--text', 'Some text', '--mailbox', id), /Some text/);
    assert.match(await ok('drafts', 'list', '--mailbox', id), /Later/);
    assert.match(await ok('drafts', 'delete', draft, '--mailbox', id), /is deleted/);
    assert.match(await ok('mail', 'outbox', '--mailbox', id), /No message waits/);
    assert.equal(
      textAt(await okJson('mailboxes', 'update', id, '--mode', 'drafts_only'), 'sendingMode'),
      'drafts_only',
    );
    // A key tightens a brake, and does not loosen it.
    assert.match((await cli.run(['mailboxes', 'update', id, '--mode', 'normal'])).stderr, /signed-in person/);
  });

  test('what cannot be undone asks for --yes, and refusals say what was asked', async () => {
    const id = textAt(await okJson('mailboxes', 'create', 'thrown-away'), 'id');
    const asked = await cli.run(['mailboxes', 'delete', id]);
    assert.deepEqual([asked.code, /--yes/.test(asked.stderr)], [2, true]);
    assert.match(await ok('mailboxes', 'delete', id, '--yes'), /is deleted/);
    const gone = await cli.run(['mailboxes', 'show', id]);
    assert.equal(gone.code, 5);
    assert.ok(gone.stderr.includes(`GET ${service.facts.apiUrl}/api/mailboxes/${id}`), gone.stderr);
    // Keys are a matter of people.
    const keys = await cli.run(['keys', 'list']);
    assert.equal(keys.code, 1);
    assert.match(keys.stderr, /forbidden/);
    const nowhere = await cli.run(['mailboxes', 'list'], {
      env: { AGENT_MAILBOX_API_KEY: 'amk_x', AGENT_MAILBOX_URL: 'http://127.0.0.1:9' },
    });
    assert.equal(nowhere.code, 4);
    assert.match(nowhere.stderr, /http:\/\/127\.0\.0\.1:9\/api\/mailboxes/);
    assert.match(nowhere.stderr, /--url/);
  });

  test('domains and event types are listed', async () => {
    assert.match(await ok('domains', 'default'), /agents\.localhost/);
    assert.match(await ok('webhooks', 'event-types'), /email_received/);
  });

  test('an endpoint asks for signatures by public key, and for codes and links', async () => {
    const json = (...args: string[]): Promise<unknown> => okJson('webhooks', ...args);
    const url = textAt(await json('receiver', '--open'), 'url');
    const created = await json('create', url, '--event', 'email_received', '--public-key-signature', '--extracts');
    assert.deepEqual([at(created, 'publicKeySignature'), at(created, 'includeExtracts')], [true, true]);
    assert.match(await ok('webhooks', 'signing-keys'), /whpk_[^]*jwks\.json\?organization=org_/);
    const before = textAt(await json('signing-keys'), 'keys', 0, 'publicKey');
    const rotated = await json('rotate-signing-key', '--no-overlap');
    assert.match(textAt(rotated, 'keys', 0, 'publicKey'), /^whpk_/);
    assert.notEqual(textAt(rotated, 'keys', 0, 'publicKey'), before);
    const id = textAt(created, 'id');
    const changed = await json('update', id, '--no-public-key-signature', '--no-extracts');
    assert.deepEqual([at(changed, 'publicKeySignature'), at(changed, 'includeExtracts')], [false, false]);
    await ok('webhooks', 'delete', id, '--yes');
  });
});

describe('webhooks listen', () => {
  let server: Server;
  let hook: string;
  /** Secret as `listen` printed it. */
  let secret = '';
  const events: WebhookEvent[] = [];

  before(async () => {
    server = createServer((request, response) => {
      void (async () => {
        events.push(await verifyWebhook(request.headers, await text(request), secret));
        response.end('ok');
      })().catch((error: unknown) => response.writeHead(400).end(String(error)));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    hook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  });
  after(() => server?.close());

  test('live events and examples reach a local server with valid signatures; the endpoint is deleted at the end', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'webhooks', 'listen', '--forward', hook], {
      env: { ...cli.environment, AGENT_MAILBOX_API_KEY: service.facts.apiKey ?? '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'close');
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
        secret = /Secret: (whsec_\S+)/.exec(output)?.[1] ?? '';
      });
    try {
      await waitUntil('the secret', () => secret !== '');
      await ok('webhooks', 'trigger', '--event', 'email_sent');
      await waitUntil('the example', () => events.some(({ type }) => type === 'email_sent'));
      const mailbox = await okJson('mailboxes', 'create', 'listened-to');
      await waitUntil('the event', () =>
        events.some((event) => event.type === 'mailbox_created' && event.mailbox?.id === textAt(mailbox, 'id')),
      );
      await waitUntil('the line', () => /mailbox_created {2}dlv_\S+ {2}200 in \d+ ms/.test(output));
      assert.equal(new Set(events.map(({ id }) => id)).size, events.length, 'each once');
    } finally {
      child.kill('SIGINT');
    }
    assert.deepEqual(await ended, [0, null], output);
    assert.doesNotMatch(await ok('webhooks', 'list', '--json'), /webhooks listen/);
    const none = await cli.run(['webhooks', 'trigger']);
    assert.equal(none.code, 5);
  });
});

describe('with the session of a person', () => {
  test('keys are managed, held mail is decided, and logout ends the session', async () => {
    assert.match(await ok('login', `--token=${session}`), /Logged in to .*\(/);
    const key = await okJson('keys', 'create', 'From a command', '--scope', 'mailbox:read', 'org:read');
    assert.match(textAt(key, 'key'), /^amk_/);
    assert.match(await ok('keys', 'list'), /From a command/);
    assert.match(await ok('keys', 'delete', textAt(key, 'id'), '--yes'), /is deleted/);

    const box = textAt(await okJson('mailboxes', 'create', 'held'), 'id');
    const token = textAt(await okJson('mailboxes', 'rotate-token', box), 'token');
    const letter = ['mail', 'send', '--to', 'eve@outside.example', '--subject', 'Offer', '--text', 'Ours.', '--json'];
    const held = JSON.parse(done(await cli.run(letter, { env: { AGENT_MAILBOX_TOKEN: token } })));
    const consent = textAt(held, 'consentId');
    assert.match(await ok('consents', 'list', '--status', 'pending'), new RegExp(consent));
    assert.match(await ok('consents', 'show', consent), /Ours\./);
    assert.match(await ok('consents', 'approve', consent), /Approved \(message\)/);
    const other = JSON.parse(
      done(await cli.run([...letter, '--to', 'mal@outside.example'], { env: { AGENT_MAILBOX_TOKEN: token } })),
    );
    assert.match(await ok('consents', 'deny', textAt(other, 'consentId'), '--reason', 'No.'), /Denied/);

    const me = () =>
      fetch(`${service.facts.apiUrl}/api/sessions/current`, { headers: { authorization: `Bearer ${session}` } });
    assert.equal((await me()).status, 200);
    assert.match(await ok('logout'), /Logged out/);
    assert.equal((await me()).status, 401);
  });
});

test('completion knows commands, options and choices', needs('bash'), async () => {
  const script = path.join(cli.folder, 'completion.bash');
  writeFileSync(script, await ok('completion', '--shell', 'bash'));
  const complete = async (...words: string[]): Promise<string[]> => {
    const line = words.map((word) => `'${word}'`).join(' ');
    const program = `source ${script}; COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _agent-mailbox; echo "\${COMPREPLY[@]}"`;
    const child = spawn('bash', ['-c', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    return (await text(child.stdout)).trim().split(' ');
  };
  assert.deepEqual(await complete('agent-mailbox', 'webhooks', 'li'), ['list', 'listen']);
  assert.deepEqual(
    await complete('agent-mailbox', '--profile', 'mail', 'consents', 'approve', 'con_1', '--scope', ''),
    ['message', 'address', 'domain'],
  );
  assert.ok((await complete('agent-mailbox', 'mail', 'send', '--su')).includes('--subject'));
  assert.match(await ok('completion', '--shell', 'zsh'), /bashcompinit/);
  assert.match(await ok('completion', '--shell', 'fish'), /-f -a 'listen' -d 'Forward live events/);
});
