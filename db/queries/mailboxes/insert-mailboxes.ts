import type { Sql } from '#db/database.ts';
import type { MailRetention } from '#domain/mail/mail-retention.ts';
import type { MailboxStatus, SyncStatus } from '#domain/organizations/mailboxes.ts';
import type { Brakes, SendingMode } from '#domain/sending/sending-brakes.ts';
import { lockingAddresses } from './address-locks.ts';

export interface MailboxInsert {
  readonly id: string;
  readonly organizationId: string;
  readonly localPart: string;
  readonly domain: string;
  readonly address: string;
  readonly name: string;
  readonly purpose: string | null;
  readonly group: string | null;
  readonly status: MailboxStatus;
  readonly syncStatus: SyncStatus;
  readonly tokenHash: Buffer;
  readonly metadata: Readonly<Record<string, string>>;
  readonly expiresAt: Date | null;
  readonly retention: MailRetention | null;
  readonly clientId: string | null;
  readonly clientHash: Buffer | null;
  readonly createdAt: Date;
}

/** The brakes that the organization gives new mailboxes. */
export interface InsertedBrakes {
  readonly brakes: Brakes;
  /** Whether all sending of the organization is stopped. */
  readonly organizationStopped: boolean;
}

interface InsertedRow {
  id: string;
  sending_mode: SendingMode;
  messages_per_day: number | null;
  new_recipients_per_day: number | null;
  organization_stopped: boolean;
}

/** Ordered by address, so that two groups that want the same addresses wait for each other in one direction only. */
const INSERT = /* sql */ `
  with locked as materialized (${lockingAddresses('$5')}), made as (
    insert into mailboxes (id, organization_id, local_part, domain, address, name, status, sync_status, token_hash,
        metadata, client_id, created_at, updated_at, purpose, sending_mode, messages_per_day,
        new_recipients_per_day, group_name, client_hash, expires_at, retention)
    select i.id, i.organization_id, i.local_part, i.domain, i.address, i.name, i.status, i.sync_status, i.token_hash,
           i.metadata, i.client_id, i.created_at, i.created_at, i.purpose,
           coalesce(o.settings->>'newMailboxSendingMode', 'normal'), (o.settings->>'newMailboxDailyMessages')::int,
           (o.settings->>'newMailboxDailyNewRecipients')::int,
           i.group_name, i.client_hash, i.expires_at, i.retention
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
             $9::bytea[], $10::jsonb[], $11::text[], $12::timestamptz[], $14::text[], $15::text[], $16::bytea[], $17::timestamptz[],
             $18::jsonb[])
        as i(id, organization_id, local_part, domain, address, name, status, sync_status, token_hash, metadata,
             client_id, created_at, purpose, group_name, client_hash, expires_at, retention)
      join organizations o on o.id = i.organization_id
     where (select count(locked) from locked) >= 0
       and not exists (select 1 from mailboxes gone where gone.address = i.address and gone.deleted_at > $13)
       and not exists (select from mailbox_alias a
                        where a.address = i.address and (a.deleted_at is null or a.deleted_at > $13))
     order by i.address
        on conflict do nothing
    returning id, organization_id, sending_mode, messages_per_day, new_recipients_per_day
  )
  select made.id, made.sending_mode, made.messages_per_day, made.new_recipients_per_day,
         coalesce((o.settings->>'sendingStopped')::bool, false) as organization_stopped
    from made join organizations o on o.id = made.organization_id`;

/**
 * Inserts mailboxes whose address and client id are free, with the brakes that their organization gives new mailboxes.
 *
 * @param reusableBefore addresses deleted since then are not free yet
 * @returns those inserted, by id
 */
export async function insertMailboxes(
  sql: Sql,
  mailboxes: readonly MailboxInsert[],
  reusableBefore: Date,
): Promise<ReadonlyMap<string, InsertedBrakes>> {
  const rows = await sql.query<InsertedRow>(INSERT, [
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
    mailboxes.map(({ purpose }) => purpose),
    mailboxes.map(({ group }) => group),
    mailboxes.map(({ clientHash }) => clientHash),
    mailboxes.map(({ expiresAt }) => expiresAt),
    mailboxes.map(({ retention }) => (retention === null ? null : JSON.stringify(retention))),
  ]);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        brakes: {
          mode: row.sending_mode,
          budgets: { messagesPerDay: row.messages_per_day, newRecipientsPerDay: row.new_recipients_per_day },
        },
        organizationStopped: row.organization_stopped,
      },
    ]),
  );
}

/** Which of these addresses belonged to a mailbox that was deleted since, or are those of an alias. */
export async function addressesTakenSince(sql: Sql, addresses: readonly string[], since: Date): Promise<string[]> {
  const rows = await sql.query<{ address: string }>(
    `select address from mailboxes where address = any($1) and deleted_at > $2
     union all
     select address from mailbox_alias where address = any($1) and (deleted_at is null or deleted_at > $2)`,
    [addresses, since],
  );
  return rows.map(({ address }) => address);
}
