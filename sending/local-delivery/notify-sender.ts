/**
 * Notices to the sender about the result of a message (RFC 3461, RFC 3464): which were requested, how one is written, and
 * its delivery into the mailbox.
 */
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { readStructure } from '@agent-mailbox/mime-structure/read-structure';
import type { Sql } from '#db/database.ts';
import { mailDate, oneLine } from '#domain/mail/text-forms.ts';
import {
  type MessageNotices,
  type NoticeAction,
  type RecipientNotices,
  type ReturnedPart,
  wantsNotice,
} from '#domain/webhooks/delivery-notices.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { storeBlob } from '#mailstore/blobs/blob-store.ts';
import { isStoredAhead } from '#mailstore/delivery/insert-messages.ts';
import { deliverBatch, receivedEvent } from '#mailstore/delivery/write-delivery.ts';
import { type ReadMessage, withContent } from '#mime/read-message.ts';
import { directoryOf } from '#sending/outbox/local-addresses.ts';
import {
  newMessage,
  type OutboundMessage,
  type Sender,
  type SendingServices,
} from '#sending/outbox/outbound-message.ts';

export interface NoticesAsked extends MessageNotices {
  /** By lower-cased address; missing recipients have the default. */
  readonly recipients: ReadonlyMap<string, RecipientNotices>;
}

/** Call it in the transaction that submits. */
export async function keepNotices(sql: Sql, messageId: string, asked: NoticesAsked): Promise<void> {
  const spoken = [...asked.recipients].filter(
    ([, { notify, originalRecipient }]) => notify !== null || originalRecipient !== null,
  );
  await Promise.all([
    sql.query(`update outbound_message set envelope_id = $2, returned = $3 where id = $1`, [
      messageId,
      asked.envelopeId,
      asked.returned,
    ]),
    sql.query(KEEP_RECIPIENTS, [
      messageId,
      spoken.map(([address]) => address),
      spoken.map(([, { notify }]) => notify?.join(',') ?? null),
      spoken.map(([, { originalRecipient }]) => originalRecipient),
    ]),
  ]);
}

const KEEP_RECIPIENTS = `
  update outbound_recipient r
     set notify = string_to_array(asked.notify, ','), original_recipient = asked.original
    from unnest($2::text[], $3::text[], $4::text[]) as asked (address, notify, original)
   where r.message_id = $1 and lower(r.address) = asked.address`;

export interface FailedRecipient {
  readonly address: string;
  /** Enhanced status code, RFC 3463. */
  readonly code: string;
  /** Answer of the other host, or why there was none. */
  readonly reply: string;
  /** Name of the other host that answered; absent: none did. */
  readonly remoteMta?: string | undefined;
}

type NotifiedRecipient = FailedRecipient & Pick<RecipientNotices, 'originalRecipient'>;

interface NoticeFacts {
  readonly action: NoticeAction;
  readonly hostname: string;
  readonly sender: string;
  readonly subject: string;
  readonly messageIdHeader: string;
  readonly envelopeId: string | null;
  readonly notified: readonly NotifiedRecipient[];
  /** The message, or its header block. */
  readonly returned: { readonly part: ReturnedPart; readonly bytes: Buffer };
  readonly submittedAt: Date;
  readonly now: Date;
}

interface Words {
  readonly subject: string;
  /** `Your message … to:` */
  readonly became: string;
  readonly next: string;
}

const ARRIVED: Words = {
  subject: 'Mail was delivered',
  became: 'was delivered',
  next: 'Whether it is read is not reported.',
};
const PASSED_ON: Words = {
  subject: 'Mail was relayed',
  became: 'was relayed',
  next: 'The next host sends no delivery reports.',
};
const WORDS: Readonly<Record<NoticeAction, Words>> = {
  failed: {
    subject: 'Undelivered mail returned to sender',
    became: 'could not be delivered',
    next: 'It will not be tried again.',
  },
  delayed: {
    subject: 'Mail is delayed',
    became: 'could not be delivered yet',
    next: 'The service keeps trying; there is no need to send it again.',
  },
  delivered: ARRIVED,
  relayed: PASSED_ON,
  expanded: PASSED_ON,
};

const ascii = (text: string): string => oneLine(text).replace(/[^ -~]/g, '?');

/** An address with its type; one in UTF-8 in the form for places that are ASCII (RFC 6533 §3). */
const typedAddress = (address: string): string =>
  /^[ -~]*$/.test(address)
    ? `rfc822; ${ascii(address)}`
    : `utf-8; ${ascii(address.replace(/[^ -~]/gu, (sign) => `\\x{${sign.codePointAt(0)?.toString(16).toUpperCase()}}`))}`;

/** RFC 3464 §2.3.5: a name, or an address in brackets. */
const mtaName = (host: string): string => (isIP(host) === 0 ? ascii(host) : `[${host}]`);

/** Bytes of a notice: for people, for programs, and the returned part of the message. From the null sender. */
export function writeNotice(facts: NoticeFacts): Buffer {
  const { action, hostname, sender, notified, returned, envelopeId, now } = facts;
  const words = WORDS[action];
  const whole = returned.part === 'FULL';
  const boundary = `dsn-${randomUUID()}`;
  const lines = notified.map(({ address, code, reply }) => `  ${oneLine(address)}\r\n    ${code} ${oneLine(reply)}`);
  const people =
    `Your message "${oneLine(facts.subject)}" ${words.became} to:\r\n\r\n${lines.join('\r\n')}\r\n\r\n` +
    `${words.next} The ${whole ? 'message' : 'header of the message'} is attached.\r\n`;
  const programs = notified.map(
    ({ address, code, reply, originalRecipient, remoteMta }) =>
      (originalRecipient === null ? '' : `Original-Recipient: ${ascii(originalRecipient)}\r\n`) +
      `Final-Recipient: ${typedAddress(address)}\r\nAction: ${action}\r\nStatus: ${code}\r\n` +
      (remoteMta === undefined ? '' : `Remote-MTA: dns; ${mtaName(remoteMta)}\r\n`) +
      `Diagnostic-Code: smtp; ${ascii(reply)}\r\n`,
  );
  const top =
    `From: Mail delivery <mailer-daemon@${hostname}>\r\nTo: <${sender}>\r\nSubject: ${words.subject}\r\n` +
    `Date: ${mailDate(now)}\r\nMessage-ID: <${randomUUID()}@${hostname}>\r\nIn-Reply-To: ${facts.messageIdHeader}\r\n` +
    `References: ${facts.messageIdHeader}\r\nAuto-Submitted: auto-replied\r\nMIME-Version: 1.0\r\n` +
    `Content-Type: multipart/report; report-type=delivery-status; boundary="${boundary}"\r\n\r\n`;
  const part = (type: string, body: string | Buffer) =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Type: ${type}\r\n\r\n`),
      Buffer.from(body),
      Buffer.from('\r\n'),
    ]);
  return Buffer.concat([
    Buffer.from(top),
    part('text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit', people),
    part(
      'message/delivery-status',
      (envelopeId === null ? '' : `Original-Envelope-Id: ${ascii(envelopeId)}\r\n`) +
        `Reporting-MTA: dns; ${hostname}\r\nArrival-Date: ${mailDate(facts.submittedAt)}\r\n\r\n${programs.join('\r\n')}`,
    ),
    whole
      ? part('message/rfc822\r\nContent-Transfer-Encoding: 8bit', returned.bytes)
      : part('text/rfc822-headers', returned.bytes),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
}

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
