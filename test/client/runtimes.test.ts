/**
 * The published packages, installed in empty projects: they type-check strictly, and run on every runtime of this machine
 * against the service. Runtimes that are missing are listed as skipped; `npm run runtimes` gets them.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { manifestOf, type PackedPackages, packPackages } from '#dev/build/packed-packages.ts';
import { findRuntime, RUNTIMES } from '#dev/build/runtimes.ts';
import { type ApiWorld, apiWorld, at, textAt } from '#test/support/api-world.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const LIMIT_MS = 300_000;
/** The library that the command parses its arguments with needs a later one. */
const WITHOUT_COMMAND = 'node20';
/** Programs that the entries below work with; whoever uses an entry has its program. */
const FRAMEWORKS = ['ai', '@openai/agents-core', '@langchain/core'];

/** What an agent does, with nothing but what all runtimes have. */
const AGENT = `
import { ApiError, attachment, OrganizationClient, signWebhook, verifyWebhook, type Mailbox, type WebhookEvent } from '@agent-mailbox/client';
import { TOOL_DEFINITIONS, mailboxTools, type MailboxTool } from '@agent-mailbox/tools';
declare const process: { readonly env: Readonly<Record<string, string | undefined>> };
const { MAILBOX_URL: url = '', API_KEY: apiKey = '' } = process.env;
const service = new OrganizationClient({ url, apiKey });
const created: Mailbox & { readonly token: string | null } = await service.mailboxes.create({ purpose: 'Runtime' });
const listed: string[] = [];
for await (const { id } of service.mailboxes.list()) listed.push(id);
const mailbox = service.mailbox(created.id);
const missing: unknown = await mailbox.getMessage('msg_01k8e8f2c0e4x9w2v7a3r5t6y8').catch((error: unknown) => error);
const file = await mailbox.files.upload({ content: new Blob(['%PDF-1.7']), filename: 'a.pdf', contentType: 'application/pdf' });
const sent = await mailbox.sendMessage({ to: ['a@example.org'], subject: 'Grüße', text: 't', attachments: [{ fileId: file.id }, attachment('b.txt', new Uint8Array([98]))] });
const [tool]: readonly MailboxTool[] = mailboxTools({ url, token: created.token ?? '', only: ['get_mailbox'] });
const body = JSON.stringify({ id: 'evt_1', type: 'email_received', data: { subject: 'ü' } });
const secret = 'whsec_' + btoa('a secret of some length!');
const headers = await signWebhook('dlv_1', body, secret);
const event: WebhookEvent = await verifyWebhook(headers, body, secret);
if (event.type !== 'email_received') throw new Error(event.type);
// @ts-expect-error an event of another type has other data
void event.data.reason;
const forged = await verifyWebhook(new Headers(headers), body + ' ', secret).then(() => 'accepted', (error: unknown) => Reflect.get(Object(error), 'code') as unknown);
const pair = await crypto.subtle.generateKey({ name: 'Ed25519' }, true, ['sign', 'verify']) as CryptoKeyPair;
const signed = new TextEncoder().encode(\`dlv_1.\${headers['webhook-timestamp']}.\${body}\`);
const signature = btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.sign('Ed25519', pair.privateKey, signed))));
const publicKey = 'whpk_' + btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey))));
const byPublicKey = await verifyWebhook({ ...headers, 'webhook-signature': 'v1a,' + signature }, body, publicKey);
console.log(JSON.stringify({
  isListed: listed.includes(created.id),
  missing: missing instanceof ApiError && missing.code,
  sent: sent.status,
  hasTool: (await tool?.run({}))?.includes(created.address),
  tools: TOOL_DEFINITIONS.length > 10,
  webhooks: [event.data.subject, byPublicKey.id, forged],
}));
`;
const DONE = {
  isListed: true,
  missing: 'not_found',
  sent: 'consent_pending',
  hasTool: true,
  tools: true,
  webhooks: ['ü', 'evt_1', 'wrong_signature'],
};

/** A mail server of both protocols, over sockets in memory. */
const ENGINES = `
import { once } from 'node:events';
import { type Duplex, duplexPair } from 'node:stream';
import { serveImap } from '@agent-mailbox/imap';
import { parseCapabilityHiding } from '@agent-mailbox/imap/capabilities';
import type { Login } from '@agent-mailbox/mail-store';
import { MemoryStore } from '@agent-mailbox/mail-store/memory';
import { readStructure } from '@agent-mailbox/mime-structure/read-structure';
import { servePop3 } from '@agent-mailbox/pop3';

const store = new MemoryStore();
store.deliver('INBOX', 'Subject: built\\n\\nbody\\n');
const login: Login = async ({ address }) => ({ kind: 'ok', account: { mailboxId: 'm', address }, store, onClosed: () => () => {} });
async function say(start: (socket: Duplex) => unknown, lines: readonly string[], end: RegExp): Promise<string> {
  const [near, far] = duplexPair();
  start(far);
  let text = '';
  near.setEncoding('latin1').on('data', (chunk: string) => { text += chunk; });
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
console.log(JSON.stringify({
  imap: /\\* 1 FETCH \\(ENVELOPE \\(NIL "built" .*BODY\\[TEXT\\] \\{6\\}\\r\\nbody\\r\\n/s.test(imap),
  pop3: /Subject: built\\r\\n\\r\\nbody\\r\\n\\.\\r\\n/.test(pop3),
  subject: readStructure(new TextEncoder().encode('Subject: x\\r\\n\\r\\n'))?.subject,
  rules: parseCapabilityHiding('A*: IDLE')?.length,
}));
`;
const SERVED = { imap: true, pop3: true, subject: 'x', rules: 1 };

const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  skipLibCheck: false,
  target: 'es2022',
};
const RESOLUTIONS = [
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'esnext', moduleResolution: 'bundler' },
] as const;
/** This one and the last one written in JavaScript. */
const COMPILERS = [
  path.join(root, 'node_modules/typescript/lib/tsc.js'),
  createRequire(path.join(root, 'dashboard/package.json')).resolve('typescript/lib/tsc.js'),
];

let world: ApiWorld;
let folder: string;
let packed: PackedPackages;
/** Installed packages that need no Node, and those that do. */
let portable: string;
let forNode: string;

before(async () => {
  world = await apiWorld();
  folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-runtimes-'));
  packed = await packPackages(folder);
  const names = [...packed.built.keys()];
  const isPortable = (name: string): boolean => /\/(?:client|tools)$/.test(name);
  portable = await packed.install(path.join(folder, 'portable'), names.filter(isPortable));
  const rest = names.filter((name) => !isPortable(name));
  forNode = await packed.install(path.join(folder, 'for-node'), [...rest, '@types/node']);
  writeFileSync(path.join(portable, 'program.ts'), AGENT);
  writeFileSync(path.join(portable, 'entries.ts'), entriesOf(portable));
  writeFileSync(path.join(forNode, 'program.ts'), ENGINES);
  writeFileSync(path.join(forNode, 'entries.ts'), entriesOf(forNode));
});
after(async () => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  await world?.close();
});

/** Entries of our packages that are installed in a project; patterns by the files that they stand for. */
function entriesIn(project: string): string[] {
  return [...packed.built.keys()].flatMap((name) => {
    const installed = path.join(project, 'node_modules', name);
    if (!existsSync(installed)) return [];
    return Object.keys(manifestOf(installed).exports ?? {}).flatMap((key) => {
      if (!key.includes('*')) return [path.posix.join(name, key)];
      return readdirSync(path.join(installed, 'src'))
        .filter((file) => file.endsWith('.js'))
        .map((file) => path.posix.join(name, key.replace('*', file.replace(/\.js$/, ''))));
    });
  });
}
const isForFramework = (entry: string): boolean => /tools\/./.test(entry);

/** A program that loads all of them. */
function entriesOf(project: string): string {
  const entries = entriesIn(project).filter((entry) => !isForFramework(entry));
  const lines = entries.map((entry, index) => `import * as entry${index} from '${entry}';`);
  return `${lines.join('\n')}\nconsole.log(JSON.stringify([${entries.map((_, index) => `typeof entry${index}`).join(', ')}]));\n`;
}

/** @returns what the compiler says; empty: nothing */
async function check(
  project: string,
  files: readonly string[],
  options: object,
  compiler = COMPILERS[0],
): Promise<string> {
  const config = path.join(project, `tsconfig.${files[0]}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files }));
  try {
    await run(process.execPath, [compiler ?? '', '-p', config], {
      cwd: project,
      timeout: LIMIT_MS,
      maxBuffer: 50_000_000,
    });
    return '';
  } catch (error) {
    return String(Reflect.get(Object(error), 'stdout')) || String(error);
  }
}

describe('in an empty project the packages type-check strictly', () => {
  const PORTABLE = { lib: ['es2022', 'dom', 'dom.iterable'], types: [] };
  const FOR_NODE = { lib: ['es2022'], types: ['node'] };
  for (const resolution of RESOLUTIONS)
    for (const [index, compiler] of COMPILERS.entries())
      test(`with ${resolution.moduleResolution} and compiler ${index + 1}`, async () => {
        const files = ['program.ts', 'entries.ts'];
        // This output is run below. A bundler compiles the sources itself.
        const noEmit = resolution.module !== 'node16' || index > 0;
        for (const [project, options] of [
          [portable, PORTABLE],
          [forNode, FOR_NODE],
        ] as const)
          assert.equal(await check(project, files, { ...options, ...resolution, noEmit }, compiler), '');
      });

  test('the packs of tools with their frameworks, apart from what these get wrong themselves', async () => {
    for (const name of FRAMEWORKS) {
      const link = path.join(portable, 'node_modules', name);
      mkdirSync(path.dirname(link), { recursive: true });
      symlinkSync(path.join(root, 'node_modules', name), link);
    }
    const entries = entriesIn(portable).filter(isForFramework);
    assert.equal(entries.length, FRAMEWORKS.length);
    const program = `import { aiSdkTools } from '@agent-mailbox/tools/ai-sdk';
import { langChainTools } from '@agent-mailbox/tools/langchain';
import { openAiAgentsTools } from '@agent-mailbox/tools/openai-agents';
import type { Tool } from 'ai';
const options = { url: 'http://127.0.0.1:1', token: 'amt_x', only: ['read_message'] } as const;
const tools: Record<string, Tool> = aiSdkTools(options);
const names: string[] = [...Object.keys(tools), ...langChainTools(options).map(({ name }) => name), ...openAiAgentsTools(options).map(({ name }) => name)];
// @ts-expect-error a tool that there is not
aiSdkTools({ ...options, only: ['read_mind'] });
export { names };
`;
    writeFileSync(path.join(portable, 'frameworks.ts'), program);
    const said = await check(portable, ['frameworks.ts'], { ...PORTABLE, ...RESOLUTIONS[0], types: [], noEmit: true });
    const ours = said.split('\n').filter((line) => /^(?:frameworks\.ts|[^(]*@agent-mailbox)/.test(line));
    assert.deepEqual(ours, []);
    assert.doesNotMatch(said, /^error /m);
  });
});

for (const runtime of RUNTIMES) {
  const program = findRuntime(runtime);
  const skip = program === undefined && `needs ${runtime.name}: npm run runtimes`;
  describe(`on ${runtime.name}`, { skip }, () => {
    const start = (project: string, file: string, args: readonly string[] = []) =>
      run(program ?? '', [...runtime.args, file, ...args], {
        cwd: project,
        timeout: LIMIT_MS,
        env: {
          PATH: process.env['PATH'],
          HOME: folder,
          NO_COLOR: '1',
          MAILBOX_URL: world.api.url,
          API_KEY: world.organization.key['x-organization-key'],
          AGENT_MAILBOX_URL: world.api.url,
          AGENT_MAILBOX_API_KEY: world.organization.key['x-organization-key'],
        },
      });

    test('an agent uses the client and the tools', async () => {
      assert.deepEqual(JSON.parse((await start(portable, 'program.js')).stdout), DONE);
    });

    test('the engines serve IMAP and POP3', async () => {
      assert.deepEqual(JSON.parse((await start(forNode, 'program.js')).stdout), SERVED);
    });

    test('every entry loads', async () => {
      for (const project of [portable, forNode]) {
        const loaded = JSON.parse((await start(project, 'entries.js')).stdout) as unknown[];
        assert.ok(loaded.length >= 3 && loaded.every((each) => each === 'object'));
      }
    });

    const noCommand = runtime.name === WITHOUT_COMMAND && 'the command needs a later one, as its package says';
    test('the command creates a mailbox, and serves MCP', { skip: noCommand }, async () => {
      const command = path.join(forNode, 'node_modules/agent-mailbox/cli/main.js');
      const { version } = manifestOf(path.join(forNode, 'node_modules/agent-mailbox'));
      assert.equal((await start(forNode, command, ['--version'])).stdout.trim(), version);
      const { stdout } = await start(forNode, command, ['mailboxes', 'create', `by-${runtime.name}`, '--json']);
      const made: unknown = JSON.parse(stdout);
      const host = new Client({ name: 'test', version: '1' });
      await host.connect(
        new StdioClientTransport({
          command: program ?? '',
          args: [...runtime.args, command, 'mcp'],
          cwd: forNode,
          env: {
            PATH: process.env['PATH'] ?? '',
            HOME: folder,
            AGENT_MAILBOX_URL: world.api.url,
            AGENT_MAILBOX_TOKEN: textAt(made, 'token'),
          },
          stderr: 'pipe',
        }),
      );
      const { structuredContent } = await host.callTool({ name: 'get_mailbox', arguments: {} });
      assert.equal(at(structuredContent, 'address'), at(made, 'address'));
      await host.close();
    });
  });
}

test('a runtime that the packages are for is here', () => {
  assert.ok(RUNTIMES.some((runtime) => findRuntime(runtime) !== undefined));
});
