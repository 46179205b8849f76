/**
 * A request of a program for access to a mailbox (RFC 6749 §4.1), until a person decides it:
 *
 *   program ─▶ browser ─▶ request, checked and stored ─▶ person, signed in, picks a mailbox ─▶ code to the program
 *
 * Only a signed-in person decides. No credential of an agent can, and no mail contains a link to a request.
 */
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { hashCredential, newCredential } from '#core/platform/secrets/credentials.ts';
import type { Sql } from '#db/database.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import {
  GRANTS_PER_MAILBOX_MAX,
  OAUTH_CODE_LIFE_SECONDS,
  OAUTH_REQUEST_LIFE_SECONDS,
  OAUTH_REQUESTS_PER_PERSON_AND_HOUR,
  type OAuthClient,
} from '#domain/access/oauth.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { TokenAccess } from '#domain/organizations/mailboxes.ts';
import { endGrant } from './grants.ts';

const HOUR_MS = 3_600_000;

/** A checked request. */
export interface NewOAuthRequest {
  readonly client: OAuthClient;
  /** Registered by the client. */
  readonly redirectUri: string;
  readonly state: string | undefined;
  /** S256. */
  readonly codeChallenge: string;
  /** What the tokens are for (RFC 8707): the address of `/mcp`. */
  readonly resource: string;
  readonly accesses: readonly TokenAccess[];
}

/** Before the document of the client is fetched. @throws {CatalogueError} rate_limited, by person */
export async function limitOAuthRequests({ db, now }: Services, userId: string): Promise<void> {
  const { used, resetsInMs } = await countUse(db, `oauth_request:person:${userId}`, HOUR_MS, now());
  if (used > OAUTH_REQUESTS_PER_PERSON_AND_HOUR)
    throw new CatalogueError('rate_limited', undefined, {
      retryAfterSeconds: Math.max(1, Math.ceil(resetsInMs / 1_000)),
    });
}

/** Stores a request for the person who opened it. */
export async function storeOAuthRequest(
  { db, now }: Services,
  userId: string,
  { client, redirectUri, state, codeChallenge, resource, accesses }: NewOAuthRequest,
): Promise<{ readonly id: string; readonly expiresAt: Date }> {
  const nowMs = now();
  const id = newId('oauthRequest', nowMs);
  const expiresAt = new Date(nowMs + OAUTH_REQUEST_LIFE_SECONDS * 1_000);
  const insert = (sql: Sql) =>
    sql.query(
      `insert into oauth_requests (id, user_id, client_id, client_name, redirect_uri, state, code_challenge, resource,
            accesses, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        id,
        userId,
        client.id,
        client.name,
        redirectUri,
        state ?? null,
        codeChallenge,
        resource,
        accesses,
        new Date(nowMs),
        expiresAt,
      ],
    );
  // In the transaction of the request, so that its answer is stored with it.
  await db.transaction(insert);
  return { id, expiresAt };
}

interface RequestRow {
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectUri: string;
  readonly state: string | null;
  readonly codeChallenge: string;
  readonly resource: string;
  readonly accesses: readonly TokenAccess[];
}

/** Deny: null. */
export type OAuthDecision = { readonly mailboxId: string; readonly access: TokenAccess } | null;

/** Who decides, in which organization. */
export interface OAuthDecider {
  readonly userId: string;
  /** When the person of the session proved a second factor; null: not at all. */
  readonly secondFactorAt: Date | null;
  readonly organizationId: string;
  readonly caller: Caller;
}

/**
 * Decides a request that this person opened, once.
 *
 * @param issuer the address of the service, which the program compares (RFC 9207)
 * @returns the address that the browser opens next: that of the program, with a code or a refusal
 * @throws {CatalogueError} not_found, for the request and the mailbox; invalid_request for an access it did not ask for
 */
export async function decideOAuthRequest(
  { db, now, pepper }: Services,
  id: string,
  { userId, secondFactorAt, organizationId, caller }: OAuthDecider,
  decision: OAuthDecision,
  issuer: string,
): Promise<{ readonly redirectUrl: string }> {
  const nowMs = now();
  const code = newCredential('oauthCode');
  const request = await db.transaction(async (sql) => {
    const [row] = await sql.query<RequestRow>(
      `delete from oauth_requests where id = $1 and user_id = $2 and expires_at > $3
       returning client_id as "clientId", client_name as "clientName", redirect_uri as "redirectUri", state,
                 code_challenge as "codeChallenge", resource, accesses`,
      [id, userId, new Date(nowMs)],
    );
    if (row === undefined)
      throw new CatalogueError('not_found', 'This request was decided before, or has expired.', {
        fix: 'Start again in the program that wants to use the mailbox.',
      });
    if (decision === null) return row;
    const { mailboxId, access } = decision;
    if (!row.accesses.includes(access))
      throw new CatalogueError('invalid_request', undefined, {
        details: [{ path: '/access', message: 'is more than the program asked for' }],
      });
    // Locked, so that concurrent decisions count each other.
    const [mailbox] = await sql.query(
      `select id from mailboxes where id = $1 and organization_id = $2 and deleted_at is null for update`,
      [mailboxId, organizationId],
    );
    if (mailbox === undefined) throw new CatalogueError('not_found', 'There is no such mailbox in this organization.');
    const surplus = await sql.query<{ id: string }>(
      `select id from oauth_grants where mailbox_id = $1 order by coalesce(last_used_at, created_at) desc offset $2`,
      [mailboxId, GRANTS_PER_MAILBOX_MAX - 1],
    );
    for (const each of surplus)
      await endGrant(sql, { grantId: each.id, organizationId }, caller, 'it made room for another program');
    const grantId = newId('oauthGrant', nowMs);
    const expiresAt = new Date(nowMs + OAUTH_CODE_LIFE_SECONDS * 1_000);
    await sql.query(
      `insert into oauth_grants (id, organization_id, mailbox_id, user_id, client_id, client_name, redirect_uri,
              code_challenge, resource, access, created_at, expires_at, second_factor_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
      [
        grantId,
        organizationId,
        mailboxId,
        userId,
        row.clientId,
        row.clientName,
        row.redirectUri,
        row.codeChallenge,
        row.resource,
        access,
        new Date(nowMs),
        expiresAt,
        secondFactorAt,
      ],
    );
    await sql.query(`insert into oauth_tokens (hash, grant_id, kind, expires_at) values ($1, $2, 'code', $3)`, [
      hashCredential(code, pepper),
      grantId,
      expiresAt,
    ]);
    await recordAudit(sql, caller, {
      organizationId,
      action: 'grant.created',
      targetId: grantId,
      details: { mailboxId, access, client: row.clientId },
    });
    return row;
  });
  const url = new URL(request.redirectUri);
  if (decision === null) url.searchParams.set('error', 'access_denied');
  else url.searchParams.set('code', code);
  if (request.state !== null) url.searchParams.set('state', request.state);
  url.searchParams.set('iss', issuer);
  return { redirectUrl: url.href };
}

/** Deletes undecided requests and grants whose code is not exchanged yet. Call it when a password changes. */
export async function deleteOAuthInProgress(sql: Sql, userId: string): Promise<void> {
  await sql.query(`delete from oauth_requests where user_id = $1`, [userId]);
  await sql.query(
    `delete from oauth_grants g using oauth_tokens t
      where g.user_id = $1 and t.grant_id = g.id and t.kind = 'code' and t.used_at is null`,
    [userId],
  );
}
