/** The programs of the README, as printed there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { webhookEvents } from '#api/webhooks/event-schemas.ts';
import { signWebhook } from '#client/index.ts';
import { pythonEnvironment, usualPython } from '#dev/build/python-environment.ts';
import { type MailListeners, startMail } from '#mail/start.ts';
import { type ApiWorld, apiWorld, at, type TestOrganization, textAt } from '#test/support/api-world.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { needs, PYTHON } from '#test/support/programs.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const LINES_MAX = 10;
const SECRET = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;
/** Calls the function that receives webhooks, with a signed request. */
const DRIVER = `
import { signWebhook } from '@agent-mailbox/client';
import { POST } from './program.ts';
const body = JSON.stringify({ id: 'evt_1', type: 'email_received', data: {} });
const headers = await signWebhook('dlv_1', body, process.env['WEBHOOK_SECRET'] ?? '');
const answer = await POST(new Request('https://agent.example/hook', { method: 'POST', body, headers }));
const forged = await POST(new Request('https://agent.example/hook', { method: 'POST', body: body + ' ', headers })).then(() => 'accepted', () => 'refused');
console.log(JSON.stringify({ type: await answer.json(), forged }));
`;

/** The same in Python. */
const PYTHON_DRIVER = `
import json, os
from program import hook
from agent_mailbox import WebhookVerificationError, sign_webhook
body = os.environ["EVENT"]
headers = sign_webhook("dlv_1", body, os.environ["WEBHOOK_SECRET"])
try:
    hook(headers, body + " ")
    forged = "accepted"
except WebhookVerificationError:
    forged = "refused"
print(json.dumps({"type": hook(headers, body), "forged": forged}))
`;

let world: ApiWorld;
let mail: MailListeners;
let shop: Server;
let folder: string;

before(async () => {
  world = await apiWorld();
  mail = await startMail(world.services, { lookup: dnsStub() });
  // Mails a code before it answers: faster than the program can wait.
  shop = createServer((request, response) => {
    void (async () => {
      const to = new URLSearchParams(await text(request)).get('email') ?? '';
      const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
      const letter = `From: shop@shop.example\nTo: ${to}\nSubject: Your code\n\nYour verification code is 482913.\n`;
      await client.send('shop@shop.example', [to], letter);
      client.close();
      response.end('ok');
    })().catch((error: unknown) => response.writeHead(500).end(String(error)));
  }).listen(0, '127.0.0.1');
  await once(shop, 'listening');
  folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-readme-'));
  mkdirSync(path.join(folder, 'node_modules/@agent-mailbox'), { recursive: true });
  symlinkSync(path.join(root, 'client'), path.join(folder, 'node_modules/@agent-mailbox/client'));
  writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
  writeFileSync(path.join(folder, 'a.pdf'), '%PDF-1.7');
  writeFileSync(path.join(folder, 'run.ts'), DRIVER);
});
after(async () => {
  shop?.close();
  rmSync(folder, { recursive: true, force: true });
  await mail?.close();
  await world?.close();
});

test('ten lines create a mailbox, register, read the code, answer with a PDF and verify a webhook', async () => {
  const [, program = ''] =
    /```ts\n(import \{ readFile[^]*?)```/.exec(readFileSync(path.join(root, 'README.md'), 'utf8')) ?? [];
  assert.ok(program.trim().split('\n').length <= LINES_MAX && program.includes('verifyWebhook'));
  writeFileSync(path.join(folder, 'program.ts'), program);
  await runAndCheck(world.organization, process.execPath, ['run.ts']);
});

test('ten lines of Python do the same as the ten of TypeScript', needs(PYTHON), async () => {
  const [, program = ''] = /```python\n([^]*?)```/.exec(readFileSync(path.join(root, 'README.md'), 'utf8')) ?? [];
  assert.ok(program.trim().split('\n').length <= LINES_MAX && program.includes('verify_webhook'));
  writeFileSync(path.join(folder, 'program.py'), program);
  writeFileSync(path.join(folder, 'run.py'), PYTHON_DRIVER);
  const interpreter = pythonEnvironment(usualPython() ?? '', 'requirements');
  await runAndCheck(world.other, interpreter, ['run.py']);
});

test('a script of ten lines does the same with the command', async () => {
  const [, script = ''] =
    /```sh\n(# agent\.sh[^]*?)```/.exec(readFileSync(path.join(root, 'docs/cli.md'), 'utf8')) ?? [];
  assert.ok(script.trim().split('\n').length <= LINES_MAX && script.includes('webhooks verify'));
  const bin = path.join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const command = `#!/bin/sh\nexec '${process.execPath}' '${path.join(root, 'cli/agent-mailbox.mjs')}' "$@"\n`;
  writeFileSync(path.join(bin, 'agent-mailbox'), command, { mode: 0o755 });
  const organization = await world.newOrganization('business');
  const body = JSON.stringify({ id: 'evt_1', type: 'email_received', data: {} });
  const headers = Object.entries(await signWebhook('dlv_1', body, SECRET)).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  writeFileSync(path.join(folder, 'headers.txt'), ['POST /hook HTTP/1.1\r\n', ...headers].join(''));
  writeFileSync(path.join(folder, 'body.json'), body);
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: folder,
    AGENT_MAILBOX_URL: world.api.url,
    AGENT_MAILBOX_API_KEY: organization.key['x-organization-key'] ?? '',
    SHOP: `http://127.0.0.1:${(shop.address() as AddressInfo).port}`,
    WEBHOOK_SECRET: SECRET,
  };
  writeFileSync(path.join(folder, 'agent.sh'), script);
  const { stdout } = await run('sh', ['agent.sh'], { cwd: folder, env, timeout: 120_000 });
  assert.match(stdout, /Held for approval[^]*\nVerified: email_received {2}evt_1\n$/);
  await checkHeldReply(organization);

  const verify = ['webhooks', 'verify', 'headers.txt', 'body.json'];
  const refused = (code: string, args: readonly string[], secret = SECRET) =>
    assert.rejects(
      run(path.join(bin, 'agent-mailbox'), [...verify, ...args, '--json'], {
        cwd: folder,
        env: { ...env, WEBHOOK_SECRET: secret },
      }),
      (error: { code: number; stderr: string }) =>
        error.code === 1 && textAt(JSON.parse(error.stderr), 'error', 'code') === code,
    );
  await refused('wrong_time', ['--at', '2026-01-02T03:04:05Z']);
  await refused('wrong_signature', ['--key', `whpk_${Buffer.alloc(32, 1).toString('base64')}`]);
  await refused('invalid_secret', [], '');
  writeFileSync(path.join(folder, 'body.json'), `${body} `);
  await refused('wrong_signature', []);
});

async function runAndCheck(organization: TestOrganization, program: string, args: readonly string[]): Promise<void> {
  const { key } = organization;
  const { stdout } = await run(program, args, {
    cwd: folder,
    timeout: 120_000,
    env: {
      ...process.env,
      MAILBOX_URL: world.api.url,
      API_KEY: key['x-organization-key'] ?? '',
      SHOP: `http://127.0.0.1:${(shop.address() as AddressInfo).port}`,
      WEBHOOK_SECRET: SECRET,
      PYTHONPATH: path.join(root, 'python/src'),
      PYTHONDONTWRITEBYTECODE: '1',
      EVENT: JSON.stringify(webhookEvents.find(({ type }) => type === 'email_received')?.example),
    },
  });
  assert.deepEqual(JSON.parse(stdout), { type: 'email_received', forged: 'refused' });
  await checkHeldReply(organization);
}

/** A first contact: a person decides about it. */
async function checkHeldReply(organization: TestOrganization): Promise<void> {
  const { body } = await world.call('GET', '/api/consents?status=pending', { as: organization.key });
  const consent = textAt(body, 'data', 0, 'id');
  const held = (await world.call('GET', `/api/consents/${consent}/message`, { as: organization.owner.session })).body;
  assert.equal(textAt(held, 'text').trim(), '482913');
  assert.deepEqual(
    [textAt(held, 'attachments', 0, 'filename'), at(held, 'attachments', 0, 'contentType')],
    ['a.pdf', 'application/pdf'],
  );
}
