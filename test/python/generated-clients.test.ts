/** Clients that others’ generators make of the OpenAPI document: without a warning, and they work with the service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { pythonEnvironment, usualPython } from '#dev/build/python-environment.ts';
import { type ApiWorld, apiWorld } from '#test/support/api-world.ts';
import { needs, PYTHON } from '#test/support/programs.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const requireOfDashboard = createRequire(path.join(root, 'dashboard/package.json'));
const LIMIT_MS = 300_000;
const WARNING = /warn|⚠|error|skipp/i;

let world: ApiWorld;
let folder: string;
let document: string;
before(async () => {
  world = await apiWorld();
  folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-generated-'));
  document = path.join(folder, 'openapi.json');
  writeFileSync(document, (await world.call('GET', '/openapi.json')).text);
  writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
  mkdirSync(path.join(folder, 'node_modules'));
  symlinkSync(
    path.dirname(requireOfDashboard.resolve('openapi-fetch/package.json')),
    path.join(folder, 'node_modules/openapi-fetch'),
  );
});
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world?.close();
});

const environment = (): Record<string, string | undefined> => ({
  ...process.env,
  URL: world.api.url,
  API_KEY: world.organization.key['x-organization-key'],
});

/** Runs a program of the folder, type-checked strictly first. @returns what it prints, as JSON */
async function runTypeScript(name: string, text: string): Promise<unknown> {
  writeFileSync(path.join(folder, name), text);
  const compilerOptions = {
    strict: true,
    skipLibCheck: true,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    noEmit: true,
    types: [],
  };
  const config = path.join(folder, `${name}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions, files: [name] }));
  await run(path.join(root, 'node_modules/.bin/tsc'), ['-p', config], { cwd: folder, timeout: LIMIT_MS });
  const hook = path.join(folder, 'endings.mjs');
  writeFileSync(hook, ENDINGS);
  const options = { cwd: folder, env: environment(), timeout: LIMIT_MS };
  const { stdout } = await run(process.execPath, ['--import', pathToFileURL(hook).href, name], options);
  return JSON.parse(stdout);
}

/** Generated files import each other without an ending, or with that of the compiled file. */
const ENDINGS = `
import { registerHooks } from 'node:module';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
registerHooks({ resolve(name, context, next) {
  if (name.startsWith('.') && !name.endsWith('.ts'))
    for (const file of [name.replace(/\\.js$/, '') + '.ts', name + '/index.ts', name.replace(/\\.js$/, '') + '/index.ts'])
      if (existsSync(fileURLToPath(new URL(file, context.parentURL)))) return next(file, context);
  return next(name, context);
} });
`;

/** What each client does: makes a mailbox, reads it, sends, and gets an error. */
const EXPECTED = { purpose: 'generated', held: 'consent_pending', missing: 404 };

test('openapi-typescript, with openapi-fetch', async () => {
  const cli = path.join(path.dirname(requireOfDashboard.resolve('openapi-typescript/package.json')), 'bin/cli.js');
  const output = path.join(folder, 'paths.ts');
  const { stdout, stderr } = await run(process.execPath, [cli, document, '--output', output], { timeout: LIMIT_MS });
  assert.doesNotMatch(stdout + stderr, WARNING);
  const result = await runTypeScript(
    'openapi-fetch.ts',
    `import createClient from 'openapi-fetch';
import type { components, paths } from './paths.ts';
declare const process: { env: Record<string, string> };
const { URL: baseUrl = '', API_KEY = '' } = process.env;
const client = createClient<paths>({ baseUrl, headers: { 'x-organization-key': API_KEY } });
const made = await client.POST('/api/mailboxes', { body: { purpose: 'generated' } });
const id = made.data?.id ?? '';
const read: components['schemas']['Mailbox'] | undefined = (await client.GET('/api/mailboxes/{id}', { params: { path: { id } } })).data;
const sent = await client.POST('/api/mailboxes/{id}/messages', { params: { path: { id } }, body: { to: ['a@example.org'], subject: 's', text: 't' } });
const missing = await client.GET('/api/mailboxes/{id}', { params: { path: { id: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8' } } });
console.log(JSON.stringify({ purpose: read?.purpose, held: sent.data?.status, missing: missing.response.status }));
`,
  );
  assert.deepEqual(result, EXPECTED);
});

test('hey-api', async () => {
  const program = path.join(
    path.dirname(requireOfDashboard.resolve('@hey-api/openapi-ts/package.json')),
    'dist/run.mjs',
  );
  // It is written for the compiler that has an interface for programs.
  const compiler = pathToFileURL(requireOfDashboard.resolve('typescript')).href;
  const hook = path.join(folder, 'compiler.mjs');
  writeFileSync(
    hook,
    `import { registerHooks } from 'node:module';\nregisterHooks({ resolve: (name, context, next) => name === 'typescript' ? { url: ${JSON.stringify(compiler)}, shortCircuit: true } : next(name, context) });\n`,
  );
  const args = ['-i', document, '-o', path.join(folder, 'hey'), '-c', '@hey-api/client-fetch'];
  const { stdout, stderr } = await run(process.execPath, ['--import', pathToFileURL(hook).href, program, ...args], {
    cwd: folder,
    timeout: LIMIT_MS,
  });
  assert.doesNotMatch(stdout + stderr, WARNING);
  const result = await runTypeScript(
    'hey-api.ts',
    `import { createMailbox, getMailbox, sendMailboxMessage } from './hey/index.ts';
import { client } from './hey/client.gen.ts';
declare const process: { env: Record<string, string> };
const { URL: baseUrl = '', API_KEY = '' } = process.env;
client.setConfig({ baseUrl, headers: { 'x-organization-key': API_KEY } });
const made = await createMailbox({ body: { purpose: 'generated' } });
const id = made.data?.id ?? '';
const read = await getMailbox({ path: { id } });
const sent = await sendMailboxMessage({ path: { id }, body: { to: ['a@example.org'], subject: 's', text: 't' } });
const missing = await getMailbox({ path: { id: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8' } });
console.log(JSON.stringify({ purpose: read.data?.purpose, held: sent.data?.status, missing: missing.response?.status }));
`,
  );
  assert.deepEqual(result, EXPECTED);
});

test('openapi-python-client', needs(PYTHON), async () => {
  const interpreter = pythonEnvironment(usualPython() ?? '', 'requirements-tools');
  const output = path.join(folder, 'generated_client');
  // It formats with ruff, which it looks for there.
  const env = { ...environment(), PATH: `${path.dirname(interpreter)}:${process.env['PATH']}` };
  const options = { cwd: folder, env, timeout: LIMIT_MS };
  const generate = ['generate', '--path', document, '--meta', 'none', '--output-path', output, '--fail-on-warning'];
  const { stdout, stderr } = await run(interpreter, ['-m', 'openapi_python_client', ...generate], options);
  assert.doesNotMatch(stdout + stderr, WARNING);
  writeFileSync(
    path.join(folder, 'smoke.py'),
    `import json, os
from generated_client import Client
from generated_client.api.mailboxes import create_mailbox, get_mailbox
from generated_client.api.sending import send_mailbox_message
from generated_client.models import HeldMessage, Mailbox, NewMailbox, NewMessage
client = Client(base_url=os.environ["URL"], headers={"x-organization-key": os.environ["API_KEY"]})
made = create_mailbox.sync(client=client, body=NewMailbox(purpose="generated"))
read = get_mailbox.sync(made.id, client=client)
assert isinstance(read, Mailbox)
sent = send_mailbox_message.sync(made.id, client=client, body=NewMessage(to=["a@example.org"], subject="s", text="t"))
assert isinstance(sent, HeldMessage)
missing = get_mailbox.sync_detailed("mbx_01k8e8f2c0e4x9w2v7a3r5t6y8", client=client)
print(json.dumps({"purpose": read.purpose, "held": str(sent.status), "missing": missing.status_code}))
`,
  );
  const smoke = await run(interpreter, ['smoke.py'], options);
  assert.deepEqual(JSON.parse(smoke.stdout), EXPECTED);
});
