/** Delivery status notifications (RFC 3464) that tell a mailbox what became of its message. */
import { randomUUID } from 'node:crypto';
import { oneLine } from '../../domain/one-line.ts';
import { mailDate } from '../mime/mail-date.ts';

export interface FailedRecipient {
  readonly address: string;
  /** Enhanced status code, RFC 3463. */
  readonly code: string;
  /** Answer of the other side, or why there was none. */
  readonly reply: string;
}

/** What the notice says: it is over, or it is still tried. */
export type NoticeAction = 'failed' | 'delayed';

export interface BounceFacts {
  readonly action: NoticeAction;
  readonly hostname: string;
  readonly sender: string;
  readonly subject: string;
  readonly messageIdHeader: string;
  readonly failed: readonly FailedRecipient[];
  /** Header block of the message, for the third part. */
  readonly header: Buffer;
  readonly submittedAt: Date;
  readonly now: Date;
}

const ascii = (text: string): string => oneLine(text).replace(/[^ -~]/g, '?');

/** Bytes of a notice: for people, for programs, and the header of the message. From the null sender. */
export function writeBounce(facts: BounceFacts): Buffer {
  const { hostname, sender, failed, header, now } = facts;
  const failedForGood = facts.action === 'failed';
  const boundary = `dsn-${randomUUID()}`;
  const lines = failed.map(({ address, code, reply }) => `  ${oneLine(address)}\r\n    ${code} ${oneLine(reply)}`);
  const people =
    `Your message "${oneLine(facts.subject)}" could not be delivered ${failedForGood ? '' : 'yet '}to:\r\n\r\n${lines.join('\r\n')}\r\n\r\n` +
    `${failedForGood ? 'It will not be tried again.' : 'It is tried again for two days; there is no need to send it again.'} ` +
    'The header of the message is attached.\r\n';
  const programs = failed.map(
    ({ address, code, reply }) =>
      `Final-Recipient: rfc822; ${ascii(address)}\r\nAction: ${facts.action}\r\nStatus: ${code}\r\n` +
      `Diagnostic-Code: smtp; ${ascii(reply)}\r\n`,
  );
  const top =
    `From: Mail delivery <mailer-daemon@${hostname}>\r\nTo: <${sender}>\r\nSubject: ${failedForGood ? 'Undelivered mail returned to sender' : 'Mail is delayed'}\r\n` +
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
      `Reporting-MTA: dns; ${hostname}\r\nArrival-Date: ${mailDate(facts.submittedAt)}\r\n\r\n${programs.join('\r\n')}`,
    ),
    part('text/rfc822-headers', header),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
}
