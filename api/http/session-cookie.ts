/**
 * The session of a browser: a cookie that no script can read. A request with it is accepted only from our own pages,
 * because a browser adds cookies automatically, whatever page made it send the request (RFC 6265bis §8.2).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isCredential } from '#domain/access/credential-format.ts';
import { CatalogueError } from '#domain/errors.ts';

/** The prefix binds the cookie to this host, to HTTPS and to the whole site (RFC 6265bis §4.1.3.2). */
const NAME = '__Host-agent-mailbox-session';
/** On this machine's own addresses there is no HTTPS, and a cookie with the prefix would be refused. */
const LOOPBACK_NAME = 'agent-mailbox-session';
/** As long as browsers keep a cookie; the session itself ends by its own rule, which moves on with use. */
const LIFE_SECONDS = 400 * 86_400;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|(?:[a-z0-9-]+\.)+localhost)$/;
const SAFE_METHODS = new Set(['GET', 'HEAD']);
/** Other headers with a credential; the cookie is used only without them. */
const CREDENTIAL_HEADERS = ['x-organization-key', 'x-operator-key', 'authorization'];

export interface CookieRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Address of this API as clients see it. */
  readonly publicUrl: string;
}

/** Says to the pages that there is a session, so that they ask nothing that would be refused. Grants nothing. */
const MARK_NAME = 'agent-mailbox-signed-in';

/**
 * Values of Set-Cookie that keep a session, or forget it: the session, which no script can read, and the mark that there
 * is one.
 *
 * @param token null: forget it
 */
export function sessionCookies(token: string | null, request: CookieRequest): readonly [session: string, mark: string] {
  const origin = parsedOrigin(request.headers.origin) ?? new URL(request.publicUrl);
  const plain = origin.protocol === 'http:' && LOOPBACK.test(origin.hostname);
  const life = token === null ? 'Max-Age=0' : `Max-Age=${LIFE_SECONDS}`;
  const secure = plain ? [] : ['Secure'];
  return [
    [`${plain ? LOOPBACK_NAME : NAME}=${token ?? ''}`, 'Path=/', life, 'HttpOnly', 'SameSite=Strict', ...secure].join(
      '; ',
    ),
    [`${MARK_NAME}=${token === null ? '' : '1'}`, 'Path=/', life, 'SameSite=Strict', ...secure].join('; '),
  ];
}

/** Whether a request carries the cookie of a session, valid or not. @param cookies value of the header */
export const mayBeSignedIn = (cookies: string | undefined): boolean =>
  cookies?.split('; ').some((cookie) => cookie.startsWith(`${NAME}=`) || cookie.startsWith(`${LOOPBACK_NAME}=`)) ??
  false;

/** Whether the browser reaches the service at an address of its own machine. */
const isLoopback = ({ headers, publicUrl }: Omit<CookieRequest, 'method'>): boolean =>
  LOOPBACK.test(URL.parse(`http://${headers.host ?? ''}`)?.hostname ?? '') ||
  LOOPBACK.test(new URL(publicUrl).hostname);

/**
 * The session token of a request's cookie; undefined when there is none, or another credential is beside it. Elsewhere
 * than on this machine only the name with the prefix counts: a neighbouring host could set the other one, and have a
 * person work in a session of somebody else.
 */
export function sessionOfCookie(request: Omit<CookieRequest, 'method'>): string | undefined {
  const { headers } = request;
  if (CREDENTIAL_HEADERS.some((name) => headers[name] !== undefined)) return undefined;
  const cookies = (headers.cookie ?? '').split(';').map((each) => each.trim());
  for (const name of isLoopback(request) ? [NAME, LOOPBACK_NAME] : [NAME]) {
    const found = cookies.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
    if (found !== undefined && isCredential('session', found)) return found;
  }
  return undefined;
}

/** @throws {CatalogueError} forbidden, when a page of somebody else may have made the browser send the request */
export function requireOwnOrigin(request: CookieRequest): void {
  if (isFromOwnPage(request)) return;
  throw new CatalogueError('forbidden', 'A session cookie is accepted from the pages of this service only.', {
    fix: 'Programs send the session as Authorization: Bearer. In a browser, open the dashboard at its own address; behind a proxy, set API_PUBLIC_URL to that address.',
  });
}

/** Whether a page of this service sent a request. */
export function isFromOwnPage({ method, headers, publicUrl }: CookieRequest): boolean {
  if (headers.origin !== undefined) {
    const origin = parsedOrigin(headers.origin);
    return origin !== undefined && (origin.origin === new URL(publicUrl).origin || origin.host === headers.host);
  }
  // Browsers leave Origin out of requests that read something of the same site, and say so themselves.
  return SAFE_METHODS.has(method) && ['same-origin', 'none'].includes(String(headers['sec-fetch-site']));
}

function parsedOrigin(origin: string | undefined): URL | undefined {
  const url = origin === undefined ? null : URL.parse(origin);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url : undefined;
}
