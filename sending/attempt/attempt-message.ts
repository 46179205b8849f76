/**
 * The attempts of a message that are due, one per destination.
 *
 *   reserve (row of the attempt, recipients `sending`) ─▶ hand over ─▶ record (recipients, events, notice) in one commit
 *
 * A crash between the two leaves recipients `sending`: they are attempted again under the same Message-ID, twice rather
 * than never. Everything that may have changed since the submission is read again before: mailbox, brakes, suppression,
 * lists; the mailbox and its brakes once more in the transaction that reserves, the brakes also right before the
 * hand-over.
 *
 * A message whose sending a person stopped notes that it waits, so that the end of the stop wakes it. The memory of
 * concurrent sending is limited: small messages are not counted, large ones wait for one of a few slots.
 */
import { isStopped, shareBrakes } from '#core/mailboxes/sending-brakes.ts';
import { type Release, semaphore } from '#core/platform/batching/semaphore.ts';
import { MESSAGE_MEMORY_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { domainOf } from '#domain/mail/mailbox-address.ts';
import {
  OUTBOUND_ATTEMPTS_BEGIN_WITHIN_MS,
  OUTBOUND_DESTINATIONS_AT_ONCE,
  OUTBOUND_DUE_TOGETHER_MS,
  OUTBOUND_LARGE_AT_ONCE,
  OUTBOUND_OVERDUE_MS,
} from '#domain/sending/outbound.ts';
import type { OutboundProgress } from '#domain/sending/outbound-workflow.ts';
import { STOPPED_LOOK_AGAIN_MS } from '#domain/sending/sending-brakes.ts';
import { finishIfDone } from '#sending/local-delivery/deliver-here.ts';
import {
  findOutbound,
  findRecipients,
  findSender,
  isOpen,
  type OutboundMessage,
  type OutboundRecipient,
  type SendingServices,
} from '#sending/outbox/outbound-message.ts';
import { recordingWorks } from '#sending/outbox/until-recorded.ts';
import { readSigned } from '#sending/transports/dkim.ts';
import type { Transport } from '#sending/transports/transport.ts';
import { attemptDestination } from './attempt-destination.ts';
import type { DestinationAttempt } from './record-attempt.ts';
import { refuse, refuseWhatChanged } from './refuse-recipients.ts';

const DONE: OutboundProgress = { nextAtMs: null, waitsFor: '' };

/** The heartbeat of a round, and whether more may begin. */
export interface RoundControl {
  /** Called while a round waits for the other host. */
  readonly heartbeat: () => void;
  /** Whether another attempt may begin: the engine has not given up this round, and the worker is not shutting down. */
  readonly mayBegin: () => boolean;
}

const slots = outgoingSlots();
/** Rounds of this process: the engine may begin one again while it thinks the first is dead. */
const rounds = new Map<string, Promise<OutboundProgress>>();

/** One round: attempts the due recipients for which it can begin within five minutes. The next one does the rest. */
export async function attemptMessage(
  services: SendingServices,
  transport: Transport,
  messageId: string,
  { heartbeat, mayBegin }: RoundControl,
): Promise<OutboundProgress> {
  const beat = setInterval(heartbeat, HEARTBEAT_MS);
  try {
    for (let before = rounds.get(messageId); before !== undefined; before = rounds.get(messageId))
      await before.catch(() => {});
    const round = attemptDue(services, transport, messageId, mayBegin);
    rounds.set(messageId, round);
    return await round.finally(() => rounds.delete(messageId));
  } finally {
    clearInterval(beat);
  }
}

async function attemptDue(
  services: SendingServices,
  transport: Transport,
  messageId: string,
  mayBegin: () => boolean,
): Promise<OutboundProgress> {
  const message = await findOutbound(services.db, messageId);
  if (message === undefined || message.state !== 'sending') return DONE;
  const sender = await findSender(services.db, message.mailboxId, 'any');
  if (sender === undefined) return DONE;
  await refuseWhatChanged(services, sender, message);
  const stopped = await waitForStop(services, message);
  if (stopped !== undefined) return stopped;
  const dueMs = services.now() + OUTBOUND_DUE_TOGETHER_MS;
  const due = (await findRecipients(services.db, messageId)).filter(
    (recipient) => isOpen(recipient) && (recipient.nextAttemptAt?.getTime() ?? 0) <= dueMs,
  );
  if (due.length > 0) {
    const untilMs = performance.now() + OUTBOUND_ATTEMPTS_BEGIN_WITHIN_MS; // the wait for a slot counts
    const free = await slots.take(message.size, OUTBOUND_ATTEMPTS_BEGIN_WITHIN_MS);
    if (free === undefined) return progress(services, messageId);
    try {
      const content = await readSigned(services, sender, message);
      const queue = groupsOf(transport, due).values();
      const attempt = async () => {
        for (const group of queue) {
          // What was sent and cannot be recorded would be sent again by another worker: nothing is added to it.
          if (!(await recordingWorks(services, mayBegin)) || performance.now() > untilMs) return;
          await attemptDestination({ services, transport, sender, message, content, mayBegin, ...group });
        }
      };
      // A round that fails ends when all of it has ended: the next one must find no attempt in flight.
      const ends = await Promise.allSettled(Array.from({ length: OUTBOUND_DESTINATIONS_AT_ONCE }, attempt));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    } finally {
      free();
    }
  }
  return (await waitForStop(services, message)) ?? progress(services, messageId);
}

const HEARTBEAT_MS = 2_000;

/** Recipients of one SMTP transaction: they share the destination and the notices that are reported. */
function groupsOf(
  transport: Transport,
  due: readonly OutboundRecipient[],
): Pick<DestinationAttempt, 'destination' | 'recipients'>[] {
  const groups = Map.groupBy(due, ({ address, notify, originalRecipient }) =>
    JSON.stringify([transport.destinationOf(domainOf(address)), notify, originalRecipient]),
  );
  return [...groups.values()].map((recipients) => ({
    destination: transport.destinationOf(domainOf(recipients[0]?.address ?? '')),
    recipients,
  }));
}

/** Ends what is not sent yet. */
export async function cancelMessage(services: SendingServices, messageId: string): Promise<void> {
  const message = await findOutbound(services.db, messageId);
  const sender = message === undefined ? undefined : await findSender(services.db, message.mailboxId, 'any');
  if (message === undefined || sender === undefined || message.state !== 'sending') return;
  const open = (await findRecipients(services.db, messageId)).filter(isOpen);
  const reason = sender.status === 'active' ? 'cancelled' : 'mailbox_not_active';
  await refuse(services, sender, message, open, { status: 'denied', reason, rule: null });
}

/** What is left, and until when; kept in the row for the sweep. */
async function progress({ db, now }: SendingServices, messageId: string): Promise<OutboundProgress> {
  const open = (await findRecipients(db, messageId)).filter(isOpen);
  const next = open.toSorted((a, b) => (a.nextAttemptAt?.getTime() ?? 0) - (b.nextAttemptAt?.getTime() ?? 0))[0];
  if (next === undefined) {
    // What was refused or ended elsewhere has not ended the message.
    await finishIfDone(db, messageId, new Date(now()));
    return DONE;
  }
  const nextAtMs = next.nextAttemptAt?.getTime() ?? now();
  await db.query(`update outbound_message set due_at = $2 where id = $1`, [
    messageId,
    new Date(nextAtMs + OUTBOUND_OVERDUE_MS),
  ]);
  const [made] = await db.query<{ attempts: number }>(
    `select count(*)::int as attempts from outbound_attempt where message_id = $1 and $2 = any(recipients)`,
    [messageId, next.address],
  );
  const retry = { number: made?.attempts ?? 0, domain: domainOf(next.address), reply: withoutAddresses(next.reply) };
  return { nextAtMs, waitsFor: `${retry.domain}: ${next.code ?? ''}`, retry, mayBeWoken: true };
}

const REPLY_IN_HISTORY_MAX_CHARACTERS = 80;

/** Histories hold no addresses, and other hosts like to repeat them. */
const withoutAddresses = (reply: string | null): string =>
  (reply ?? '').replace(/\S+@\S+/g, '…').slice(0, REPLY_IN_HISTORY_MAX_CHARACTERS);

interface OutgoingSlots {
  /** @returns frees the slot; undefined when none became free in time */
  take(size: number, withinMs: number): Promise<Release | undefined>;
}

export function outgoingSlots(atOnce: number = OUTBOUND_LARGE_AT_ONCE): OutgoingSlots {
  const slots = semaphore(atOnce);
  return {
    async take(size, withinMs) {
      return size <= MESSAGE_MEMORY_MAX_BYTES ? () => {} : slots.takeWithin({ withinMs });
    },
  };
}

/**
 * Notes that a message waits for the end of a stop, so that the end wakes it.
 *
 * @returns undefined: nothing is stopped, or nothing of the message is left to be sent
 */
export async function waitForStop(
  services: SendingServices,
  message: OutboundMessage,
): Promise<OutboundProgress | undefined> {
  const { db, now } = services;
  const stopped = await isStopped(db, message);
  if (!stopped && message.stoppedAt === null) return undefined;
  return db.transaction(async (sql) => {
    await shareBrakes(sql, message.organizationId);
    const isStoppedNow = await isStopped(sql, message);
    const nextAtMs = now() + STOPPED_LOOK_AGAIN_MS;
    const rows = isStoppedNow
      ? await sql.query(NOTE_STOP, [message.id, new Date(now()), new Date(nextAtMs + OUTBOUND_OVERDUE_MS)])
      : await sql.query(FORGET_STOP, [message.id]);
    return isStoppedNow && rows.length > 0 ? { nextAtMs, waitsFor: 'sending is stopped', stopped: true } : undefined;
  });
}

const NOTE_STOP = `
  update outbound_message o set stopped_at = coalesce(stopped_at, $2), due_at = $3
   where id = $1 and state = 'sending'
     and exists (select from outbound_recipient r where r.message_id = o.id and r.status in ('queued', 'sending'))
  returning 1`;

const FORGET_STOP = `update outbound_message set stopped_at = null where id = $1`;
