/** Requests to the service, with the credential that n8n stores. */
import type { Fields, Host, HttpAnswer, HttpMethod, HttpRequest } from './n8n-interfaces.ts';

export const CREDENTIAL = 'agentMailboxApi';
const TIMEOUT_MS = 30_000;
const PAGE_MAX = 100;

/** A text as it is; empty for anything else. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The service answered with an error. */
export class ServiceError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, error: Fields) {
    const { code, message, fix } = error;
    super([code ?? `status ${status}`, message, fix].filter((text) => typeof text === 'string').join(' – '));
    this.name = 'ServiceError';
    this.status = status;
    this.code = textOf(code);
  }
}

export interface Call {
  readonly query?: Fields;
  readonly body?: Fields | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds beyond the usual time. */
  readonly extraTimeMs?: number;
  /** Answer with the bytes of the body. */
  readonly bytes?: true;
}

export interface Answer {
  readonly status: number;
  readonly headers: HttpAnswer['headers'];
  /** Parsed JSON; empty for other bodies. */
  readonly body: Fields;
  readonly bytes: Buffer;
}

/** Whether the credential is the token of a mailbox, which opens that mailbox alone. */
export async function isMailboxToken(host: Host): Promise<boolean> {
  const { secret } = await host.getCredentials(CREDENTIAL);
  return String(secret).trim().startsWith('amt_');
}

/**
 * @param path with its leading slash
 * @throws {ServiceError} for any answer but success; other errors: no answer
 */
export async function callService(host: Host, method: HttpMethod, path: string, call: Call = {}): Promise<Answer> {
  const { url } = await host.getCredentials(CREDENTIAL);
  const { query, body, headers, extraTimeMs = 0, bytes } = call;
  const request: HttpRequest = {
    method,
    url: `${String(url).trim().replace(/\/+$/, '')}${path}`,
    json: !(bytes || Buffer.isBuffer(body)),
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
    // A redirect would carry the credential to another place.
    disableFollowRedirect: true,
    timeout: TIMEOUT_MS + extraTimeMs,
    ...(query === undefined ? {} : { qs: query }),
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers: { ...headers } }),
    ...(bytes === undefined ? {} : { encoding: 'arraybuffer' }),
  };
  const answer = (await host.helpers.httpRequestWithAuthentication.call(host, CREDENTIAL, request)) as HttpAnswer;
  const isSuccess = answer.statusCode >= 200 && answer.statusCode < 300;
  const raw = Buffer.isBuffer(answer.body) ? answer.body : Buffer.alloc(0);
  const parsed = isSuccess && bytes ? {} : asFields(answer.body);
  if (isSuccess) return { status: answer.statusCode, headers: answer.headers, body: parsed, bytes: raw };
  throw new ServiceError(answer.statusCode, asFields(parsed['error']));
}

function asFields(body: unknown): Fields {
  if (typeof body === 'string' || Buffer.isBuffer(body))
    try {
      return asFields(JSON.parse(body.toString()));
    } catch {
      // Not of the service: an error page of a proxy.
      return {};
    }
  return typeof body === 'object' && body !== null ? (body as Fields) : {};
}

/** @returns undefined if what is asked for does not exist */
export async function unlessMissing(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}

/** All pages of a list, newest first, at most so many entries. */
export async function listAll(host: Host, path: string, query: Fields, most: number): Promise<Fields[]> {
  const found: Fields[] = [];
  let cursor: unknown;
  do {
    const limit = Math.min(PAGE_MAX, most - found.length);
    const page = { ...query, limit, ...(cursor === undefined ? {} : { cursor }) };
    const { body } = await callService(host, 'GET', path, { query: page });
    found.push(...(body['data'] as Fields[]));
    cursor = body['nextCursor'] ?? undefined;
  } while (cursor !== undefined && found.length < most);
  return found;
}

/** Of the mailbox that the token opens, or of one of the organization. */
export async function mailboxPath(host: Host, mailboxId: unknown): Promise<string> {
  if (await isMailboxToken(host)) return '/api/mailbox';
  const id = textOf(mailboxId);
  if (id === '') throw new Error('Choose a mailbox: an API key opens all mailboxes of the organization.');
  return `/api/mailboxes/${encodeURIComponent(id)}`;
}

/** The mailboxes that the credential opens, for lists in the editor. */
export async function mailboxChoices(host: Host): Promise<{ name: string; value: string }[]> {
  const mailboxes = (await isMailboxToken(host))
    ? [(await callService(host, 'GET', '/api/mailbox')).body]
    : await listAll(host, '/api/mailboxes', {}, 1_000);
  return mailboxes.map(({ address, id }) => ({ name: String(address), value: String(id) }));
}
