/**
 * The one gate through which mail is sent, whatever the door.
 *
 *   limits ─▶ block lists ─▶ consent needed? ──no──▶ later? ──no──▶ Sent copy, local deliveries, external ones queued
 *                                  │                   └──yes──▶ scheduled: nothing but the message and its recipients
 *                                  └──yes──▶ held: the same, and the request
 *
 * The draft it was goes in any case; what it answers is marked when it is released.
 *
 * One transaction, with its events; the caller starts the workflow after it.
 */
import { withAsciiDomain } from '../../core/ascii-domain.ts';
import { blobKey, storeBlob } from '../../core/blob-store.ts';
import { newId } from '../../core/new-id.ts';
import { hashContent, recipientsToAsk } from '../../core/outbound-consent.ts';
import { type NewEvent, recordEvents } from '../../core/record-event.ts';
import { askLists } from '../../core/sender-lists.ts';
import { pausedBecause } from '../../core/sending-health.ts';
import type { Sql } from '../../db/database.ts';
import { OUTBOUND_CONSENT_DEFAULT } from '../../domain/consent.ts';
import { isEmailAddress } from '../../domain/email-address.ts';
import { CatalogueError } from '../../domain/errors.ts';
import type { Actor } from '../../domain/event-envelope.ts';
import { RECIPIENTS_PER_MESSAGE_MAX } from '../../domain/mail-limits.ts';
import { CONSENT_EXPIRES_DAYS_DEFAULT } from '../../domain/organization-limits.ts';
import { OUTBOUND_GIVE_UP_MS, type OutboundStatus, SEND_AT_AHEAD_MAX_DAYS } from '../../domain/outbound.ts';
import { formatAddress } from '../mime/addresses.ts';
import { readMessage } from '../mime/read-message.ts';
import { threadRefs } from '../store/fingerprints.ts';
import { findThreads } from '../store/threads.ts';
import { requireHonestAuthor } from './author.ts';
import { directoryOf, isLocal, SenderRefused, type SendingServices } from './deliver-here.ts';
import { earlierCopy } from './earlier-copy.ts';
import { keepNotices, type NoticesAsked } from './notices-asked.ts';
import { blockedEvent, type OutboundBlockedReason } from './outbound-events.ts';
import {
  findRecipients,
  findSender,
  lockOutbound,
  type OutboundMessage,
  outboundStatusOf,
  type Sender,
} from './outbound-message.ts';
import { type Answered, answeredByHeader, changeOwnMail, findOwnMailChanges } from './own-mail.ts';
import type { PreparedMessage } from './prepare-message.ts';
import { afterCommit, release } from './release-message.ts';
import { overLimit } from './sending-limits.ts';

export interface Submission {
  readonly organizationId: string;
  readonly mailboxId: string;
  readonly prepared: PreparedMessage;
  /** Envelope recipients, each once. */
  readonly recipients: readonly string[];
  readonly via: 'api' | 'smtp';
  readonly actor: Actor;
  /** Keywords of the copy in Sent. */
  readonly labels: readonly string[];
  /** The caller's own id: a second submission with it answers the first one. */
  readonly clientId: string | null;
  /** Not before this time; null: at once. */
  readonly sendAt?: Date | null;
  /** The message in Drafts that is sent, where the caller knows it; others are found by their Message-ID. */
  readonly draftMessageId?: string | null;
  /** What it answers or forwards, where In-Reply-To does not say it. */
  readonly answers?: Answered | null;
  /** By default failures and delays are told, with the header. */
  readonly notices?: NoticesAsked | undefined;
}

export interface Submitted {
  readonly messageId: string;
  readonly organizationId: string;
  readonly mailboxId: string;
  /** Null while it is held. */
  readonly threadId: string | null;
  readonly status: OutboundStatus;
  /** Null unless it is held. */
  readonly consentId: string | null;
  /** When it will be released at the earliest; null: it does not wait for a time. */
  readonly sendAt: Date | null;
  /** An earlier submission with the same client id; nothing was done. */
  readonly repeated: boolean;
}

const DAY_MS = 86_400_000;

/**
 * Submits a message. Start its workflow after it resolves.
 *
 * @throws {CatalogueError} not_found, forbidden (the mailbox may not send), invalid_request (recipients, author, time),
 * rate_limited with the time to wait, recipient_blocked, quota_exceeded; conflict (the draft changed meanwhile)
 */
export async function submitMessage(services: SendingServices, given: Submission): Promise<Submitted> {
  const { db } = services;
  const submission = { ...given, recipients: oncePerPlace(given.recipients) };
  const sender = await findSender(db, submission.mailboxId);
  if (sender === undefined || sender.organization.id !== submission.organizationId)
    throw new CatalogueError('not_found');
  const earlier = await findSubmitted(db, submission.mailboxId, submission.clientId);
  if (earlier !== undefined) return earlier;
  requireRecipients(submission.recipients);
  const sendAt = submission.sendAt ?? null;
  requireSendAt(sendAt, services.now());
  const { bytes, messageId: messageIdHeader } = submission.prepared;
  const read = readMessage(bytes);
  const author = read.from[0];
  const facts = {
    from: author === undefined ? sender.mailbox.address : formatAddress(author),
    subject: read.subject,
    actor: submission.actor,
  };
  const refuse = (
    error: CatalogueError,
    reason: OutboundBlockedReason,
    blocked: readonly string[],
    rule: string | null,
  ) =>
    recordRefusal(
      services,
      blockedEvent(sender, { ...facts, id: null }, { recipients: blocked, reason, rule }, now),
    ).then(() => Promise.reject(error));
  const now = new Date(services.now());
  await requireHonestAuthor(services, read, sender.mailbox.address);

  if (sender.status !== 'active')
    return refuse(
      new CatalogueError('forbidden', 'The mailbox is not active and cannot send.'),
      'mailbox_not_active',
      submission.recipients,
      null,
    );
  const threadId = await answeredThread(db, sender, bytes);
  const over = await overLimit(services, sender, threadId);
  if (over !== undefined) {
    const error = new CatalogueError('rate_limited', over.message, { retryAfterSeconds: over.retryAfterSeconds });
    // One event for each time a limit is met, not for each try beyond it.
    if (!over.first) throw error;
    return refuse(error, 'plan_limit', submission.recipients, over.rule);
  }
  const verdicts = await askLists(db, {
    organizationId: sender.organization.id,
    mailboxId: sender.mailbox.id,
    direction: 'outbound',
    addresses: submission.recipients,
  });
  const blocked = submission.recipients.filter((address) => verdicts.get(address.toLowerCase())?.action === 'block');
  if (blocked.length > 0)
    return refuse(
      new CatalogueError('recipient_blocked', `On a block list: ${blocked.join(', ')}. Nothing was sent.`),
      'blocked_recipient',
      blocked,
      verdicts.get(blocked[0]?.toLowerCase() ?? '')?.value ?? null,
    );

  const recipients = await Promise.all(
    submission.recipients.map(async (address, number) => ({
      number,
      address,
      local: await isLocal(services, address),
    })),
  );
  const paused = recipients.some(({ local }) => !local) ? await pausedBecause(db, sender.mailbox.id) : undefined;
  if (paused !== undefined)
    return refuse(
      new CatalogueError('forbidden', `Sending is paused for this mailbox: ${paused} A person can resume it.`),
      'sending_paused',
      submission.recipients,
      paused,
    );
  const outside = await addressesOutside(services, sender, recipients);
  const toAsk = await recipientsToAsk(db, {
    organizationId: sender.organization.id,
    mailboxId: sender.mailbox.id,
    mode: sender.settings.outboundConsent ?? OUTBOUND_CONSENT_DEFAULT,
    addresses: outside,
    threadId,
  });
  const held = toAsk.length > 0;
  const waits = held || sendAt !== null;
  const key = blobKey(bytes);
  await storeBlob(db, key, bytes);
  const copy = await earlierCopy(db, sender.mailbox.id, messageIdHeader, now);
  const answers = submission.answers ?? (await answeredByHeader(db, sender.mailbox.id, threadId, bytes));
  const draft = { messageIdHeader, messageId: submission.draftMessageId ?? null };
  const expiresAt = new Date(
    now.getTime() + (sender.settings.consentExpiresInDays ?? CONSENT_EXPIRES_DAYS_DEFAULT) * DAY_MS,
  );
  const consentId = held ? newId('consent') : null;
  const contentHash = hashContent(bytes, submission.recipients);

  const submit = (copyId: string | undefined) =>
    db.transaction(async (sql) => {
      const id = copyId ?? newId('message');
      await sql.query(INSERT_MESSAGE, [
        id,
        sender.organization.id,
        sender.mailbox.id,
        key,
        bytes.length,
        contentHash,
        messageIdHeader,
        // Of a held answer, so that the approval can be remembered for its thread.
        threadId,
        facts.from,
        JSON.stringify(read.to.map(formatAddress)),
        JSON.stringify(read.cc.map(formatAddress)),
        read.subject,
        read.preview,
        submission.labels,
        submission.via,
        JSON.stringify(submission.actor),
        submission.clientId,
        copyId !== undefined,
        consentId,
        held ? 'held' : waits ? 'scheduled' : 'sending',
        now,
        waits ? null : new Date(now.getTime() + OUTBOUND_GIVE_UP_MS),
        sendAt,
        answers?.messageId ?? null,
        answers?.as ?? null,
      ]);
      await sql.query(INSERT_RECIPIENTS, [
        id,
        recipients.map(({ number }) => number),
        recipients.map(({ address }) => address),
        recipients.map(({ local }) => local),
        now,
      ]);
      if (submission.notices !== undefined) await keepNotices(sql, id, submission.notices);
      const message = await lockOutbound(sql, id);
      if (message === undefined) throw new Error('a message was submitted and is not there');
      if (!waits) return release(sql, services, sender, message, bytes, draft);
      const ownMail = await findOwnMailChanges(sql, sender.mailbox.id, draft, null);
      const folderIds = await changeOwnMail(sql, sender.mailbox.id, ownMail);
      if (copyId === undefined) await requireRoom(sql, sender.mailbox.id);
      if (consentId !== null) {
        await sql.query(INSERT_CONSENT, [
          consentId,
          sender.organization.id,
          sender.mailbox.id,
          id,
          toAsk,
          contentHash,
          read.subject,
          read.preview,
          expiresAt,
          now,
        ]);
        const owed = await recordEvents(sql, [requestedEvent(sender, message, consentId, toAsk, expiresAt, now)]);
        return { id, threadId: null, status: 'consent_pending' as const, folderIds, owed };
      }
      return { id, threadId: null, status: 'scheduled' as const, folderIds, owed: 0 };
    });

  // Another submission at this very moment may have the same client id, or the same copy in Sent.
  const submitting = submit(copy?.id).catch(async (error: unknown) => {
    if (!isTaken(error)) throw error;
    return (await findSubmitted(db, submission.mailboxId, submission.clientId)) ?? submit(undefined);
  });
  const done = await submitting.catch((error: unknown) => {
    if (!(error instanceof SenderRefused)) throw error;
    const full = error.kind === 'over-quota';
    return refuse(
      full
        ? new CatalogueError('quota_exceeded')
        : new CatalogueError('forbidden', 'The mailbox is not active and cannot send.'),
      full ? 'quota_exceeded' : 'mailbox_not_active',
      submission.recipients,
      null,
    );
  });
  if ('repeated' in done) return done;
  afterCommit(services, done);
  return {
    messageId: done.id,
    organizationId: sender.organization.id,
    mailboxId: sender.mailbox.id,
    threadId: done.threadId,
    status: done.status,
    consentId,
    sendAt,
    repeated: false,
  };
}

/**
 * The copies in Sent are filed when the messages go; that they will not fit is said at the submission. All that waits
 * counts, the message at hand too.
 */
async function requireRoom(sql: Sql, mailboxId: string): Promise<void> {
  const fits = await sql.query(FITS, [mailboxId]);
  if (fits.length === 0) throw new SenderRefused('over-quota');
}

const FITS = `
  select 1 from mailbox_counter
   where mailbox_id = $1 and quota_bytes >= bytes_used + (
     select coalesce(sum(size), 0) from outbound_message
      where mailbox_id = $1 and state in ('held', 'scheduled') and not filed)`;

/** Each place mail goes to once, its domain as DNS and the lists know it. */
const oncePerPlace = (recipients: readonly string[]): string[] => [
  ...new Map(recipients.map(withAsciiDomain).map((address) => [address.toLowerCase(), address])).values(),
];

function requireRecipients(recipients: readonly string[]): void {
  const details = recipients.flatMap((address, i) =>
    isEmailAddress(address) ? [] : [{ path: `/to/${i}`, message: 'is not an address mail can be sent to' }],
  );
  if (recipients.length === 0) details.push({ path: '/to', message: 'there must be a recipient' });
  if (recipients.length > RECIPIENTS_PER_MESSAGE_MAX)
    details.push({ path: '/to', message: `there are at most ${RECIPIENTS_PER_MESSAGE_MAX} recipients` });
  if (details.length > 0) throw new CatalogueError('invalid_request', undefined, { details });
}

function requireSendAt(sendAt: Date | null, now: number): void {
  if (sendAt === null) return;
  const problem =
    sendAt.getTime() <= now
      ? 'must lie in the future; leave it out to send at once'
      : sendAt.getTime() > now + SEND_AT_AHEAD_MAX_DAYS * DAY_MS
        ? `must lie within ${SEND_AT_AHEAD_MAX_DAYS} days`
        : undefined;
  if (problem !== undefined)
    throw new CatalogueError('invalid_request', undefined, { details: [{ path: '/sendAt', message: problem }] });
}

async function recordRefusal(services: SendingServices, event: NewEvent): Promise<void> {
  if ((await services.db.transaction((sql) => recordEvents(sql, [event]))) > 0) services.deliveriesDue.nudge();
}

const requestedEvent = (
  sender: Sender,
  message: OutboundMessage,
  consentId: string,
  recipients: readonly string[],
  expiresAt: Date,
  occurredAt: Date,
): NewEvent => ({
  type: 'outbound_consent_requested',
  organization: sender.organization,
  mailbox: sender.mailbox,
  actor: message.actor,
  occurredAt,
  data: {
    consentId,
    messageId: message.id,
    recipients,
    subject: message.subject,
    preview: message.preview,
    expiresAt: expiresAt.toISOString(),
  },
});

/** The thread of the mailbox that a message answers in, or null. */
async function answeredThread(sql: Sql, sender: Sender, bytes: Buffer): Promise<string | null> {
  const read = readMessage(bytes);
  const refs = threadRefs(read, read.to[0]?.address ?? '');
  const { ids, threadIds } = await findThreads(sql, [{ mailboxId: sender.mailbox.id, refs }]);
  const [threadId] = threadIds;
  // A new thread would be led to by all of its references.
  return threadId === undefined || ids.length === refs.ids.length ? null : threadId;
}

/** Recipients that are no mailboxes of the sender's organization. */
async function addressesOutside(
  services: SendingServices,
  sender: Sender,
  recipients: readonly { address: string; local: boolean }[],
): Promise<string[]> {
  const directory = directoryOf(services);
  const outside = await Promise.all(
    recipients.map(async ({ address, local }) => {
      if (!local) return true;
      const found = await directory.find(address);
      // An address here that does not exist is bounced and reaches nobody.
      return found !== undefined && found.organization.id !== sender.organization.id;
    }),
  );
  return recipients.filter((_, i) => outside[i]).map(({ address }) => address);
}

/** PostgreSQL: unique_violation. */
const isTaken = (error: unknown): boolean => Reflect.get(Object(error), 'code') === '23505';

/** What was submitted with this client id before, if anything. */
export async function findSubmitted(
  sql: Sql,
  mailboxId: string,
  clientId: string | null,
): Promise<Submitted | undefined> {
  if (clientId === null) return undefined;
  const [row] = await sql.query<{ id: string }>(
    `select id from outbound_message where mailbox_id = $1 and client_id = $2`,
    [mailboxId, clientId],
  );
  if (row === undefined) return undefined;
  const message = await lockOutbound(sql, row.id);
  if (message === undefined) return undefined;
  const status = outboundStatusOf(message, await findRecipients(sql, row.id));
  return {
    messageId: row.id,
    organizationId: message.organizationId,
    mailboxId,
    threadId: message.threadId,
    status,
    consentId: message.state === 'held' ? message.consentId : null,
    sendAt: message.sendAt,
    repeated: true,
  };
}

const INSERT_MESSAGE = `
  insert into outbound_message (id, organization_id, mailbox_id, blob, size, content_hash, message_id_header, thread_id,
    from_address, to_addresses, cc_addresses, subject, preview, labels, via, actor, client_id, filed, consent_id, state,
    submitted_at, give_up_at, due_at, send_at, answers_message_id, answers_as)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $21, $23,
    $24, $25)`;

const INSERT_RECIPIENTS = `
  insert into outbound_recipient (message_id, number, address, local, status, updated_at)
  select $1, number, address, local, 'queued', $5
    from unnest($2::smallint[], $3::text[], $4::bool[]) as r (number, address, local)`;

const INSERT_CONSENT = `
  insert into consent (id, organization_id, mailbox_id, message_id, recipients, content_hash, subject, preview, expires_at,
    created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;
