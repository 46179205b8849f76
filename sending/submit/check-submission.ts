/**
 * Whether a message may be submitted at all: state of the mailbox, brakes, limits, block lists, pauses. Consent and
 * budgets do not refuse a message, they hold it; they are evaluated afterwards (`plan-submission.ts`).
 */
import { type NewEvent, recordEvents } from '#core/events/record-event.ts';
import { pausedBecause } from '#core/mailboxes/sending-health.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import { STOPPED_SENTENCES, stoppedBy } from '#domain/sending/sending-brakes.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import { overLimit } from '#sending/limits/sending-limits.ts';
import { askLists } from '#sending/lists/sender-lists.ts';
import { isLocal } from '#sending/outbox/local-addresses.ts';
import type { OutboundBlockedReason } from '#sending/outbox/outbound-events.ts';
import type { Sender } from '#sending/outbox/outbound-message.ts';
import type { SendingServices } from '#sending/outbox/sending-services.ts';

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

export interface NumberedRecipient {
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
