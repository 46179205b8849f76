/**
 * Which route is reached by which method of the client, command and MCP tool (`docs/coverage.md`). Nothing of it is
 * written down: every method, command and tool is run, against answers made from the examples of the routes, and what it
 * asks is recorded. Why a route has none is said by the route itself (`withoutCall`, `auth`).
 *
 *   node dev/generate/route-coverage.ts        writes the rows as JSON; `npm run generate` and a test read them
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import type { Argument, Command, Option } from 'commander';
import { templatePath } from '#api/documents/openapi.ts';
import type { RouteInfo } from '#api/http/route.ts';
import { routes } from '#api/routes.ts';
import { commandLine } from '#cli/program.ts';
import { DeviceSignInClient, MailboxClient, OrganizationClient } from '#client/index.ts';
import { newId } from '#core/platform/new-id.ts';
import { localTools, mailboxMcpServer } from '#mcp/server.ts';
import type { Tool } from '#mcp/tool.ts';
import { pythonMethods } from './python-client/schema-as-python.ts';
import type { RouteRow } from './route-row.ts';

type Column = 'client' | 'cli' | 'mcp';

/** With the methods of the Python package. */
export interface CoverageRow extends RouteRow {
  readonly python: readonly string[];
}

const PROGRAM = fileURLToPath(import.meta.url);
const OUTPUT_MAX_BYTES = 4 * 1_024 * 1_024;
const URL_OF_NOTHING = 'http://service.invalid';
/** Commands that serve until their input ends, or reach no route. */
const NOT_RUN = new Set(['mcp', 'completion', 'help']);
const RUN_MAX_MS = 60_000;
/** Runs until it is interrupted: when it has asked for deliveries, everything else was asked. */
const UNTIL_INTERRUPTED = { name: 'webhooks listen', operationId: 'listDeliveries' };

const found = new Map<string, Record<Column, Set<string>>>();
/** What runs now. */
let current: { readonly column: Column; readonly name: string };

/** The route of a request; routes with fewer parameters first, as the table of routes has it. */
export function routeOf(method: string, pathname: string): RouteInfo | undefined {
  const parts = pathname.split('/');
  return routes
    .filter((each) => each.method === method && each.path.split('/').length === parts.length)
    .filter((each) => each.path.split('/').every((part, i) => part.startsWith(':') || part === parts[i]))
    .toSorted((one, other) => one.path.split(':').length - other.path.split(':').length)[0];
}

export function answerOf(route: RouteInfo): Response {
  const [[status, spec] = ['204', undefined]] = Object.entries(route.responses).filter(([key]) => key.startsWith('2'));
  if (spec?.contentType === 'text/event-stream') return new Response('event: closed\ndata: {}\n\n');
  if (spec?.contentType !== undefined) return new Response('x');
  if (spec?.schema === undefined) return new Response(null, { status: Number(status) });
  // Other messages each time: what was handed out before would be waited for no more.
  const body = JSON.stringify(spec.example ?? {}).replaceAll(/msg_[0-9a-z]{26}/g, () => newId('message'));
  return new Response(body, { status: Number(status), headers: { 'content-type': 'application/json' } });
}

async function recordingFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const { origin, pathname } = new URL(input instanceof Request ? input.url : input);
  if (origin !== URL_OF_NOTHING) return new Response(null, { status: 204 });
  const route = routeOf(init?.method ?? 'GET', pathname);
  if (route === undefined) throw new Error(`${current.name} asks ${init?.method} ${pathname}, which is no route`);
  const row = found.get(route.operationId) ?? { client: new Set(), cli: new Set(), mcp: new Set() };
  row[current.column].add(current.name);
  found.set(route.operationId, row);
  if (current.name === UNTIL_INTERRUPTED.name && route.operationId === UNTIL_INTERRUPTED.operationId)
    setImmediate(() => process.emit('SIGINT'));
  return answerOf(route);
}

/** Runs it until it ends, fails for want of a real answer, or takes too long. */
async function run(column: Column, name: string, work: () => unknown): Promise<void> {
  current = { column, name };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, RUN_MAX_MS);
  });
  await Promise.race([Promise.resolve().then(work), late]).catch(() => {});
  clearTimeout(timer);
}

const methodsOf = (thing: object): string[] =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(thing)).filter(
    (name) => name !== 'constructor' && typeof Reflect.get(thing, name) === 'function',
  );

function called(thing: object, name: string, args: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(thing, name);
  return typeof method === 'function' ? Reflect.apply(method, thing, args) : undefined;
}

async function runMethods(thing: object, prefix: string): Promise<void> {
  for (const name of methodsOf(thing))
    await run('client', `${prefix}${name}`, async () => {
      const result = called(thing, name, ['one', 'two', 'three']);
      if (typeof result === 'object' && result !== null && 'next' in result) await called(result, 'next', []);
      await result;
    });
}

async function runClient(): Promise<void> {
  await runMethods(new DeviceSignInClient({ url: URL_OF_NOTHING, attempts: 1 }), 'device.');
  const service = new OrganizationClient({ url: URL_OF_NOTHING, apiKey: 'amk_x', attempts: 1 });
  const mailbox = new MailboxClient({ url: URL_OF_NOTHING, token: 'amt_x', attempts: 1 });
  await runMethods(mailbox, 'mailbox.');
  await runMethods(mailbox.files, 'mailbox.files.');
  await runMethods(service.mailbox('mbx_1'), 'service.mailbox(id).');
  await runMethods(service.mailbox('mbx_1').files, 'service.mailbox(id).files.');
  await runMethods(service, 'service.');
  for (const [name, resource] of Object.entries(service))
    if (typeof resource === 'object' && resource !== null) await runMethods(resource, `service.${name}.`);
}

const valueOf = ({ argChoices, parseArg }: Argument | Option, name: string): string =>
  argChoices?.[0] ?? (name === 'message' || name === 'messages' ? 'msg_1' : parseArg === undefined ? 'one' : '1');

const optionText = (option: Option): string[] => {
  const flag = option.long ?? option.short ?? '';
  if (flag === '--forward') return [flag, 'http://127.0.0.1:9'];
  return option.required || option.optional ? [flag, valueOf(option, '')] : [flag];
};

/** Each command as it is least, and once with each of its options. */
async function runCommands(command: Command, names: readonly string[]): Promise<void> {
  for (const child of command.commands)
    if (!NOT_RUN.has(child.name())) await runCommands(child, [...names, child.name()]);
  if (command.commands.length > 0) return;
  const args = command.registeredArguments.filter(({ required }) => required).map((each) => valueOf(each, each.name()));
  const needed = command.options.filter(({ mandatory }) => mandatory);
  const least = [...names, ...args, ...needed.flatMap(optionText)];
  const name = names.join(' ');
  const optional = command.options.filter((each) => !needed.includes(each));
  const further = command.registeredArguments
    .filter(({ required }) => !required)
    .map((each) => valueOf(each, each.name()));
  // With the arguments that may be left out, with each option; of the own mailbox, and of one of the organization.
  const variants = [[], further, ...optional.map(optionText)];
  for (const given of variants.flatMap((each) => [each, [...each, '--mailbox', 'mbx_1']]))
    await run('cli', name, async () => {
      // A new tree: commander keeps the options of an earlier run.
      const program = await commandLine([...names]);
      await program.parseAsync([...least, ...given, ...(given.includes('--yes') ? [] : yesOf(command))], {
        from: 'user',
      });
    });
}

const yesOf = (command: Command): string[] => (command.options.some(({ long }) => long === '--yes') ? ['--yes'] : []);

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly items?: JsonSchema;
  readonly minimum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

function inputOf({ type, enum: values, items, minimum, required = [], properties = {} }: JsonSchema): unknown {
  if (values !== undefined) return values[0];
  if (type === 'array') return [inputOf(items ?? {})];
  if (type === 'object') return Object.fromEntries(required.map((name) => [name, inputOf(properties[name] ?? {})]));
  if (type === 'integer' || type === 'number') return minimum ?? 1;
  return type === 'boolean' ? true : 'one';
}

/** Each argument that may be left out, once; of a list of objects each field. */
function* optionalInputs(properties: Readonly<Record<string, JsonSchema>>): Generator<Record<string, unknown>> {
  for (const [key, schema] of Object.entries(properties)) {
    yield { [key]: inputOf(schema) };
    for (const [field, each] of Object.entries(schema.items?.properties ?? {}))
      yield { [key]: [{ [field]: inputOf(each) }] };
  }
}

async function runTools(served?: readonly Tool[]): Promise<void> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const mailbox = new MailboxClient({ url: URL_OF_NOTHING, token: 'amt_x', attempts: 1 });
  const server = mailboxMcpServer(mailbox, 'full', served);
  await server.connect(far);
  const client = new Client({ name: 'coverage', version: '1' });
  await client.connect(near);
  const { tools } = await client.listTools();
  for (const { name, inputSchema } of tools) {
    const schema = inputSchema as JsonSchema;
    const least = inputOf({ ...schema, type: 'object' }) as Record<string, unknown>;
    for (const more of [{}, ...optionalInputs(schema.properties ?? {})])
      await run('mcp', name, () => client.callTool({ name, arguments: { ...least, ...more } }));
  }
  await client.close();
}

const sorted = (names: ReadonlySet<string> | undefined): string[] => [...(names ?? [])].toSorted();

/** Changes the environment and what is global: for a process of its own. */
async function routeCoverage(): Promise<RouteRow[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-coverage-'));
  const write = process.stdout.write;
  const writeError = process.stderr.write;
  Object.assign(process.env, {
    XDG_CONFIG_HOME: folder,
    XDG_STATE_HOME: folder,
    AGENT_MAILBOX_URL: URL_OF_NOTHING,
    AGENT_MAILBOX_TOKEN: 'amt_x',
    AGENT_MAILBOX_API_KEY: 'amk_x',
  });
  // Files that commands save are written there.
  process.chdir(folder);
  // The files that arguments name.
  for (const name of ['one', '1']) writeFileSync(path.join(folder, name), 'x');
  globalThis.fetch = recordingFetch;
  process.stdout.write = () => true;
  process.stderr.write = () => true;
  try {
    await runClient();
    await runCommands(await commandLine(), []);
    await runTools(localTools({ folders: [folder], never: [] }));
    await runTools();
  } finally {
    process.stdout.write = write;
    process.stderr.write = writeError;
    process.chdir(tmpdir());
    rmSync(folder, { recursive: true, force: true });
  }
  return routes.map(({ operationId, method, path: route }) => {
    const row = found.get(operationId);
    return {
      operationId,
      method,
      path: route,
      client: sorted(row?.client),
      cli: sorted(row?.cli),
      mcp: sorted(row?.mcp),
    };
  });
}

/** Runs every method, command and tool, in a process of its own. */
export function routeRows(): RouteRow[] {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const output = execFileSync(process.execPath, [PROGRAM], { maxBuffer: OUTPUT_MAX_BYTES, stdio: [...stdio] });
  return JSON.parse(output.toString()) as RouteRow[];
}

export function withPython(rows: readonly RouteRow[]): CoverageRow[] {
  const methods = pythonMethods();
  return rows.map((row) => ({ ...row, python: methods.get(`${row.method} ${templatePath(row.path)}`) ?? [] }));
}

const COLUMNS = ['client', 'python', 'cli', 'mcp'] as const;

/** Why it is missing there; undefined: nothing says so. The command line and MCP use the client. */
function reasonFor({ auth, withoutCall }: RouteInfo, column: (typeof COLUMNS)[number]): string | undefined {
  if (auth === 'operator' || auth === 'instance')
    return 'For the operator of the instance, who has another credential than any of its customers.';
  if (auth === 'approval_link')
    return 'Opened by the link of a notice in a browser: the link is for one person and must not pass through programs.';
  if (withoutCall?.client !== undefined) return withoutCall.client;
  if (column === 'mcp' && auth !== 'mailbox_token')
    return 'MCP opens one mailbox by its token; what needs a key or a session is not given to an agent.';
  return column === 'python' ? undefined : withoutCall?.[column];
}

/** Routes that are missing somewhere without a reason, or have a reason where they are not missing. */
export const holes = (rows: readonly CoverageRow[], table: readonly RouteInfo[] = routes): string[] =>
  table.flatMap((route) => {
    const row = rows.find(({ operationId }) => operationId === route.operationId);
    return COLUMNS.flatMap((column) => {
      const isReached = (row?.[column].length ?? 0) > 0;
      if (!isReached && reasonFor(route, column) === undefined) return [`${route.operationId}: ${column}`];
      const hasReason = column !== 'python' && route.withoutCall?.[column] !== undefined;
      return isReached && hasReason ? [`${route.operationId}: needs no reason for ${column}`] : [];
    });
  });

export function coverageDocument(rows: readonly CoverageRow[]): string {
  const reasons: string[] = [];
  const lines = routes.map((route) => {
    const row = rows.find(({ operationId }) => operationId === route.operationId);
    const cells = COLUMNS.map((column) => {
      const names = row?.[column] ?? [];
      if (names.length > 0) return names.map((name) => `\`${name}\``).join(', ');
      const reason = reasonFor(route, column);
      if (reason === undefined) return '**missing**';
      if (!reasons.includes(reason)) reasons.push(reason);
      return `[${reasons.indexOf(reason) + 1}](#why-not)`;
    });
    return `| ${[`\`${route.method} ${route.path}\``, ...cells].join(' | ')} |`;
  });
  return `# Routes, clients, command line, MCP

Which method of the [TypeScript client](../../client/README.md) and of the [Python package](../../python/README.md), which [command](cli.md) and which [MCP tool](mcp.md) reach a route. Made by \`npm run generate\`: every method, command and tool is run, and the requests it makes are recorded. \`mailbox\` is a \`MailboxClient\`, \`service\` an \`OrganizationClient\`. A number refers to a reason below.

| route | TypeScript | Python | command line | MCP |
|---|---|---|---|---|
${lines.join('\n')}

## Why not

${reasons.map((reason, index) => `${index + 1}. ${reason}`).join('\n')}
`;
}

if (process.argv[1] === PROGRAM) {
  const rows = await routeCoverage();
  process.stdout.write(JSON.stringify(rows), () => process.exit(0));
}
