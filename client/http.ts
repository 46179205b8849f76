/**
 * One request of the client: its deadline, its errors, and when it is repeated.
 *
 * A request is repeated only if that cannot have a second effect:
 *
 *   after            | repeated
 *   429              | always: it was refused before anything was done
 *   503, no answer   | GET, PUT, PATCH; POST, because all tries carry one Idempotency-Key; not where `repeatable` is false
 *   409 still running| POST whose first try is still running at the server
 *
 * The wait is what Retry-After says, else 0.25 s, doubled each time. What would take longer than `maxWaitMs` in all is
 * not waited for: the error says when to come back.
 */
import { ApiError, errorOf } from './api-error.ts';
import { tlsFailureOf } from './tls-failure.ts';

export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

export interface ClientOptions {
  /** Address of the service, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  /** How a request is made; default: the global `fetch`. */
  readonly fetch?: Fetch;
  /** A try without an answer is given up after this time; default 30,000 ms. */
  readonly timeoutMs?: number;
  /** Tries of a request, the first included; default 4. */
  readonly attempts?: number;
  /** All waits of a request together; default 30,000 ms. */
  readonly maxWaitMs?: number;
  /** Sent with every request, e.g. `x-request-id`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Of a POST; default: a random one for each call, the same for all its tries. */
  readonly idempotencyKey?: string;
}

export type QueryValue = string | number | boolean | undefined;

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From `/api/…` on. */
  readonly path: string;
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body that is not JSON. */
  readonly raw?: { readonly content: Blob | Uint8Array<ArrayBuffer>; readonly contentType: string };
  /** Whether it can be sent again when it may have been done already; default true. */
  readonly repeatable?: boolean | undefined;
  /** Beyond `timeoutMs`, for answers that wait on purpose. */
  readonly extraTimeMs?: number | undefined;
  readonly options?: CallOptions | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_ATTEMPTS = 4;
const DEFAULT_MAX_WAIT_MS = 30_000;
const FIRST_WAIT_MS = 250;

/** Makes requests with one credential. */
export class HttpTransport {
  readonly #options: ClientOptions;
  readonly #base: string;
  readonly #credential: Readonly<Record<string, string>>;

  /** @throws {ApiError} `invalid_url` when the address is no http(s) URL, `invalid_credential` */
  constructor(options: ClientOptions, credential: Readonly<Record<string, string>>) {
    const url = parsedUrl(options.url);
    if (url === null || !/^https?:$/.test(url.protocol))
      throw ownError(
        'invalid_url',
        `${JSON.stringify(options.url)} is not the address of a service.`,
        'Give an http:// or https:// address, such as http://127.0.0.1:8080.',
      );
    if (url.username !== '' || url.password !== '')
      throw ownError(
        'invalid_url',
        'The address of a service must not contain a user name or a password.',
        'Remove the part before the @.',
      );
    this.#options = options;
    this.#base = url.href.replace(/\/+$/, '');
    this.#credential = Object.fromEntries(Object.entries(credential).map(([name, value]) => [name, sendable(value)]));
  }

  /** @returns the parsed body; undefined of an empty one. @throws {ApiError} */
  async json<Body>(request: HttpRequest): Promise<{ readonly status: number; readonly body: Body }> {
    return this.#send(request, async (response) => {
      const text = await response.text();
      try {
        // Tests compare these types with the OpenAPI document.
        return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as Body };
      } catch {
        throw errorOf(response.status, response.headers, '');
      }
    });
  }

  /** @throws {ApiError} */
  async bytes(request: HttpRequest): Promise<{ readonly bytes: Uint8Array; readonly headers: Headers }> {
    return this.#send(request, async (response) => ({
      bytes: new Uint8Array(await response.arrayBuffer()),
      headers: response.headers,
    }));
  }

  /**
   * An answer whose body is read while it arrives. Only the wait for its beginning has a deadline.
   *
   * @throws {ApiError}
   */
  async stream(request: HttpRequest): Promise<Response> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options;
    const signal = request.options?.signal;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      const response = await this.#fetch(request, this.#initOf(request), late.signal);
      if (!response.ok) throw errorOf(response.status, response.headers, await response.text());
      return response;
    } catch (error) {
      throw this.#named(request, error, { aborted: signal?.aborted === true, late: late.signal.aborted });
    } finally {
      clearTimeout(timer);
    }
  }

  async #send<Result>(request: HttpRequest, read: (response: Response) => Promise<Result>): Promise<Result> {
    const { attempts = DEFAULT_ATTEMPTS, maxWaitMs = DEFAULT_MAX_WAIT_MS } = this.#options;
    const signal = request.options?.signal;
    const init = this.#initOf(request);
    let waited = 0;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#try(request, init, read);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const wait = (error.retryAfterSeconds ?? 0) * 1_000 || FIRST_WAIT_MS * 2 ** (attempt - 1);
        if (attempt >= attempts || waited + wait > maxWaitMs || !mayRepeat(request, error)) throw error;
        waited += wait;
        await pause(wait, signal);
        if (signal?.aborted === true) throw ownError('aborted', ABORTED, '');
      }
    }
  }

  async #try<Result>(
    request: HttpRequest,
    init: RequestInit,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options;
    const deadline = AbortSignal.timeout(timeoutMs + (request.extraTimeMs ?? 0));
    try {
      const response = await this.#fetch(request, init, deadline);
      if (!response.ok) throw errorOf(response.status, response.headers, await response.text());
      return await read(response);
    } catch (error) {
      throw this.#named(request, error, {
        aborted: request.options?.signal?.aborted === true,
        late: deadline.aborted,
      });
    }
  }

  #fetch(request: HttpRequest, init: RequestInit, deadline: AbortSignal): Promise<Response> {
    const { fetch = globalThis.fetch } = this.#options;
    const signal = request.options?.signal;
    return fetch(this.#base + pathOf(request), {
      ...init,
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
  }

  /** The error with the request that it answers, so that a wrong address is seen. */
  #named({ method, path }: HttpRequest, error: unknown, why: { aborted: boolean; late: boolean }): ApiError {
    const request = `${method} ${this.#base}${path}`;
    return error instanceof ApiError ? error.answering(request) : noAnswer(error, this.#base, why).answering(request);
  }

  #initOf({ method, body, raw, headers, options }: HttpRequest): RequestInit {
    const key = method === 'POST' ? { 'idempotency-key': options?.idempotencyKey ?? crypto.randomUUID() } : {};
    const type =
      raw !== undefined
        ? { 'content-type': raw.contentType }
        : body === undefined
          ? {}
          : { 'content-type': 'application/json' };
    return {
      method,
      // A redirect would carry the credential to another place.
      redirect: 'error',
      headers: {
        accept: 'application/json',
        ...type,
        ...key,
        ...headers,
        ...this.#options.headers,
        ...this.#credential,
      },
      ...(raw !== undefined ? { body: raw.content } : body === undefined ? {} : { body: JSON.stringify(body) }),
    };
  }
}

const ABORTED = 'The request was aborted.';

/** An error of the client itself, where the service has not answered. */
const ownError = (code: string, message: string, fix: string, ...cause: readonly unknown[]): ApiError =>
  new ApiError({ code, message, fix, status: null }, cause.length === 0 ? undefined : { cause: cause[0] });

function parsedUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** Fetch would name a value it cannot send, secret or not, in its error. @throws {ApiError} `invalid_credential` */
function sendable(credential: string): string {
  const value = credential.trim();
  if (/^[\x20-\x7e]+$/.test(value)) return value;
  throw ownError(
    'invalid_credential',
    'The credential contains line breaks or other invalid characters.',
    'Give the whole credential, for example amt_…, and nothing else.',
  );
}

function pathOf({ path, query = {} }: HttpRequest): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? path : `${path}?${given}`;
}

function mayRepeat({ method, repeatable = true }: HttpRequest, error: ApiError): boolean {
  if (error.code === 'aborted') return false;
  if (error.status === 429) return true;
  if (error.status === 503 || error.status === null) return repeatable;
  return method === 'POST' && error.code === 'idempotency_conflict' && error.retryAfterSeconds !== null;
}

function noAnswer(error: unknown, url: string, { aborted, late }: { aborted: boolean; late: boolean }): ApiError {
  if (aborted) return ownError('aborted', ABORTED, '', error);
  const message = late ? `${url} did not answer in time.` : `No answer from ${url}: ${reasonOf(error)}.`;
  return late
    ? ownError('timeout', message, 'Try again; if the error persists, check the service (GET /readyz).', error)
    : ownError('unreachable', message, 'Check the address, and that the service is running.', error);
}

/** `fetch failed` says nothing; its innermost cause does. */
function reasonOf(error: unknown): string {
  let reason = error;
  while (reason instanceof Error && reason.cause !== undefined) reason = reason.cause;
  // Several addresses that were all refused: the first error is enough.
  if (reason instanceof AggregateError && reason.errors.length > 0) reason = reason.errors[0];
  if (!(reason instanceof Error)) return String(reason);
  const tls = tlsFailureOf(reason);
  if (tls !== undefined) return tls;
  return reason.message || String(Reflect.get(reason, 'code') ?? reason.name);
}

/** An API key, or the session of a signed-in person; what each may do is in the documentation of the operations. */
export type OrganizationCredential =
  | { readonly apiKey: string; readonly session?: never }
  | {
      readonly session: string;
      readonly apiKey?: never;
      /** Which organization, if the person is a member of several. */
      readonly organizationId?: string;
    };

/** The headers that carry a credential. */
export function credentialHeaders(credential: OrganizationCredential): Readonly<Record<string, string>> {
  if (credential.apiKey !== undefined) return { 'x-organization-key': credential.apiKey };
  const { session, organizationId } = credential;
  return {
    authorization: `Bearer ${session}`,
    ...(organizationId === undefined ? {} : { 'x-organization-id': organizationId }),
  };
}

/** Resolves after the time, or as soon as the signal is aborted. Without modules of Node, so that it runs everywhere. */
export const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (signal?.aborted === true) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
