/** From the end of RCPT to the answer of DATA: receive, judge, index, store. */
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import { blobKey } from '../../core/blob-store.ts';
import type { Services } from '../../core/services.ts';
import { UNAUTHENTICATED_LABEL } from '../../domain/mail-flags.ts';
import { MESSAGE_MAX_BYTES, MESSAGE_MEMORY_MAX_BYTES, RECEIVED_FIELDS_MAX } from '../../domain/mail-limits.ts';
import { readMessage } from '../mime/read-message.ts';
import type { DeliveryOutcome, IncomingMessage, LocalDelivery } from '../store/delivery.ts';
import { deliveryHasher, threadRefs } from '../store/fingerprints.ts';
import { largeMessageSlots } from '../store/large-message-slots.ts';
import type { MailStore } from '../store/mail-store.ts';
import { receivedEvent } from '../store/received-event.ts';
import { judgeSender, type SenderJudgement } from './authenticate-sender.ts';
import type { BlockedEvents } from './blocked-events.ts';
import type { DnsLookup } from './dns-resolver.ts';
import type { InboundServer } from './inbound-server.ts';
import { receiveData } from './receive-data.ts';
import type { AcceptedRecipient, AcceptedRecipients } from './recipient-gate.ts';
import { SmtpReply, unavailable } from './smtp-reply.ts';
import { countReceived, receivedFields, traceHeaders, withoutForgedResults } from './trace-headers.ts';

export interface AcceptContext {
  readonly services: Services;
  readonly store: MailStore;
  readonly lookup: DnsLookup;
  readonly blocked: BlockedEvents;
  readonly spoolFolder: string;
  readonly server: InboundServer;
}

/** What the log is told, and the text behind 250. */
export interface Acceptance {
  readonly facts: {
    readonly mailboxes: readonly string[];
    readonly messages: readonly string[];
    readonly bytes: number;
  };
  readonly text: string;
}

/** Takes what came to a return path: a report is done with; other mail is for these recipients. */
export type TakeReturned = (bytes: Buffer) => Promise<'taken' | AcceptedRecipients>;

/**
 * @param takeReturned given where the recipient is a return path
 * @throws {SmtpReply} for refusals; anything else is trouble of ours
 */
export async function acceptMessage(
  context: AcceptContext,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  accepted: AcceptedRecipients | undefined,
  takeReturned?: TakeReturned,
): Promise<Acceptance> {
  const received = await receiveData(stream, context.spoolFolder, MESSAGE_MAX_BYTES, () =>
    context.server.drop(session),
  );
  if (received === 'too-large')
    throw new SmtpReply(552, '5.3.4', `The message is larger than ${MESSAGE_MAX_BYTES} bytes`);
  if (takeReturned === undefined && (accepted === undefined || accepted.size === 0)) {
    await received.discard();
    throw unavailable();
  }
  // Large messages are whole in memory from here on: only a few at a time.
  const release = received.size > MESSAGE_MEMORY_MAX_BYTES ? await largeMessageSlots.take() : undefined;
  try {
    const bytes = await received.bytes();
    const recipients = takeReturned === undefined ? accepted : await takeReturned(bytes);
    if (recipients === 'taken')
      return { facts: { mailboxes: [], messages: [], bytes: bytes.length }, text: 'Accepted as a report' };
    return await accept(context, bytes, session, [...(recipients?.values() ?? [])]);
  } finally {
    release?.();
    await received.discard();
  }
}

async function accept(
  { services, store, lookup, blocked }: AcceptContext,
  received: Buffer,
  session: SMTPServerSession,
  recipients: readonly AcceptedRecipient[],
): Promise<Acceptance> {
  const hostname = services.settings.MAIL_HOSTNAME;
  const envelopeFrom = session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address;
  const fields = receivedFields(received);
  if (countReceived(fields) > RECEIVED_FIELDS_MAX)
    throw new SmtpReply(554, '5.4.6', `Mail loop: more than ${RECEIVED_FIELDS_MAX} Received fields`);
  const receivedAt = new Date(services.now());
  const helo = session.hostNameAppearsAs;
  const judgement = await judgeSender(
    { received, remoteAddress: session.remoteAddress, helo, envelopeFrom, hostname },
    lookup,
  );
  const trace = traceHeaders({
    hostname,
    envelopeFrom,
    helo,
    remoteAddress: session.remoteAddress,
    protocol: session.transmissionType,
    connectionId: session.id,
    receivedAt,
    authenticationResults: judgement.header,
  });
  const bytes = Buffer.concat([trace, withoutForgedResults(received, fields, hostname)]);
  const read = readMessage(bytes);
  const message: IncomingMessage = {
    bytes,
    size: bytes.length,
    blobKey: blobKey(bytes),
    read,
    refs: threadRefs(read, read.from[0]?.address ?? envelopeFrom),
    origin: 'smtp',
    receivedAt,
    envelopeFrom,
    auth: judgement.results,
  };
  refuseUnauthenticated(judgement, recipients, message, blocked);
  const hash = deliveryHasher(received, envelopeFrom);
  const outcome = await store.deliver({
    message,
    deliveries: recipients.map((each) => localDelivery(each, judgement, hash?.(each.address))),
    event: (delivery, messageId, threadId) => receivedEvent(message, delivery, messageId, threadId),
  });
  return answerOf(outcome, message, recipients, blocked);
}

function localDelivery(
  { recipient, address }: AcceptedRecipient,
  { unauthenticated }: SenderJudgement,
  deliveryHash: string | undefined,
): LocalDelivery {
  const toJunk = unauthenticated && recipient.unauthenticatedMail !== 'inbox';
  return {
    recipient,
    deliveredTo: address,
    folderId: toJunk ? recipient.junkId : recipient.inboxId,
    labels: unauthenticated ? [UNAUTHENTICATED_LABEL] : [],
    deliveryHash,
  };
}

/** DATA has one answer for all: only where every mailbox refuses is the message refused; else it goes to Junk. */
function refuseUnauthenticated(
  { unauthenticated }: SenderJudgement,
  recipients: readonly AcceptedRecipient[],
  message: IncomingMessage,
  blocked: BlockedEvents,
): void {
  if (!unauthenticated || !recipients.every(({ recipient }) => recipient.unauthenticatedMail === 'reject')) return;
  for (const { recipient, address } of recipients)
    blocked.add({
      recipient,
      envelopeFrom: message.envelopeFrom,
      to: address,
      subject: message.read.subject,
      reason: 'unauthenticated',
    });
  throw new SmtpReply(550, '5.7.26', 'The message fails the DMARC policy of its sender');
}

function answerOf(
  outcome: DeliveryOutcome,
  message: IncomingMessage,
  recipients: readonly AcceptedRecipient[],
  blocked: BlockedEvents,
): Acceptance {
  switch (outcome.kind) {
    case 'delivered': {
      const messages = outcome.deliveries.map(({ messageId }) => messageId);
      for (const { mailboxId, duplicate } of outcome.deliveries)
        for (const { recipient } of recipients)
          if (recipient.mailbox.id === mailboxId && !duplicate) recipient.bytesUsed += message.bytes.length;
      const mailboxes = outcome.deliveries.map(({ mailboxId }) => mailboxId);
      return { facts: { mailboxes, messages, bytes: message.bytes.length }, text: `Accepted ${messages.join(' ')}` };
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
