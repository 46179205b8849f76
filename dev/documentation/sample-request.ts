/** The request that the snippets of an operation show, and its values as the source code of a language. */
import type { Route } from '#api/http/route.ts';
import { ID_PREFIXES, type IdKind } from '#domain/ids.ts';

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

export const sampleId = (kind: IdKind): string => `${ID_PREFIXES[kind]}${ID_BODY}`;

/** Values of the parameters of a path, in its order. */
export function samplePathValues(path: string): string[] {
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
export function sampleQuery(route: Route): Readonly<Record<string, string>> {
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
export function typeScriptLiteral(value: unknown, indent = ''): string {
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
