/** The event of a received message (`email_received`). */
import { formatAddress } from '@agent-mailbox/mime-structure/addresses';
import type { NewEvent } from '#core/events/record-event.ts';
import { EVENT_EXTRACTS_LIMIT_BYTES } from '#domain/webhooks/delivery-limits.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import { surelyCode } from '#mime/one-time-code.ts';
import type { MessageContent } from '#mime/read-message.ts';
import type { IncomingMessage, LocalDelivery } from './insert-messages.ts';

export function receivedEvent(
  message: IncomingMessage,
  { recipient, labels }: LocalDelivery,
  messageId: string,
  threadId: string,
): NewEvent {
  const { read, auth } = message;
  const [author] = read.from;
  return {
    type: 'email_received',
    organization: recipient.organization,
    mailbox: recipient.mailbox,
    actor: externalActor(author?.name ?? '', author?.address ?? '', message.envelopeFrom),
    occurredAt: message.receivedAt,
    extracts: eventExtracts(read.content),
    data: {
      messageId,
      threadId,
      from: author === undefined ? message.envelopeFrom : formatAddress(author),
      to: read.to.map(formatAddress),
      cc: read.cc.map(formatAddress),
      subject: read.subject,
      preview: read.preview,
      receivedAt: message.receivedAt.toISOString(),
      sizeBytes: message.bytes.length,
      attachments: read.attachments.map(({ id, filename, contentType, sizeBytes }) => ({
        id,
        filename,
        contentType,
        sizeBytes,
      })),
      labels: [...labels],
      authentication: {
        spf: auth?.spf.result ?? 'none',
        dkim: auth?.dkim.result ?? 'none',
        dmarc: auth?.dmarc.result ?? 'none',
      },
    },
  };
}

/** A sender outside: the author the message names, and the address its envelope names. */
export const externalActor = (name: string, email: string, envelopeFrom: string): Actor => ({
  type: 'external',
  id: null,
  name: name || null,
  email: email || null,
  address: envelopeFrom || email || null,
});

/**
 * Codes and links of a message for its event, in the form of `GET …/extracts`. The most likely links come first; those
 * that would make the event longer by more than 16 KiB are left out.
 */
export function eventExtracts({ codes, links }: Pick<MessageContent, 'codes' | 'links'>): object {
  const fitting: object[] = [];
  const extracts = { otp: surelyCode(codes), otpCandidates: codes, links: fitting };
  let room = EVENT_EXTRACTS_LIMIT_BYTES - Buffer.byteLength(JSON.stringify(extracts));
  for (const link of links) {
    const bytes = Buffer.byteLength(JSON.stringify(link)) + 1;
    if (bytes > room) continue;
    room -= bytes;
    fitting.push(link);
  }
  return extracts;
}
