/**
 * The snippets of an operation on its page, one entry for each language in the order of the tabs: curl, command line,
 * TypeScript, Python. All show one sample request, whose values follow from the schemas and names of the route.
 */

import type { Argument, Command, Option } from 'commander';
import type { Route } from '#api/http/route.ts';
import { isJson, type Json, modelName, pythonName, pythonText } from '#dev/generate/python-client/schema-as-python.ts';
import { ID_PREFIXES, type IdKind } from '#domain/ids.ts';
import type { Reached } from './documents.ts';

/** The same characters as in the examples of the answers. */
const ID_BODY = '01k8e8f2c0e4x9w2v7a3r5t6y8';

/** The kind of id that follows a segment of a path. */
const KIND_AFTER: Readonly<Record<string, IdKind>> = {
  mailboxes: 'mailbox',
  messages: 'message',
  outbox: 'message',
  drafts: 'draft',
  files: 'file',
  threads: 'thread',
  consents: 'consent',
  allow: 'listEntry',
  block: 'listEntry',
  suppressions: 'suppression',
  domains: 'domain',
  members: 'member',
  invitations: 'invitation',
  keys: 'apiKey',
  sessions: 'session',
  webhooks: 'webhookEndpoint',
  deliveries: 'delivery',
  recoveries: 'recovery',
  events: 'event',
};
/** What follows other segments: no ids of ours. */
const VALUE_AFTER: Readonly<Record<string, string>> = { attachments: '2', uploads: 'upl_…' };

const sampleId = (kind: IdKind): string => `${ID_PREFIXES[kind]}${ID_BODY}`;

/** Values of the parameters of a path, in its order. */
function samplePathValues(path: string): string[] {
  const segments = path.split('/');
  return segments.flatMap((segment, index) => {
    if (!segment.startsWith(':')) return [];
    const before = segments[index - 1] ?? '';
    const kind = KIND_AFTER[before];
    return [kind === undefined ? (VALUE_AFTER[before] ?? segment.slice(1)) : sampleId(kind)];
  });
}

interface ParameterSchema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly type?: string; readonly format?: string }>>;
}

/** Values of parameters that a route needs, by their names. */
const QUERY_VALUES: Readonly<Record<string, string>> = {
  q: 'invoice',
  filename: 'report.pdf',
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-11-30T00:00:00.000Z',
  since: '2026-11-01T00:00:00.000Z',
};

/** The parameters of the query that a request must have. */
function sampleQuery(route: Route): Readonly<Record<string, string>> {
  const { required = [] } = (route.query ?? {}) as ParameterSchema;
  return Object.fromEntries(required.map((name) => [name, QUERY_VALUES[name] ?? name]));
}

/** Path and query. */
export function samplePath(route: Route): string {
  const values = samplePathValues(route.path);
  const path = route.path.replaceAll(/:[A-Za-z]+/g, () => encodeURIComponent(values.shift() ?? ''));
  const query = new URLSearchParams(sampleQuery(route)).toString();
  return query === '' ? path : `${path}?${query}`;
}

const LINE_MAX = 76;

const NAME = /^[A-Za-z_$][\w$]*$/;
const text = (value: string): string =>
  `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;

/** A value of JSON as TypeScript: on one line if it is short. */
function typeScriptLiteral(value: unknown, indent = ''): string {
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const write = (inner: string): string[] =>
    Array.isArray(value)
      ? value.map((each) => typeScriptLiteral(each, inner))
      : Object.entries(value).map(
          ([name, each]) => `${NAME.test(name) ? name : text(name)}: ${typeScriptLiteral(each, inner)}`,
        );
  const parts = write(indent);
  if (parts.length === 0) return `${open}${close}`;
  const space = open === '{' ? ' ' : '';
  const line = `${open}${space}${parts.join(', ')}${space}${close}`;
  if (line.length <= LINE_MAX && !line.includes('\n')) return line;
  const inner = `${indent}  `;
  return `${open}\n${write(inner)
    .map((part) => `${inner}${part},\n`)
    .join('')}${indent}${close}`;
}

/** A word of a shell. */
export const shellWord = (value: string): string =>
  /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;

const KINDS = Object.entries(ID_PREFIXES) as [IdKind, string][];

/** Values of arguments that are no ids, by their names; of options, by their flags. */
const VALUES: Readonly<Record<string, string>> = {
  'local-part': 'order-desk',
  attachment: '2',
  name: 'example.com',
  url: 'https://example.com/hooks',
  words: 'invoice',
  '--to': 'ada@example.org',
  '--subject': 'Your order',
  '--since': '2026-11-01T00:00:00.000Z',
  '--event': 'email_received',
  '--forward': 'http://localhost:3000/hook',
};

/** Options that are not mandatory, and without which a command does nothing or asks. */
const MORE: Readonly<Record<string, string>> = {
  'mail send': "--text 'It is on its way.'",
  'mail reply': "--text 'Thank you.'",
  'mail forward': "--text 'For you.'",
  'mail label': '--add important',
  'mail withdraw': '',
  'drafts create': "--to ada@example.org --subject 'Your order' --text 'It is on its way.'",
  'drafts update': "--text 'It has arrived.'",
  'mailboxes update': '--mode drafts_only',
  'webhooks update': '--no-active',
  'keys update': "--name 'Build server'",
};
/** Commands whose `--to` is no address, or whose argument of a common name is another. */
const OWN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'mail move': { '--to': 'Archive' },
  'keys create': { name: 'Build server' },
};

function argumentValue(command: string, argument: Argument): string {
  const name = argument.name();
  if (name === 'message' || name === 'messages') return command === 'mail status' ? sampleId('message') : '1';
  const kind = KINDS.find(([, prefix]) => argument.description.startsWith(prefix))?.[0];
  return OWN[command]?.[name] ?? (kind === undefined ? (VALUES[name] ?? name) : sampleId(kind));
}

function optionWords(command: string, { long, argChoices }: Option): string {
  const flag = long ?? '';
  return `${flag} ${shellWord(OWN[command]?.[flag] ?? argChoices?.[0] ?? VALUES[flag] ?? 'value')}`;
}

const find = (command: Command, names: readonly string[]): Command | undefined => {
  const [name, ...rest] = names;
  if (name === undefined) return command;
  const child = command.commands.find((each) => each.name() === name);
  return child === undefined ? undefined : find(child, rest);
};

/** Commands that ask a route beside other things: no example of it. */
const BESIDE = ['login', 'logout', 'webhooks listen'];

interface Chosen {
  readonly command: string;
  readonly words?: string;
}
const REPLY_ALL: Chosen = { command: 'mail reply', words: '--all' };
const ATTACH: Chosen = { command: 'mail send', words: '--attach report.pdf' };
const FOLDERS: Chosen = { command: 'mail folders' };
const OPEN: Chosen = { command: 'mail open' };
/** Operations that are reached by one option of a command, or better by one of several commands. */
const CHOSEN: Readonly<Record<string, Chosen>> = {
  replyToAllOfMessage: REPLY_ALL,
  replyToAllOfMailboxMessage: REPLY_ALL,
  uploadFile: ATTACH,
  uploadMailboxFile: ATTACH,
  listFolders: FOLDERS,
  listMailboxFolders: FOLDERS,
  getMessage: OPEN,
  getMailboxMessage: OPEN,
  testWebhook: { command: 'webhooks trigger', words: sampleId('webhookEndpoint') },
  openReceiver: { command: 'webhooks receiver', words: '--open' },
};

/** Commands of a mailbox, with the credential of its organization. */
const isOfOneMailbox = ({ path }: Route, names: string): boolean =>
  path.startsWith('/api/mailboxes/:id/') && !names.startsWith('mailboxes ');

/**
 * A command with the options that it requires, those that make it useful, and the confirmation of one that deletes.
 *
 * @param reaching names of the commands that reach the route
 */
function commandSnippet(program: Command, reaching: readonly string[], route: Route): string | undefined {
  const chosen = CHOSEN[route.operationId];
  const names = chosen?.command ?? reaching.find((each) => !BESIDE.includes(each));
  const command = names === undefined ? undefined : find(program, names.split(' '));
  if (names === undefined || reaching.length === 0) return undefined;
  if (command === undefined) return undefined;
  const needed = command.options.filter(({ mandatory }) => mandatory);
  const words = [
    ...command.registeredArguments
      .filter(({ required }) => required)
      .map((each) => shellWord(argumentValue(names, each))),
    ...needed.map((each) => optionWords(names, each)),
    MORE[names] ?? '',
    chosen?.words ?? '',
    command.options.some(({ long }) => long === '--yes') ? '--yes' : '',
    isOfOneMailbox(route, names) ? `--mailbox ${sampleId('mailbox')}` : '',
  ];
  return ['agent-mailbox', names, ...words.filter((word) => word !== '')].join(' ');
}

/** Lines are not longer where an argument can be put on one of its own. */
const PYTHON_LINE_MAX = 88;
const MAILBOX = 'service.mailbox(id)';
/** Arguments of methods that take something else than ids and the body or query of the request. */
const PYTHON_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  'mailbox.files.upload': [pythonText('report.pdf')],
  'service.mailbox(id).files.upload': [pythonText('report.pdf')],
};

/** The class of an object with a name, whichever of several forms it has. */
function modelOf(schema: Json): string | undefined {
  const forms = [schema, ...(Array.isArray(schema['anyOf']) ? schema['anyOf'].filter(isJson) : [])];
  const title = forms.map((form) => form['title']).find((each) => typeof each === 'string');
  return title === undefined ? undefined : modelName(title.replaceAll(' ', ''));
}

const CONSTANTS = new Map<unknown, string>([
  [null, 'None'],
  [true, 'True'],
  [false, 'False'],
]);

/** A value of JSON as Python: objects with a named schema as its model, others as they are. */
function pythonValue(value: unknown, schema: Json): string {
  if (typeof value === 'string') return pythonText(value);
  if (Array.isArray(value)) {
    const items = isJson(schema['items']) ? schema['items'] : {};
    return `[${value.map((each) => pythonValue(each, items)).join(', ')}]`;
  }
  if (typeof value !== 'object' || value === null) return CONSTANTS.get(value) ?? String(value);
  const model = modelOf(schema);
  if (model !== undefined) return `models.${model}(${fieldsOf(value, schema).join(', ')})`;
  const entries = Object.entries(value).map(([name, each]) => `${pythonText(name)}: ${pythonValue(each, {})}`);
  return `{${entries.join(', ')}}`;
}

/** An object as keyword arguments. */
function fieldsOf(object: object, schema: Json): string[] {
  const properties = isJson(schema['properties']) ? schema['properties'] : {};
  return Object.entries(object).map(([name, value]) => {
    const property = properties[name];
    return `${pythonName(name)}=${pythonValue(value, isJson(property) ? property : {})}`;
  });
}

function written(callee: string, args: readonly string[]): string {
  const line = `${callee}(${args.join(', ')})`;
  return line.length <= PYTHON_LINE_MAX ? line : `${callee}(\n${args.map((each) => `    ${each},\n`).join('')})`;
}

/** The name of what a method answers: `Mailbox` is `mailbox`; undefined without an answer. */
function pythonResult(route: Route): string | undefined {
  const [spec] = Object.entries(route.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, each]) => each);
  if (spec?.contentType !== undefined) return 'content';
  const schema: { readonly title?: string } | undefined = spec?.schema;
  return schema === undefined
    ? undefined
    : pythonName((schema.title ?? 'answer').replaceAll(' ', '').replace(/^./, (first) => first.toLowerCase()));
}

const isList = (route: Route): boolean =>
  Object.entries(route.responses).some(([status, { schema }]) => {
    const properties: unknown = schema !== undefined && 'properties' in schema ? schema.properties : undefined;
    return status.startsWith('2') && isJson(properties) && 'data' in properties && 'nextCursor' in properties;
  });

/**
 * A call of the Python package.
 *
 * @param methods those that reach the route; `undefined` without any
 */
function pythonSnippet(route: Route, methods: readonly string[]): string | undefined {
  const [method] = methods;
  if (method === undefined) return undefined;
  const ids = samplePathValues(route.path).map(pythonText);
  const callee = method.startsWith(MAILBOX) ? method.replace('(id)', `(${ids.shift()})`) : method;
  const isStream = Object.values(route.responses).some(({ contentType }) => contentType === 'text/event-stream');
  if (isStream) return `for event in ${callee}():\n    print(event)`;
  const args = PYTHON_ARGUMENTS[method] ?? [
    ...ids,
    ...fieldsOf(route.bodyExample ?? {}, (route.body ?? {}) as Json),
    ...fieldsOf(sampleQuery(route), {}),
  ];
  const call = written(callee, args);
  const before = call.includes('models.') ? 'from agent_mailbox import models\n\n' : '';
  if (isList(route)) return `${before}for each in ${call}:\n    print(each)`;
  const result = pythonResult(route);
  // The client itself has the name of what it answers.
  const name = result !== undefined && callee.startsWith(`${result}.`) ? 'details' : result;
  return `${before}${name === undefined ? '' : `${name} = `}${call}`;
}

/** Arguments of methods that take something else than ids and the body or query of the request. */
const TYPESCRIPT_ARGUMENTS: Readonly<Record<string, string>> = {
  'mailbox.files.upload': "{ filename: 'report.pdf', content: await openAsBlob('report.pdf') }",
  'service.mailbox(id).files.upload': "{ filename: 'report.pdf', content: await openAsBlob('report.pdf') }",
};
/** Of a method that takes one field of the body. */
const FIELD: Readonly<Record<string, string>> = {
  'service.consents.deny': 'reason',
  'service.consents.denySeveral': 'consentIds',
  'service.consents.sendBack': 'comment',
  'device.begin': 'name',
  'device.session': 'deviceCode',
};

/** The name of what a method answers: `Mailbox` is `mailbox`, a list has its data taken out of it. */
function typeScriptResult(route: Route): string {
  const [spec] = Object.entries(route.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, each]) => each);
  const schema: { readonly title?: string; readonly properties?: object } | undefined = spec?.schema;
  if (spec?.contentType !== undefined) return 'download';
  if (schema === undefined) return '';
  const { title = 'answer', properties = {} } = schema;
  if ('data' in properties && 'nextCursor' in properties) return '{ data, nextCursor }';
  const name = title.replaceAll(' ', '');
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
}

/**
 * A call of the client.
 *
 * @param methods those that reach the route; `undefined` without any
 */
function typeScriptSnippet(route: Route, methods: readonly string[]): string | undefined {
  const [method] = methods;
  if (method === undefined) return undefined;
  const ids = samplePathValues(route.path).map((id) => typeScriptLiteral(id));
  const isOfMailbox = method.startsWith(MAILBOX);
  const callee = isOfMailbox ? method.replace('(id)', `(${ids.shift()})`) : method;
  const isStream = Object.values(route.responses).some(({ contentType }) => contentType === 'text/event-stream');
  if (isStream) return `for await (const event of ${callee}()) {\n  console.log(event);\n}`;
  const field = FIELD[method];
  const body = field === undefined ? route.bodyExample : route.bodyExample?.[field];
  const query = sampleQuery(route);
  const own = TYPESCRIPT_ARGUMENTS[method];
  const args =
    own !== undefined
      ? [own]
      : [
          ...ids,
          ...(body === undefined ? [] : [typeScriptLiteral(body)]),
          ...(Object.keys(query).length === 0 ? [] : [typeScriptLiteral(query)]),
        ];
  const named = typeScriptResult(route);
  // The client itself has the name of what it answers.
  const result = callee.startsWith(`${named}.`) ? 'details' : named;
  const call = `await ${callee}(${args.join(', ')});`;
  const before = own?.includes('openAsBlob') === true ? "import { openAsBlob } from 'node:fs';\n\n" : '';
  return `${before}${result === '' ? '' : `const ${result} = `}${call}`;
}

/** Header line of a curl command for the credential of a route. */
function credentialLine({ auth }: Route): string | undefined {
  if (auth === 'public') return undefined;
  if (auth === 'operator' || auth === 'instance') return '-H "x-operator-key: $OPERATOR_KEY"';
  if (auth === 'approval_link') return '-H "authorization: Bearer $APPROVAL_LINK"';
  if (auth === 'mailbox_token') return '-H "authorization: Bearer $MAILBOX_TOKEN"';
  if (auth === 'session' || 'role' in auth) return '-H "authorization: Bearer $SESSION"';
  return '-H "x-organization-key: $API_KEY"';
}

/** @param serviceUrl without a slash at the end */
function curlSnippet(route: Route, serviceUrl: string): string {
  const hasBody = route.bodyExample !== undefined;
  const method = route.method === 'GET' || (route.method === 'POST' && hasBody) ? '' : ` -X ${route.method}`;
  const lines = [`curl${method} ${shellWord(`${serviceUrl}${samplePath(route)}`)}`, credentialLine(route)];
  if (hasBody)
    lines.push(
      '-H "content-type: application/json"',
      `-d '${JSON.stringify(route.bodyExample, null, 2).replaceAll("'", "'\\''")}'`,
    );
  if (route.takesFile === true) lines.push('-H "content-type: application/pdf"', '--data-binary @report.pdf');
  return lines.filter((line) => line !== undefined).join(' \\\n  ');
}

interface SnippetSource {
  readonly route: Route;
  /** What reaches the route, by the columns of docs/coverage.md. */
  readonly reached: Reached;
  readonly serviceUrl: string;
  readonly commands: Command;
}

export interface Language {
  readonly name: string;
  /** @returns `undefined` where the language has nothing for the route */
  snippet(source: SnippetSource): string | undefined;
}

export const LANGUAGES: readonly Language[] = [
  { name: 'cURL', snippet: ({ route, serviceUrl }) => curlSnippet(route, serviceUrl) },
  { name: 'TypeScript', snippet: ({ route, reached }) => typeScriptSnippet(route, reached['TypeScript'] ?? []) },
  { name: 'Python', snippet: ({ route, reached }) => pythonSnippet(route, reached['Python'] ?? []) },
  {
    name: 'CLI',
    snippet: ({ commands, reached, route }) => commandSnippet(commands, reached['command line'] ?? [], route),
  },
];
