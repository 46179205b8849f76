import type { MailboxStatus, SyncStatus } from '../../domain/mailbox-status.ts';
import type { Sql } from '../database.ts';

export interface MailboxInsert {
  readonly id: string;
  readonly organizationId: string;
  readonly localPart: string;
  readonly domain: string;
  readonly address: string;
  readonly name: string;
  readonly status: MailboxStatus;
  readonly syncStatus: SyncStatus;
  readonly tokenHash: Buffer;
  readonly metadata: Readonly<Record<string, string>>;
  readonly clientId: string | null;
  readonly createdAt: Date;
}

/** Ordered by address, so that two groups that want the same addresses wait for each other in one direction only. */
const INSERT = /* sql */ `
  insert into mailboxes (id, organization_id, local_part, domain, address, name, status, sync_status, token_hash,
      metadata, client_id, created_at, updated_at)
  select i.id, i.organization_id, i.local_part, i.domain, i.address, i.name, i.status, i.sync_status, i.token_hash,
         i.metadata, i.client_id, i.created_at, i.created_at
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
           $9::bytea[], $10::jsonb[], $11::text[], $12::timestamptz[])
      as i(id, organization_id, local_part, domain, address, name, status, sync_status, token_hash, metadata,
           client_id, created_at)
   where not exists (select 1 from mailboxes gone where gone.address = i.address and gone.deleted_at > $13)
   order by i.address
      on conflict do nothing
  returning id`;

/**
 * Inserts mailboxes whose address and client id are free.
 *
 * @param reusableBefore addresses deleted since then are not free yet
 * @returns ids of those inserted
 */
export async function insertMailboxes(
  sql: Sql,
  mailboxes: readonly MailboxInsert[],
  reusableBefore: Date,
): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ id: string }>(INSERT, [
    mailboxes.map(({ id }) => id),
    mailboxes.map(({ organizationId }) => organizationId),
    mailboxes.map(({ localPart }) => localPart),
    mailboxes.map(({ domain }) => domain),
    mailboxes.map(({ address }) => address),
    mailboxes.map(({ name }) => name),
    mailboxes.map(({ status }) => status),
    mailboxes.map(({ syncStatus }) => syncStatus),
    mailboxes.map(({ tokenHash }) => tokenHash),
    mailboxes.map(({ metadata }) => JSON.stringify(metadata)),
    mailboxes.map(({ clientId }) => clientId),
    mailboxes.map(({ createdAt }) => createdAt),
    reusableBefore,
  ]);
  return new Set(rows.map(({ id }) => id));
}

/** Which of these addresses belonged to a mailbox that was deleted since. */
export async function addressesDeletedSince(sql: Sql, addresses: readonly string[], since: Date): Promise<string[]> {
  const rows = await sql.query<{ address: string }>(
    `select address from mailboxes where address = any($1) and deleted_at > $2`,
    [addresses, since],
  );
  return rows.map(({ address }) => address);
}
