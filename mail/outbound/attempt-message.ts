/**
 * The attempts of a message that are due, one per destination.
 *
 *   reserve (row of the attempt, recipients `sending`) ─▶ hand over ─▶ record (recipients, events, notice) in one commit
 *
 * A crash between the two leaves recipients `sending`: they are attempted again under the same Message-ID, twice rather
 * than never. Everything that may have changed since the submission is read again before: mailbox, suppression, lists.
 */
import { readBlob } from '../../core/blob-store.ts';
import { recordEvents } from '../../core/record-event.ts';
import { askLists } from '../../core/sender-lists.ts';
import { pausedBecause, reviewSending } from '../../core/sending-health.ts';
import { findSuppressed, suppress } from '../../core/suppressions.ts';
import type { Sql } from '../../db/database.ts';
import { wantsNotice } from '../../domain/delivery-notices.ts';
import { domainOf } from '../../domain/email-address.ts';
import {
  isHardBounce,
  OUTBOUND_ATTEMPTS_BEGIN_WITHIN_MS,
  OUTBOUND_DELAY_NOTICE_AFTER_MS,
  OUTBOUND_DESTINATIONS_AT_ONCE,
  OUTBOUND_GIVE_UP_MS,
  OUTBOUND_OVERDUE_MS,
  OUTBOUND_RETRY_DELAYS_MS,
  type RecipientStatus,
  retryDelayMs,
} from '../../domain/outbound.ts';
import type { OutboundProgress } from '../../domain/outbound-workflow.ts';
import { notifySender, type SendingServices } from './deliver-here.ts';
import { signMessage } from './dkim.ts';
import { blockedEvent, type OutboundBlockedReason, sentEvent } from './outbound-events.ts';
import {
  changeRecipients,
  findOutbound,
  findRecipients,
  findSender,
  lockOutbound,
  type OutboundMessage,
  type OutboundRecipient,
  type Sender,
} from './outbound-message.ts';
import { returnPathOf } from './return-path.ts';
import { finishIfDone } from './settle.ts';
import { afterCommit } from './submit-message.ts';
import type { RecipientResult, Transport } from './transport.ts';

const DONE: OutboundProgress = { nextAtMs: null, waitsFor: '' };
const isOpen = ({ status }: { readonly status: RecipientStatus }) => status === 'queued' || status === 'sending';

/** @param heartbeat called while the other side is waited for */
export async function attemptMessage(
  services: SendingServices,
  transport: Transport,
  messageId: string,
  heartbeat: () => void,
): Promise<OutboundProgress> {
  const message = await findOutbound(services.db, messageId);
  if (message === undefined || message.state !== 'sending') return DONE;
  const sender = await findSender(services.db, message.mailboxId);
  if (sender === undefined) return DONE;
  await requireConsent(services, message);
  await refuseWhatChanged(services, sender, message);
  const now = services.now();
  const due = (await findRecipients(services.db, messageId)).filter(
    (recipient) => isOpen(recipient) && (recipient.nextAttemptAt?.getTime() ?? 0) <= now,
  );
  if (due.length > 0) {
    const bytes = await readBlob(services.db, message.blob, 0, message.size);
    const signature = await signed(services, sender, message, bytes);
    const groups = groupsOf(transport, due);
    const queue = groups.values();
    const until = performance.now() + OUTBOUND_ATTEMPTS_BEGIN_WITHIN_MS;
    const attempt = async () => {
      for (const group of queue) {
        if (performance.now() > until) return;
        await attemptDestination({ services, transport, sender, message, bytes, signature, ...group });
      }
    };
    const beat = setInterval(heartbeat, HEARTBEAT_MS);
    try {
      await Promise.all(Array.from({ length: OUTBOUND_DESTINATIONS_AT_ONCE }, attempt));
    } finally {
      clearInterval(beat);
    }
  }
  return progress(services, messageId);
}

const HEARTBEAT_MS = 2_000;

interface Group {
  readonly destination: string;
  readonly recipients: readonly OutboundRecipient[];
}

/** Who goes in one SMTP transaction: the same destination, and the same to be told of. */
function groupsOf(transport: Transport, due: readonly OutboundRecipient[]): Group[] {
  const groups = Map.groupBy(due, ({ address, notify, originalRecipient }) =>
    JSON.stringify([transport.destinationOf(domainOf(address)), notify, originalRecipient]),
  );
  return [...groups.values()].map((recipients) => ({
    destination: transport.destinationOf(domainOf(recipients[0]?.address ?? '')),
    recipients,
  }));
}

/** A message that needed consent leaves only with it, whatever else the rows say. */
async function requireConsent({ db }: SendingServices, { id, consentId }: OutboundMessage): Promise<void> {
  if (consentId === null) return;
  const rows = await db.query(`select 1 from consent where id = $1 and status = 'approved'`, [consentId]);
  if (rows.length === 0) throw new Error(`${id} is being sent without the consent it needs`);
}

async function signed(
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  bytes: Buffer,
): Promise<string> {
  if (message.dkimSignature !== null) return message.dkimSignature;
  const made = await signMessage(services, sender, bytes);
  const [row] = await services.db.query<{ signature: string }>(
    `update outbound_message set dkim_signature = coalesce(dkim_signature, $2) where id = $1
     returning dkim_signature as signature`,
    [message.id, made],
  );
  return row?.signature ?? made;
}

async function refuseWhatChanged(services: SendingServices, sender: Sender, message: OutboundMessage): Promise<void> {
  const open = (await findRecipients(services.db, message.id)).filter(isOpen);
  if (open.length === 0) return;
  if (sender.status !== 'active')
    return refuse(services, sender, message, open, { status: 'denied', reason: 'mailbox_not_active', rule: null });
  const paused = await pausedBecause(services.db, message.mailboxId);
  if (paused !== undefined)
    return refuse(services, sender, message, open, { status: 'denied', reason: 'sending_paused', rule: paused });
  const addresses = open.map(({ address }) => address.toLowerCase());
  const suppressed = await findSuppressed(services.db, message.organizationId, addresses);
  const gone = new Set(suppressed.map(({ address }) => address));
  const stopped = open.filter(({ address }) => gone.has(address.toLowerCase()));
  if (stopped.length > 0)
    await refuse(services, sender, message, stopped, {
      status: 'suppressed',
      reason: 'suppressed_recipient',
      rule: suppressed[0]?.reason ?? null,
    });
  const verdicts = await askLists(services.db, {
    organizationId: message.organizationId,
    mailboxId: message.mailboxId,
    direction: 'outbound',
    addresses,
  });
  const blocked = open.filter(
    ({ address }) => verdicts.get(address.toLowerCase())?.action === 'block' && !gone.has(address.toLowerCase()),
  );
  if (blocked.length > 0)
    await refuse(services, sender, message, blocked, {
      status: 'denied',
      reason: 'blocked_recipient',
      rule: verdicts.get(blocked[0]?.address.toLowerCase() ?? '')?.value ?? null,
    });
}

interface Refusal {
  readonly status: 'denied' | 'suppressed';
  readonly reason: OutboundBlockedReason;
  readonly rule: string | null;
}

async function refuse(
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  recipients: readonly OutboundRecipient[],
  { status, reason, rule }: Refusal,
): Promise<void> {
  const now = new Date(services.now());
  const owed = await services.db.transaction(async (sql) => {
    await lockOutbound(sql, message.id);
    const changes = recipients.map(({ number }) => ({ number, status, reply: reason, code: '5.7.1' }));
    await changeRecipients(sql, message.id, changes, now);
    await finishIfDone(sql, message.id, now);
    const blocked = { recipients: recipients.map(({ address }) => address), reason, rule };
    return recordEvents(sql, [blockedEvent(sender, message, blocked, now)]);
  });
  afterCommit(services, { folderIds: [], owed });
}

/** Ends what is not sent yet. */
export async function cancelMessage(services: SendingServices, messageId: string): Promise<void> {
  const message = await findOutbound(services.db, messageId);
  const sender = message === undefined ? undefined : await findSender(services.db, message.mailboxId);
  if (message === undefined || sender === undefined || message.state !== 'sending') return;
  const open = (await findRecipients(services.db, messageId)).filter(isOpen);
  if (open.length > 0)
    await refuse(services, sender, message, open, { status: 'denied', reason: 'cancelled', rule: null });
}

interface DestinationAttempt extends Group {
  readonly services: SendingServices;
  readonly transport: Transport;
  readonly sender: Sender;
  readonly message: OutboundMessage;
  readonly bytes: Buffer;
  readonly signature: string;
}

async function attemptDestination(attempt: DestinationAttempt): Promise<void> {
  const { services, transport, sender, message, bytes, signature, destination, recipients } = attempt;
  const startedAt = new Date(services.now());
  const tried = await services.db.transaction(async (sql) => {
    await lockOutbound(sql, message.id);
    const [row] = await sql.query<Tried>(RESERVE, [
      message.id,
      destination,
      recipients.map(({ address }) => address),
      transport.via,
      startedAt,
    ]);
    const sending = recipients.map((each) => ({ ...each, status: 'sending' as const, nextAttemptAt: startedAt }));
    await changeRecipients(sql, message.id, sending, startedAt);
    return row ?? { number: 1, before: 0 };
  });
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
    bytes: signature === '' ? bytes : Buffer.concat([Buffer.from(signature), bytes]),
  });
  await record(attempt, tried, results);
}

interface Tried {
  /** Of the attempt, among those at the destination. */
  readonly number: number;
  /** Attempts before it that these recipients were part of. */
  readonly before: number;
}

const RESERVE = `
  insert into outbound_attempt (message_id, destination, number, recipients, transport, started_at)
  select $1, $2, coalesce(max(number), 0) + 1, $3, $4, $5 from outbound_attempt where message_id = $1 and destination = $2
  returning number,
    (select count(*)::int from outbound_attempt
      where message_id = $1 and destination = $2 and recipients @> $3::text[]) as before`;

async function record(
  { services, transport, sender, message, bytes, destination, recipients }: DestinationAttempt,
  { number, before }: Tried,
  results: readonly RecipientResult[],
): Promise<void> {
  const now = new Date(services.now());
  const ladder = services.settings.OUTBOUND_RETRY_DELAYS_MS;
  const nextAt = new Date(
    now.getTime() + retryDelayMs(ladder.length > 0 ? ladder : OUTBOUND_RETRY_DELAYS_MS, before + 1),
  );
  const givenUp = message.giveUpAt !== null && nextAt > message.giveUpAt;
  const byAddress = new Map(results.map((result) => [result.address, result]));
  const outcomes = recipients.map((recipient) => {
    const result = byAddress.get(recipient.address) ?? NO_RESULT;
    if (result.kind !== 'deferred' || !givenUp) return { recipient, ...result };
    return { recipient, kind: 'failed' as const, code: '4.4.7', reply: `Given up after two days: ${result.reply}` };
  });
  const told = (kind: RecipientResult['kind']) =>
    outcomes.flatMap((outcome) => (outcome.kind === kind ? [{ ...outcome.recipient, ...saidOf(outcome) }] : []));
  const failed = told('failed');
  // A host that announced DSN reports a success itself.
  const relayed = told('sent').filter(({ reports }) => reports !== true);
  // A message that was held is given two days from its release on.
  const triedSinceMs =
    message.giveUpAt === null ? message.submittedAt.getTime() : message.giveUpAt.getTime() - OUTBOUND_GIVE_UP_MS;
  const late = nextAt.getTime() >= triedSinceMs + OUTBOUND_DELAY_NOTICE_AFTER_MS;
  const delayed = late ? told('deferred').filter((each) => wantsNotice(each, 'delayed')) : [];
  const reached = outcomes.some(({ kind }) => kind === 'sent' || kind === 'captured');
  const owed = await services.db.transaction(async (sql) => {
    const locked = await lockOutbound(sql, message.id);
    if (locked === undefined) return 0;
    await sql.query(
      `update outbound_attempt set finished_at = $4, outcome = $5, reply = $6
        where message_id = $1 and destination = $2 and number = $3`,
      [message.id, destination, number, now, outcomeOf(outcomes), outcomes[0]?.reply ?? null],
    );
    const changes = outcomes.map(({ recipient, kind, code, reply }) => ({
      number: recipient.number,
      status: STATUS_OF[kind],
      reply,
      code,
      ...(kind === 'deferred' ? { nextAttemptAt: nextAt } : {}),
    }));
    await changeRecipients(sql, message.id, changes, now);
    let events = 0;
    if (reached && locked.firstSentAt === null) {
      await sql.query(`update outbound_message set first_sent_at = $2 where id = $1`, [message.id, now]);
      events += await recordEvents(sql, [sentEvent(sender, message, message.threadId ?? '', transport.via, now)]);
    }
    if (failed.length > 0) {
      const gone = failed.flatMap(({ address, code }) => (isHardBounce(code) ? [address] : []));
      await suppress(sql, { organizationId: message.organizationId, messageId: message.id }, 'hard_bounce', gone, now);
      events += await notifySender(sql, services, sender, message, bytes, 'failed', failed);
      await reviewSending(sql, message.mailboxId, now);
    }
    if (delayed.length > 0 && (await tellOnce(sql, message.id, now)))
      events += await notifySender(sql, services, sender, message, bytes, 'delayed', delayed);
    events += await notifySender(sql, services, sender, message, bytes, 'relayed', relayed);
    await finishIfDone(sql, message.id, now);
    return events;
  });
  const inbox = failed.length + delayed.length + relayed.length === 0 ? [] : await inboxOf(services, message.mailboxId);
  afterCommit(services, { folderIds: inbox, owed });
}

async function tellOnce(sql: Sql, messageId: string, now: Date): Promise<boolean> {
  const told = await sql.query(
    `update outbound_message set delay_told_at = $2 where id = $1 and delay_told_at is null returning id`,
    [messageId, now],
  );
  return told.length > 0;
}

const saidOf = ({ code, reply, reports }: Pick<RecipientResult, 'code' | 'reply' | 'reports'>) => ({
  code,
  reply,
  reports,
});

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

/** Folder whose watchers hear of a notice. */
export async function inboxOf({ db }: Pick<SendingServices, 'db'>, mailboxId: string): Promise<number[]> {
  const rows = await db.query<{ id: number }>(
    `select id from folder where mailbox_id = $1 and special_use = '\\Inbox' and deleted_at is null`,
    [mailboxId],
  );
  return rows.map(({ id }) => id);
}

/** What is left, and until when; kept in the row for the sweep. */
async function progress({ db, now }: SendingServices, messageId: string): Promise<OutboundProgress> {
  const open = (await findRecipients(db, messageId)).filter(isOpen);
  const next = open.toSorted((a, b) => (a.nextAttemptAt?.getTime() ?? 0) - (b.nextAttemptAt?.getTime() ?? 0))[0];
  if (next === undefined) {
    // All recipients were local: nothing was attempted that would have ended it.
    await finishIfDone(db, messageId, new Date(now()));
    return DONE;
  }
  const nextAtMs = next.nextAttemptAt?.getTime() ?? now();
  await db.query(`update outbound_message set due_at = $2 where id = $1`, [
    messageId,
    new Date(nextAtMs + OUTBOUND_OVERDUE_MS),
  ]);
  return { nextAtMs, waitsFor: `${domainOf(next.address)}: ${next.code ?? ''}` };
}
