import type { Sql } from '#db/database.ts';

/**
 * Whoever makes a mailbox or an alias of an address waits until others that make one of the same have committed: a
 * statement after this one sees theirs. Until the end of the transaction. In one order, so that two transactions with the
 * same addresses do not wait for each other.
 *
 * @param addresses the parameter, an array
 */
export const lockingAddresses = (addresses: string): string => /* sql */ `
  select pg_advisory_xact_lock(key)
    from (select distinct hashtextextended('address of mail ' || address, 0) as key
            from unnest(${addresses}::text[]) as address order by 1) as keys`;

const LOCK = lockingAddresses('$1');

export async function lockAddresses(sql: Sql, addresses: readonly string[]): Promise<void> {
  await sql.query(LOCK, [addresses]);
}
