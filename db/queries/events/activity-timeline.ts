/** The rows of one message or event. All of them are read by the organization and by an index. */

import type { Sql } from '#db/database.ts';
import type { AttemptView } from '#db/queries/deliveries/list-deliveries.ts';
import { firstIdAt, timeOfIdMs } from '#domain/ids.ts';
import type { ConsentScope, ConsentStatus } from '#domain/sending/consent.ts';
import type { AttemptOutcome, OutboundState, RecipientStatus } from '#domain/sending/outbound.ts';
import type { DeliveryStatus, ExhaustedReason } from '#domain/webhooks/delivery-status.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';

interface Verdict {
  readonly result: string;
}

export interface StoredRow {
  readonly origin: 'smtp' | 'local' | 'submission' | 'append' | 'draft' | 'system';
  readonly receivedAt: Date;
  readonly envelopeFrom: string | null;
  readonly deliveredTo: string | null;
  readonly auth: { readonly spf: Verdict; readonly dkim: Verdict; readonly dmarc: Verdict } | null;
  /** Folders it is in; empty: it was removed. */
  readonly folders: readonly string[];
  /** The first bytes, which an accepting server wrote; empty if the content is in an object storage. */
  readonly head: Buffer;
}

const STORED = /* sql */ `
  select m.origin, m.received_at as "receivedAt", m.envelope_from as "envelopeFrom", m.delivered_to as "deliveredTo",
         m.auth, coalesce(substring(b.bytes from 1 for 1024), '') as head,
         array(select distinct f.name from placement p join folder f on f.id = p.folder_id and f.deleted_at is null
                where p.message_id = m.id order by f.name) as folders
    from message m join mailboxes x on x.id = m.mailbox_id and x.organization_id = $1
    join blob b on b.sha256 = m.blob
   where m.id = $2`;

export async function storedRow(sql: Sql, organizationId: string, messageId: string): Promise<StoredRow | undefined> {
  const [row] = await sql.query<StoredRow>(STORED, [organizationId, messageId]);
  return row;
}

export interface SubmittedRow {
  readonly via: 'api' | 'smtp';
  readonly actor: Actor;
  readonly state: OutboundState;
  readonly submittedAt: Date;
  readonly sendAt: Date | null;
  readonly finishedAt: Date | null;
}

export async function submittedRow(
  sql: Sql,
  organizationId: string,
  messageId: string,
): Promise<SubmittedRow | undefined> {
  const [row] = await sql.query<SubmittedRow>(
    `select via, actor, state, submitted_at as "submittedAt", send_at as "sendAt", finished_at as "finishedAt"
       from outbound_message where id = $2 and organization_id = $1`,
    [organizationId, messageId],
  );
  return row;
}

export interface RecipientRow {
  readonly address: string;
  readonly local: boolean;
  readonly status: RecipientStatus;
  readonly reply: string | null;
  readonly code: string | null;
  readonly nextAttemptAt: Date | null;
  readonly updatedAt: Date;
}

export interface SendAttemptRow {
  readonly destination: string;
  readonly number: number;
  readonly transport: string;
  readonly recipients: readonly string[];
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly outcome: AttemptOutcome | null;
  readonly reply: string | null;
}

/** Recipients of a submitted message and the attempts to reach them. The message is one of the organization. */
export async function sendingRows(
  sql: Sql,
  messageId: string,
  limit: number,
): Promise<{ recipients: RecipientRow[]; attempts: SendAttemptRow[] }> {
  const [recipients, attempts] = await Promise.all([
    sql.query<RecipientRow>(
      `select address, local, status, reply, code, next_attempt_at as "nextAttemptAt", updated_at as "updatedAt"
         from outbound_recipient where message_id = $1 order by number limit $2`,
      [messageId, limit],
    ),
    sql.query<SendAttemptRow>(
      `select destination, number, transport, recipients, started_at as "startedAt", finished_at as "finishedAt",
              outcome, reply
         from outbound_attempt where message_id = $1 order by started_at desc limit $2`,
      [messageId, limit],
    ),
  ]);
  return { recipients, attempts };
}

export interface ConsentOfMessageRow {
  readonly id: string;
  readonly status: ConsentStatus;
  readonly recipients: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly scope: ConsentScope | null;
  readonly reason: string | null;
  readonly decidedAt: Date | null;
  readonly decidedBy: Actor | null;
}

export const consentRows = (sql: Sql, organizationId: string, messageId: string): Promise<ConsentOfMessageRow[]> =>
  sql.query<ConsentOfMessageRow>(
    `select id, status, recipients, created_at as "createdAt", expires_at as "expiresAt", scope, reason,
            decided_at as "decidedAt", decided_by as "decidedBy"
       from consent where message_id = $2 and organization_id = $1 order by id`,
    [organizationId, messageId],
  );

export interface DeliveryOfEventRow {
  readonly id: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly url: string;
  readonly endpointDeleted: boolean;
  readonly status: DeliveryStatus;
  readonly reason: ExhaustedReason | null;
  readonly maxAttempts: number;
  readonly lastError: string | null;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
  readonly workflowId: string | null;
}

/** An event and its deliveries have the same time in their ids: one millisecond of the primary key is searched. */
const DELIVERIES = /* sql */ `
  select d.*, e.url, e.deleted_at is not null as "endpointDeleted"
    from unnest($2::text[], $3::text[], $4::text[]) as happened (event_id, from_id, to_id)
   cross join lateral (
     select id, event_id as "eventId", endpoint_id as "endpointId", status, reason, max_attempts as "maxAttempts",
            last_error as "lastError", next_attempt_at as "nextAttemptAt", created_at as "createdAt",
            completed_at as "completedAt", workflow_id as "workflowId"
       from deliveries
      where id >= happened.from_id and id < happened.to_id and event_id = happened.event_id and organization_id = $1
      limit $5
   ) d
    join webhook_endpoints e on e.id = d."endpointId" and e.organization_id = $1
   order by d.id limit $5`;

export function deliveriesOfEvents(
  sql: Sql,
  organizationId: string,
  eventIds: readonly string[],
  limit: number,
): Promise<DeliveryOfEventRow[]> {
  const times = eventIds.map((id) => timeOfIdMs(id) ?? 0);
  return sql.query<DeliveryOfEventRow>(DELIVERIES, [
    organizationId,
    eventIds,
    times.map((timeMs) => firstIdAt('delivery', timeMs)),
    times.map((timeMs) => firstIdAt('delivery', timeMs + 1)),
    limit,
  ]);
}

export interface DeliveryAttemptRow
  extends Pick<AttemptView, 'number' | 'trigger' | 'startedAt' | 'durationMs' | 'responseCode' | 'error'> {
  readonly deliveryId: string;
}

/** Attempts of these deliveries, the newest first. */
export async function attemptsOfDeliveries(
  sql: Sql,
  deliveryIds: readonly string[],
  limit: number,
): Promise<DeliveryAttemptRow[]> {
  if (deliveryIds.length === 0) return [];
  const sorted = deliveryIds.toSorted();
  return sql.query<DeliveryAttemptRow>(
    `select delivery_id as "deliveryId", number, trigger, started_at as "startedAt", duration_ms as "durationMs",
            response_code as "responseCode", error
       from delivery_attempts where delivery_id = any($1) and delivery_id >= $2 and delivery_id <= $3
      order by started_at desc limit $4`,
    [sorted, sorted[0], sorted.at(-1), limit],
  );
}
