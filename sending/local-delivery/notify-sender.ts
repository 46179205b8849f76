import { readStructure } from '@agent-mailbox/mime-structure/read-structure';
import type { Sql } from '#db/database.ts';
import {
  type NoticeAction,
  type RecipientNotices,
  type ReturnedPart,
  wantsNotice,
} from '#domain/webhooks/delivery-notices.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-envelope.ts';
import { storeBlob } from '#mailstore/blobs/blob-store.ts';
import { isStoredAhead } from '#mailstore/delivery/insert-messages.ts';
import { receivedEvent } from '#mailstore/delivery/received-event.ts';
import { deliverBatch } from '#mailstore/delivery/write-delivery.ts';
import { type ReadMessage, withContent } from '#mime/read-message.ts';
import { newMessage } from '#sending/outbox/filed-message.ts';
import { directoryOf } from '#sending/outbox/local-addresses.ts';
import type { OutboundMessage, Sender } from '#sending/outbox/outbound-message.ts';
import type { SendingServices } from '#sending/outbox/sending-services.ts';
import { type FailedRecipient, writeNotice } from './dsn-write.ts';

/** Written here: its text is plain, and the attached message is not read as text. */
const readOwnNotice = (notice: Buffer): ReadMessage => withContent(notice, readStructure(notice));

const HEADER_SHOWN_MAX_BYTES = 65_536;

/**
 * Writes a notice about recipients into the sender's INBOX, if the sender requested it. A full or closed mailbox gets
 * none: the state of the recipients has the same information.
 *
 * @returns webhook deliveries to dispatch
 */
export async function notifySender(
  sql: Sql,
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  bytes: Buffer,
  action: NoticeAction,
  recipients: readonly (FailedRecipient & RecipientNotices)[],
): Promise<number> {
  const notified = recipients.filter((each) => wantsNotice(each, action));
  const own =
    notified.length === 0 ? undefined : await directoryOf(services, sql).find(sender.mailbox.address, 'fresh');
  if (own === undefined) return 0;
  const at = new Date(services.now());
  const headerEnd = bytes.indexOf('\r\n\r\n');
  const header = bytes.subarray(0, Math.min(headerEnd < 0 ? bytes.length : headerEnd + 2, HEADER_SHOWN_MAX_BYTES));
  const put = async (returned: { part: ReturnedPart; bytes: Buffer }) => {
    const notice = writeNotice({
      action,
      hostname: services.settings.MAIL_HOSTNAME,
      sender: sender.mailbox.address,
      subject: message.subject,
      messageIdHeader: message.messageIdHeader,
      envelopeId: message.envelopeId,
      notified,
      returned,
      submittedAt: message.submittedAt,
      now: at,
    });
    const incoming = newMessage({ bytes: notice, read: readOwnNotice(notice) }, 'system', {
      correspondent: `mailer-daemon@${services.settings.MAIL_HOSTNAME}`,
      envelopeFrom: '',
      at,
      auth: null,
    });
    if (isStoredAhead(incoming)) await storeBlob(sql, incoming.blobKey, incoming.bytes);
    return deliverBatch(sql, [
      {
        message: incoming,
        deliveries: [
          {
            recipient: own,
            deliveredTo: sender.mailbox.address,
            folderId: own.inboxId,
            labels: [],
            deliveryHash: undefined,
          },
        ],
        event: (delivery, messageId, threadId) => ({
          ...receivedEvent(incoming, delivery, messageId, threadId),
          actor: SYSTEM_ACTOR,
        }),
      },
    ]);
  };
  // Only failure notices contain the whole message (RFC 3461 §4.3), and only if the mailbox has room for it.
  if (message.returned === 'FULL' && action === 'failed') {
    const { outcomes, owed } = await put({ part: 'FULL', bytes });
    if (outcomes[0]?.kind === 'delivered') return owed;
  }
  return (await put({ part: 'HDRS', bytes: header })).owed;
}
