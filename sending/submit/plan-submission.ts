/**
 * What must be known before the transaction of a submission begins. It writes nothing except the blob.
 *
 * 1. Which address is allowed in From. A mailbox writes as itself. It may write on behalf of another author (itself in
 *    Sender, RFC 5322 §3.6.2) only if its own signature and return path prove nothing about that author: DMARC (RFC 7489
 *    §3.1) takes every domain under the same organizational domain for the same, so a neighbour on this host would pass as
 *    genuine.
 * 2. Whether the message may be submitted at all: state of the mailbox, brakes, limits, block lists, pauses. Consent and
 *    budgets do not refuse a message, they hold it.
 * 3. The facts for that decision.
 */

import { type NewEvent, recordEvents } from '#core/events/record-event.ts';
import { pausedBecause } from '#core/mailboxes/sending-health.ts';
import type { ClientId } from '#core/platform/client-id.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { registrableDomain } from '#domain/mail/domain-names.ts';
import { domainOf, isOneOf } from '#domain/mail/mailbox-address.ts';
import { CONSENT_EXPIRES_DAYS_DEFAULT } from '#domain/organizations/plans.ts';
import { type HeldBecauseKind, type HeldDetails, OUTBOUND_CONSENT_DEFAULT } from '#domain/sending/consent.ts';
import { STOPPED_SENTENCES, stoppedBy } from '#domain/sending/sending-brakes.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import { storeBlob } from '#mailstore/blobs/blob-store.ts';
import { findThreads, threadRefs } from '#mailstore/delivery/threads.ts';
import type { ReadMessage } from '#mime/read-message.ts';
import type { CarriedSource } from '#sending/carried/carried-passages.ts';
import type { PreparedMessage } from '#sending/compose/prepare-message.ts';
import { evaluateReply } from '#sending/consent/earned-reply.ts';
import { recipientsToAsk } from '#sending/consent/recipients-to-ask.ts';
import { overLimit } from '#sending/limits/sending-limits.ts';
import { askLists } from '#sending/lists/sender-lists.ts';
import type { NoticesAsked } from '#sending/local-delivery/notify-sender.ts';
import { earlierCopy } from '#sending/outbox/find-submitted.ts';
import { isLocal, outsideOf } from '#sending/outbox/local-addresses.ts';
import type { OutboundBlockedReason } from '#sending/outbox/outbound-events.ts';
import type { Sender, SendingServices } from '#sending/outbox/outbound-message.ts';
import { type Answered, answeredByHeader, type SentDraft } from '#sending/outbox/own-mail.ts';

/** A message that a mailbox wants to send, and how. */
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
  /** The caller's own id: a second submission of the same content answers the first one. */
  readonly clientId: ClientId | null;
  /** Not before this time; null: at once. */
  readonly sendAt?: Date | null;
  /** The message in Drafts that is sent, if the caller knows it; others are found by their Message-ID. */
  readonly draftMessageId?: string | null;
  /** The message it answers or forwards, if In-Reply-To does not say it. */
  readonly answers?: Answered | null;
  /** The returned request that it continues. */
  readonly resubmits?: string | null;
  /** Default: notices of failures and delays, with the header. */
  readonly notices?: NoticesAsked | undefined;
}

/** As wide as any reader may see it: not every one knows which names a provider gives to its customers. */
const neighbourhood = (domain: string): string => registrableDomain(domain, { privateSuffixes: false });

/** @throws {CatalogueError} invalid_request */
export async function requireHonestAuthor(
  services: SendingServices,
  { from: [author] }: Pick<ReadMessage, 'from'>,
  { mailbox: { address: own }, own: all }: Pick<Sender, 'mailbox' | 'own'>,
): Promise<void> {
  const address = author?.address ?? '';
  if (isOneOf(all, address)) return;
  const near = neighbourhood(domainOf(address)) === neighbourhood(domainOf(own));
  if (!near && !(await isLocal(services, address))) return;
  const message = `From is ${address || 'no address'}, but this mailbox sends as ${own}: set From to ${own}, or set Sender to ${own} if the domain in From is neither hosted here nor related to the domain of the mailbox`;
  throw new CatalogueError('invalid_request', undefined, { details: [{ path: '/from', message }] });
}

/** Why a message is not submitted. */
export interface Refusal {
  readonly error: CatalogueError;
  /** The reason in the event `email_blocked`; null: it gets no event. */
  readonly reason: OutboundBlockedReason | null;
  /** The recipients that it is about; default: all. */
  readonly recipients?: readonly string[];
  /** The rule or sentence that the event names. */
  readonly rule?: string | null;
}

interface NumberedRecipient {
  readonly number: number;
  readonly address: string;
  /** Its mail stays on this host. */
  readonly local: boolean;
}

export const mailboxNotActive = (): Refusal => ({
  error: new CatalogueError('forbidden', 'The mailbox is not active and cannot send.'),
  reason: 'mailbox_not_active',
});

/** The brake that refuses a new message. Drafts only: a person may send, an agent may not. */
export function brakeOn({ brakes, settings }: Sender, actor: Actor): Refusal | undefined {
  const by = stoppedBy(brakes.mode, settings.sendingStopped === true);
  if (by !== null)
    return { error: new CatalogueError('sending_stopped', STOPPED_SENTENCES[by]), reason: 'sending_stopped' };
  if (brakes.mode === 'drafts_only' && actor.type !== 'user')
    return { error: new CatalogueError('drafts_only'), reason: 'drafts_only' };
  return undefined;
}

/** State of the mailbox and brakes. */
export const mayNotSend = (sender: Sender, actor: Actor): Refusal | undefined =>
  sender.status === 'active' ? brakeOn(sender, actor) : mailboxNotActive();

/** Limits of the plan. @param threadId of the thread that the message answers in, if it does */
export async function overPlanLimit(
  services: SendingServices,
  sender: Sender,
  threadId: string | null,
): Promise<Refusal | undefined> {
  const over = await overLimit(services, sender, threadId);
  if (over === undefined) return undefined;
  return {
    error: new CatalogueError('rate_limited', over.message, { retryAfterSeconds: over.retryAfterSeconds }),
    // One event for each time a limit is met, not for each attempt beyond it.
    reason: over.first ? 'plan_limit' : null,
    rule: over.rule,
  };
}

/** Block lists of the organization and the mailbox. */
export async function onBlockList(
  sql: Sql,
  sender: Sender,
  addresses: readonly string[],
): Promise<Refusal | undefined> {
  const entries = await askLists(sql, {
    organizationId: sender.organization.id,
    mailboxId: sender.mailbox.id,
    direction: 'outbound',
    addresses,
  });
  const blocked = addresses.filter((address) => entries.get(address.toLowerCase())?.action === 'block');
  if (blocked.length === 0) return undefined;
  return {
    error: new CatalogueError('recipient_blocked', `On a block list: ${blocked.join(', ')}. Nothing was sent.`),
    reason: 'blocked_recipient',
    recipients: blocked,
    rule: entries.get(blocked[0]?.toLowerCase() ?? '')?.value ?? null,
  };
}

export const numberRecipients = (
  services: SendingServices,
  addresses: readonly string[],
  sql: Sql,
): Promise<NumberedRecipient[]> =>
  Promise.all(
    addresses.map(async (address, number) => ({ number, address, local: await isLocal(services, address, sql) })),
  );

/** A mailbox whose mail bounces too often sends nothing to other hosts. */
export async function sendingPaused(
  { db }: SendingServices,
  sender: Sender,
  recipients: readonly NumberedRecipient[],
): Promise<Refusal | undefined> {
  if (recipients.every(({ local }) => local)) return undefined;
  const paused = await pausedBecause(db, sender.mailbox.id);
  if (paused === undefined) return undefined;
  return {
    error: new CatalogueError('forbidden', `Sending is paused for this mailbox: ${paused} A person can resume it.`),
    reason: 'sending_paused',
    rule: paused,
  };
}

export async function recordRefusal(services: SendingServices, event: NewEvent): Promise<void> {
  if ((await services.db.transaction((sql) => recordEvents(sql, [event]))) > 0) services.deliveriesDue.wake();
}

export interface SubmissionPlan {
  readonly submission: Submission;
  readonly sender: Sender;
  readonly read: ReadMessage;
  /** Of From, as text. */
  readonly from: string;
  readonly recipients: readonly NumberedRecipient[];
  /** Recipients that are no mailboxes of the organization. */
  readonly outside: readonly string[];
  /** Recipients that a person must approve, whatever the budgets say. */
  readonly toAsk: readonly string[];
  /** Why they must, if any must. */
  readonly heldBecause: HeldBecauseKind;
  /** Other mail that it carries, if that is why. */
  readonly carried: readonly CarriedSource[];
  /** What else a person is shown about the reason. */
  readonly details: HeldDetails;
  /** Held for what it carries or for what was read before: no other approval releases it. */
  readonly decidedAlone: boolean;
  /** It is the reply that its only recipient earned (`earned-reply.ts`). */
  readonly earned: boolean;
  /** The thread it answers in, if it does. */
  readonly threadId: string | null;
  readonly answers: Answered | null;
  readonly draft: SentDraft;
  /** Of the copy in Sent that a client filed itself, if there is one. */
  readonly copyId: string | undefined;
  /** Of its bytes, which are stored already. */
  readonly blob: Buffer;
  readonly contentHash: Buffer;
  readonly now: Date;
  /** When the request for consent would expire. */
  readonly expiresAt: Date;
}

const DAY_MS = 86_400_000;

export async function planSubmission(
  services: SendingServices,
  known: Pick<SubmissionPlan, 'submission' | 'sender' | 'read' | 'from' | 'recipients' | 'threadId' | 'now'>,
): Promise<SubmissionPlan> {
  const { db } = services;
  const { submission, sender, read, recipients, threadId, now } = known;
  const { bytes, messageId: messageIdHeader, hash } = submission.prepared;
  const [outside, answers, copy] = await db.together((sql) =>
    Promise.all([
      outsideOf(services, sender, recipients, sql),
      submission.answers ?? answeredByHeader(sql, sender.mailbox.id, threadId, bytes),
      earlierCopy(sql, sender.mailbox.id, messageIdHeader, now),
      storeBlob(sql, hash.key, bytes),
    ]),
  );
  const mode = sender.settings.outboundConsent ?? OUTBOUND_CONSENT_DEFAULT;
  const strangers = await recipientsToAsk(db, {
    organizationId: sender.organization.id,
    mailboxId: sender.mailbox.id,
    mode,
    addresses: outside,
  });
  const isFirstContact = mode === 'first_contact' && strangers.length > 0;
  const reply = isFirstContact
    ? await evaluateReply(db, {
        sender,
        bytes,
        read,
        recipients: submission.recipients,
        threadId,
        answers: submission.answers ?? null,
        copyIds: copy === undefined ? [] : [copy.id],
        mustBeApproved: sender.settings.repliesNeedApproval ?? false,
      })
    : 'first_contact';
  const toAsk = reply === 'earned' ? [] : strangers;
  const asksOnlyAgain = toAsk.length === 0 && (submission.resubmits ?? null) !== null;
  const expiresInDays = sender.settings.consentExpiresInDays ?? CONSENT_EXPIRES_DAYS_DEFAULT;
  return {
    ...known,
    outside,
    toAsk: asksOnlyAgain ? everybody(submission.recipients) : toAsk,
    carried: [],
    details: {},
    decidedAlone: false,
    earned: isFirstContact && reply === 'earned',
    heldBecause: asksOnlyAgain
      ? 'resubmitted'
      : mode === 'always'
        ? mode
        : reply === 'earned'
          ? 'first_contact'
          : reply,
    answers,
    copyId: copy?.id,
    draft: { messageIdHeader, messageId: submission.draftMessageId ?? null },
    blob: hash.key,
    contentHash: hash.contentHash(submission.recipients),
    expiresAt: new Date(now.getTime() + expiresInDays * DAY_MS),
  };
}

/** The recipients as requests for consent name them. */
export const everybody = (recipients: readonly string[]): string[] =>
  [...new Set(recipients.map((address) => address.toLowerCase()))].sort();

/** The thread of the mailbox that a message answers in, or null. */
export async function answeredThread(sql: Sql, sender: Sender, read: ReadMessage): Promise<string | null> {
  const refs = threadRefs(read, read.to[0]?.address ?? '');
  const { ids, threadIds } = await findThreads(sql, [{ mailboxId: sender.mailbox.id, refs }]);
  const [threadId] = threadIds;
  // All its references would lead to a new thread.
  return threadId === undefined || ids.length === refs.ids.length ? null : threadId;
}
