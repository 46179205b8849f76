/** One attempt at one destination: reserve, hand over, record. */

import { randomUUID } from 'node:crypto';
import { isStopped, shareBrakes } from '#core/mailboxes/sending-brakes.ts';
import { keptContext } from '#core/platform/tracing/kept-context.ts';
import { addressAttributes, inSpan, isTracing } from '#core/platform/tracing/trace.ts';
import { outboundWorkflowId } from '#domain/sending/outbound-workflow.ts';
import { stoppedBy } from '#domain/sending/sending-brakes.ts';
import {
  changeRecipients,
  findRecipients,
  findSender,
  isOpen,
  lockOutbound,
  type OutboundMessage,
  type OutboundRecipient,
  type SendingServices,
} from '#sending/outbox/outbound-message.ts';
import { untilRecorded } from '#sending/outbox/until-recorded.ts';
import { returnPathOf } from '#sending/transports/return-path.ts';
import { type DestinationAttempt, recordAttempt, type Tried } from './record-attempt.ts';

/** Does nothing where nothing may be sent to this destination any more. */
export async function attemptDestination(attempt: DestinationAttempt): Promise<void> {
  if (!isTracing()) return attemptInTrace(attempt);
  const { services, message, destination, sender } = attempt;
  const attributes = {
    'server.address': destination,
    'agent_mailbox.message.id': [message.id],
    'agent_mailbox.organization.id': sender.organization.id,
    'agent_mailbox.mailbox.id': sender.mailbox.id,
    'temporal.workflow.id': outboundWorkflowId(message.id),
    ...addressAttributes(
      sender.mailbox.address,
      attempt.recipients.map(({ address }) => address),
    ),
  };
  const parent = (await keptContext(services.db, message.id)) ?? null;
  return inSpan('mail.attempt', { kind: 'client', parent, attributes }, () => attemptInTrace(attempt));
}

async function attemptInTrace(attempt: DestinationAttempt): Promise<void> {
  const { services, transport, sender, message, content, mayBegin } = attempt;
  const reservation = randomUUID();
  let asked = 0;
  const reserved = await untilRecorded(services, () => reserve(attempt, reservation, asked++ > 0), mayBegin);
  if (reserved === undefined) return;
  const { tried, recipients } = reserved;
  const results = await transport.send({
    sender: returnPathOf(services.pepper, sender.mailbox.domain, {
      messageId: message.id,
      recipient: recipients.length === 1 ? (recipients[0]?.number ?? null) : null,
    }),
    recipients: recipients.map(({ address }) => address),
    notices: {
      envelopeId: message.envelopeId,
      returned: message.returned,
      notify: recipients[0]?.notify ?? null,
      originalRecipient: recipients[0]?.originalRecipient ?? null,
    },
    bytes: content.signed,
    asciiHeader: content.asciiHeader,
    mayBegin: async () => mayBegin() && !(await isStoppedNow(services, message)),
  });
  await untilRecorded(services, () => recordAttempt({ ...attempt, recipients }, tried, results));
}

/** While it cannot be known, nothing is handed over. */
const isStoppedNow = (
  { db }: Pick<SendingServices, 'db'>,
  message: Pick<OutboundMessage, 'id' | 'mailboxId'>,
): Promise<boolean> => isStopped(db, message).catch(() => true);

/**
 * Records that an attempt begins.
 *
 * @param repeated an earlier call with the same `reservation` failed: it may have been committed nevertheless
 * @returns undefined: nothing may be sent to this destination any more
 */
async function reserve(
  { services, transport, message, destination, recipients }: DestinationAttempt,
  reservation: string,
  repeated: boolean,
): Promise<{ tried: Tried; recipients: readonly OutboundRecipient[] } | undefined> {
  const startedAt = new Date(services.now());
  const numbers = new Set(recipients.map(({ number }) => number));
  return services.db.transaction(async (sql) => {
    await shareBrakes(sql, message.organizationId);
    const locked = await lockOutbound(sql, message.id);
    const sender = await findSender(sql, message.mailboxId);
    if (locked?.state !== 'sending' || locked.onHoldSince !== null || sender?.status !== 'active') return undefined;
    if (stoppedBy(sender.brakes.mode, sender.settings.sendingStopped === true) !== null) return undefined;
    const open = (await findRecipients(sql, message.id)).filter((each) => numbers.has(each.number) && isOpen(each));
    if (repeated) await sql.query(FORGET_RESERVATION, [message.id, destination, reservation]);
    if (open.length === 0) return undefined;
    const [row] = await sql.query<Tried>(RESERVE, [
      message.id,
      destination,
      open.map(({ address }) => address),
      transport.via,
      startedAt,
      reservation,
    ]);
    const sending = open.map((each) => ({ ...each, status: 'sending' as const, nextAttemptAt: startedAt }));
    await changeRecipients(sql, message.id, sending, startedAt);
    return { tried: row ?? { number: 1, before: 0 }, recipients: open };
  });
}

const RESERVE = `
  insert into outbound_attempt (message_id, destination, number, recipients, transport, started_at, reservation)
  select $1, $2, coalesce(max(number), 0) + 1, $3, $4, $5, $6 from outbound_attempt where message_id = $1 and destination = $2
  returning number,
    (select count(*)::int from outbound_attempt
      where message_id = $1 and destination = $2 and recipients @> $3::text[]) as before`;

/** Nothing was sent under it. */
const FORGET_RESERVATION = `
  delete from outbound_attempt where message_id = $1 and destination = $2 and reservation = $3 and finished_at is null`;
