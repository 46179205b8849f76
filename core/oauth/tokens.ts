/**
 * Tokens of programs with access (RFC 6749 §4.1.3, §6). Codes and refresh tokens are used once:
 *
 *   unused ──use──▶ used ──again within 30 s, the new refresh token unused──▶ the same answer: the first one was lost
 *                    └──again otherwise──▶ the grant ends: somebody stole it (RFC 9700 §4.14.2)
 *
 * A code has no second answer (RFC 6749 §4.1.2). Answers are not stored: they are computed from the token that was used.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential, replacingCredential } from '#core/platform/secrets/credentials.ts';
import type { Sql } from '#db/database.ts';
import { CREDENTIAL_RANDOM_BYTES, type CredentialKind, isCredential } from '#domain/access/credential-format.ts';
import {
  ACCESS_TOKEN_LIFE_SECONDS,
  ACCESS_TOKENS_PER_GRANT_MAX,
  REFRESH_REPEAT_SECONDS,
  REFRESH_TOKEN_LIFE_DAYS,
  USED_TOKENS_PER_GRANT_MAX,
} from '#domain/access/oauth.ts';
import { grantSuffices, type SecondFactorPolicy } from '#domain/access/second-factor.ts';
import type { TokenAccess } from '#domain/organizations/mailboxes.ts';
import { endGrant } from './grants.ts';

const DAY_MS = 86_400_000;

export interface NewTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly access: TokenAccess;
}

/** Why there are no tokens, as RFC 6749 §5.2 and RFC 8707 §2 name it. */
export interface TokenRefusal {
  readonly error: 'invalid_grant' | 'invalid_target';
  readonly description: string;
}

export type TokenResult = NewTokens | TokenRefusal;

interface TokenRow {
  readonly grantId: string;
  readonly organizationId: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly resource: string;
  readonly access: TokenAccess;
  /** Null: it was not used. */
  readonly usedAt: Date | null;
  /** Of the credentials that it was exchanged for. */
  readonly salt: Buffer | null;
  readonly isExpired: boolean;
  /** Whether the person who granted the access is still a member. */
  readonly isMember: boolean;
  /** Whether that person had proven a second factor. */
  readonly isProven: boolean;
  readonly policy: SecondFactorPolicy;
}

const refused = (description: string): TokenRefusal => ({ error: 'invalid_grant', description });

/** The grant of a code or refresh token, locked against a second use at the same time. */
async function lockToken(
  sql: Sql,
  hash: Buffer,
  kind: 'code' | 'refresh',
  nowMs: number,
): Promise<TokenRow | undefined> {
  const [row] = await sql.query<TokenRow>(
    `select g.id as "grantId", g.organization_id as "organizationId", g.client_id as "clientId",
            g.redirect_uri as "redirectUri", g.code_challenge as "codeChallenge", g.resource, g.access,
            t.used_at as "usedAt", t.salt, t.expires_at <= $3 as "isExpired",
            exists (select from members m where m.organization_id = g.organization_id and m.user_id = g.user_id)
              as "isMember",
            g.second_factor_at is not null as "isProven", coalesce(o.settings ->> 'secondFactor', 'off') as policy
       from oauth_tokens t join oauth_grants g on g.id = t.grant_id
       join organizations o on o.id = g.organization_id
       join mailboxes x on x.id = g.mailbox_id and x.deleted_at is null
      where t.hash = $1 and t.kind = $2 for update of g, t`,
    [hash, kind, new Date(nowMs)],
  );
  return row;
}

/** The oldest access tokens, and refresh tokens that were used long ago: `$1` grant, `$2` and `$3` how many are kept. */
const SURPLUS = /* sql */ `
  delete from oauth_tokens where hash = any(array(
    (select hash from oauth_tokens where grant_id = $1 and kind = 'access' order by expires_at desc offset $2)
    union all
    (select hash from oauth_tokens where grant_id = $1 and used_at is not null order by used_at desc offset $3)))`;

/** The tokens that a code or refresh token is exchanged for. */
const replacing = (token: string, salt: Buffer, { pepper }: Services) => ({
  accessToken: replacingCredential('oauthAccess', token, salt, pepper),
  refreshToken: replacingCredential('oauthRefresh', token, salt, pepper),
});

/** The answer of an earlier use, whose answer may have been lost; undefined: it must have been received. */
async function earlierAnswer(
  sql: Sql,
  services: Services,
  token: string,
  { usedAt, salt, access }: TokenRow,
): Promise<NewTokens | undefined> {
  if (usedAt === null || salt === null) return undefined;
  if (services.now() - usedAt.getTime() > REFRESH_REPEAT_SECONDS * 1_000) return undefined;
  const tokens = replacing(token, salt, services);
  const unused = await sql.query(`select from oauth_tokens where hash = $1 and used_at is null`, [
    hashCredential(tokens.refreshToken, services.pepper),
  ]);
  return unused.length === 0 ? undefined : { ...tokens, access };
}

/** Uses a code or refresh token. @param check what else the request must say; a text refuses it */
async function useToken(
  services: Services,
  kind: 'code' | 'refresh',
  token: string,
  clientId: string,
  resource: string | undefined,
  caller: Caller,
  check: (row: TokenRow) => string | undefined,
): Promise<TokenResult> {
  const { db, now, pepper } = services;
  const form: CredentialKind = kind === 'code' ? 'oauthCode' : 'oauthRefresh';
  const unknown = refused(`The ${kind === 'code' ? 'code' : 'refresh token'} is unknown, expired or was used before.`);
  if (!isCredential(form, token)) return unknown;
  const hash = hashCredential(token, pepper);
  const salt = randomBytes(CREDENTIAL_RANDOM_BYTES);
  const { accessToken, refreshToken } = replacing(token, salt, services);
  const nowMs = now();
  return db.transaction(async (sql) => {
    const row = await lockToken(sql, hash, kind, nowMs);
    // Issued to another client.
    if (row === undefined || row.clientId !== clientId) return unknown;
    if (row.usedAt !== null) {
      const isSameRequest = kind === 'refresh' && row.isMember && (resource ?? row.resource) === row.resource;
      const earlier = isSameRequest ? await earlierAnswer(sql, services, token, row) : undefined;
      if (earlier !== undefined) return earlier;
      await endGrant(sql, row, caller, `a ${kind === 'code' ? 'code' : 'refresh token'} was used twice`);
      return unknown;
    }
    if (row.isExpired) return unknown;
    if (!grantSuffices(row.policy, row.isProven, row.access))
      return refused(
        'The organization requires a second factor, which the person who granted the access had not proven: connect the program again.',
      );
    if (!row.isMember) return refused('The person who granted the access is no longer a member of the organization.');
    if (resource !== undefined && resource !== row.resource)
      return { error: 'invalid_target', description: 'The resource is not the one the access was given for.' };
    const problem = check(row);
    if (problem !== undefined) return refused(problem);
    const refreshUntil = new Date(nowMs + REFRESH_TOKEN_LIFE_DAYS * DAY_MS);
    await sql.query(
      // Used ones are kept as long as the new one, so that a second use is noticed.
      `update oauth_tokens set used_at = $2, expires_at = greatest(expires_at, $3), salt = $4 where hash = $1`,
      [hash, new Date(nowMs), refreshUntil, salt],
    );
    await sql.query(
      `insert into oauth_tokens (hash, grant_id, kind, expires_at)
       values ($1, $3, 'access', $4), ($2, $3, 'refresh', $5)`,
      [
        hashCredential(accessToken, pepper),
        hashCredential(refreshToken, pepper),
        row.grantId,
        new Date(nowMs + ACCESS_TOKEN_LIFE_SECONDS * 1_000),
        refreshUntil,
      ],
    );
    await sql.query(SURPLUS, [row.grantId, ACCESS_TOKENS_PER_GRANT_MAX, USED_TOKENS_PER_GRANT_MAX]);
    await sql.query(`update oauth_grants set expires_at = $2 where id = $1`, [row.grantId, refreshUntil]);
    return { accessToken, refreshToken, access: row.access };
  });
}

export interface CodeExchange {
  readonly code: string;
  readonly clientId: string;
  /** Undefined: one that no program can have. */
  readonly redirectUri: string | undefined;
  /** Of PKCE. */
  readonly verifier: string;
  readonly resource: string | undefined;
}

/** Exchanges a code for tokens. */
export const exchangeCode = (services: Services, exchange: CodeExchange, caller: Caller): Promise<TokenResult> => {
  const { code, clientId, redirectUri, verifier, resource } = exchange;
  return useToken(services, 'code', code, clientId, resource, caller, (row) => {
    if (row.redirectUri !== redirectUri) return 'The redirect_uri is not the one of the authorization request.';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const isRight =
      challenge.length === row.codeChallenge.length &&
      timingSafeEqual(Buffer.from(challenge), Buffer.from(row.codeChallenge));
    return isRight ? undefined : 'The code_verifier does not match the code_challenge.';
  });
};

export interface Refresh {
  readonly refreshToken: string;
  readonly clientId: string;
  readonly resource: string | undefined;
}

/** Exchanges a refresh token for new tokens. */
export const refreshTokens = (
  services: Services,
  { refreshToken, clientId, resource }: Refresh,
  caller: Caller,
): Promise<TokenResult> => useToken(services, 'refresh', refreshToken, clientId, resource, caller, () => undefined);

/**
 * Revokes a token of a client (RFC 7009): for a refresh token the whole grant ends, for an access token only that token.
 * Unknown tokens, and those of other clients, are no error.
 */
export async function revokeToken(services: Services, token: string, clientId: string, caller: Caller): Promise<void> {
  const { db, pepper } = services;
  const isAccess = isCredential('oauthAccess', token);
  if (!isAccess && !isCredential('oauthRefresh', token)) return;
  await db.transaction(async (sql) => {
    const [row] = await sql.query<{ grantId: string; organizationId: string; clientId: string }>(
      `select g.id as "grantId", g.organization_id as "organizationId", g.client_id as "clientId"
         from oauth_tokens t join oauth_grants g on g.id = t.grant_id
        where t.hash = $1 for update of g`,
      [hashCredential(token, pepper)],
    );
    if (row === undefined || row.clientId !== clientId) return;
    if (isAccess) await sql.query(`delete from oauth_tokens where hash = $1`, [hashCredential(token, pepper)]);
    else await endGrant(sql, row, caller, 'the program revoked its token');
  });
}
