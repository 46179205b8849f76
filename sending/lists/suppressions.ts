/**
 * The suppression list of an organization: addresses that do not exist (5.1.x) or whose owner complained. Nothing is
 * sent to them until a person removes the entry.
 */

import { recordAudit } from '#core/organizations/audit.ts';
import { requireDecider } from '#core/organizations/may-decide.ts';
import type { Caller } from '#core/platform/caller.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';

export type SuppressionReason = 'hard_bounce' | 'complaint';

export interface Suppression {
  readonly id: string;
  /** In lower case. */
  readonly address: string;
  readonly reason: SuppressionReason;
  /** The message that bounced or was complained of. */
  readonly messageId: string | null;
  readonly createdAt: Date;
}

const SUPPRESSION = `id, address, reason, message_id as "messageId", created_at as "createdAt"`;

/**
 * SQL: how the entry of an erased correspondent has the address, so that nothing is sent to it all the same.
 *
 * @param organizationId and `address`: SQL expressions
 */
export const erasedAddress = (organizationId: string, address: string): string =>
  `'sha256:' || encode(sha256(convert_to(${organizationId} || ' ' || ${address}, 'UTF8')), 'hex')`;

/** Those of the addresses (in lower case) that are on the list. */
export const findSuppressed = (
  sql: Sql,
  organizationId: string,
  addresses: readonly string[],
): Promise<{ address: string; reason: SuppressionReason }[]> => sql.query(FIND, [organizationId, addresses]);

const FIND = `
  select a.address, s.reason
    from unnest($2::text[]) as a (address)
    join suppression s on s.organization_id = $1 and s.address in (a.address, ${erasedAddress('$1::text', 'a.address')})`;

/** Adds addresses; an existing entry does not change. Call it in the transaction that records why. */
export async function suppress(
  sql: Sql,
  { organizationId, messageId }: { readonly organizationId: string; readonly messageId: string },
  reason: SuppressionReason,
  addresses: readonly string[],
  now: Date,
): Promise<void> {
  // In one order, so that two transactions with the same addresses do not wait for each other.
  const sorted = [...new Set(addresses.map((address) => address.toLowerCase()))].sort();
  if (sorted.length === 0) return;
  await sql.query(
    `insert into suppression (id, organization_id, address, reason, message_id, created_at)
     select id, $1, address, $2, $3, $4 from unnest($5::text[], $6::text[]) as s (id, address) order by address
     on conflict (organization_id, address) do nothing`,
    [organizationId, reason, messageId, now, sorted.map(() => newId('suppression')), sorted],
  );
}

/** Newest first; one more than `limit`. */
export const listSuppressions = (
  sql: Sql,
  organizationId: string,
  filter: { readonly address: string | null; readonly reason: SuppressionReason | null },
  page: { readonly limit: number; readonly after: string | null },
): Promise<Suppression[]> =>
  sql.query<Suppression>(
    `select ${SUPPRESSION} from suppression
      where organization_id = $1 and ($2::text is null or address in ($2, ${erasedAddress('$1::text', '$2::text')})) and ($3::text is null or reason = $3)
        and ($4::text is null or id < $4)
      order by id desc limit $5`,
    [organizationId, filter.address?.toLowerCase() ?? null, filter.reason, page.after, page.limit + 1],
  );

/** For a person. @throws {CatalogueError} not_found, forbidden */
export async function removeSuppression(
  { db }: Pick<Services, 'db'>,
  organizationId: string,
  caller: Caller,
  id: string,
): Promise<void> {
  await db.transaction(async (sql) => {
    const [row] = await sql.query<Suppression>(
      `delete from suppression where organization_id = $1 and id = $2 returning ${SUPPRESSION}`,
      [organizationId, id],
    );
    if (row === undefined) throw new CatalogueError('not_found');
    await requireDecider(sql, organizationId, caller);
    await recordAudit(sql, caller, {
      organizationId,
      action: 'suppression.deleted',
      targetId: id,
      details: { address: row.address, reason: row.reason },
    });
  });
}
