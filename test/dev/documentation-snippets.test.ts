/** The snippets of the documentation, run as printed against a service that answers with the examples of the routes. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { pythonEnvironment, usualPython } from '#dev/build/python-environment.ts';
import type { ApiFacts } from '#dev/documentation/reference.ts';
import { LANGUAGES, samplePath } from '#dev/documentation/snippets.ts';
import { apiFacts } from '#dev/documentation/write-documentation.ts';
import { answerOf, routeOf } from '#dev/generate/route-coverage.ts';
import { needs, PYTHON } from '#test/support/programs.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const OUTPUT_MAX_BYTES = 4 * 1_024 * 1_024;

interface Asked {
  readonly operationId: string | undefined;
  readonly url: string;
  readonly body: string;
}

let server: Server;
let url: string;
let folder: string;
let facts: ApiFacts;
/** What was asked since `/begin/<name>`, by name. */
const asked = new Map<string, Asked[]>();

before(async () => {
  let current: Asked[] = [];
  server = createServer((request, response) => {
    void (async () => {
      const { pathname } = new URL(request.url ?? '', 'http://service');
      const body = (await buffer(request)).toString();
      if (pathname.startsWith('/begin/')) {
        current = [];
        asked.set(pathname.slice('/begin/'.length), current);
        response.end();
        return;
      }
      const route = routeOf(request.method ?? '', pathname);
      current.push({ operationId: route?.operationId, url: request.url ?? '', body });
      if (route === undefined) {
        response.writeHead(404).end();
        return;
      }
      const answer = answerOf(route);
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
    })().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  facts = { ...(await apiFacts(root)), serviceUrl: url };
  folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-snippets-'));
  mkdirSync(path.join(folder, 'node_modules/@agent-mailbox'), { recursive: true });
  symlinkSync(path.join(root, 'client'), path.join(folder, 'node_modules/@agent-mailbox/client'));
  symlinkSync(path.join(root, 'node_modules/@types'), path.join(folder, 'node_modules/@types'));
  writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
  writeFileSync(path.join(folder, 'report.pdf'), '%PDF-1.7');
});
after(() => {
  server?.closeAllConnections();
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Snippets of a language by operation. */
function snippetsIn(name: string): [operationId: string, snippet: string][] {
  const language = LANGUAGES.find((each) => each.name === name);
  assert.ok(language !== undefined, name);
  asked.clear();
  return facts.routes.flatMap((route) => {
    const reached = facts.coverage.get(`${route.method} ${route.path}`) ?? {};
    const snippet = language.snippet({ ...facts, route, reached });
    return snippet === undefined ? [] : [[route.operationId, snippet]];
  });
}

/** Fails for the operations whose snippet did not ask exactly what the reference describes. */
function assertAsked(names: readonly string[]): void {
  const wrong = names.filter((name) => {
    const route = facts.routes.find(({ operationId }) => operationId === name);
    const requests = asked.get(name) ?? [];
    if (route === undefined || requests.length !== 1) return true;
    const [request] = requests;
    const is = new URL(request?.url ?? '', url);
    const should = new URL(samplePath(route), url);
    const isBody =
      route.bodyExample === undefined ||
      (request?.body !== '' && isDeepStrictEqual(JSON.parse(request?.body ?? ''), route.bodyExample));
    // The client adds defaults of its own to a query.
    const isQuery = [...should.searchParams].every(([key, value]) => is.searchParams.get(key) === value);
    return request?.operationId !== name || is.pathname !== should.pathname || !isQuery || !isBody;
  });
  assert.deepEqual(
    wrong.map((name) => ({ name, asked: asked.get(name) })),
    [],
  );
}

test('every operation has a cURL command that sends its request', needs('bash', 'curl'), async () => {
  const snippets = snippetsIn('cURL');
  assert.equal(snippets.length, facts.routes.length);
  const script = snippets
    .map(([name, snippet]) => `curl -s ${url}/begin/${name}\n${snippet} -sS >/dev/null\n`)
    .join('\n');
  writeFileSync(path.join(folder, 'snippets.sh'), `set -e\n${script}`);
  const { stderr } = await run('bash', ['snippets.sh'], {
    cwd: folder,
    maxBuffer: OUTPUT_MAX_BYTES,
    env: {
      PATH: process.env['PATH'],
      API_KEY: 'a',
      SESSION: 's',
      MAILBOX_TOKEN: 't',
      OPERATOR_KEY: 'o',
      APPROVAL_LINK: 'l',
    },
  });
  assert.equal(stderr, '');
  assertAsked(snippets.map(([name]) => name));
});

const IMPORT = /^import .*\n+/;

test('every call of the TypeScript client has the right types and sends its request', async () => {
  const snippets = snippetsIn('TypeScript');
  assert.ok(snippets.length > 100);
  const imports = new Set(snippets.flatMap(([, snippet]) => IMPORT.exec(snippet)?.[0].trim() ?? []));
  const programs = snippets.map(([name, snippet]) => `${name}: async () => {\n${snippet.replace(IMPORT, '')}\n},`);
  const program = `
import { DeviceSignInClient, MailboxClient, OrganizationClient } from '@agent-mailbox/client';
${[...imports].join('\n')}
const url = ${JSON.stringify(url)};
const service = new OrganizationClient({ url, apiKey: 'amk_x', attempts: 1 });
const mailbox = new MailboxClient({ url, token: 'amt_x', attempts: 1 });
const device = new DeviceSignInClient({ url, attempts: 1 });
const programs: Readonly<Record<string, () => Promise<void>>> = {
${programs.join('\n')}
};
for (const [name, run] of Object.entries(programs)) {
  await fetch(\`\${url}/begin/\${name}\`);
  await run();
}
`;
  writeFileSync(path.join(folder, 'snippets.ts'), program);
  writeFileSync(
    path.join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: path.join(root, 'tsconfig.json'),
      compilerOptions: { rewriteRelativeImportExtensions: false, typeRoots: [path.join(root, 'node_modules/@types')] },
      include: ['snippets.ts'],
      exclude: [],
    }),
  );
  const checked = await run(path.join(root, 'node_modules/.bin/tsc'), ['-p', '.'], { cwd: folder }).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? 'tsc could not be run' }),
  );
  assert.equal(checked.stdout, '');
  const { stderr } = await run(process.execPath, ['snippets.ts'], { cwd: folder, maxBuffer: OUTPUT_MAX_BYTES });
  assert.equal(stderr, '');
  assertAsked(snippets.map(([name]) => name));
});

test('every call of the Python package has the right types and sends its request', needs(PYTHON), async () => {
  const snippets = snippetsIn('Python');
  assert.ok(snippets.length > 100);
  const indented = (text: string) => text.replaceAll(/^(?=.)/gm, '    ');
  const program = `
import httpx
from agent_mailbox import DeviceSignInClient, MailboxClient, OrganizationClient

url = ${JSON.stringify(url)}
service = OrganizationClient(url, api_key="amk_x")
mailbox = MailboxClient(url, token="amt_x")
device = DeviceSignInClient(url)

${snippets.map(([name, snippet]) => `def ${name}() -> None:\n${indented(snippet)}\n`).join('\n')}
for run in [${snippets.map(([name]) => name).join(', ')}]:
    httpx.post(f"{url}/begin/{run.__name__}")
    run()
`;
  writeFileSync(path.join(folder, 'snippets.py'), program);
  const interpreter = pythonEnvironment(usualPython() ?? '', 'requirements-tools');
  const options = { cwd: folder, maxBuffer: OUTPUT_MAX_BYTES, env: { PYTHONPATH: path.join(root, 'python/src') } };
  const checked = await run(interpreter, ['-m', 'mypy', '--strict', 'snippets.py'], options).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? 'mypy could not be run' }),
  );
  assert.match(checked.stdout, /^Success/);
  const { stderr } = await run(interpreter, ['snippets.py'], options);
  assert.equal(stderr, '');
  assertAsked(snippets.map(([name]) => name));
});

/** The words of a command, as a shell has them. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

test('every command of the command line reaches its operation', async () => {
  const snippets = snippetsIn('CLI');
  assert.ok(snippets.length > 80);
  const commands = snippets.map(([name, snippet]) => [name, wordsOf(snippet).slice(1)]);
  const child = spawn(process.execPath, [path.join(root, 'test/dev/command-snippets-program.ts')], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      XDG_CONFIG_HOME: folder,
      XDG_STATE_HOME: folder,
      AGENT_MAILBOX_URL: url,
      AGENT_MAILBOX_TOKEN: 'amt_x',
      AGENT_MAILBOX_API_KEY: 'amk_x',
    },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  child.stdin.end(JSON.stringify(commands));
  const [errors] = await Promise.all([text(child.stderr), once(child, 'close')]);
  const missed = snippets.filter(([name]) => !(asked.get(name) ?? []).some(({ operationId }) => operationId === name));
  assert.deepEqual(
    missed.map(([name, snippet]) => ({ name, snippet, asked: asked.get(name)?.map((each) => each.operationId) })),
    [],
    errors,
  );
});
