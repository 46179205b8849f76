/** Each snippet is run as printed, except that the token replaces its placeholder. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type SnippetKind, TOKEN_PLACEHOLDER } from '#client/snippets.ts';
import { type MailListeners, startMail } from '#mail/start.ts';
import { type ApiWorld, apiWorld, at, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { needs } from '#test/support/programs.ts';
import { testTls } from '#test/support/services.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { testPort } from '#test/support/test-port.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
// Below the project, whose packages it finds as it would find its own.
const cache = path.join(root, 'node_modules/.cache/agent-mailbox');

let world: ApiWorld;
let mail: MailListeners;
let mailbox: TestMailbox;
let token: string;
/** A folder in which the published package is installed. */
let folder: string;
let built: string;
let environment: Record<string, string>;

before(async () => {
  const [imap, pop3, smtp] = await Promise.all([testPort(), testPort(), testPort()]);
  world = await apiWorld({
    MAIL_HOSTNAME: 'localhost',
    IMAPS_PORT: String(imap),
    POP3S_PORT: String(pop3),
    SUBMISSIONS_PORT: String(smtp),
  });
  mail = await startMail(world.services, { lookup: dnsStub(), onSubmitted: () => {} });
  mailbox = world.organization.mailbox;
  token = (mailbox.token['authorization'] ?? '').replace('Bearer ', '');
  mkdirSync(cache, { recursive: true });
  built = mkdtempSync(path.join(cache, 'snippets-'));
  await run(process.execPath, ['dev/build/build-packages.ts', 'package', built], { cwd: root });
  const client = path.join(built, 'node_modules/@agent-mailbox/client');
  await run(process.execPath, ['dev/build/build-packages.ts', 'client', client], { cwd: root });
  folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-snippets-'));
  mkdirSync(path.join(folder, 'node_modules/.bin'), { recursive: true });
  symlinkSync(built, path.join(folder, 'node_modules/agent-mailbox'));
  symlinkSync(path.join(built, 'node_modules/@agent-mailbox'), path.join(folder, 'node_modules/@agent-mailbox'));
  symlinkSync('../agent-mailbox/cli/main.js', path.join(folder, 'node_modules/.bin/agent-mailbox'));
  writeFileSync(path.join(folder, 'package.json'), '{"private": true, "type": "module"}');
  environment = {
    PATH: `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    HOME: folder,
    XDG_CONFIG_HOME: path.join(folder, 'config'),
    XDG_STATE_HOME: path.join(folder, 'state'),
    // A package that is not installed is a fault of the test, never a download.
    npm_config_offline: 'true',
  };
  await deliver('First mail');
});
after(async () => {
  for (const each of [folder, built]) rmSync(each, { recursive: true, force: true });
  await mail.close();
  await world.close();
});

async function deliver(subject: string): Promise<void> {
  const sender = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
  const message = `From: bob@example.com\nSubject: ${subject}\n\nHello.\n`;
  assert.match(await sender.send('bob@example.com', [mailbox.address], message), /^250/);
  sender.close();
}

/** The text of the API with the token in its place: what a person copies. */
async function snippet(kind: SnippetKind): Promise<string> {
  const { body } = await world.call('GET', `/api/mailboxes/${mailbox.id}/snippets`, { as: world.organization.key });
  const list = at(body, 'data');
  assert.ok(Array.isArray(list));
  const found = list.find((each) => textAt(each, 'kind') === kind);
  const text = textAt(found, 'text');
  assert.equal(text.includes(TOKEN_PLACEHOLDER), true, `${kind} has a place for the token`);
  return text.replaceAll(TOKEN_PLACEHOLDER, token);
}

const shell = (script: string) =>
  run('bash', ['-eo', 'pipefail', '-c', script], { cwd: folder, env: environment, timeout: 60_000 });

test('CLI: logs in, lists and opens the mail', needs('bash'), async () => {
  const { stdout } = await shell(await snippet('cli'));
  assert.match(stdout, /Logged in as/);
  assert.match(stdout, /First mail/);
  assert.match(stdout, /Hello\./);
});

test('cURL: lists the mail', needs('bash', 'curl'), async () => {
  const { stdout } = await shell(await snippet('curl'));
  const list = at(JSON.parse(stdout), 'data');
  assert.ok(Array.isArray(list) && list.length > 0);
  assert.ok(list.some((each) => textAt(each, 'subject') === 'First mail'));
});

test('TypeScript: lists unread mail with the published package', async () => {
  writeFileSync(path.join(folder, 'unread.ts'), await snippet('typescript'));
  await deliver('Not read yet');
  const { stdout } = await run(process.execPath, ['unread.ts'], { cwd: folder, env: environment, timeout: 60_000 });
  assert.match(stdout, /Not read yet/);
});

test(
  'IMAP, POP3, SMTP: Python’s clients log in with the printed settings, send and read',
  needs('python3'),
  async () => {
    const input = JSON.stringify({ settings: await snippet('mail-client'), caFile: testTls().caFile });
    const program = run('python3', [fileURLToPath(new URL('connect_mail_clients.py', import.meta.url))], {
      timeout: 60_000,
    });
    program.child.stdin?.end(input);
    const { stdout } = await program;
    assert.equal(at(JSON.parse(stdout), 'foundByImap'), 1);
    assert.ok(Number(at(JSON.parse(stdout), 'countedByPop3')) >= 2);
  },
);

test('MCP: a client with this configuration sees the tools and the mail', async () => {
  const server = at(JSON.parse(await snippet('mcp')), 'mcpServers', 'mailbox');
  assert.equal(textAt(server, 'type'), 'http');
  const transport = new StreamableHTTPClientTransport(new URL(textAt(server, 'url')), {
    requestInit: { headers: { Authorization: textAt(server, 'headers', 'Authorization') } },
  });
  const client = new Client({ name: 'snippets', version: '1' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.ok(tools.length > 5);
  const answer = await client.callTool({ name: 'list_messages', arguments: {} });
  assert.match(JSON.stringify(answer.content), /First mail/);
  await client.close();
});

test('the command line prints the same texts, and never the token', async () => {
  const { stdout } = await shell(`npx agent-mailbox connection --snippets --json`);
  const { body } = await world.call('GET', `/api/mailboxes/${mailbox.id}/snippets`, { as: mailbox.token });
  assert.deepEqual(JSON.parse(stdout), body);
  assert.equal(stdout.includes(token), false);
});
