/**
 * Access of programs to one mailbox by OAuth 2.1: authorization code with PKCE (RFC 7636), refresh tokens that are used
 * once, revocation (RFC 7009). The clients are MCP hosts.
 */

import { TOKEN_ACCESSES, type TokenAccess } from '#domain/organizations/mailbox-tokens.ts';

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
