/** The client as a stranger gets it: packed, installed in an empty project without a network, checked, run. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
let folder: string;
let project: string;

const PROGRAM = `
import { ApiError, attachment, MailboxClient, OrganizationClient, verifyWebhook, type Message, type WebhookEvent } from '@agent-mailbox/client';

const answers: Record<string, unknown> = {
  '/api/mailboxes': { data: [{ id: 'mbx_1', address: 'one@a.example' }], nextCursor: 'next' },
  '/api/mailboxes?cursor=next': { data: [{ id: 'mbx_2', address: 'two@a.example' }], nextCursor: null },
};
const asked: string[] = [];
const fetchStub = async (input: string, init: RequestInit): Promise<Response> => {
  const { pathname, search } = new URL(input);
  asked.push(\`\${init.method} \${pathname}\${search}\`);
  const body = answers[pathname + search];
  return body === undefined ? Response.json({ error: { code: 'not_found', message: 'None.' } }, { status: 404 }) : Response.json(body);
};
const service = new OrganizationClient({ url: 'http://127.0.0.1:1', apiKey: 'amk_x', fetch: fetchStub });
const addresses: string[] = [];
for await (const { address } of service.mailboxes.list()) addresses.push(address);
const mailbox: MailboxClient = service.mailbox('mbx_1');
const subjectOf = (message: Message): string => message.subject;
const error = await mailbox.getMessage('msg_1').then(subjectOf, (reason: unknown) => reason);
if (!(error instanceof ApiError) || error.request !== 'GET http://127.0.0.1:1/api/mailboxes/mbx_1/messages/msg_1') throw error;

const body = JSON.stringify({ id: 'evt_1', type: 'email_received', data: { subject: 'ü' } });
const secret = 'whsec_' + btoa('a secret of some length');
const timestamp = String(Math.floor(Date.now() / 1_000));
const key = await crypto.subtle.importKey('raw', new TextEncoder().encode('a secret of some length'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(\`dlv_1.\${timestamp}.\${body}\`));
const headers = new Headers({
  'webhook-id': 'dlv_1',
  'webhook-timestamp': timestamp,
  'webhook-signature': 'v1,' + btoa(String.fromCharCode(...new Uint8Array(signature))),
});
const event: WebhookEvent = await verifyWebhook(headers, body, secret);
if (event.type !== 'email_received') throw new Error(event.type);
// @ts-expect-error an event of another type has other data
void event.data.reason;
console.log(JSON.stringify({ addresses, asked, subject: event.data.subject, file: attachment('a.pdf', new Uint8Array([1])).contentType }));
`;

const EXPECTED = {
  addresses: ['one@a.example', 'two@a.example'],
  asked: ['GET /api/mailboxes', 'GET /api/mailboxes?cursor=next', 'GET /api/mailboxes/mbx_1/messages/msg_1'],
  subject: 'ü',
  file: 'application/pdf',
};

before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-client-'));
  const built = path.join(folder, 'built');
  project = path.join(folder, 'project');
  mkdirSync(project);
  await run(process.execPath, ['dev/build/build-packages.ts', 'client', built], { cwd: root });
  await run('npm', ['pack', '--pack-destination', folder], { cwd: built });
  const [tarball = ''] = globSync('*.tgz', { cwd: folder });
  writeFileSync(path.join(project, 'package.json'), '{"private": true, "type": "module"}');
  const install = ['install', '--offline', '--no-audit', '--no-fund', path.join(folder, tarball)];
  await run('npm', install, { cwd: project });
  writeFileSync(path.join(project, 'program.ts'), PROGRAM);
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: [],
  };
  writeFileSync(path.join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('it has no dependencies, and nothing in it is of Node', () => {
  const installed = path.join(project, 'node_modules/@agent-mailbox/client');
  const manifest: unknown = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'));
  assert.equal(Reflect.get(Object(manifest), 'dependencies'), undefined);
  assert.equal(Reflect.get(Object(manifest), 'private'), undefined);
  assert.deepEqual(globSync('*', { cwd: path.join(project, 'node_modules') }), ['@agent-mailbox']);
  const files = globSync('**/*.js', { cwd: installed });
  assert.ok(files.length > 10);
  for (const file of files) {
    const code = readFileSync(path.join(installed, file), 'utf8');
    assert.doesNotMatch(code, /from '(?!#client\/|\.\/)[^']*';$|require\(|\b(?:process|Buffer)\b\./m, file);
    for (const [, name] of code.matchAll(/from '#client\/([^']+)\.ts'/g))
      assert.ok(existsSync(path.join(installed, `${name}.js`)), `${file}: ${name}`);
  }
});

test('it type-checks strictly and runs, on every runtime of this machine', async () => {
  await run(path.join(root, 'node_modules/.bin/tsc'), ['-p', project, '--outDir', project], { cwd: project });
  const runtimes = [[process.execPath], ['node'], ['bun'], ['deno', 'run', '-A']];
  const ran = runtimes.filter(([program = '', ...args]) => {
    const { error, status, stdout, stderr } = spawnSync(program, [...args, 'program.js'], {
      cwd: project,
      encoding: 'utf8',
      timeout: 60_000,
    });
    if (error !== undefined && 'code' in error && error.code === 'ENOENT') return false;
    assert.equal(status, 0, `${program}: ${stderr}`);
    assert.deepEqual(JSON.parse(stdout), EXPECTED, program);
    return true;
  });
  assert.ok(ran.length >= 1);
});
