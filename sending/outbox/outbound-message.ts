/** Rows of submitted messages, the form in which the mail store files those of this host, and what sending needs of the process. */

import { SETTINGS_NOW } from '#core/mailboxes/sending-brakes.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Database, Sql } from '#db/database.ts';
import type { OrganizationSettings } from '#db/entities.ts';
import { ownAddressesOf } from '#db/queries/mailboxes/own-addresses.ts';
import { shownAs } from '#db/queries/mailboxes/status-now.ts';
import type { PlanName } from '#domain/organizations/plans.ts';
import { CARRIED_MAIL_DEFAULT, type CarriedMailMode } from '#domain/sending/carried-mail.ts';
import {
  type AnsweredAs,
  type OutboundState,
  type OutboundStatus,
  outboundStatus,
  type RecipientStatus,
  waitsForTime,
} from '#domain/sending/outbound.ts';
import type { Brakes, SendingMode } from '#domain/sending/sending-brakes.ts';
import type { NotifyValue, RecipientNotices, ReturnedPart } from '#domain/webhooks/delivery-notices.ts';
import {
  type Actor,
  type EnvelopeMailbox,
  type EnvelopeOrganization,
  SUBSCRIBED_ONLY_TYPES,
} from '#domain/webhooks/event-types.ts';
import { blobKey, readBlob } from '#mailstore/blobs/blob-store.ts';
import type { AuthenticationResults } from '#mailstore/delivery/authentication-results.ts';
import type { IncomingMessage } from '#mailstore/delivery/insert-messages.ts';
import { listedHeader } from '#mailstore/delivery/recipients.ts';
import { threadRefs } from '#mailstore/delivery/threads.ts';
import type { ReadMessage } from '#mime/read-message.ts';

/** The services that sending uses. */
export type SendingServices = Pick<
  Services,
  'db' | 'settings' | 'now' | 'log' | 'deliveriesDue' | 'secrets' | 'pepper' | 'mailLog'
>;

/** The mailbox a message is sent from, with its organization. */
export interface Sender {
  readonly mailbox: EnvelopeMailbox;
  /** It writes as these: its own address, which is the first, and its aliases. */
  readonly own: readonly string[];
  readonly organization: EnvelopeOrganization;
  readonly status: string;
  readonly plan: PlanName;
  /** While the organization is suspended, its sending is stopped. */
  readonly settings: OrganizationSettings;
  readonly isSuspended: boolean;
  /** What happens to mail that carries other mail: the mailbox's own setting, or that of the organization. */
  readonly carriedMail: CarriedMailMode;
  /** Minutes for which a person is asked after mail of an unknown sender was read; 0: not. */
  readonly askAfterReadingMinutes: number;
  /** A mailbox of the organization has a planted message. */
  readonly organizationHasCanaries: boolean;
  /** Those of the mailbox alone. */
  readonly brakes: Brakes;
  /** An endpoint of the organization subscribed to results of outgoing mail: `SUBSCRIBED_ONLY_TYPES`. */
  readonly wantsResults: boolean;
}

interface SenderRow {
  id: string;
  name: string;
  address: string;
  local_part: string;
  domain: string;
  own: string[];
  status: string;
  organization_id: string;
  organization_name: string;
  slug: string;
  plan: PlanName;
  settings: OrganizationSettings;
  suspended_at: Date | null;
  carried_mail: CarriedMailMode | null;
  ask_after_reading_minutes: number | null;
  has_canaries: boolean;
  sending_mode: SendingMode;
  messages_per_day: number | null;
  new_recipients_per_day: number | null;
  wants_results: boolean;
}

/**
 * Undefined: the mailbox does not exist any more.
 *
 * @param which `any`: also a deleted mailbox (its status is `deleting`) whose messages have not been ended yet
 */
export async function findSender(
  sql: Sql,
  mailboxId: string,
  which: 'undeleted' | 'any' = 'undeleted',
): Promise<Sender | undefined> {
  const [row] = await sql.query<SenderRow>(FIND_SENDER, [mailboxId, which === 'any']);
  if (row === undefined) return undefined;
  return {
    mailbox: { id: row.id, name: row.name, address: row.address, localPart: row.local_part, domain: row.domain },
    own: row.own,
    organization: { id: row.organization_id, name: row.organization_name, slug: row.slug },
    status: row.status,
    plan: row.plan,
    settings: row.settings,
    isSuspended: row.suspended_at !== null,
    carriedMail: row.carried_mail ?? row.settings.carriedMail ?? CARRIED_MAIL_DEFAULT,
    askAfterReadingMinutes: row.ask_after_reading_minutes ?? row.settings.askAfterReadingMinutes ?? 0,
    organizationHasCanaries: row.has_canaries,
    brakes: {
      mode: row.sending_mode,
      budgets: { messagesPerDay: row.messages_per_day, newRecipientsPerDay: row.new_recipients_per_day },
    },
    wantsResults: row.wants_results,
  };
}

const FIND_SENDER = `
  select m.id, m.name, m.address, m.local_part, m.domain, ${ownAddressesOf('m')} as own,
         ${shownAs('m')} as status, o.id as organization_id,
         o.name as organization_name, o.slug, o.plan, ${SETTINGS_NOW} as settings, o.suspended_at,
         exists (select from mailbox_canary c join mailboxes x on x.id = c.mailbox_id
                  where x.organization_id = o.id) as has_canaries,
         m.carried_mail, m.ask_after_reading_minutes, m.sending_mode, m.messages_per_day, m.new_recipients_per_day,
         exists (select from webhook_endpoints e
                  where e.organization_id = o.id and e.active and e.deleted_at is null
                    and e.event_types && '{${SUBSCRIBED_ONLY_TYPES.join(',')}}'::text[]) as wants_results
    from mailboxes m join organizations o on o.id = m.organization_id
   where m.id = $1 and ($2::bool or m.deleted_at is null)`;

export interface OutboundMessage {
  readonly id: string;
  readonly organizationId: string;
  readonly mailboxId: string;
  /** Null: it was over 30 days ago. */
  readonly blob: Buffer | null;
  readonly size: number;
  readonly contentHash: Buffer;
  readonly messageIdHeader: string;
  readonly threadId: string | null;
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly subject: string;
  readonly preview: string;
  readonly labels: readonly string[];
  readonly actor: Actor;
  readonly filed: boolean;
  /** A person changed it before approving it. */
  readonly edited: boolean;
  readonly consentId: string | null;
  readonly state: OutboundState;
  /** Not before this time; null: at once. */
  readonly sendAt: Date | null;
  /** Message of the mailbox that is marked when this one is sent. */
  readonly answersMessageId: string | null;
  readonly answersAs: AnsweredAs | null;
  readonly dkimSignature: string | null;
  readonly firstSentAt: Date | null;
  readonly submittedAt: Date;
  readonly giveUpAt: Date | null;
  readonly finishedAt: Date | null;
  /** Since when it waits for the end of a stop. */
  readonly stoppedAt: Date | null;
  /** Since when the operator of the installation stops it. */
  readonly onHoldSince: Date | null;
  readonly envelopeId: string | null;
  readonly returned: ReturnedPart | null;
  /** The draft it was made from; null: there was none. */
  readonly draft: KeptDraft | null;
}

const COLUMNS = `id, organization_id as "organizationId", mailbox_id as "mailboxId", blob, size,
  content_hash as "contentHash", message_id_header as "messageIdHeader", thread_id as "threadId",
  from_address as "from", to_addresses as "to", cc_addresses as "cc", subject, preview, labels, actor, filed, edited,
  consent_id as "consentId", state, send_at as "sendAt", answers_message_id as "answersMessageId",
  answers_as as "answersAs", dkim_signature as "dkimSignature", first_sent_at as "firstSentAt",
  submitted_at as "submittedAt", give_up_at as "giveUpAt", finished_at as "finishedAt", stopped_at as "stoppedAt",
  on_hold_since as "onHoldSince", envelope_id as "envelopeId", returned, draft`;

/** The message as submitted; empty if it has been deleted. */
export const readContent = (db: Database, { blob, size }: Pick<OutboundMessage, 'blob' | 'size'>): Promise<Buffer> =>
  blob === null ? Promise.resolve(Buffer.alloc(0)) : readBlob(db, blob, 0, size);

export async function findOutbound(sql: Sql, messageId: string): Promise<OutboundMessage | undefined> {
  const [row] = await sql.query<OutboundMessage>(`select ${COLUMNS} from outbound_message where id = $1`, [messageId]);
  return row;
}

/** The same, held until the transaction ends. */
export async function lockOutbound(sql: Sql, messageId: string): Promise<OutboundMessage | undefined> {
  const [row] = await sql.query<OutboundMessage>(
    `select ${COLUMNS} from outbound_message where id = $1 for no key update`,
    [messageId],
  );
  return row;
}

/** Whether something may still be sent to a recipient. */
export const isOpen = ({ status }: { readonly status: RecipientStatus }): boolean =>
  status === 'queued' || status === 'sending';

export interface OutboundRecipient extends RecipientNotices {
  readonly number: number;
  readonly address: string;
  readonly local: boolean;
  /** No other organization read mail to it when the message was submitted, so nobody was asked about it. */
  readonly inside: boolean;
  readonly status: RecipientStatus;
  readonly reply: string | null;
  readonly code: string | null;
  readonly nextAttemptAt: Date | null;
  readonly updatedAt: Date;
  readonly notify: readonly NotifyValue[] | null;
  readonly successNotifiedAt: Date | null;
}

export const findRecipients = (sql: Sql, messageId: string): Promise<OutboundRecipient[]> =>
  sql.query<OutboundRecipient>(
    `select number, address, local, inside, status, reply, code, next_attempt_at as "nextAttemptAt", updated_at as "updatedAt",
            notify, original_recipient as "originalRecipient", success_told_at as "successNotifiedAt"
       from outbound_recipient where message_id = $1 order by number`,
    [messageId],
  );

/** The result for one recipient. */
interface RecipientChange {
  readonly number: number;
  readonly status: RecipientStatus;
  readonly reply: string | null;
  readonly code: string | null;
  readonly nextAttemptAt?: Date;
}

export async function changeRecipients(
  sql: Sql,
  messageId: string,
  changes: readonly RecipientChange[],
  now: Date,
): Promise<void> {
  if (changes.length === 0) return;
  await sql.query(CHANGE_RECIPIENTS, [
    messageId,
    changes.map(({ number }) => number),
    changes.map(({ status }) => status),
    changes.map(({ reply }) => reply),
    changes.map(({ code }) => code),
    changes.map(({ nextAttemptAt }) => nextAttemptAt ?? null),
    now,
  ]);
}

const CHANGE_RECIPIENTS = `
  update outbound_recipient r
     set status = c.status, reply = c.reply, code = c.code, next_attempt_at = c.next_attempt_at, updated_at = $7
    from unnest($2::smallint[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
      as c (number, status, reply, code, next_attempt_at)
   where r.message_id = $1 and r.number = c.number`;

export const outboundStatusOf = (
  message: Pick<OutboundMessage, 'state' | 'sendAt' | 'stoppedAt'>,
  recipients: readonly Pick<OutboundRecipient, 'status'>[],
): OutboundStatus =>
  outboundStatus(
    message.state,
    recipients.map(({ status }) => status),
    waitsForTime(message),
  );

/** The part of a draft that is kept after its removal; `outbound_message.draft`. */
export interface KeptDraft {
  readonly id: string;
  readonly clientId: string | null;
  /** As PostgreSQL writes `bytea`. */
  readonly clientHashes: readonly string[] | null;
  /** ISO 8601. */
  readonly sendAt: string | null;
  readonly createdAt: string;
}

/** A message, parsed before any transaction begins. */
export interface MessageToFile {
  readonly bytes: Buffer;
  readonly read: ReadMessage;
  /** Key of its blob, if that is stored already. */
  readonly blob?: Buffer | null;
}

/** A message of this host, as it is filed in a mailbox here. */
export function newMessage(
  { bytes, read, blob = null }: MessageToFile,
  origin: 'submission' | 'local' | 'system',
  facts: { correspondent: string; envelopeFrom: string; at: Date; auth: AuthenticationResults | null },
): IncomingMessage {
  return {
    bytes,
    size: bytes.length,
    blobKey: blob ?? blobKey(bytes),
    stored: blob !== null,
    read,
    refs: threadRefs(read, facts.correspondent),
    listed: listedHeader(bytes, read.parts),
    origin,
    receivedAt: facts.at,
    envelopeFrom: facts.envelopeFrom,
    auth: facts.auth,
  };
}
