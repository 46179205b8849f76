/**
 * Submits a prepared message, for every protocol (`submit-letter.ts` prepares it and starts its workflow).
 *
 *   input ─▶ state, brakes, limits, block lists ─▶ facts for the decision ─▶ one transaction: released, scheduled or held
 *   submission-input.ts  check-submission.ts       plan-submission.ts         store-submission.ts
 *
 * Its draft is removed in any case; the message it answers is marked at the release.
 */

import { formatAddress } from '@agent-mailbox/mime-structure/addresses';
import { CatalogueError } from '#domain/errors.ts';
import { readSafely } from '#mailstore/reading/read-safely.ts';
import { oncePerPlace, requireRecipients, requireSendAt } from '#sending/compose/submission-input.ts';
import { SenderRefused } from '#sending/local-delivery/deliver-here.ts';
import { afterCommit } from '#sending/local-delivery/release-message.ts';
import { findSubmitted, type Submitted } from '#sending/outbox/find-submitted.ts';
import { blockedEvent } from '#sending/outbox/outbound-events.ts';
import { findSender } from '#sending/outbox/outbound-message.ts';
import type { SendingServices } from '#sending/outbox/sending-services.ts';
import { requireHonestAuthor } from './author.ts';
import {
  mailboxNotActive,
  mayNotSend,
  numberRecipients,
  onBlockList,
  overPlanLimit,
  type Refusal,
  recordRefusal,
  sendingPaused,
} from './check-submission.ts';
import { answeredThread, planSubmission, type SubmissionPlan } from './plan-submission.ts';
import { type StoredSubmission, storeSubmission } from './store-submission.ts';
import type { Submission } from './submission.ts';

/**
 * Submits a message. Start its workflow after it resolves, unless it is `repeated` or `isFinished`.
 *
 * @throws {CatalogueError} not_found, forbidden (the mailbox may not send), invalid_request (recipients, author, time),
 * sending_stopped, drafts_only, rate_limited with the time to wait, recipient_blocked, quota_exceeded; conflict (the
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
  await requireHonestAuthor(services, read, sender.mailbox.address);

  const known = { submission, sender, read, from, now };
  const checked = await checkSubmission(services, known);
  if ('error' in checked) return refuse(services, known, checked);
  const plan = await planSubmission(services, { ...known, ...checked });
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
