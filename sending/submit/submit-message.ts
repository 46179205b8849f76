/**
 * The use case of sending, for every entry point. MCP and the command line reach it through the API.
 *
 *   send, reply, forward   api/messages     ──▶ submitLetter: compose ──┐
 *   send a draft           api/drafts       ────────────────────────────┼──▶ submitBytes: prepare ─▶ submit ─▶ start
 *   SMTP submission        mail/submission  ────────────────────────────┘
 *
 *   input ─▶ state, brakes, limits, block lists, facts for the decision ─▶ one transaction: released, scheduled or held
 *                           plan-submission.ts                              store-submission.ts
 *                           check-carried.ts, check-reading.ts
 *
 * Its draft is removed in any case; the message it answers is marked at the release.
 */

import { formatAddress } from '@agent-mailbox/mime-structure/addresses';
import type { ClientId } from '#core/platform/client-id.ts';
import type { MailLine } from '#core/platform/mail-log/mail-line.ts';
import { inSpan } from '#core/platform/tracing/trace.ts';
import { findOwnAddresses } from '#db/queries/mailboxes/own-addresses.ts';
import { CatalogueError } from '#domain/errors.ts';
import { readSafely } from '#mailstore/reading/read-safely.ts';
import { type Author, authorOf, hashOfLetter, type Letter, type LetterTerms } from '#sending/compose/answer-letter.ts';
import { checkHeaders, composeMessage, envelopeRecipients } from '#sending/compose/compose-message.ts';
import { type PreparedMessage, prepareMessage } from '#sending/compose/prepare-message.ts';
import { oncePerPlace, requireRecipients, requireSendAt } from '#sending/compose/submission-input.ts';
import { SenderRefused } from '#sending/local-delivery/deliver-here.ts';
import { afterCommit } from '#sending/local-delivery/release-message.ts';
import { findSubmitted, type Submitted } from '#sending/outbox/find-submitted.ts';
import { blockedEvent } from '#sending/outbox/outbound-events.ts';
import { findSender, type SendingServices } from '#sending/outbox/outbound-message.ts';
import { checkCarried } from './check-carried.ts';
import { checkReading } from './check-reading.ts';
import {
  answeredThread,
  mailboxNotActive,
  mayNotSend,
  numberRecipients,
  onBlockList,
  overPlanLimit,
  planSubmission,
  type Refusal,
  recordRefusal,
  requireHonestAuthor,
  type Submission,
  type SubmissionPlan,
  sendingPaused,
} from './plan-submission.ts';
import { type StoredSubmission, storeSubmission } from './store-submission.ts';

/**
 * Submits a message. Start its workflow after it resolves, unless it is `repeated` or `isFinished`.
 *
 * @throws {CatalogueError} not_found, forbidden (the mailbox may not send), invalid_request (recipients, author, time),
 * sending_stopped, drafts_only, rate_limited with the time to wait, recipient_blocked, content_refused, quota_exceeded;
 * conflict (the
 * client id was used for another message, the draft changed meanwhile)
 */
export async function submitMessage(services: SendingServices, given: Submission): Promise<Submitted> {
  const { db } = services;
  const submission = { ...given, recipients: oncePerPlace(given.recipients) };
  const { mailboxId, clientId } = submission;
  const [sender, earlier] = await db.together((sql) =>
    Promise.all([findSender(sql, mailboxId), findSubmitted(sql, mailboxId, clientId)]),
  );
  if (sender === undefined || sender.organization.id !== submission.organizationId)
    throw new CatalogueError('not_found');
  if (earlier !== undefined) return earlier;
  requireRecipients(submission.recipients);
  requireSendAt(submission.sendAt ?? null, services.now());
  const { bytes, hash } = submission.prepared;
  const read = await readSafely(db, bytes, { source: mailboxId, contentKey: hash.key });
  const author = read.from[0];
  const from = author === undefined ? sender.mailbox.address : formatAddress(author);
  const now = new Date(services.now());
  await requireHonestAuthor(services, read, sender);

  const known = { submission, sender, read, from, now };
  const checked = await checkSubmission(services, known);
  if ('error' in checked) return refuse(services, known, checked);
  const carried = await checkCarried(services, await planSubmission(services, { ...known, ...checked }));
  if ('error' in carried) return refuse(services, known, carried);
  const plan = await checkReading(services, carried);
  const stored = await store(services, plan);
  if ('error' in stored) return refuse(services, known, stored);
  if ('repeated' in stored) return stored;
  afterCommit(services, stored);
  const { organizationId } = submission;
  const { id: messageId, threadId, status, consentId, overBudget, isFinished } = stored;
  const outcome = { threadId, status, consentId, overBudget, sendAt: submission.sendAt ?? null, isFinished };
  return { messageId, organizationId, mailboxId, ...outcome, repeated: false };
}

type Known = Pick<SubmissionPlan, 'submission' | 'sender' | 'read' | 'from' | 'now'>;

/** The first rule that refuses it; otherwise what the rules had to find out. */
async function checkSubmission(
  services: SendingServices,
  { submission, sender, read }: Known,
): Promise<Refusal | Pick<SubmissionPlan, 'recipients' | 'threadId'>> {
  const notNow = mayNotSend(sender, submission.actor);
  if (notNow !== undefined) return notNow;
  const [threadId, blocked, recipients] = await services.db.together((sql) =>
    Promise.all([
      answeredThread(sql, sender, read),
      onBlockList(sql, sender, submission.recipients),
      numberRecipients(services, submission.recipients, sql),
    ]),
  );
  const refusal = (await overPlanLimit(services, sender, threadId)) ?? blocked;
  if (refusal !== undefined) return refusal;
  return (await sendingPaused(services, sender, recipients)) ?? { recipients, threadId };
}

/** Records the refusal as an event. @throws {CatalogueError} always: that of the refusal */
async function refuse(services: SendingServices, known: Known, refusal: Refusal): Promise<never> {
  const { submission, sender, read, from, now } = known;
  const { error, reason, recipients = submission.recipients, rule = null } = refusal;
  if (reason !== null) {
    const message = { id: null, from, subject: read.subject, actor: submission.actor };
    await recordRefusal(services, blockedEvent(sender, message, { recipients, reason, rule }, now));
  }
  throw error;
}

async function store(services: SendingServices, plan: SubmissionPlan): Promise<StoredSubmission | Submitted | Refusal> {
  const { db } = services;
  const { mailboxId, clientId } = plan.submission;
  const submit = (copyId: string | undefined) => db.transaction((sql) => storeSubmission(sql, services, plan, copyId));
  try {
    return await submit(plan.copyId).catch(async (error: unknown) => {
      // A concurrent submission may have the same client id, or the same copy in Sent.
      if (!isTaken(error)) throw error;
      return (await findSubmitted(db, mailboxId, clientId)) ?? submit(undefined);
    });
  } catch (error) {
    if (!(error instanceof SenderRefused)) throw error;
    if (error.kind !== 'over-quota') return mailboxNotActive();
    return { error: new CatalogueError('quota_exceeded'), reason: 'quota_exceeded' };
  }
}

/** PostgreSQL: unique_violation. */
const isTaken = (error: unknown): boolean => Reflect.get(Object(error), 'code') === '23505';

interface SubmissionParts {
  readonly services: SendingServices;
  /** Starts the workflow after the commit. Without it the sweep of the API processes does. */
  readonly start: ((submitted: Submitted) => void | Promise<void>) | undefined;
  /** From where it came, for the mail log. */
  readonly origin: SubmissionOrigin;
}

/** Where a submission came from. */
export type SubmissionOrigin = Pick<MailLine, 'session' | 'request' | 'client' | 'helo' | 'tls'> & {
  /** A refusal by SMTP is logged by its listener, with all others. */
  readonly listener: 'submission' | 'api';
};

/** The mailbox that sends. */
interface SendingMailbox {
  readonly organizationId: string;
  readonly id: string;
  readonly address: string;
}

type Terms = Omit<Submission, 'organizationId' | 'mailboxId' | 'prepared'>;

export interface SubmittedBytes extends Submitted {
  /** Its Message-ID with brackets. */
  readonly messageIdHeader: string;
}

/** Most mail is written as the mailbox's own address: then its aliases need not be read. */
async function prepare(
  { db, now }: SendingServices,
  { id, address }: SendingMailbox,
  bytes: Uint8Array,
): Promise<PreparedMessage> {
  const at = new Date(now());
  try {
    return prepareMessage(bytes, address, at);
  } catch (error) {
    if (!(error instanceof CatalogueError) || error.code !== 'invalid_request') throw error;
    const own = await findOwnAddresses(db, id);
    if (own.length < 2) throw error;
    return prepareMessage(bytes, address, at, own);
  }
}

/**
 * Submits a message that is written already.
 *
 * @throws {CatalogueError} those of `prepareMessage` and `submitMessage`
 */
export async function submitBytes(
  { services, start, origin }: SubmissionParts,
  mailbox: SendingMailbox,
  bytes: Uint8Array,
  terms: Terms,
): Promise<SubmittedBytes> {
  const { organizationId, id: mailboxId } = mailbox;
  const line = {
    ...origin,
    mail: 'submission',
    from: mailbox.address,
    to: terms.recipients,
    mailboxes: [mailboxId],
  } as const;
  let messageId: string | undefined;
  const submit = async () => {
    const prepared = await prepare(services, mailbox, bytes);
    messageId = prepared.messageId;
    return { prepared, submitted: await submitMessage(services, { ...terms, organizationId, mailboxId, prepared }) };
  };
  const { prepared, submitted } = await inSpan(
    'message.submit',
    { attributes: { 'agent_mailbox.organization.id': organizationId, 'agent_mailbox.mailbox.id': mailboxId } },
    async (span) => {
      const done = await submit();
      span.set({
        'agent_mailbox.message.id': [done.submitted.messageId],
        'agent_mailbox.message.size': done.prepared.bytes.length,
        'agent_mailbox.message.outcome': outcomeOf(done.submitted),
      });
      return done;
    },
  ).catch((error: unknown) => {
    if (origin.listener === 'api' && error instanceof CatalogueError)
      services.mailLog.refused({
        ...line,
        outcome: error.status === 429 || error.status >= 500 ? 'deferred' : 'refused',
        messageId,
        size: bytes.length,
        reply: `${error.status} ${error.code}`,
      });
    throw error;
  });
  if (!submitted.repeated)
    await services.db.afterCommit(() =>
      services.mailLog.note({
        ...line,
        outcome: outcomeOf(submitted),
        messages: [submitted.messageId],
        messageId,
        size: prepared.bytes.length,
      }),
    );
  if (!submitted.repeated && !submitted.isFinished) await start?.(submitted);
  return { ...submitted, messageIdHeader: prepared.messageId };
}

/**
 * Composes a message of the mailbox from its parts and submits it.
 *
 * @throws {CatalogueError} invalid_request for parts that cannot be sent, and those of `submitBytes`
 */
export async function submitLetter(
  parts: SubmissionParts,
  mailbox: SendingMailbox & Author,
  letter: Letter,
  { onlyFor, clientId, ...terms }: Omit<Terms, 'recipients' | 'answers' | keyof LetterTerms> & LetterTerms,
): Promise<SubmittedBytes> {
  const { answers = null, omitted: _, ...content } = letter;
  const { sendAt } = terms;
  checkHeaders(content.headers);
  const recipients = envelopeRecipients([content.to, content.cc, content.bcc]);
  const bytes = await composeMessage({
    ...content,
    from: authorOf(mailbox, content.from),
    // Mail readers sort by it: a scheduled message has the date of its sending.
    ...(sendAt === null ? {} : { date: sendAt }),
  });
  const known: ClientId | null = clientId && {
    id: clientId.id,
    hashes: [...clientId.hashes, hashOfLetter(letter, { ...terms, onlyFor })],
  };
  return submitBytes(parts, mailbox, bytes, { ...terms, clientId: known, recipients, answers });
}

const outcomeOf = ({ status }: Submitted): MailLine['outcome'] =>
  status === 'consent_pending' ? 'held' : status === 'scheduled' ? 'scheduled' : 'accepted';
