/** The packages as strangers get them: built, installed below node_modules, and run by plain Node. */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { N8N_PACKAGE } from '#dev/build/build-packages.ts';
import { LineClient } from '#test/support/line-client.ts';
import { testTls } from '#test/support/services.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-packages-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const NAMES = ['imap', 'mail-store', 'mime-structure', 'pop3'];

const SCRIPT = `
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { serveImap } from '@agent-mailbox/imap';
import { parseCapabilityHiding } from '@agent-mailbox/imap/capabilities';
import { MemoryStore } from '@agent-mailbox/mail-store/memory';
import { readStructure } from '@agent-mailbox/mime-structure/read-structure';
import { servePop3 } from '@agent-mailbox/pop3';

const store = new MemoryStore();
store.deliver('INBOX', 'Subject: built\\n\\nbody\\n');
const login = async ({ address }) => ({ kind: 'ok', account: { mailboxId: 'm', address }, store, onClosed: () => () => {} });
async function say(start, lines, end) {
  const [near, far] = duplexPair();
  start(far);
  let text = '';
  near.setEncoding('latin1').on('data', (chunk) => { text += chunk; });
  near.write(lines.map((line) => line + '\\r\\n').join(''));
  while (!end.test(text)) await once(near, 'data');
  return text;
}
const imap = await say(
  (socket) => serveImap(socket, { tls: true, login, remoteAddress: '', hostname: 'h', messageMaxBytes: 1000 }),
  ['a LOGIN me t', 'b SELECT INBOX', 'c FETCH 1 (ENVELOPE BODY[TEXT])', 'd LOGOUT'], /d OK/);
const pop3 = await say(
  (socket) => servePop3(socket, { connectionId: '1', remoteAddress: '', secure: true, login }),
  ['USER me', 'PASS t', 'RETR 1', 'QUIT'], /Bye/);
console.log(JSON.stringify({ imap, pop3, subject: readStructure(Buffer.from('Subject: x\\r\\n\\r\\n')).subject, rules: parseCapabilityHiding('A*: IDLE').length }));
`;

test('built packages run below node_modules, without TypeScript', async () => {
  const packages = path.join(folder, 'node_modules/@agent-mailbox');
  mkdirSync(packages, { recursive: true });
  execFileSync(process.execPath, ['dev/build/build-packages.ts', 'packages', packages], {
    cwd: root,
    stdio: 'inherit',
  });
  assert.deepEqual(readdirSync(packages).toSorted(), [...NAMES, N8N_PACKAGE].toSorted());
  // The only package of others that they need.
  symlinkSync(path.join(root, 'node_modules/entities'), path.join(folder, 'node_modules/entities'));
  for (const name of NAMES) {
    const text = readFileSync(path.join(packages, name, 'package.json'), 'utf8');
    const { exports, dependencies = {} } = JSON.parse(text) as {
      exports: Record<string, { types: string; default: string }>;
      dependencies?: Record<string, string>;
    };
    for (const { types, default: file } of Object.values(exports).filter((each) => !each.default.includes('*')))
      for (const each of [types, file]) assert.ok(existsSync(path.join(packages, name, each)), `${name}: ${each}`);
    for (const each of Object.keys(dependencies))
      assert.ok(each === 'entities' || each.startsWith('@agent-mailbox/'), `${name} depends on ${each}`);
    assert.ok(existsSync(path.join(packages, name, 'README.md')) && existsSync(path.join(packages, name, 'LICENSE')));
  }
  writeFileSync(path.join(folder, 'script.mjs'), SCRIPT);
  const { stdout } = await promisify(execFile)(process.execPath, ['script.mjs'], { cwd: folder, timeout: 60_000 });
  const { imap, pop3, subject, rules } = JSON.parse(stdout) as Record<string, string>;
  assert.match(imap ?? '', /\* 1 FETCH \(ENVELOPE \(NIL "built" .*BODY\[TEXT\] \{6\}\r\nbody\r\n/s);
  assert.match(pop3 ?? '', /Subject: built\r\n\r\nbody\r\n\.\r\n/);
  assert.deepEqual([subject, rules], ['x', 1]);
});

/** Starts the example of a package; its first line contains the port. */
async function startExample(name: string): Promise<LineClient> {
  const { certFile, keyFile } = testTls();
  const child = spawn(process.execPath, [`packages/${name}/examples/memory-server.ts`], {
    cwd: root,
    env: { ...process.env, PORT: '0', TLS_KEY: keyFile, TLS_CERT: certFile },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  after(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  for await (const line of createInterface(child.stdout)) {
    const port = Number(/"port":(\d+)/.exec(line)?.[1]);
    return LineClient.open(port, { secure: true });
  }
  throw new Error(`the example of ${name} ended`);
}

test('the examples of the READMEs are the ones in the packages, and they run', async () => {
  for (const name of ['imap', 'pop3']) {
    const readme = readFileSync(path.join(root, `packages/${name}/README.md`), 'utf8');
    const example = readFileSync(path.join(root, `packages/${name}/examples/memory-server.ts`), 'utf8');
    assert.ok(readme.includes(example.trim()), `README of ${name}`);
  }
  const imap = await startExample('imap');
  assert.match((await imap.line()) ?? '', /^\* OK /);
  assert.match((await imap.command('a LOGIN me@example.com secret')) ?? '', /^a OK /);
  assert.match((await imap.command('b STATUS INBOX (MESSAGES)')) ?? '', /MESSAGES 1\)/);
  imap.close();
  const pop3 = await startExample('pop3');
  assert.match((await pop3.line()) ?? '', /^\+OK /);
  assert.match((await pop3.command('USER me@example.com')) ?? '', /^\+OK /);
  assert.match((await pop3.command('PASS secret')) ?? '', /^\+OK 1 messages/);
  pop3.close();
});
