/** The steps of retention (`domain/retention.ts`), each in bounded portions. */
import { deleteExpiredMailboxes } from '#core/mailboxes/delete-mailbox.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Database } from '#db/database.ts';
import { deletePortion, type Portion } from '#db/delete-portion.ts';
import { createPartitions, dropOldPartitions } from '#db/partitions.ts';
import { holdsStay, onHold } from '#db/queries/mailboxes/legal-hold.ts';
import { forgetNotices } from '#db/queries/notices/member-notices.ts';
import { forgetRecoveries } from '#db/queries/webhooks/recoveries.ts';
import { IDEMPOTENCY_KEY_LIFE_HOURS, IDEMPOTENCY_SECRETS_MINUTES } from '#domain/idempotency-limits.ts';
import { DOMAIN_REPORT_RETENTION_DAYS } from '#domain/mail/domain-reports.ts';
import { READING_ATTEMPT_RETENTION_DAYS } from '#domain/mail/mail-limits.ts';
import { MAIL_REFUSAL_RETENTION_DAYS } from '#domain/mail/mail-log.ts';
import { HELD_MAIL_RETENTION_DAYS, RELEASED_THREAD_RETENTION_DAYS } from '#domain/mail/screening.ts';
import { MEMBER_NOTICE_RETENTION_DAYS } from '#domain/organizations/member-notices.ts';
import {
  ATTACHMENT_DIGEST_RETENTION_DAYS,
  DELETED_ENDPOINT_RETENTION_DAYS,
  HARD_BOUNCE_RETENTION_DAYS,
  INVITATION_RETENTION_DAYS,
  KNOWN_RECIPIENT_RETENTION_DAYS,
  type RetentionInput,
  type RetentionOutput,
  type RetentionStep,
  STANDING_APPROVAL_RETENTION_DAYS,
  TRACE_CONTEXT_RETENTION_DAYS,
} from '#domain/retention.ts';
import { SENDING_USE_RETENTION_DAYS } from '#domain/sending/sending-brakes.ts';
import { SENDER_READ_RETENTION_DAYS } from '#domain/sending/unknown-senders.ts';
import { DELIVERY_RETENTION_DAYS } from '#domain/webhooks/delivery-limits.ts';
import { ORGANIZATION_CHANGE_RETENTION_DAYS } from '#domain/webhooks/organization-stream.ts';
import { removeFreeObjects } from '#mailstore/blobs/move-blobs.ts';
import { forgetUnusedKeywords } from '#mailstore/folders/store-flags.ts';
import {
  forgetRedeliveryKeys,
  forgetSentContents,
  pruneChangeLog,
  removeOrphanBlobs,
  renewUids,
} from '#mailstore/upkeep/housekeeping.ts';
import {
  deleteFoldersOfMailboxes,
  forgetDeletedMailboxes,
  forgetThreadReferences,
  purgeDeletedFolders,
  purgeUnplacedMessages,
  returnPreservedMessages,
} from '#mailstore/upkeep/purge.ts';
import { removeOldMail } from '#mailstore/upkeep/remove-old-mail.ts';

const PORTION_ROWS = 1_000;
/** Each takes its recipients, attempts and consent with it. */
const PORTION_SENT_MAILS = 200;
/** Files of up to 30 MiB, deleted with their chunks. */
const PORTION_FILES = 50;
/** Files of gigabytes. */
const PORTION_MOVES = 1;
/** One activity works for this long; the workflow asks again while there is more. */
const STEP_MS = 30_000;
const HEARTBEAT_EVERY_MS = 5_000;

export type RetentionServices = Pick<Services, 'db' | 'settings' | 'now' | 'pepper' | 'deliveriesDue'>;

/** Heartbeat and cancellation of an activity. */
export interface StepContext {
  /** Reports its progress. */
  heartbeat(done: number): void;
  /** The activity was given up, or the worker shuts down. */
  isEnding(): boolean;
}

/** Carries out one step for at most half a minute, and a portion. Safe to repeat, and from several workers at once. */
export async function retentionStep(
  services: RetentionServices,
  { step, after: from = '' }: RetentionInput,
  { heartbeat, isEnding }: StepContext,
  portionRows = PORTION_ROWS,
): Promise<RetentionOutput> {
  const portion = portionOf(services, step, portionRows);
  const until = performance.now() + STEP_MS;
  let [done, after] = [0, from];
  const timer = setInterval(() => heartbeat(done), HEARTBEAT_EVERY_MS);
  try {
    for (;;) {
      heartbeat(done);
      const made = await portion(after);
      done += made.done;
      after = made.after ?? '';
      if (!made.more) return { done, more: false };
      if (isEnding() || performance.now() > until) return { done, more: true, after };
    }
  } finally {
    clearInterval(timer);
  }
}

const ended = async (work: Promise<number>): Promise<Portion> => ({ done: await work, more: false });

/** A portion of the first of several tables with more rows than one portion, and the rows of the tables before it. */
async function inTurn(tables: readonly string[], portion: (table: string) => Promise<Portion>): Promise<Portion> {
  let done = 0;
  for (const table of tables) {
    const made = await portion(table);
    done += made.done;
    if (made.more) return { done, more: true };
  }
  return { done, more: false };
}

/** Rows that take a file with them are deleted fewer at a time. */
function portionOfFiles(table: string, rows: number): number {
  if (table === 'mailbox_move') return PORTION_MOVES;
  return table === 'mailbox_file' ? Math.min(rows, PORTION_FILES) : rows;
}

/** Of `oauth_clients`. */
const WITHOUT_ACCESS = 'not exists (select from oauth_grants g where g.client_id = oauth_clients.id)';

function portionOf(
  services: RetentionServices,
  step: RetentionStep,
  rows: number,
): (after: string) => Promise<Portion> {
  const { db, settings, now } = services;
  const expired = (table: string, column: string, days: number, portion = rows, and = 'true') =>
    deletePortion(db, table, `${column} < now() - make_interval(days => $1) and ${and}`, [days], portion);
  /** As `expired`, of mailboxes that no legal hold keeps. */
  const expiredFree = (table: string, column: string, days: number, portion: number) =>
    db.transaction(async (sql) => {
      await holdsStay(sql);
      const condition = `${column} < now() - make_interval(days => $1) and not ${onHold(`${table}.mailbox_id`)}`;
      return deletePortion(sql, table, condition, [days], portion);
    });
  switch (step) {
    case 'partitions':
      return () => ended(keepPartitions(db, now()));
    case 'idempotencyKeys':
      return () => forgetIdempotencyKeys(db, rows);
    case 'rateLimits':
      return async () => {
        const portions = [
          await deletePortion(db, 'rate_limits', 'resets_at_ms < $1', [now()], rows),
          await expired('sending_use', 'day', SENDING_USE_RETENTION_DAYS),
          await expired('organization_change', 'created_at', ORGANIZATION_CHANGE_RETENTION_DAYS),
          await expired('sender_read', 'read_at', SENDER_READ_RETENTION_DAYS),
          await expired('trace_context', 'at', TRACE_CONTEXT_RETENTION_DAYS),
        ];
        return {
          done: portions.reduce((sum, { done }) => sum + done, 0),
          more: portions.some(({ more }) => more),
        };
      };
    case 'sessions':
      return () =>
        inTurn(
          [
            'sessions',
            'approval_links',
            'password_resets',
            'device_sign_ins',
            'sign_in_challenges',
            'passkey_ceremonies',
            'oidc_sign_ins',
            'oauth_requests',
            'oauth_tokens',
            'oauth_grants',
            'oauth_clients',
            'mailbox_file',
            'mailbox_move',
          ],
          (table) =>
            expired(
              table,
              'expires_at',
              0,
              portionOfFiles(table, rows),
              table === 'oauth_clients' ? WITHOUT_ACCESS : 'true',
            ),
        );
    case 'invitations':
      return () => expired('invitations', 'expires_at', INVITATION_RETENTION_DAYS);
    case 'auditEntries':
      return () =>
        inTurn(['audit_entries', 'mail_refusal', 'operator_use'], (table) => {
          if (table === 'mail_refusal') return expired(table, 'at', MAIL_REFUSAL_RETENTION_DAYS);
          return expired(table, table === 'operator_use' ? 'at' : 'created_at', settings.AUDIT_RETENTION_DAYS);
        });
    case 'recoveries':
      return async () => {
        const receivers = await expired('webhook_receiver', 'expires_at', 0);
        if (receivers.more) return receivers;
        // The deliveries they sent again are already deleted.
        const { done, more } = await forgetRecoveries(db, DELIVERY_RETENTION_DAYS, rows);
        return { done: done + receivers.done, more };
      };
    case 'notices':
      return () => forgetNotices(db, MEMBER_NOTICE_RETENTION_DAYS, rows);
    case 'roleMail':
      return () =>
        inTurn(['role_mail', 'domain_report', 'held_arrival', 'released_thread'], (table) => {
          if (table === 'role_mail') return expired(table, 'created_at', MEMBER_NOTICE_RETENTION_DAYS);
          if (table === 'domain_report') return expired(table, 'received_at', DOMAIN_REPORT_RETENTION_DAYS);
          if (table === 'released_thread') return expired(table, 'released_at', RELEASED_THREAD_RETENTION_DAYS);
          // Each has the bytes of a mail.
          return expiredFree(table, 'received_at', HELD_MAIL_RETENTION_DAYS, Math.min(rows, PORTION_FILES));
        });
    case 'sentContents':
      return () => forgetSentContents(db);
    case 'sentMail':
      return () =>
        expiredFree(
          'outbound_message',
          'finished_at',
          settings.SENT_MAIL_RETENTION_DAYS,
          Math.min(rows, PORTION_SENT_MAILS),
        );
    case 'knownRecipients':
      return async () => {
        const known = await expired('known_recipient', 'last_used_at', KNOWN_RECIPIENT_RETENTION_DAYS);
        if (known.more) return known;
        const standing = await expired('standing_approval', 'ends_at', STANDING_APPROVAL_RETENTION_DAYS);
        if (standing.more) return { done: known.done + standing.done, more: true };
        const digests = await expired(
          'attachment_digest',
          'stored_at',
          ATTACHMENT_DIGEST_RETENTION_DAYS,
          rows,
          'not exists (select from message m where m.id = attachment_digest.message_id)',
        );
        return { done: known.done + standing.done + digests.done, more: digests.more };
      };
    case 'suppressions':
      return () => expired('suppression', 'created_at', HARD_BOUNCE_RETENTION_DAYS, rows, `reason = 'hard_bounce'`);
    case 'endpoints':
      return () => expired('webhook_endpoints', 'deleted_at', DELETED_ENDPOINT_RETENTION_DAYS);
    case 'expiredMailboxes':
      return () => deleteExpiredMailboxes(services);
    case 'oldMail':
      return (after) => removeOldMail(services, after);
    case 'mailboxFolders':
      return () => deleteFoldersOfMailboxes(db);
    case 'folders':
      return () => purgeDeletedFolders(db);
    case 'messages':
      return async () => {
        const returned = await returnPreservedMessages(db);
        const purged = await purgeUnplacedMessages(db);
        return { done: returned.done + purged.done, more: returned.more || purged.more };
      };
    case 'blobs':
      return async () => {
        const blobs = await removeOrphanBlobs(db);
        if (blobs.more || db.objects === undefined) return blobs;
        const objects = await removeFreeObjects(db, db.objects);
        return { done: blobs.done + objects.done, more: objects.more };
      };
    case 'redeliveryKeys':
      return () => forgetRedeliveryKeys(db);
    case 'readingAttempts':
      return () => expired('reading_attempt', 'started_at', READING_ATTEMPT_RETENTION_DAYS);
    case 'changeLog':
      return () => pruneChangeLog(db);
    case 'threadReferences':
      return (after) => forgetThreadReferences(db, after);
    case 'mailboxes':
      return () => forgetDeletedMailboxes(db);
    case 'keywords':
      return () => ended(forgetUnusedKeywords(db));
    case 'uids':
      return () => ended(renewUids(db));
  }
}

async function keepPartitions(db: Database, nowMs: number): Promise<number> {
  await createPartitions(db, nowMs);
  return (await dropOldPartitions(db, nowMs)).length;
}

async function forgetIdempotencyKeys(db: Database, rows: number): Promise<Portion> {
  // Replays contain secrets for ten minutes only; afterwards the secrets are deleted.
  const hidden = await db.query(
    `update idempotency_keys set body_sealed = null where ctid = any(array(
       select ctid from idempotency_keys where body_sealed is not null and created_at < now() - make_interval(mins => $1)
        limit $2 for update skip locked)) returning 1`,
    [IDEMPOTENCY_SECRETS_MINUTES, rows],
  );
  const life = 'created_at < now() - make_interval(hours => $1)';
  const { done, more } = await deletePortion(db, 'idempotency_keys', life, [IDEMPOTENCY_KEY_LIFE_HOURS], rows);
  return { done, more: more || hidden.length === rows };
}
