/** What came of an attempt: recipients, events, suppressions and notices to the sender, in one transaction. */
import { recordEvents } from '#core/events/record-event.ts';
import { reviewSending } from '#core/mailboxes/sending-health.ts';
import { bouncesTotal, mailAttemptsTotal } from '#core/platform/log/metrics.ts';
import type { Sql } from '#db/database.ts';
import { oneLine } from '#domain/mail/text-forms.ts';
import {
  isHardBounce,
  OUTBOUND_DELAY_NOTICE_AFTER_MS,
  OUTBOUND_GIVE_UP_MS,
  OUTBOUND_RETRY_DELAYS_MS,
  type RecipientStatus,
  retryDelayMs,
} from '#domain/sending/outbound.ts';
import { wantsNotice } from '#domain/webhooks/delivery-notices.ts';
import { suppress } from '#sending/lists/suppressions.ts';
import { finishIfDone } from '#sending/local-delivery/deliver-here.ts';
import { notifySender } from '#sending/local-delivery/notify-sender.ts';
import { afterCommit } from '#sending/local-delivery/release-message.ts';
import { inboxOf } from '#sending/outbox/local-addresses.ts';
import { bouncedEvents, deliveredEvents, sentEvent } from '#sending/outbox/outbound-events.ts';
import {
  changeRecipients,
  findRecipients,
  isOpen,
  lockOutbound,
  type OutboundMessage,
  type OutboundRecipient,
  type Sender,
  type SendingServices,
} from '#sending/outbox/outbound-message.ts';
import type { SignedContent } from '#sending/transports/dkim.ts';
import type { RecipientResult, Transport } from '#sending/transports/transport.ts';

/** Recipients at one destination that go in one SMTP transaction. */
export interface DestinationAttempt {
  readonly destination: string;
  readonly recipients: readonly OutboundRecipient[];
  readonly services: SendingServices;
  readonly transport: Transport;
  readonly sender: Sender;
  readonly message: OutboundMessage;
  readonly content: SignedContent;
  readonly mayBegin: () => boolean;
}

export interface Tried {
  /** Of the attempt, among those at the destination. */
  readonly number: number;
  /** Attempts before it that these recipients were part of. */
  readonly before: number;
}

type Outcome = RecipientResult & { readonly recipient: OutboundRecipient; readonly nextAt: Date };

/** What each recipient's result means: when it is tried again, or that it is over. */
function outcomesOf(
  { services, message, recipients }: DestinationAttempt,
  { before }: Tried,
  results: readonly RecipientResult[],
  now: Date,
): Outcome[] {
  const ladder = services.settings.OUTBOUND_RETRY_DELAYS_MS;
  const delayMs = retryDelayMs(ladder.length > 0 ? ladder : OUTBOUND_RETRY_DELAYS_MS, before + 1);
  const byAddress = new Map(results.map((result) => [result.address, result]));
  return recipients.map((recipient) => {
    const result = byAddress.get(recipient.address) ?? NO_RESULT;
    const nextAt = new Date(now.getTime() + (result.comeBackInMs ?? delayMs));
    const givenUp = message.giveUpAt !== null && nextAt > message.giveUpAt;
    if (result.kind !== 'deferred' || !givenUp) return { ...result, recipient, nextAt };
    const reply = oneLine(`Given up after two days: ${result.reply}`);
    const { remoteMta } = result;
    return { recipient, nextAt, address: recipient.address, kind: 'failed', code: '4.4.7', reply, remoteMta };
  });
}

/** Writes what came of an attempt, once: nothing is done when it is written already. */
export async function recordAttempt(
  attempt: DestinationAttempt,
  tried: Tried,
  results: readonly RecipientResult[],
): Promise<void> {
  const { services, transport, sender, message, content, destination } = attempt;
  const { number } = tried;
  const now = new Date(services.now());
  const all = outcomesOf(attempt, tried, results, now);
  // A message that was held is given two days from its release on.
  const triedSinceMs =
    message.giveUpAt === null ? message.submittedAt.getTime() : message.giveUpAt.getTime() - OUTBOUND_GIVE_UP_MS;
  const {
    owed,
    noticed,
    outcomes: recorded,
  } = await services.db.transaction(async (sql) => {
    const nothing = { owed: 0, noticed: false, outcomes: [] };
    const locked = await lockOutbound(sql, message.id);
    if (locked === undefined) return nothing;
    const ended = all.every(({ comeBackInMs }) => comeBackInMs !== undefined)
      ? await sql.query(FORGET_ATTEMPT, [message.id, destination, number])
      : await sql.query(END_ATTEMPT, [message.id, destination, number, now, outcomeOf(all), all[0]?.reply ?? null]);
    if (ended.length === 0) return nothing;
    const outcomes = await stillOpen(sql, message.id, all);
    const changes = outcomes.map(({ recipient, kind, code, reply, nextAt }) => ({
      number: recipient.number,
      status: STATUS_OF[kind],
      reply,
      code,
      ...(kind === 'deferred' ? { nextAttemptAt: nextAt } : {}),
    }));
    await changeRecipients(sql, message.id, changes, now);
    const withKind = (kind: RecipientResult['kind']) =>
      outcomes.flatMap((each) =>
        each.kind === kind ? [{ ...each.recipient, ...saidOf(each), nextAt: each.nextAt }] : [],
      );
    const [failed, accepted] = [withKind('failed'), withKind('sent')];
    // A host that announced DSN reports a success itself.
    const relayed = accepted.filter(({ reports }) => reports !== true);
    const isLate = ({ nextAt }: { readonly nextAt: Date }) =>
      nextAt.getTime() >= triedSinceMs + OUTBOUND_DELAY_NOTICE_AFTER_MS;
    const delayed = withKind('deferred').filter((each) => isLate(each) && wantsNotice(each, 'delayed'));
    const isFirst = outcomes.some(isReached) && locked.firstSentAt === null;
    if (isFirst) await sql.query(`update outbound_message set first_sent_at = $2 where id = $1`, [message.id, now]);
    const { threadId } = message;
    let events = await recordEvents(sql, [
      ...(isFirst ? [sentEvent(sender, message, threadId ?? '', transport.via, now)] : []),
      // Of the capture transport nothing is `sent`.
      ...(transport.via === 'capture' ? [] : deliveredEvents(sender, message, threadId, accepted, transport.via, now)),
      ...bouncedEvents(sender, message, threadId, failed, 'attempt', now),
    ]);
    if (failed.length > 0) {
      const gone = failed.flatMap(({ address, code }) => (isHardBounce(code) ? [address] : []));
      await suppress(sql, { organizationId: message.organizationId, messageId: message.id }, 'hard_bounce', gone, now);
      events += await notifySender(sql, services, sender, message, content.bytes, 'failed', failed);
      await reviewSending(sql, message.mailboxId, now);
    }
    if (delayed.length > 0 && (await noteDelayOnce(sql, message.id, now)))
      events += await notifySender(sql, services, sender, message, content.bytes, 'delayed', delayed);
    events += await notifySender(sql, services, sender, message, content.bytes, 'relayed', relayed);
    await finishIfDone(sql, message.id, now);
    return { owed: events, noticed: failed.length + delayed.length + relayed.length > 0, outcomes };
  });
  for (const { kind } of recorded) {
    mailAttemptsTotal.inc({ outcome: kind });
    if (kind === 'failed') bouncesTotal.inc({ source: 'attempt' });
  }
  services.mailLog.note({
    mail: 'out',
    outcome: outcomeOf(all),
    messages: [message.id],
    messageId: message.messageIdHeader,
    from: sender.mailbox.address,
    to: all.map(({ address }) => address),
    size: message.size,
    destination,
    transport: transport.via,
    attempt: number,
    remote: all.find(({ remoteMta }) => remoteMta !== undefined)?.remoteMta,
    reply: repliesOf(all),
  });
  const inbox = noticed ? await inboxOf(services, message.mailboxId) : [];
  afterCommit(services, { folderIds: inbox, owed });
}

/** Nothing was tried: it does not count. */
const FORGET_ATTEMPT = `
  delete from outbound_attempt where message_id = $1 and destination = $2 and number = $3 and finished_at is null
  returning 1`;

const END_ATTEMPT = `
  update outbound_attempt set finished_at = $4, outcome = $5, reply = $6
   where message_id = $1 and destination = $2 and number = $3 and finished_at is null
  returning 1`;

/** Each once. */
const repliesOf = (outcomes: readonly Outcome[]): string =>
  [...new Set(outcomes.map(({ code, reply }) => (reply.includes(code) ? reply : `${code} ${reply}`)))].join('; ');

const isReached = ({ kind }: { readonly kind: RecipientResult['kind'] }): boolean =>
  kind === 'sent' || kind === 'captured';

/**
 * The outcomes that still say something. Of two attempts at once (the engine took the first for dead) one may have ended
 * the recipient: a failure does not undo that, while who was reached was reached, also where the message was refused
 * meanwhile.
 */
async function stillOpen(sql: Sql, messageId: string, outcomes: readonly Outcome[]): Promise<Outcome[]> {
  const now = new Map((await findRecipients(sql, messageId)).map((each) => [each.number, each]));
  return outcomes.filter((outcome) => {
    const recipient = now.get(outcome.recipient.number);
    if (recipient === undefined) return false;
    return isOpen(recipient) || (recipient.status === 'denied' && isReached(outcome));
  });
}

async function noteDelayOnce(sql: Sql, messageId: string, now: Date): Promise<boolean> {
  const noted = await sql.query(
    `update outbound_message set delay_told_at = $2 where id = $1 and delay_told_at is null returning id`,
    [messageId, now],
  );
  return noted.length > 0;
}

const saidOf = ({ code, reply, reports, remoteMta }: RecipientResult) => ({ code, reply, reports, remoteMta });

const NO_RESULT: RecipientResult = {
  address: '',
  kind: 'deferred',
  code: '4.0.0',
  reply: 'no answer for this recipient',
};

const STATUS_OF: Readonly<Record<RecipientResult['kind'], RecipientStatus>> = {
  sent: 'sent',
  captured: 'captured',
  deferred: 'queued',
  failed: 'bounced',
};

function outcomeOf(
  outcomes: readonly { readonly kind: RecipientResult['kind'] }[],
): RecipientResult['kind'] | 'partial' {
  const [first] = outcomes;
  return first !== undefined && outcomes.every(({ kind }) => kind === first.kind) ? first.kind : 'partial';
}
