/**
 * Access of programs to one mailbox by OAuth 2.1: authorization code with PKCE (RFC 7636), refresh tokens that are used
 * once, revocation (RFC 7009). The clients are MCP hosts.
 *
 * Programs that ask for access by OAuth. The id of a client is the https URL of a document that describes it (OAuth Client
 * ID Metadata Document); or that of its registration (RFC 7591), for programs without such a document. Either description
 * is untrusted content. Of a document at least the host is known, of a registration nothing.
 */

import { idPattern } from '#domain/ids.ts';
import { oneLine } from '#domain/mail/text-forms.ts';
import { TOKEN_ACCESSES, type TokenAccess } from '#domain/organizations/mailboxes.ts';

/** Time in which a person can decide a request of a program. */
export const OAUTH_REQUEST_LIFE_SECONDS = 600;
export const OAUTH_CODE_LIFE_SECONDS = 60;
export const ACCESS_TOKEN_LIFE_SECONDS = 3_600;
/** Since its last use, each of which makes a new one. */
export const REFRESH_TOKEN_LIFE_DAYS = 60;
/**
 * Time in which a used refresh token gets the answer of its use again, as long as the refresh token in it is unused: that
 * answer may have been lost. A later use ends the grant (RFC 9700 §4.14.2).
 */
export const REFRESH_REPEAT_SECONDS = 30;
/**
 * Tokens of one grant that are kept: valid access tokens, and used refresh tokens, whose second use is noticed. A program
 * that asks every half hour has fewer, and one that asks without end does not fill the disk.
 */
export const ACCESS_TOKENS_PER_GRANT_MAX = 100;
export const USED_TOKENS_PER_GRANT_MAX = 3_000;
/** Requests of programs that one person can open within an hour: each fetches a document. */
export const OAUTH_REQUESTS_PER_PERSON_AND_HOUR = 60;
/** Token requests and revocations from one source. Hosts in the cloud use one source for many people. */
export const OAUTH_TOKEN_REQUESTS_PER_SOURCE_AND_MINUTE = 600;
/** Registrations of programs (RFC 7591) from one source. Hosts in the cloud use one source for many people. */
export const OAUTH_REGISTRATIONS_PER_SOURCE_AND_HOUR = 60;
/** A registration with which nobody opened a request is deleted after this time. */
export const OAUTH_UNUSED_CLIENT_LIFE_HOURS = 24;
/** Such registrations that are kept; the oldest of the network with most of them makes room. */
export const OAUTH_UNUSED_CLIENTS_MAX = 10_000;
/** A registration is kept this long after its last request, and as long as it has access. */
export const OAUTH_CLIENT_LIFE_DAYS = 90;
/** Programs that may be connected with one mailbox; the one used least recently makes room. */
export const GRANTS_PER_MAILBOX_MAX = 100;

/** The query of an authorization request, with all parameters. */
export const OAUTH_QUERY_MAX_CHARACTERS = 6_000;
export const OAUTH_STATE_MAX_CHARACTERS = 2_048;
/** RFC 6749 appendix A.5: visible ASCII and spaces. Anything else, such as U+0000, could not be stored. */
export const OAUTH_STATE = /^[\x20-\x7e]+$/;
/** The body of a request for tokens. */
export const OAUTH_FORM_MAX_BYTES = 16_384;

export const scopeOfAccess = (access: TokenAccess): string => `mailbox:${access}`;
export const OAUTH_SCOPES: readonly string[] = TOKEN_ACCESSES.map(scopeOfAccess);

/**
 * The accesses that a person may grant to a program with these scopes: never more than it asked for. Unknown scopes, such
 * as `offline_access`, are ignored. Without a known scope, every access may be granted.
 */
export function accessesFor(scope: string | undefined): readonly TokenAccess[] {
  const asked = TOKEN_ACCESSES.filter((access) => scope?.split(/ +/).includes(scopeOfAccess(access)));
  return asked.length === 0 || asked.includes('full') ? TOKEN_ACCESSES : asked;
}

/** RFC 7636 §4.2: SHA-256 in base64url. */
export const CODE_CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
/** RFC 7636 §4.1. */
export const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

export const CLIENT_ID_MAX_CHARACTERS = 1_024;
export const CLIENT_DOCUMENT_MAX_BYTES = 16_384;
export const CLIENT_DOCUMENT_TIMEOUT_MS = 5_000;
export const CLIENT_NAME_MAX_CHARACTERS = 100;
const REDIRECT_URIS_MAX = 50;
const REDIRECT_URI_MAX_CHARACTERS = 2_048;

export interface OAuthClient {
  /** The URL of its document, or the id of its registration. */
  readonly id: string;
  /** What it calls itself, on one line. */
  readonly name: string;
  /** As `redirectUriOf` returns them. */
  readonly redirectUris: readonly string[];
}

const LOOPBACK_HOSTS = new Set(['127.0.0.1', '[::1]', 'localhost']);
/**
 * Schemes of programs that are installed on a computer. RFC 8252 §7.1 asks for names with a period; these have none.
 * Everything else is refused: a browser would run `javascript:` with the rights of our page.
 */
const SCHEMES_OF_PROGRAMS = new Set(['cursor:', 'vscode:', 'vscode-insiders:', 'windsurf:']);
const SCHEME_WITH_PERIOD = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;

/** RFC 3986: others stand percent-encoded. `URL` would take a line break or U+0000 and drop or encode it. */
const URI_CHARACTERS = /^[\x21-\x7e]+$/;

const REGISTERED = new RegExp(idPattern('oauthClient'));
export const isRegistrationId = (text: string): boolean => REGISTERED.test(text);

/** Host of the document of a client; null for a registration, whose name nobody confirms. */
export const hostOfClient = (id: string): string | null => (isRegistrationId(id) ? null : new URL(id).host);

/** @returns why a text cannot be the id of a client with a document; undefined: it can */
export function problemOfClientId(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || text.length > CLIENT_ID_MAX_CHARACTERS) return 'must be the https URL of a document';
  if (url.protocol !== 'https:') return 'must be an https URL';
  if (url.pathname === '/') return 'must have a path';
  if (url.hash !== '' || text.includes('#')) return 'must have no fragment';
  if (url.username !== '' || url.password !== '') return 'must have no user name';
  // Also dot segments, a default port or a host in capitals: two spellings would be two clients.
  return url.href === text ? undefined : `must be written as ${url.href}`;
}

/** Whether a program on the same computer listens there. */
export const isLoopback = (url: URL): boolean => url.protocol === 'http:' && LOOPBACK_HOSTS.has(url.hostname);

/**
 * The form in which a redirect URI is stored, compared and opened: that of the parser. A text that the parser would change,
 * such as `https:evil` or `http://2130706433/`, names another place for its reader than for a browser (RFC 3986 §6); only
 * the slash of an empty path may be missing.
 *
 * @returns undefined: not allowed
 */
export function redirectUriOf(text: string): string | undefined {
  if (!URI_CHARACTERS.test(text) || text.length > REDIRECT_URI_MAX_CHARACTERS || text.includes('#')) return undefined;
  const url = URL.parse(text);
  if (url === null || (text !== url.href && text !== url.origin)) return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  const { protocol } = url;
  const isAllowed =
    protocol === 'https:' || isLoopback(url) || SCHEMES_OF_PROGRAMS.has(protocol) || SCHEME_WITH_PERIOD.test(protocol);
  return isAllowed ? url.href : undefined;
}

/**
 * Whether a client has registered a redirect URI: exactly this one, except that the port of a loopback address is free
 * (RFC 6749 §3.1.2.3, RFC 8252 §7.3).
 *
 * @param redirectUri as `redirectUriOf` returns it
 */
export const isRegistered = (client: OAuthClient, redirectUri: string): boolean =>
  client.redirectUris.some((each) => each === redirectUri || withoutPort(each) === withoutPort(redirectUri));

/** Of an address that is not loopback: nothing that another could equal. */
function withoutPort(text: string): string | symbol {
  const url = new URL(text);
  if (!isLoopback(url)) return Symbol();
  url.port = '';
  return url.href;
}

/** @returns the client, or why its document cannot be used */
export function readClientDocument(clientId: string, document: unknown): OAuthClient | { readonly problem: string } {
  const fields = fieldsOf(document);
  if (fields['client_id'] !== clientId) return { problem: 'its client_id is not its own address' };
  const problem = problemOfMethod(fields) ?? problemOfRedirects(fields);
  if (problem !== undefined) return { problem };
  // Those that are not allowed open nothing.
  return { id: clientId, name: nameOf(fields, new URL(clientId).host), redirectUris: redirectsOf(fields) };
}

/** What a program says when it registers. */
export type Registration = Omit<OAuthClient, 'id'>;

/** As RFC 7591 §3.2.2 names it. */
export interface RegistrationProblem {
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata';
  readonly problem: string;
}

const UNNAMED = 'A program without a name';

/** Reads the metadata of a registration (RFC 7591 §2). Fields that are not listed here are ignored. */
export function readRegistration(document: unknown): Registration | RegistrationProblem {
  const fields = fieldsOf(document);
  const problem =
    problemOfMethod(fields) ??
    problemOfList(fields['grant_types'], 'grant_types', 'authorization_code') ??
    problemOfList(fields['response_types'], 'response_types', 'code');
  if (problem !== undefined) return { error: 'invalid_client_metadata', problem };
  const wrong = problemOfRedirects(fields);
  if (wrong !== undefined) return { error: 'invalid_redirect_uri', problem: wrong };
  const redirectUris = redirectsOf(fields);
  if (redirectUris.length < Object(fields['redirect_uris']).length)
    return {
      error: 'invalid_redirect_uri',
      problem:
        'each of redirect_uris must be https, http on 127.0.0.1, [::1] or localhost, or the scheme of an installed program, without fragment or user name, and written as a browser would write it',
    };
  return { name: nameOf(fields, UNNAMED), redirectUris };
}

const fieldsOf = (document: unknown): Readonly<Record<string, unknown>> => Object(document ?? {});

const problemOfMethod = (fields: Readonly<Record<string, unknown>>): string | undefined =>
  (fields['token_endpoint_auth_method'] ?? 'none') === 'none'
    ? undefined
    : 'it asks for a client secret or key: token_endpoint_auth_method must be none';

function problemOfRedirects(fields: Readonly<Record<string, unknown>>): string | undefined {
  const uris = fields['redirect_uris'];
  return !Array.isArray(uris) || uris.length === 0 || uris.length > REDIRECT_URIS_MAX
    ? `redirect_uris must be a list of 1 to ${REDIRECT_URIS_MAX}`
    : undefined;
}

/** Absent: the server chooses. */
const problemOfList = (given: unknown, name: string, needed: string): string | undefined =>
  given === undefined || (Array.isArray(given) && given.includes(needed)) ? undefined : `${name} must have ${needed}`;

function redirectsOf(fields: Readonly<Record<string, unknown>>): string[] {
  const uris: unknown = fields['redirect_uris'];
  if (!Array.isArray(uris)) return [];
  return uris.flatMap((each: unknown) => (typeof each === 'string' ? (redirectUriOf(each) ?? []) : []));
}

function nameOf(fields: Readonly<Record<string, unknown>>, otherwise: string): string {
  const name = typeof fields['client_name'] === 'string' ? oneLine(fields['client_name']) : '';
  return name.toWellFormed().slice(0, CLIENT_NAME_MAX_CHARACTERS).toWellFormed() || otherwise;
}
