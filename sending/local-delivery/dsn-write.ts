/** Delivery status notifications (RFC 3464) that report the result of a message to its mailbox. */
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { oneLine } from '#domain/mail/one-line.ts';
import type { NoticeAction, RecipientNotices, ReturnedPart } from '#domain/webhooks/delivery-notices.ts';
import { mailDate } from '#mime/format-date.ts';

export interface FailedRecipient {
  readonly address: string;
  /** Enhanced status code, RFC 3463. */
  readonly code: string;
  /** Answer of the other host, or why there was none. */
  readonly reply: string;
  /** Name of the other host that answered; absent: none did. */
  readonly remoteMta?: string | undefined;
}

export type NotifiedRecipient = FailedRecipient & Pick<RecipientNotices, 'originalRecipient'>;

export interface NoticeFacts {
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
