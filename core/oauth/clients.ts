/**
 * Programs that registered themselves (RFC 7591), because they have no document at an address of their own. Everybody can
 * register, so that a registration proves nothing: a person sees its name as untrusted text and where the access goes.
 *
 *   registered ──a signed-in person opens its request──▶ used ──90 days without one, and without access──▶ deleted
 *       └──nobody did within a day, or its network has the most of too many──▶ deleted
 */
import { networkOf } from '#core/platform/addresses/source-address.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import {
  OAUTH_CLIENT_LIFE_DAYS,
  OAUTH_UNUSED_CLIENT_LIFE_HOURS,
  OAUTH_UNUSED_CLIENTS_MAX,
  type OAuthClient,
  type Registration,
} from '#domain/access/oauth.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Stores a registration. Too many unused ones make room: the oldest of the network that has most of them, again and
 * again. So a flood from a few hundred networks removes its own, and not the one of an honest program.
 *
 * @param ipAddress of the program; its network is kept until a person opens a request
 * @returns the id of the client, which is no secret
 */
export async function registerClient(
  { db, now }: Services,
  { name, redirectUris }: Registration,
  ipAddress: string,
): Promise<{ readonly id: string; readonly createdAt: Date }> {
  const nowMs = now();
  const [id, createdAt] = [newId('oauthClient', nowMs), new Date(nowMs)];
  const expiresAt = new Date(nowMs + OAUTH_UNUSED_CLIENT_LIFE_HOURS * HOUR_MS);
  await db.transaction(async (sql) => {
    await sql.query(
      `insert into oauth_clients (id, name, redirect_uris, network, created_at, expires_at)
       values ($1, $2, $3, $4, $5, $6)`,
      [id, name, redirectUris, networkOf(ipAddress), createdAt, expiresAt],
    );
    const [counted] = await sql.query<{ unused: number }>(
      `select count(*)::int as unused from oauth_clients where used_at is null`,
    );
    const unused = counted?.unused ?? 0;
    if (unused <= OAUTH_UNUSED_CLIENTS_MAX) return;
    await sql.query(
      `delete from oauth_clients where id = any(array(
         select id from (select id, row_number() over (partition by network order by id desc) as nth
                           from oauth_clients where used_at is null) newest_first
          order by nth desc, id limit $1))`,
      [unused - OAUTH_UNUSED_CLIENTS_MAX],
    );
  });
  return { id, createdAt };
}

/** The registration with this id, for a request that a person opened: it is kept from now on. */
export async function useRegisteredClient({ db, now }: Services, id: string): Promise<OAuthClient | undefined> {
  const nowMs = now();
  const [row] = await db.query<Registration>(
    `update oauth_clients set used_at = $2, expires_at = $3, network = null
      where id = $1 and (expires_at > $2 or exists (select from oauth_grants g where g.client_id = oauth_clients.id))
     returning name, redirect_uris as "redirectUris"`,
    [id, new Date(nowMs), new Date(nowMs + OAUTH_CLIENT_LIFE_DAYS * DAY_MS)],
  );
  return row && { id, ...row };
}
