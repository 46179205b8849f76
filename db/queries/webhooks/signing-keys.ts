import type { Sql } from '#db/database.ts';

export interface PublicSigningKey {
  /** Thumbprint of the public key (RFC 7638), `kid` in key sets. */
  readonly id: string;
  /** `whpk_…` */
  readonly publicKey: string;
  readonly createdAt: Date;
  /** Until then it signs beside its successor; null: it is the one that signs. */
  readonly expiresAt: Date | null;
}

export interface SealedSigningKey {
  readonly id: string;
  readonly publicKey: string;
  readonly privateKeySealed: string;
}

const IN_FORCE = '(expires_at is null or expires_at > now())';
const COLUMNS = 'id, public_key as "publicKey", created_at as "createdAt", expires_at as "expiresAt"';

/**
 * SQL expression: ids and sealed private keys with which an endpoint's deliveries are signed, the newest first; null:
 * the endpoint did not ask for it.
 *
 * @param endpoint alias of the endpoint's row
 */
export const signingKeysOf = (endpoint: string): string => /* sql */ `
  case when ${endpoint}.public_key_signature then array(
    select array[k.id, k.private_key_sealed] from webhook_signing_key k
     where k.organization_id = ${endpoint}.organization_id and ${IN_FORCE}
     order by k.expires_at desc nulls first) end`;

/** Those with which an organization's webhooks are signed, the newest first. */
export const signingKeysInForce = (sql: Sql, organizationId: string): Promise<PublicSigningKey[]> =>
  sql.query<PublicSigningKey>(
    `select ${COLUMNS} from webhook_signing_key
      where organization_id = $1 and ${IN_FORCE} order by expires_at desc nulls first`,
    [organizationId],
  );

/** Those of one organization, or of all (null): the newest, at most `limit`. */
export const publishedSigningKeys = (
  sql: Sql,
  organizationId: string | null,
  limit: number,
): Promise<PublicSigningKey[]> =>
  sql.query<PublicSigningKey>(
    `select ${COLUMNS} from webhook_signing_key
      where ($1::text is null or organization_id = $1) and ${IN_FORCE}
      order by created_at desc, id limit $2`,
    [organizationId, limit],
  );

export async function hasSigningKey(sql: Sql, organizationId: string): Promise<boolean> {
  const rows = await sql.query(`select from webhook_signing_key where organization_id = $1 and expires_at is null`, [
    organizationId,
  ]);
  return rows.length > 0;
}

/** Adds the key that signs from now on, unless there is one. */
export async function addSigningKey(sql: Sql, organizationId: string, key: SealedSigningKey): Promise<void> {
  await sql.query(
    `insert into webhook_signing_key (id, organization_id, public_key, private_key_sealed) values ($1, $2, $3, $4)
     on conflict (organization_id) where expires_at is null do nothing`,
    [key.id, organizationId, key.publicKey, key.privateKeySealed],
  );
}

/**
 * Ends the key that signs, and every earlier one at once. Call it under the lock of the organization.
 *
 * @param expiresAt until then it signs beside the next one; null: it is deleted
 */
export async function endSigningKeys(sql: Sql, organizationId: string, expiresAt: Date | null): Promise<void> {
  await sql.query(
    `delete from webhook_signing_key where organization_id = $1 and ($2::timestamptz is null or expires_at is not null)`,
    [organizationId, expiresAt],
  );
  await sql.query(`update webhook_signing_key set expires_at = $2 where organization_id = $1`, [
    organizationId,
    expiresAt,
  ]);
}
