/**
 * The attempts of a message that are due, one per destination.
 *
 *   reserve (row of the attempt, recipients `sending`) ─▶ hand over ─▶ record (recipients, events, notice) in one commit
 *
 * A crash between the two leaves recipients `sending`: they are attempted again under the same Message-ID, twice rather
 * than never. Everything that may have changed since the submission is read again before: mailbox, suppression, lists;
 * the mailbox once more in the transaction that reserves.
 */
import { recordEvents } from '../../core/record-event.ts';
import { askLists } from '../../core/sender-lists.ts';
import { pausedBecause, reviewSending } from '../../core/sending-health.ts';
import { findSuppressed, suppress } from '../../core/suppressions.ts';
import type { Sql } from '../../db/database.ts';
import { wantsNotice } from '../../domain/delivery-notices.ts';
import { domainOf } from '../../domain/email-address.ts';
import { oneLine } from '../../domain/one-line.ts';
import {
  isHardBounce,
  OUTBOUND_ATTEMPTS_BEGIN_WITHIN_MS,
  OUTBOUND_DELAY_NOTICE_AFTER_MS,
  OUTBOUND_DESTINATIONS_AT_ONCE,
  OUTBOUND_DUE_TOGETHER_MS,
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
  readContent,
  type Sender,
} from './outbound-message.ts';
import { outgoingSlots } from './outgoing-slots.ts';
import { afterCommit } from './release-message.ts';
import { returnPathOf } from './return-path.ts';
import { finishIfDone } from './settle.ts';
import type { RecipientResult, Transport } from './transport.ts';
import { untilRecorded } from './until-recorded.ts';

const DONE: OutboundProgress = { nextAtMs: null, waitsFor: '' };
const isOpen = ({ status }: { readonly status: RecipientStatus }) => status === 'queued' || status === 'sending';

/** What the caller of a round hears and says. */
export interface RoundControl {
  /** Called while the other side is waited for. */
  readonly heartbeat: () => void;
  /** Aborted when nothing further may be begun. */
  readonly signal: AbortSignal;
}

const slots = outgoingSlots();
/** Rounds of this process: the engine may begin one again while it thinks the first is dead. */
const rounds = new Map<string, Promise<OutboundProgress>>();

/** One round: what is due, as far as it can be begun within five minutes. The rest is due at once, in the next round. */
export async function attemptMessage(
  services: SendingServices,
  transport: Transport,
  messageId: string,
  { heartbeat, signal }: RoundControl,
): Promise<OutboundProgress> {
  const beat = setInterval(heartbeat, HEARTBEAT_MS);
  try {
    for (let before = rounds.get(messageId); before !== undefined; before = rounds.get(messageId))
      await before.catch(() => {});
    const round = attemptDue(services, transport, messageId, signal);
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
  signal: AbortSignal,
): Promise<OutboundProgress> {
  const message = await findOutbound(services.db, messageId);
  if (message === undefined || message.state !== 'sending') return DONE;
  const sender = await findSender(services.db, message.mailboxId, 'any');
  if (sender === undefined) return DONE;
  await refuseWhatChanged(services, sender, message);
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
          await attemptDestination({ services, transport, sender, message, content, ...group });
          if (signal.aborted || performance.now() > untilMs) return;
        }
      };
      await Promise.all(Array.from({ length: OUTBOUND_DESTINATIONS_AT_ONCE }, attempt));
    } finally {
      free();
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

/** One buffer, as it goes over the line; the message itself is the rest of it. */
interface SignedContent {
  readonly signed: Buffer;
  readonly bytes: Buffer;
}

async function readSigned(services: SendingServices, sender: Sender, message: OutboundMessage): Promise<SignedContent> {
  const bytes = await readContent(services.db, message);
  const signature = await signatureOf(services, sender, message, bytes);
  if (signature === '') return { signed: bytes, bytes };
  const head = Buffer.from(signature);
  const signed = Buffer.concat([head, bytes]);
  return { signed, bytes: signed.subarray(head.length) };
}

/** A message that needed consent leaves only with it, whatever else the rows say. */
async function lacksConsent({ db }: SendingServices, { consentId }: OutboundMessage): Promise<boolean> {
  if (consentId === null) return false;
  const rows = await db.query(`select 1 from consent where id = $1 and status = 'approved'`, [consentId]);
  return rows.length === 0;
}

async function signatureOf(
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
  if (await lacksConsent(services, message))
    return refuse(services, sender, message, open, { status: 'denied', reason: 'content_changed', rule: null });
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
  const numbers = new Set(recipients.map(({ number }) => number));
  const owed = await services.db.transaction(async (sql) => {
    await lockOutbound(sql, message.id);
    // An attempt beside this one may have ended meanwhile: what it did stays.
    const open = (await findRecipients(sql, message.id)).filter((each) => numbers.has(each.number) && isOpen(each));
    const changes = open.map(({ number }) => ({ number, status, reply: reason, code: '5.7.1' }));
    await changeRecipients(sql, message.id, changes, now);
    await finishIfDone(sql, message.id, now);
    if (open.length === 0) return 0;
    const blocked = { recipients: open.map(({ address }) => address), reason, rule };
    return recordEvents(sql, [blockedEvent(sender, message, blocked, now)]);
  });
  afterCommit(services, { folderIds: [], owed });
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

interface DestinationAttempt extends Group {
  readonly services: SendingServices;
  readonly transport: Transport;
  readonly sender: Sender;
  readonly message: OutboundMessage;
  readonly content: SignedContent;
}

async function attemptDestination(attempt: DestinationAttempt): Promise<void> {
  const { services, transport, sender, message, content } = attempt;
  const reserved = await reserve(attempt);
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
  });
  await untilRecorded(() => record({ ...attempt, recipients }, tried, results));
}

interface Tried {
  /** Of the attempt, among those at the destination. */
  readonly number: number;
  /** Attempts before it that these recipients were part of. */
  readonly before: number;
}

/** Undefined: nothing may be sent to this destination any more. */
async function reserve({
  services,
  transport,
  message,
  destination,
  recipients,
}: DestinationAttempt): Promise<{ tried: Tried; recipients: readonly OutboundRecipient[] } | undefined> {
  const startedAt = new Date(services.now());
  const numbers = new Set(recipients.map(({ number }) => number));
  return services.db.transaction(async (sql) => {
    const locked = await lockOutbound(sql, message.id);
    const sender = await findSender(sql, message.mailboxId);
    if (locked?.state !== 'sending' || sender?.status !== 'active') return undefined;
    const open = (await findRecipients(sql, message.id)).filter((each) => numbers.has(each.number) && isOpen(each));
    if (open.length === 0) return undefined;
    const [row] = await sql.query<Tried>(RESERVE, [
      message.id,
      destination,
      open.map(({ address }) => address),
      transport.via,
      startedAt,
    ]);
    const sending = open.map((each) => ({ ...each, status: 'sending' as const, nextAttemptAt: startedAt }));
    await changeRecipients(sql, message.id, sending, startedAt);
    return { tried: row ?? { number: 1, before: 0 }, recipients: open };
  });
}

const RESERVE = `
  insert into outbound_attempt (message_id, destination, number, recipients, transport, started_at)
  select $1, $2, coalesce(max(number), 0) + 1, $3, $4, $5 from outbound_attempt where message_id = $1 and destination = $2
  returning number,
    (select count(*)::int from outbound_attempt
      where message_id = $1 and destination = $2 and recipients @> $3::text[]) as before`;

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
    return { recipient, nextAt, address: recipient.address, kind: 'failed', code: '4.4.7', reply };
  });
}

/** Writes what came of an attempt, once: nothing is done when it stands there already. */
async function record(attempt: DestinationAttempt, tried: Tried, results: readonly RecipientResult[]): Promise<void> {
  const { services, transport, sender, message, content, destination } = attempt;
  const { number } = tried;
  const now = new Date(services.now());
  const all = outcomesOf(attempt, tried, results, now);
  // A message that was held is given two days from its release on.
  const triedSinceMs =
    message.giveUpAt === null ? message.submittedAt.getTime() : message.giveUpAt.getTime() - OUTBOUND_GIVE_UP_MS;
  const { owed, noticed } = await services.db.transaction(async (sql) => {
    const nothing = { owed: 0, noticed: false };
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
    const told = (kind: RecipientResult['kind']) =>
      outcomes.flatMap((each) =>
        each.kind === kind ? [{ ...each.recipient, ...saidOf(each), nextAt: each.nextAt }] : [],
      );
    const failed = told('failed');
    // A host that announced DSN reports a success itself.
    const relayed = told('sent').filter(({ reports }) => reports !== true);
    const isLate = ({ nextAt }: { readonly nextAt: Date }) =>
      nextAt.getTime() >= triedSinceMs + OUTBOUND_DELAY_NOTICE_AFTER_MS;
    const delayed = told('deferred').filter((each) => isLate(each) && wantsNotice(each, 'delayed'));
    let events = 0;
    if (outcomes.some(isReached) && locked.firstSentAt === null) {
      await sql.query(`update outbound_message set first_sent_at = $2 where id = $1`, [message.id, now]);
      events += await recordEvents(sql, [sentEvent(sender, message, message.threadId ?? '', transport.via, now)]);
    }
    if (failed.length > 0) {
      const gone = failed.flatMap(({ address, code }) => (isHardBounce(code) ? [address] : []));
      await suppress(sql, { organizationId: message.organizationId, messageId: message.id }, 'hard_bounce', gone, now);
      events += await notifySender(sql, services, sender, message, content.bytes, 'failed', failed);
      await reviewSending(sql, message.mailboxId, now);
    }
    if (delayed.length > 0 && (await tellOnce(sql, message.id, now)))
      events += await notifySender(sql, services, sender, message, content.bytes, 'delayed', delayed);
    events += await notifySender(sql, services, sender, message, content.bytes, 'relayed', relayed);
    await finishIfDone(sql, message.id, now);
    return { owed: events, noticed: failed.length + delayed.length + relayed.length > 0 };
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
  const [made] = await db.query<{ attempts: number }>(
    `select count(*)::int as attempts from outbound_attempt where message_id = $1 and $2 = any(recipients)`,
    [messageId, next.address],
  );
  const retry = { number: made?.attempts ?? 0, domain: domainOf(next.address), reply: withoutAddresses(next.reply) };
  return { nextAtMs, waitsFor: `${retry.domain}: ${next.code ?? ''}`, retry };
}

const REPLY_IN_HISTORY_MAX_CHARACTERS = 80;

/** Histories hold no addresses, and other hosts like to repeat them. */
const withoutAddresses = (reply: string | null): string =>
  (reply ?? '').replace(/\S+@\S+/g, '…').slice(0, REPLY_IN_HISTORY_MAX_CHARACTERS);
