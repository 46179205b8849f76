/** The OpenID provider of the installation: its metadata, and its answer about a person. */
import { createHash } from 'node:crypto';
import * as client from 'openid-client';
import type { Settings } from '#core/platform/settings/settings.ts';
import {
  OIDC_ANSWER_MAX_BYTES,
  OIDC_ANSWERS_KEPT_MAX,
  OIDC_METADATA_LIFE_SECONDS,
  OIDC_SIGN_IN_LIFE_SECONDS,
  OIDC_SUBJECT_MAX_CHARACTERS,
  OIDC_TIMEOUT_SECONDS,
  type OidcClaims,
} from '#domain/access/oidc.ts';

/** What the operator has set. */
export interface OidcProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** For people. */
  readonly name: string;
  /** Empty: all. */
  readonly domains: readonly string[];
  /** Values of `amr` and `acr` that count as second factor. */
  readonly secondFactor: readonly string[];
  /** The issuer may be at an address without TLS. */
  readonly allowsPlain: boolean;
}

/** @returns undefined: none is set */
export function oidcProviderOf(settings: Settings): OidcProvider | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = settings;
  if (issuer === undefined || clientId === undefined) return undefined;
  return {
    issuer,
    clientId,
    clientSecret: settings.OIDC_CLIENT_SECRET,
    name: settings.OIDC_NAME,
    domains: settings.OIDC_EMAIL_DOMAINS,
    secondFactor: settings.OIDC_SECOND_FACTOR,
    allowsPlain: settings.MODE !== 'production',
  };
}

/** `fetch` with a limit of the answer. Redirects are not followed: the library asks for that. */
const boundedFetch: client.CustomFetch = async (address, options) => {
  // The library types the body for every runtime; this one takes all that it sends.
  const response = await fetch(address, options as RequestInit);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > OIDC_ANSWER_MAX_BYTES) throw new Error(`the answer is larger than ${OIDC_ANSWER_MAX_BYTES} bytes`);
    parts.push(part);
  }
  const { status, headers } = response;
  return new Response(size === 0 ? null : Buffer.concat(parts), { status, headers });
};

interface Kept<Answer> {
  readonly answer: Promise<Answer>;
  readonly untilMs: number;
}
const configurations = new Map<string, Kept<client.Configuration>>();
const exchanges = new Map<string, Kept<OidcClaims>>();

/** Asks once for all who want the same, and again when its time is over. A failure is not kept. */
function askOnce<Answer>(
  kept: Map<string, Kept<Answer>>,
  key: string,
  { nowMs, lifeSeconds }: { readonly nowMs: number; readonly lifeSeconds: number },
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const known = kept.get(key);
  if (known !== undefined && known.untilMs > nowMs) return known.answer;
  const answer = ask();
  kept.delete(key);
  kept.set(key, { answer, untilMs: nowMs + lifeSeconds * 1_000 });
  const [oldest] = kept.size > OIDC_ANSWERS_KEPT_MAX ? kept.keys() : [];
  if (oldest !== undefined) kept.delete(oldest);
  answer.catch(() => kept.delete(key));
  return answer;
}

/** Asks the provider for its metadata. @throws {Error} it is not reachable, or wrong */
export function discoverProvider(provider: OidcProvider): Promise<client.Configuration> {
  const { issuer, clientId, clientSecret, allowsPlain } = provider;
  return client.discovery(
    new URL(issuer),
    clientId,
    undefined,
    clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret),
    {
      timeout: OIDC_TIMEOUT_SECONDS,
      [client.customFetch]: boundedFetch,
      execute: allowsPlain && issuer.startsWith('http:') ? [client.allowInsecureRequests] : [],
    },
  );
}

/** The same, shared for an hour. */
const configurationOf = (provider: OidcProvider, nowMs: number): Promise<client.Configuration> =>
  askOnce(
    configurations,
    JSON.stringify([provider.issuer, provider.clientId]),
    { nowMs, lifeSeconds: OIDC_METADATA_LIFE_SECONDS },
    () => discoverProvider(provider),
  );

/** Secrets of one sign-in: none of them is stored. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
}

/** The address at which a browser signs in. @throws {Error} the provider is not reachable, or its metadata is wrong */
export async function authorizationUrl(
  provider: OidcProvider,
  { state, nonce, verifier }: SignInSecrets,
  redirectUri: string,
  nowMs: number,
): Promise<string> {
  const configuration = await configurationOf(provider, nowMs);
  return client.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: 'openid email profile',
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).href;
}

/**
 * Exchanges what a browser returned with. The provider takes a code once, so its answer is kept in this process for the
 * time of a sign-in: a request that failed afterwards, at the database, can be repeated. That it counts once is up to the
 * caller.
 *
 * @throws {Error} it is wrong, or the provider does not answer
 */
export const claimsOf = (
  provider: OidcProvider,
  secrets: SignInSecrets,
  returnedTo: URL,
  nowMs: number,
): Promise<OidcClaims> => {
  const parts = [provider.issuer, provider.clientId, secrets.verifier, returnedTo.href];
  const key = createHash('sha256').update(JSON.stringify(parts)).digest('base64');
  return askOnce(exchanges, key, { nowMs, lifeSeconds: OIDC_SIGN_IN_LIFE_SECONDS }, () =>
    exchangeCode(provider, secrets, returnedTo, nowMs),
  );
};

async function exchangeCode(
  provider: OidcProvider,
  { state, nonce, verifier }: SignInSecrets,
  returnedTo: URL,
  nowMs: number,
): Promise<OidcClaims> {
  const configuration = await configurationOf(provider, nowMs);
  const tokens = await client.authorizationCodeGrant(configuration, returnedTo, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (claims === undefined || claims.sub.length > OIDC_SUBJECT_MAX_CHARACTERS) throw new Error('there is no subject');
  const about =
    claims['email'] === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
      ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
      : claims;
  const { email, email_verified: isVerified } = about;
  const methods = [claims.acr, ...(Array.isArray(claims.amr) ? claims.amr : [])];
  return {
    subject: claims.sub,
    email: typeof email === 'string' && isVerified === true ? email.toLowerCase() : null,
    methods: methods.filter((each) => typeof each === 'string'),
  };
}
