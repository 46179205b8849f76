/** Where in a request something is wrong: a JSON pointer such as `/to/0`, or `query/limit`. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

interface ErrorFacts {
  readonly code: string;
  readonly message: string;
  readonly fix: string;
  readonly status: number | null;
  readonly docs?: string | null;
  readonly requestId?: string | null;
  readonly details?: readonly ErrorDetail[];
  readonly retryAfterSeconds?: number | null;
  readonly request?: string | null;
}

/** Fields that a message names; the others are in `details`. */
const FIELDS_NAMED_MAX = 5;

function inBrackets(details: readonly ErrorDetail[]): string {
  if (details.length === 0) return '';
  const named = details.slice(0, FIELDS_NAMED_MAX).map(({ path, message }) => `${path} ${message}`);
  if (details.length > FIELDS_NAMED_MAX) named.push(`${details.length - FIELDS_NAMED_MAX} more`);
  return ` (${named.join('; ')})`;
}

/**
 * What the service refused, or that it could not be reached. `code` is stable: one of the service's (`/docs/errors`), or
 * of the client: `unreachable`, `timeout`, `aborted`, `unexpected_answer`, `invalid_url`, `invalid_credential`.
 */
export class ApiError extends Error {
  readonly code: string;
  /** What happened, in one sentence. `message` also names the fields in `details`. */
  readonly sentence: string;
  /** What to do. */
  readonly fix: string;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Page about the code. */
  readonly docs: string | null;
  readonly requestId: string | null;
  readonly details: readonly ErrorDetail[];
  /** Seconds after which the request may be repeated, if the service said so. */
  readonly retryAfterSeconds: number | null;
  /** What was asked, without its query: `GET http://127.0.0.1:8080/api/mailbox`; null when nothing was. */
  readonly request: string | null;

  constructor(facts: ErrorFacts, options?: ErrorOptions) {
    super(facts.message + inBrackets(facts.details ?? []), options);
    this.name = 'ApiError';
    this.code = facts.code;
    this.sentence = facts.message;
    this.fix = facts.fix;
    this.status = facts.status;
    this.docs = facts.docs ?? null;
    this.requestId = facts.requestId ?? null;
    this.details = facts.details ?? [];
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
    this.request = facts.request ?? null;
  }

  /** The same error with the request that it answers. */
  answering(request: string): ApiError {
    const { code, sentence: message, fix, status, docs, requestId, details, retryAfterSeconds, cause } = this;
    return new ApiError(
      { code, message, fix, status, docs, requestId, details, retryAfterSeconds, request },
      cause === undefined ? undefined : { cause },
    );
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const textOr = <Other>(value: unknown, other: Other): string | Other => (typeof value === 'string' ? value : other);

function detailsOf(value: unknown): ErrorDetail[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).map(({ path, message }) => ({ path: textOr(path, ''), message: textOr(message, '') }));
}

/** Retry-After (RFC 9110 §10.2.3) in seconds: given as seconds or as a date. */
export function retryAfterSeconds(value: string | null, now: number): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value.trim())) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1_000));
}

/**
 * The error of an answer. An answer without the service's error body, such as a proxy's page, is described by its
 * status.
 */
export function errorOf(status: number, headers: Headers, text: string): ApiError {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const error = isObject(body) && isObject(body['error']) ? body['error'] : undefined;
  const requestId = headers.get('x-request-id');
  const wait = retryAfterSeconds(headers.get('retry-after'), Date.now());
  if (error === undefined || typeof error['code'] !== 'string')
    return new ApiError({
      code: status === 503 ? 'unavailable' : status === 429 ? 'rate_limited' : 'unexpected_answer',
      message: `The service answered with status ${status} and without an error body.`,
      fix: 'Check that the address is that of Agent Mailbox, and whether a proxy answered.',
      status,
      requestId,
      retryAfterSeconds: wait,
    });
  return new ApiError({
    code: error['code'],
    message: textOr(error['message'], 'The request failed.'),
    fix: textOr(error['fix'], ''),
    status,
    docs: textOr(error['docs'], null),
    requestId: textOr(error['requestId'], requestId),
    details: detailsOf(error['details']),
    retryAfterSeconds: wait,
  });
}
