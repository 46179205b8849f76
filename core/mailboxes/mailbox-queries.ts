import type { Sql } from '#db/database.ts';
import { shownAs } from '#db/queries/mailboxes/status-now.ts';
import { CatalogueError } from '#domain/errors.ts';
import { firstIdAt } from '#domain/ids.ts';
import type { MailRetention } from '#domain/mail/mail-retention.ts';
import type { ScreeningMode } from '#domain/mail/screening.ts';
import type { MailboxStatus, Reach, SyncStatus, UnauthenticatedMail } from '#domain/organizations/mailboxes.ts';
import type { CarriedMailMode } from '#domain/sending/carried-mail.ts';
import {
  type Brakes,
  type SendingHealth,
  type SendingMode,
  type StoppedBy,
  stoppedBy,
} from '#domain/sending/sending-brakes.ts';
import type { EnvelopeMailbox } from '#domain/webhooks/event-types.ts';
import { dayOf } from './sending-budgets.ts';
import { shownHealth } from './sending-health.ts';

/** Mail received and sent on this day (UTC). */
export interface UseToday {
  /** Messages that were not held, or were released. */
  readonly sent: number;
  /** Recipients outside that nothing was sent to before. */
  readonly newRecipients: number;
  readonly received: number;
  /** Messages that wait for a person now. */
  readonly held: number;
}
export const NO_USE: UseToday = { sent: 0, newRecipients: 0, received: 0, held: 0 };

/** A mailbox with the counters of its mail: what use cases return and presenters show. */
export interface MailboxView extends EnvelopeMailbox {
  /** Its purpose; shown to the people who decide about its mail. */
  readonly purpose: string | null;
  /** See `domain/organizations/mailboxes.ts`. */
  readonly group: string | null;
  readonly status: MailboxStatus;
  readonly syncStatus: SyncStatus;
  readonly quota: { readonly limitBytes: number; readonly usedBytes: number; readonly messageCount: number };
  /** Messages in INBOX that are not seen. */
  readonly unread: number;
  /** Outgoing messages: held for a person's decision, and scheduled for a later time. */
  readonly waiting: { readonly held: number; readonly scheduled: number };
  readonly metadata: Readonly<Record<string, string>>;
  /** Whether too many of its recipients bounced or complained. */
  readonly sending: SendingHealth;
  /** Set by a person; those of the organization apply too. */
  readonly brakes: Brakes;
  /** Whose stop applies now. */
  readonly stoppedBy: StoppedBy | null;
  readonly today: UseToday;
  readonly unauthenticatedMail: UnauthenticatedMail;
  /** Null: as the organization. */
  readonly screening: ScreeningMode | null;
  /** Whether its address with a tag reaches it. */
  readonly plusAddresses: boolean;
  readonly carriedMail: CarriedMailMode | null;
  readonly askAfterReadingMinutes: number | null;
  /** Null: as the organization. */
  readonly retention: MailRetention | null;
  readonly expiresAt: Date | null;
  /** It has a planted message. */
  readonly canary: boolean;
  readonly clientId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastActivityAt: Date | null;
}

/** The part of a mailbox in event envelopes. */
export const envelopeMailbox = ({ id, name, address, localPart, domain }: EnvelopeMailbox): EnvelopeMailbox => ({
  id,
  name,
  address,
  localPart,
  domain,
});

/** `data.mailbox` of `mailbox_created` and `mailbox_deleted`: the mailbox at that time. */
export const mailboxSnapshot = (
  mailbox: EnvelopeMailbox &
    Pick<MailboxView, 'status' | 'metadata' | 'createdAt'> & { readonly clientId?: string | null | undefined },
) => ({
  ...envelopeMailbox(mailbox),
  status: mailbox.status,
  metadata: mailbox.metadata,
  clientId: mailbox.clientId ?? null,
  createdAt: mailbox.createdAt.toISOString(),
});

interface MailboxColumns {
  id: string;
  name: string;
  purpose: string | null;
  group_name: string | null;
  address: string;
  local_part: string;
  domain: string;
  status: MailboxStatus;
  sync_status: SyncStatus;
  metadata: Record<string, string>;
  unauthenticated_mail: UnauthenticatedMail;
  screening: ScreeningMode | null;
  plus_addresses: boolean;
  carried_mail: CarriedMailMode | null;
  ask_after_reading_minutes: number | null;
  retention: MailRetention | null;
  expires_at: Date | null;
  canary: boolean;
  client_id: string | null;
  client_hash: Buffer | null;
  created_at: Date;
  updated_at: Date;
  last_activity_at: Date | null;
  quota_bytes: number | null;
  bytes_used: number | null;
  messages: number | null;
  unread: number | null;
  held: number;
  scheduled: number;
  sending_state: SendingHealth['state'] | null;
  sending_reason: string | null;
  sending_reviewed_at: Date | null;
  sending_mode: SendingMode;
  messages_per_day: number | null;
  new_recipients_per_day: number | null;
  organization_stopped: boolean;
  sent_today: number | null;
  new_recipients_today: number | null;
  received_today: number;
}

const SELECT = /* sql */ `
  select x.id, x.name, x.purpose, x.group_name, x.address, x.local_part, x.domain, ${shownAs('x')} as status, x.sync_status, x.metadata, x.unauthenticated_mail, x.screening, x.plus_addresses,
         x.carried_mail, x.ask_after_reading_minutes, x.retention, x.expires_at,
         exists (select from mailbox_canary y where y.mailbox_id = x.id) as canary, x.client_id, x.client_hash,
         x.created_at, x.updated_at, x.last_activity_at, c.quota_bytes, c.bytes_used, c.messages, w.held, w.scheduled,
         s.state as sending_state, s.reason as sending_reason, s.reviewed_at as sending_reviewed_at,
         x.sending_mode, x.messages_per_day, x.new_recipients_per_day,
         coalesce((o.settings->>'sendingStopped')::bool, false) as organization_stopped,
         u.messages as sent_today, u.new_recipients as new_recipients_today,
         (select f.unseen from folder f
           where f.mailbox_id = x.id and f.special_use = '\\Inbox' and f.deleted_at is null) as unread,
         (select count(*)::int from message m
           where m.mailbox_id = x.id and m.id >= $3 and m.origin in ('smtp', 'local')) as received_today
    from mailboxes x join organizations o on o.id = x.organization_id
    left join mailbox_counter c on c.mailbox_id = x.id
    left join mailbox_sending s on s.mailbox_id = x.id
    left join sending_use u on u.scope_id = x.id and u.day = $2::date
    cross join lateral (
      select count(*) filter (where p.state = 'held') as held, count(*) filter (where p.state = 'scheduled') as scheduled
        from outbound_message p where p.mailbox_id = x.id and p.state in ('held', 'scheduled')) w
   where x.organization_id = $1 and x.deleted_at is null`;

/** Parameters of {@link SELECT}: the organization, today, and the first id of a message of today. */
function selected(organizationId: string): [string, string, string] {
  const day = dayOf(new Date());
  return [organizationId, day, firstIdAt('message', Date.parse(day))];
}

const viewOf = (row: MailboxColumns): MailboxView => ({
  id: row.id,
  name: row.name,
  purpose: row.purpose,
  group: row.group_name,
  address: row.address,
  localPart: row.local_part,
  domain: row.domain,
  status: row.status,
  syncStatus: row.sync_status,
  quota: {
    limitBytes: Number(row.quota_bytes ?? 0),
    usedBytes: Number(row.bytes_used ?? 0),
    messageCount: Number(row.messages ?? 0),
  },
  unread: Number(row.unread ?? 0),
  waiting: { held: Number(row.held), scheduled: Number(row.scheduled) },
  metadata: row.metadata,
  sending: shownHealth(
    { state: row.sending_state, reason: row.sending_reason, reviewedAt: row.sending_reviewed_at },
    Date.now(),
  ),
  brakes: {
    mode: row.sending_mode,
    budgets: { messagesPerDay: row.messages_per_day, newRecipientsPerDay: row.new_recipients_per_day },
  },
  stoppedBy: stoppedBy(row.sending_mode, row.organization_stopped),
  today: {
    sent: row.sent_today ?? 0,
    newRecipients: row.new_recipients_today ?? 0,
    received: row.received_today,
    held: Number(row.held),
  },
  unauthenticatedMail: row.unauthenticated_mail,
  screening: row.screening,
  plusAddresses: row.plus_addresses,
  carriedMail: row.carried_mail,
  askAfterReadingMinutes: row.ask_after_reading_minutes,
  retention: row.retention,
  expiresAt: row.expires_at,
  canary: row.canary,
  clientId: row.client_id,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  lastActivityAt: row.last_activity_at,
});

/** @throws {CatalogueError} not_found */
export async function getMailbox(sql: Sql, organizationId: string, mailboxId: string): Promise<MailboxView> {
  const [row] = await sql.query<MailboxColumns>(`${SELECT} and x.id = $4`, [...selected(organizationId), mailboxId]);
  if (row === undefined) throw new CatalogueError('not_found');
  return viewOf(row);
}

export async function findMailboxByClientId(
  sql: Sql,
  organizationId: string,
  clientId: string,
): Promise<{ readonly mailbox: MailboxView; readonly hash: Buffer | null } | undefined> {
  const [row] = await sql.query<MailboxColumns>(`${SELECT} and x.client_id = $4`, [
    ...selected(organizationId),
    clientId,
  ]);
  return row && { mailbox: viewOf(row), hash: row.client_hash };
}

export interface MailboxFilter {
  /** Part of address or name, case-insensitive. */
  readonly q?: string;
  readonly status?: MailboxStatus;
  readonly domain?: string;
  readonly clientId?: string;
  readonly group?: string;
  /** Default: null. */
  readonly reach?: Reach;
}

const LIST = /* sql */ `${SELECT}
    and ($4::text is null or x.id < $4)
    and ($5::text is null or x.address ilike $5 or x.name ilike $5)
    and ($6::text is null or ${shownAs('x')} = $6)
    and ($7::text is null or x.domain = $7)
    and ($8::text is null or x.client_id = $8)
    and ($9::text is null or x.group_name = $9)
    and ($10::text[] is null or x.group_name = any($10))
  order by x.id desc limit $11`;

/** Newest first; one more than `limit`, to detect a next page. */
export async function listMailboxes(
  sql: Sql,
  organizationId: string,
  filter: MailboxFilter,
  page: { readonly limit: number; readonly after: string | null },
): Promise<MailboxView[]> {
  const rows = await sql.query<MailboxColumns>(LIST, [
    ...selected(organizationId),
    page.after,
    filter.q === undefined ? null : `%${filter.q.replaceAll(/[\\%_]/g, '\\$&')}%`,
    filter.status ?? null,
    filter.domain?.toLowerCase() ?? null,
    filter.clientId ?? null,
    filter.group ?? null,
    filter.reach ?? null,
    page.limit + 1,
  ]);
  return rows.map(viewOf);
}
