import type { Sql } from '../db/database.ts';
import { CatalogueError } from '../domain/errors.ts';
import type { MailboxStatus, SyncStatus, UnauthenticatedMail } from '../domain/mailbox-status.ts';
import type { SendingHealth } from '../domain/sending-health.ts';
import type { MailboxView } from './mailbox-view.ts';
import { shownHealth } from './sending-health.ts';

interface MailboxColumns {
  id: string;
  name: string;
  address: string;
  local_part: string;
  domain: string;
  status: MailboxStatus;
  sync_status: SyncStatus;
  metadata: Record<string, string>;
  unauthenticated_mail: UnauthenticatedMail;
  client_id: string | null;
  created_at: Date;
  updated_at: Date;
  last_activity_at: Date | null;
  quota_bytes: number | null;
  bytes_used: number | null;
  messages: number | null;
  sending_state: SendingHealth['state'] | null;
  sending_reason: string | null;
  sending_reviewed_at: Date | null;
}

const SELECT = /* sql */ `
  select x.id, x.name, x.address, x.local_part, x.domain, x.status, x.sync_status, x.metadata, x.unauthenticated_mail, x.client_id,
         x.created_at, x.updated_at, x.last_activity_at, c.quota_bytes, c.bytes_used, c.messages,
         s.state as sending_state, s.reason as sending_reason, s.reviewed_at as sending_reviewed_at
    from mailboxes x left join mailbox_counter c on c.mailbox_id = x.id
    left join mailbox_sending s on s.mailbox_id = x.id
   where x.organization_id = $1 and x.deleted_at is null`;

const viewOf = (row: MailboxColumns): MailboxView => ({
  id: row.id,
  name: row.name,
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
  metadata: row.metadata,
  sending: shownHealth(
    { state: row.sending_state, reason: row.sending_reason, reviewedAt: row.sending_reviewed_at },
    Date.now(),
  ),
  unauthenticatedMail: row.unauthenticated_mail,
  clientId: row.client_id,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  lastActivityAt: row.last_activity_at,
});

/** @throws {CatalogueError} not_found */
export async function getMailbox(sql: Sql, organizationId: string, mailboxId: string): Promise<MailboxView> {
  const [row] = await sql.query<MailboxColumns>(`${SELECT} and x.id = $2`, [organizationId, mailboxId]);
  if (row === undefined) throw new CatalogueError('not_found');
  return viewOf(row);
}

export async function findMailboxByClientId(
  sql: Sql,
  organizationId: string,
  clientId: string,
): Promise<MailboxView | undefined> {
  const [row] = await sql.query<MailboxColumns>(`${SELECT} and x.client_id = $2`, [organizationId, clientId]);
  return row === undefined ? undefined : viewOf(row);
}

export interface MailboxFilter {
  /** Part of address or name, case-insensitive. */
  readonly q?: string;
  readonly status?: MailboxStatus;
  readonly domain?: string;
  readonly clientId?: string;
}

const LIST = /* sql */ `${SELECT}
    and ($2::text is null or x.id < $2)
    and ($3::text is null or x.address ilike $3 or x.name ilike $3)
    and ($4::text is null or x.status = $4)
    and ($5::text is null or x.domain = $5)
    and ($6::text is null or x.client_id = $6)
  order by x.id desc limit $7`;

/** Newest first; one more than `limit`, to tell that there is a next page. */
export async function listMailboxes(
  sql: Sql,
  organizationId: string,
  filter: MailboxFilter,
  page: { readonly limit: number; readonly after: string | null },
): Promise<MailboxView[]> {
  const rows = await sql.query<MailboxColumns>(LIST, [
    organizationId,
    page.after,
    filter.q === undefined ? null : `%${filter.q.replaceAll(/[\\%_]/g, '\\$&')}%`,
    filter.status ?? null,
    filter.domain?.toLowerCase() ?? null,
    filter.clientId ?? null,
    page.limit + 1,
  ]);
  return rows.map(viewOf);
}
