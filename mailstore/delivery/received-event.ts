/** The event of a received message (`email_received`). */

import { formatAddress } from '@agent-mailbox/mime-structure/addresses';
import type { NewEvent } from '#core/events/record-event.ts';
import type { Actor } from '#domain/webhooks/event-envelope.ts';
import type { IncomingMessage, LocalDelivery } from './delivery.ts';
import { eventExtracts } from './event-extracts.ts';

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
