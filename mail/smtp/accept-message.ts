/** From the end of RCPT to the answer of DATA: receive, check, index, store. */

import { findBodyStart, firstValue, isAutoSubmitted } from '@agent-mailbox/mime-structure/header-fields';
import { messageIds } from '@agent-mailbox/mime-structure/read-structure';
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import { type ReportAddress, recordDomainReport } from '#core/mailboxes/domain-reports.ts';
import { type RoleAddress, type RoleMail, takeRoleMail } from '#core/mailboxes/role-mail.ts';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import { networkOf, sourceOf } from '#core/platform/addresses/source-address.ts';
import type { MailLine } from '#core/platform/mail-log/mail-line.ts';
import type { Services } from '#core/platform/process/services.ts';
import { inSpan } from '#core/platform/tracing/trace.ts';
import { UNAUTHENTICATED_LABEL } from '#domain/mail/mail-flags.ts';
import { HEADER_BLOCK_MAX_BYTES, MESSAGE_MEMORY_MAX_BYTES, RECEIVED_FIELDS_MAX } from '#domain/mail/mail-limits.ts';
import { ROLE_MAIL_MAX_BYTES } from '#domain/mail/mailbox-address.ts';
import { blobKey } from '#mailstore/blobs/blob-store.ts';
import { askAlias, lockToAuthor } from '#mailstore/delivery/alias-senders.ts';
import { largeMessageSlots } from '#mailstore/delivery/append.ts';
import type { DeliveryOutcome, IncomingMessage, LocalDelivery } from '#mailstore/delivery/insert-messages.ts';
import { listedHeader } from '#mailstore/delivery/recipients.ts';
import { deliveryHasher, threadRefs } from '#mailstore/delivery/threads.ts';
import { receivedEvent } from '#mailstore/delivery/write-delivery.ts';
import type { MailStore } from '#mailstore/mail-store.ts';
import { readSafely } from '#mailstore/reading/read-safely.ts';
import { NoDomainReport, readDomainReport } from '#mime/domain-report.ts';
import { holdArrivals } from '#sending/screening/held-arrivals.ts';
import { authorOf, isProven, screenArrival } from '#sending/screening/screen-arrival.ts';
import type { BlockedEvents } from './blocked-events.ts';
import type { DnsLookup } from './dns-resolver.ts';
import type { InboundServer } from './inbound-server.ts';
import type { AcceptedRecipient, AcceptedRecipients } from './recipient-gate.ts';
import { checkSender, type SenderCheckBudgets, type SenderChecked } from './sender-checks.ts';
import { SmtpReply, unavailable } from './smtp-reply.ts';
import type { SmtpSpool } from './smtp-spool.ts';
import { countReceived, receivedFields, traceHeaders, withoutForgedResults } from './trace-headers.ts';

interface AcceptContext {
  readonly services: Services;
  readonly store: MailStore;
  readonly lookup: DnsLookup;
  /** Default: those of `domain/mail/mail-limits.ts`. */
  readonly budgets?: SenderCheckBudgets | undefined;
  readonly blocked: BlockedEvents;
  readonly spool: SmtpSpool;
  readonly server: InboundServer;
  readonly onNotices?: ((notices: readonly NewMemberNotice[]) => void) | undefined;
  /** Given what the mail log says of the message, as it becomes known. */
  observe(facts: Partial<MailLine>): void;
}

/** Whom a transaction is for. */
interface TransactionRecipients {
  readonly mailboxes: AcceptedRecipients | undefined;
  /** Addresses without a mailbox, whose mail is sent to owners. */
  readonly roles: readonly RoleAddress[];
  /** Takes a report of another host; then there is no other recipient. */
  readonly reports?: ReportAddress | undefined;
}

export const roleMailTooLarge = (): SmtpReply =>
  new SmtpReply(552, '5.3.4', `A message to this address has at most ${ROLE_MAIL_MAX_BYTES} bytes`);

/** The facts for the log, and the text after 250. */
export interface Acceptance {
  readonly facts: {
    readonly mailboxes: readonly string[];
    readonly messages: readonly string[];
  };
  readonly text: string;
}

/** Handles mail to a return path: reports are recorded; other mail is for these recipients. */
export type TakeReturned = (bytes: Buffer) => Promise<'taken' | AcceptedRecipients>;

/**
 * @param takeReturned given where the recipient is a return path
 * @throws {SmtpReply} for refusals; anything else is an internal error
 */
export async function acceptMessage(
  context: AcceptContext,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  { mailboxes: accepted, roles, reports }: TransactionRecipients,
  takeReturned?: TakeReturned,
): Promise<Acceptance> {
  const received = await context.spool.receive(stream, () => context.server.drop(session));
  context.observe({ size: received.size });
  if (takeReturned === undefined && (accepted?.size ?? 0) === 0 && roles.length === 0 && reports === undefined) {
    await received.discard();
    throw unavailable();
  }
  // Large messages are whole in memory from here on: only a few at a time.
  const release = received.size > MESSAGE_MEMORY_MAX_BYTES ? await largeMessageSlots.take() : undefined;
  try {
    const bytes = await received.bytes();
    const recipients = takeReturned === undefined ? accepted : await takeReturned(bytes);
    if (recipients === 'taken') return { facts: { mailboxes: [], messages: [] }, text: 'Accepted as a report' };
    return await accept(context, bytes, session, { recipients: [...(recipients?.values() ?? [])], roles, reports });
  } finally {
    release?.();
    await received.discard();
  }
}

async function accept(
  context: AcceptContext,
  received: Buffer,
  session: SMTPServerSession,
  {
    recipients,
    roles,
    reports,
  }: {
    readonly recipients: readonly AcceptedRecipient[];
    readonly roles: readonly RoleAddress[];
    readonly reports: ReportAddress | undefined;
  },
): Promise<Acceptance> {
  const { services, store, lookup, blocked } = context;
  const hostname = services.settings.MAIL_HOSTNAME;
  const envelopeFrom = session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address;
  if (findBodyStart(received, 0, received.length) > HEADER_BLOCK_MAX_BYTES)
    throw new SmtpReply(552, '5.3.4', `The header of the message is larger than ${HEADER_BLOCK_MAX_BYTES} bytes`);
  const fields = receivedFields(received);
  context.observe({ messageId: messageIds(firstValue(fields, 'message-id'))[0] });
  if (countReceived(fields) > RECEIVED_FIELDS_MAX)
    throw new SmtpReply(554, '5.4.6', `Mail loop: more than ${RECEIVED_FIELDS_MAX} Received fields`);
  const receivedAt = new Date(services.now());
  const helo = session.hostNameAppearsAs;
  const checked = await checkSender(
    { received, header: fields, remoteAddress: session.remoteAddress, helo, envelopeFrom, hostname },
    lookup,
    context.budgets,
  );
  const { spf, dkim, dmarc } = checked.results;
  context.observe({ spf: spf.result, dkim: dkim.result, dmarc: dmarc.result });
  if (reports !== undefined) {
    await takeReport(services, reports, received, checked);
    return { facts: { mailboxes: [], messages: [] }, text: 'Accepted as a report' };
  }
  if (roles.length > 0 && received.length > ROLE_MAIL_MAX_BYTES) throw roleMailTooLarge();
  refuseUndecided(checked, recipients, roles);
  const trace = traceHeaders({
    hostname,
    envelopeFrom,
    helo,
    remoteAddress: session.remoteAddress,
    protocol: session.transmissionType,
    connectionId: session.id,
    receivedAt,
    authenticationResults: checked.header,
  });
  const bytes = Buffer.concat([trace, withoutForgedResults(received, fields, hostname)]);
  // Of another try of the same message the trace fields differ.
  const read = await readSafely(services.db, bytes, { source: sourceOf(session.remoteAddress), content: received });
  const message: IncomingMessage = {
    bytes,
    size: bytes.length,
    blobKey: blobKey(bytes),
    read,
    refs: threadRefs(read, read.from[0]?.address ?? envelopeFrom),
    listed: listedHeader(bytes, read.parts),
    origin: 'smtp',
    receivedAt,
    envelopeFrom,
    auth: checked.results,
  };
  if (recipients.length > 0) refuseUnauthenticated(checked, recipients, message, blocked);
  const unlisted = await unlistedAt(services, message, recipients);
  // Before the mailboxes: if they fail, the client sends again, and this part is recognized as a repetition.
  await takeForRoles(context, roles, {
    received,
    bytes,
    from: read.from[0]?.address ?? envelopeFrom,
    subject: read.subject,
    preview: read.preview,
    isAutomatic: envelopeFrom === '' || isAutoSubmitted(fields),
    isUnauthenticated: checked.consequence === 'unauthenticated',
  });
  if (recipients.length === 0) return { facts: { mailboxes: [], messages: [] }, text: 'Accepted for the owners' };
  const hash = deliveryHasher(received, envelopeFrom);
  const deliveries = recipients.map((each) => localDelivery(each, checked, hash?.(each.address)));
  const held = await hold(services, message, deliveries, unlisted, networkOf(session.remoteAddress));
  const passing = deliveries.filter(({ recipient }) => !held.has(recipient.mailbox.id));
  if (passing.length === 0)
    return {
      facts: { mailboxes: [...held.keys()], messages: [...held.values()] },
      text: acceptedText([...held.values()]),
    };
  for (const { recipient } of passing)
    if (!(await lockToAuthor(services.db, recipient, authorOf(message), isProven(message))))
      throw recipients.length === 1 && recipient.alias?.refusesOthers === true ? refusedByList() : closedMeanwhile();
  const outcome = await inSpan(
    'message.store',
    { attributes: { 'agent_mailbox.message.size': bytes.length } },
    (span) =>
      store.deliver({
        message,
        deliveries: passing,
        event: (delivery, messageId, threadId) => ({
          ...receivedEvent(message, delivery, messageId, threadId),
          // Other messages may be in the same transaction.
          traceContext: span.context,
        }),
      }),
  );
  return answerOf(outcome, message, recipients, blocked, held);
}

/**
 * A report counts for what the domain says that sent it: without SPF or DKIM anybody could make one up.
 *
 * @throws {SmtpReply} if it is none, is about another domain, or there are too many
 */
async function takeReport(
  { db, now }: Services,
  to: ReportAddress,
  received: Buffer,
  { results: { dkim, spf } }: SenderChecked,
): Promise<void> {
  if (received.length > ROLE_MAIL_MAX_BYTES) throw roleMailTooLarge();
  const signed = dkim.signatures.find(({ result }) => result === 'pass')?.domain;
  const reporter = (signed ?? (spf.result === 'pass' ? spf.domain : null))?.toLowerCase();
  if (reporter === undefined) {
    if (dkim.result === 'temperror' || spf.result === 'temperror')
      throw new SmtpReply(451, '4.7.24', 'The sender could not be checked: DNS gave no answer. Try again later');
    throw new SmtpReply(550, '5.7.26', 'Reports must pass SPF or DKIM');
  }
  const report = await readDomainReport(received).catch((error: unknown) => {
    if (error instanceof NoDomainReport)
      throw new SmtpReply(554, '5.6.0', `This address takes DMARC and TLS reports only: ${error.message}`);
    throw error;
  });
  await db.transaction(async (sql) => {
    const outcome = await recordDomainReport(sql, { to, reporter, report }, now());
    if (outcome === 'foreign') throw new SmtpReply(554, '5.6.0', `The report is not about the domain of ${to.address}`);
    if (outcome === 'too-many')
      throw new SmtpReply(451, '4.7.1', 'There are too many reports to this address, try again later');
  });
}

/** The same whether the message is held or not: its sender does not get to know. */
const acceptedText = (messages: readonly string[]): string => `Accepted ${messages.join(' ')}`;

const refusedByList = (): SmtpReply => new SmtpReply(550, '5.7.1', 'This address accepts mail of certain senders only');
const closedMeanwhile = (): SmtpReply => new SmtpReply(450, '4.2.1', 'An address was closed meanwhile, try again');

/**
 * Mailboxes at whose alias the author is not listed, and whose mail of others is held.
 *
 * @throws {SmtpReply} if an alias refuses the message
 */
async function unlistedAt(
  { db }: Services,
  message: IncomingMessage,
  recipients: readonly AcceptedRecipient[],
): Promise<ReadonlySet<string>> {
  const held = new Set<string>();
  const author = authorOf(message);
  for (const { recipient } of recipients) {
    const verdict = await askAlias(db, recipient, author, isProven(message));
    if (verdict === 'hold') held.add(recipient.mailbox.id);
    if (verdict === 'pass' || verdict === 'hold') continue;
    // The list was made, or the alias dropped, since RCPT: then each recipient gets its own answer.
    if (recipients.length > 1) throw closedMeanwhile();
    throw verdict === 'gone' ? new SmtpReply(550, '5.1.1', 'No such mailbox here') : refusedByList();
  }
  return held;
}

/**
 * Holds the message for the mailboxes whose screening does. Before the others get it: if they fail, the client sends
 * again, and what is held is recognized.
 *
 * @returns ids by mailbox
 * @throws {SmtpReply} if too much of this sender waits already; then nothing is stored
 */
async function hold(
  { db }: Services,
  message: IncomingMessage,
  deliveries: readonly LocalDelivery[],
  unlisted: ReadonlySet<string>,
  source: string,
): Promise<ReadonlyMap<string, string>> {
  const screened = await screenArrival(
    db,
    message,
    deliveries.map(({ recipient }) => recipient),
    unlisted,
  );
  if (screened.size === 0) return new Map();
  const held = deliveries.flatMap((delivery) => {
    const reasons = screened.get(delivery.recipient.mailbox.id);
    return reasons === undefined ? [] : [{ delivery, reasons }];
  });
  return db.transaction(async (sql) => {
    const outcome = await holdArrivals(sql, { message, deliveries: held, source, actor: null });
    if (outcome.kind === 'too-much')
      throw new SmtpReply(451, '4.7.1', 'There is too much mail of this sender, try again later');
    return outcome.ids;
  });
}

/** @throws {SmtpReply} if owners already get too much; then nothing is stored */
async function takeForRoles(
  { services, onNotices }: AcceptContext,
  roles: readonly RoleAddress[],
  mail: RoleMail,
): Promise<void> {
  if (roles.length === 0) return;
  const notices = await services.db.transaction(async (sql) => {
    const written: NewMemberNotice[] = [];
    for (const role of roles) {
      const outcome = await takeRoleMail(sql, role, mail, services.now());
      if (outcome.kind === 'too-many')
        throw new SmtpReply(451, '4.7.1', 'There is too much mail to this address, try again later');
      written.push(...outcome.notices);
    }
    return written;
  });
  onNotices?.(notices);
}

function localDelivery(
  { recipient, address }: AcceptedRecipient,
  { consequence }: SenderChecked,
  deliveryHash: string | undefined,
): LocalDelivery {
  const unauthenticated = consequence !== 'none';
  const toJunk = unauthenticated && recipient.unauthenticatedMail !== 'inbox';
  return {
    recipient,
    deliveredTo: address,
    folderId: toJunk ? recipient.junkId : recipient.inboxId,
    labels: unauthenticated ? [UNAUTHENTICATED_LABEL] : [],
    deliveryHash,
  };
}

/**
 * The policy of the author's domain enforces, nothing aligned has passed, and a later DNS answer may change that: the
 * client tries again (RFC 7372 §3.2). Not needed for mailboxes that accept unauthenticated mail into INBOX.
 */
function refuseUndecided(
  { consequence, results }: SenderChecked,
  recipients: readonly AcceptedRecipient[],
  roles: readonly RoleAddress[],
): void {
  if (consequence !== 'undecided') return;
  if (roles.length === 0 && recipients.every(({ recipient }) => recipient.unauthenticatedMail === 'inbox')) return;
  const domain = results.dmarc.domain ?? 'its domain';
  throw new SmtpReply(
    451,
    '4.7.24',
    `The sender could not be checked against the DMARC policy of ${domain}: DNS gave no answer. Try again later`,
  );
}

/**
 * DATA has one answer for all: the message is refused only if every mailbox refuses it; otherwise it is filed in Junk.
 */
function refuseUnauthenticated(
  { consequence }: SenderChecked,
  recipients: readonly AcceptedRecipient[],
  message: IncomingMessage,
  blocked: BlockedEvents,
): void {
  if (consequence === 'none' || !recipients.every(({ recipient }) => recipient.unauthenticatedMail === 'reject'))
    return;
  for (const { recipient, address } of recipients)
    blocked.add({
      recipient,
      envelopeFrom: message.envelopeFrom,
      to: address,
      subject: message.read.subject,
      reason: 'unauthenticated',
    });
  throw new SmtpReply(550, '5.7.26', 'The message fails the DMARC policy of its sender, or names no author');
}

function answerOf(
  outcome: DeliveryOutcome,
  message: IncomingMessage,
  recipients: readonly AcceptedRecipient[],
  blocked: BlockedEvents,
  held: ReadonlyMap<string, string>,
): Acceptance {
  switch (outcome.kind) {
    case 'delivered': {
      const messages = [...outcome.deliveries.map(({ messageId }) => messageId), ...held.values()];
      for (const { mailboxId, duplicate } of outcome.deliveries)
        for (const { recipient } of recipients)
          if (recipient.mailbox.id === mailboxId && !duplicate) recipient.bytesUsed += message.bytes.length;
      const mailboxes = [...outcome.deliveries.map(({ mailboxId }) => mailboxId), ...held.keys()];
      return { facts: { mailboxes, messages }, text: acceptedText(messages) };
    }
    case 'over-quota': {
      const full = recipients.find(({ recipient }) => recipient.mailbox.id === outcome.mailboxId);
      if (full !== undefined)
        blocked.add({
          recipient: full.recipient,
          envelopeFrom: message.envelopeFrom,
          to: full.address,
          subject: message.read.subject,
          reason: 'quota_exceeded',
        });
      throw new SmtpReply(452, '4.2.2', 'A mailbox has no room for this message');
    }
    case 'mailbox-closed':
      throw new SmtpReply(450, '4.2.1', 'A mailbox was closed meanwhile, try again');
  }
}
