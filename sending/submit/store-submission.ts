/**
 * The transaction of a submission: message, recipients and request for consent, with their events.
 *
 *   brakes and budgets, under the lock ──▶ consent needed, or over a budget? ──no──▶ later? ──no──▶ released at once
 *                                              └──yes──▶ held                          └──yes──▶ scheduled
 */

import { formatAddress } from '@agent-mailbox/mime-structure/addresses';
import { type NewEvent, recordEvents } from '#core/events/record-event.ts';
import { shareBrakes } from '#core/mailboxes/sending-brakes.ts';
import { askBudgets } from '#core/mailboxes/sending-budgets.ts';
import { newId } from '#core/platform/new-id.ts';
import { keepMessageContext } from '#core/platform/tracing/kept-context.ts';
import { isTracing } from '#core/platform/tracing/trace.ts';
import type { Sql } from '#db/database.ts';
import { consentRisk } from '#domain/sending/consent-risk.ts';
import { OUTBOUND_GIVE_UP_MS } from '#domain/sending/outbound.ts';
import type { OverBudgetKind } from '#domain/sending/sending-brakes.ts';
import { storeSources } from '#sending/carried/carried-passages.ts';
import { writeApprovalNotices } from '#sending/consent/approval-notices.ts';
import { requireResubmittable } from '#sending/consent/earlier-versions.ts';
import { giveBackStandingApproval, takeStandingApproval } from '#sending/consent/standing-approvals.ts';
import { requireRoom } from '#sending/local-delivery/deliver-here.ts';
import { keepNotices } from '#sending/local-delivery/notify-sender.ts';
import { type Released, release } from '#sending/local-delivery/release-message.ts';
import {
  findSender,
  lockOutbound,
  type OutboundMessage,
  type Sender,
  type SendingServices,
} from '#sending/outbox/outbound-message.ts';
import { changeOwnMail, findOwnMailChanges, keepDraft } from '#sending/outbox/own-mail.ts';
import { brakeOn, everybody, type Refusal, type SubmissionPlan } from './plan-submission.ts';

/** The stored message, and why it waits if it does. */
export interface StoredSubmission extends Released {
  /** Null unless it is held. */
  readonly consentId: string | null;
  /** The budget it exceeds, if that is why it is held. */
  readonly overBudget: OverBudgetKind | null;
}

/** Why a message is held: whom a person is asked about, and by which rule. */
interface Waiting {
  readonly consentId: string | null;
  readonly asked: readonly string[];
  readonly overBudget: OverBudgetKind | null;
  /** The standing approval by which it is not held; null: none was needed. */
  readonly standing: string | null;
}

/**
 * @param copyId of the copy in Sent that a client filed itself, whose id the message takes
 * @returns a refusal when the brakes have changed since they were read; then nothing is stored
 * @throws {SenderRefused} the mailbox has no room or was closed
 * @throws {CatalogueError} conflict (the draft changed meanwhile, or the request was not sent back or is continued already)
 */
export async function storeSubmission(
  sql: Sql,
  services: SendingServices,
  plan: SubmissionPlan,
  copyId: string | undefined,
): Promise<StoredSubmission | Refusal> {
  const { submission, sender, read, draft } = plan;
  const [, found] = await Promise.all([shareBrakes(sql, sender.organization.id), findSender(sql, sender.mailbox.id)]);
  const current = found ?? sender;
  const brake = brakeOn(current, submission.actor);
  if (brake !== undefined) return brake;
  const standing = await takeStanding(sql, plan);
  const toAsk = standing === null ? plan.toAsk : [];
  const budget = toAsk.length > 0 ? undefined : await askBudgets(sql, budgetQuestion(plan, current));
  const overBudget = budget?.over ?? null;
  // Beyond a budget a person is asked about everybody, strangers or not.
  const asked = overBudget === null ? toAsk : everybody(submission.recipients);
  const isHeld = asked.length > 0;
  if (isHeld && standing !== null) await giveBackStandingApproval(sql, standing);
  const waiting = {
    consentId: isHeld ? newId('consent') : null,
    asked,
    overBudget,
    standing: isHeld ? null : standing,
  };
  await requireResubmittable(sql, submission);
  const message = await insertMessage(sql, plan, waiting, copyId);
  const { consentId } = waiting;
  if (consentId === null && (submission.sendAt ?? null) === null) {
    const content = { bytes: submission.prepared.bytes, read };
    const released = await release(sql, services, sender, message, content, draft, budget?.count);
    return { ...released, consentId, overBudget };
  }
  const ownMail = await findOwnMailChanges(sql, sender.mailbox.id, draft, null);
  const folderIds = await changeOwnMail(sql, sender.mailbox.id, ownMail);
  if (copyId === undefined) await requireRoom(sql, sender.mailbox.id);
  const stored = { id: message.id, threadId: null, folderIds, consentId, overBudget, isFinished: false };
  if (consentId === null) {
    await budget?.count();
    return { ...stored, status: 'scheduled', owed: 0 };
  }
  return { ...stored, status: 'consent_pending', owed: await askForConsent(sql, plan, message, consentId, waiting) };
}

/** A message that was sent back is for a person, whatever was approved in advance. */
const takeStanding = async (
  sql: Sql,
  { submission, sender, toAsk, heldBecause, now }: SubmissionPlan,
): Promise<string | null> =>
  (submission.resubmits ?? null) === null
    ? takeStandingApproval(sql, sender.mailbox.id, { asked: toAsk, heldBecause, now })
    : null;

const budgetQuestion = ({ sender, outside, now }: SubmissionPlan, { brakes, settings }: Sender) => ({
  organizationId: sender.organization.id,
  mailboxId: sender.mailbox.id,
  budgets: {
    mailbox: brakes.budgets,
    organization: {
      messagesPerDay: settings.dailyMessages ?? null,
      newRecipientsPerDay: settings.dailyNewRecipients ?? null,
    },
  },
  outside,
  now,
});

async function insertMessage(
  sql: Sql,
  {
    submission,
    sender,
    read,
    from,
    recipients,
    outside,
    blob,
    contentHash,
    threadId,
    answers,
    draft,
    now,
  }: SubmissionPlan,
  { consentId, standing }: Waiting,
  copyId: string | undefined,
): Promise<OutboundMessage> {
  const { bytes, messageId: messageIdHeader } = submission.prepared;
  const id = copyId ?? newId('message');
  const sendAt = submission.sendAt ?? null;
  const waits = consentId !== null || sendAt !== null;
  const inserted = sql.query(INSERT_MESSAGE, [
    id,
    sender.organization.id,
    sender.mailbox.id,
    blob,
    bytes.length,
    contentHash,
    messageIdHeader,
    // Of a held reply, so that the approval can be remembered for its thread.
    threadId,
    from,
    JSON.stringify(read.to.map(formatAddress)),
    JSON.stringify(read.cc.map(formatAddress)),
    read.subject,
    read.preview,
    submission.labels,
    submission.via,
    JSON.stringify(submission.actor),
    submission.clientId?.id ?? null,
    submission.clientId?.hashes ?? null,
    copyId !== undefined,
    consentId,
    consentId === null ? (waits ? 'scheduled' : 'sending') : 'held',
    now,
    waits ? null : new Date(now.getTime() + OUTBOUND_GIVE_UP_MS),
    sendAt,
    answers?.messageId ?? null,
    answers?.as ?? null,
    standing,
  ]);
  const named = sql.query(INSERT_RECIPIENTS, [
    id,
    recipients.map(({ number }) => number),
    recipients.map(({ address }) => address),
    recipients.map(({ local }) => local),
    now,
    sender.organization.id,
    recipients.map(({ address }) => !outside.includes(address)),
  ]);
  const [, , , , message] = await Promise.all([
    inserted,
    named,
    submission.notices === undefined ? undefined : keepNotices(sql, id, submission.notices),
    keepDraft(sql, sender.mailbox.id, id, draft),
    lockOutbound(sql, id),
  ]);
  if (isTracing()) await keepMessageContext(sql, id);
  if (message === undefined) throw new Error('a message was submitted and is not there');
  return message;
}

/** Writes the request, its notices and its event. @returns webhook deliveries to dispatch */
async function askForConsent(
  sql: Sql,
  {
    submission,
    sender,
    read,
    contentHash,
    expiresAt,
    heldBecause,
    carried,
    details,
    decidedAlone,
    now,
  }: SubmissionPlan,
  message: OutboundMessage,
  consentId: string,
  { asked, overBudget }: Waiting,
): Promise<number> {
  await sql.query(INSERT_CONSENT, [
    consentId,
    sender.organization.id,
    sender.mailbox.id,
    message.id,
    asked,
    contentHash,
    read.subject,
    read.preview,
    expiresAt,
    now,
    overBudget ?? heldBecause,
    decidedAlone,
    submission.resubmits ?? null,
    overBudget !== null || Object.keys(details).length === 0 ? null : JSON.stringify(details),
    consentRisk(overBudget ?? heldBecause, heldBecause === 'carries_other_mail', read.examined),
  ]);
  await storeSources(sql, consentId, carried);
  const request = { organizationId: sender.organization.id, consentId, subject: read.subject };
  await writeApprovalNotices(sql, 'approval_request', request, now.getTime());
  return recordEvents(sql, [requestedEvent(sender, message, consentId, asked, expiresAt, now)]);
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

const INSERT_MESSAGE = `
  insert into outbound_message (id, organization_id, mailbox_id, blob, size, content_hash, message_id_header, thread_id,
    from_address, to_addresses, cc_addresses, subject, preview, labels, via, actor, client_id, client_hashes, filed, consent_id,
    state, submitted_at, give_up_at, due_at, send_at, answers_message_id, answers_as,
    standing_approval_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $22,
    $24, $25, $26, $27)`;

const INSERT_RECIPIENTS = `
  insert into outbound_recipient (message_id, number, address, local, status, updated_at, organization_id, inside)
  select $1, number, address, local, 'queued', $5, $6, inside
    from unnest($2::smallint[], $3::text[], $4::bool[], $7::bool[]) as r (number, address, local, inside)`;

const INSERT_CONSENT = `
  insert into consent (id, organization_id, mailbox_id, message_id, recipients, content_hash, subject, preview, expires_at,
    created_at, held_because, carries_passages, resubmits, held_details, risk)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`;
