/** The result of an SMTP session by nodemailer for each recipient. */

import type { SMTPEnvelopeDsn } from 'nodemailer/lib/smtp-connection';
import { withAsciiDomain } from '#core/platform/addresses/ascii-domain.ts';
import { oneLine } from '#domain/mail/one-line.ts';
import { tlsFailureOf } from '#domain/sending/tls-failure.ts';
import type { OutgoingMail, RecipientResult } from './transport.ts';

export type Said = Omit<RecipientResult, 'address'>;

/** An address as in the envelope: a host that does not announce SMTPUTF8 (RFC 6531) takes ASCII only. */
export const asSent = (address: string): string =>
  /^[\x20-\x7e]*$/.test(address) ? address : withAsciiDomain(address);

/** Whether an address can be sent to a host that does not announce SMTPUTF8. */
export const isAscii = (address: string): boolean => /^[\x20-\x7e]*$/.test(asSent(address));

/** RFC 6531 §3.2, §3.5: nothing in UTF-8 may be sent to such a host. */
export const withoutSmtpUtf8 = (host: string): Said => ({
  kind: 'failed',
  code: '5.6.7',
  reply: `${host} takes no addresses with characters beyond ASCII in front of the @ (it does not announce SMTPUTF8)`,
  remoteMta: host,
});

/** The same for every recipient, but for those named. @param rejected by lower-cased address */
export const resultsOf = (
  mail: Pick<OutgoingMail, 'recipients'>,
  rejected: ReadonlyMap<string, Said>,
  others: Said,
): RecipientResult[] =>
  mail.recipients.map((address) => ({ address, ...(rejected.get(asSent(address).toLowerCase()) ?? others) }));

/** @param info nodemailer's result for an accepted message */
export function accepted(info: unknown, host: string): Said {
  const [reply, extensions]: unknown[] = [Reflect.get(Object(info), 'response'), Reflect.get(Object(info), 'ehlo')];
  const text = typeof reply === 'string' ? reply : '';
  const reports = Array.isArray(extensions) && extensions.some((line) => /^DSN\b/i.test(String(line).trim()));
  return { kind: 'sent', code: enhancedCode(text, '2', '0.0'), reply: oneLine(text), reports, remoteMta: host };
}

/** Requested delivery notices, as nodemailer sends them if DSN is announced. */
export const dsnOf = ({ notices }: Pick<OutgoingMail, 'notices'>): SMTPEnvelopeDsn => ({
  ...(!notices?.envelopeId ? {} : { envid: notices.envelopeId }),
  ...(!notices?.returned ? {} : { ret: notices.returned }),
  ...(!notices?.notify ? {} : { notify: [...notices.notify] }),
  ...(!notices?.originalRecipient ? {} : { orcpt: notices.originalRecipient }),
});

/**
 * RFC 3463 code of a reply, which is right after the three digits (RFC 2034 §4); a similar text elsewhere is an address
 * or a URL. Its class is that of the outcome, whatever the other host wrote.
 */
function enhancedCode(reply: string, statusClass: '2' | '4' | '5', otherwise: string): string {
  const found = /^\d{3}[ -][245]\.(\d{1,3}\.\d{1,3})(?=\s|$)/m.exec(reply)?.[1];
  return `${statusClass}.${found ?? otherwise}`;
}

/** Sending was no longer allowed after the wait: this does not count as an attempt. */
export const NOT_ANY_MORE: Said = {
  kind: 'deferred',
  code: '4.3.2',
  reply: 'Not started: sending was stopped, or this worker is shutting down',
  comeBackInMs: 0,
};

/** A host that trickles is never silent long enough. */
export const tookTooLong = (sessionMs: number): Said => ({
  kind: 'deferred',
  code: '4.4.2',
  reply: `The session did not end within ${Math.round(sessionMs / 1_000)} s`,
});

/** RCPT refusals of a result or an error, by lower-cased address. */
export function rejections(source: unknown, host: string): Map<string, Said> {
  const list: unknown = Reflect.get(Object(source), 'rejectedErrors');
  const found = new Map<string, Said>();
  if (!Array.isArray(list)) return found;
  for (const error of list) {
    const recipient: unknown = Reflect.get(Object(error), 'recipient');
    if (typeof recipient === 'string') found.set(recipient.toLowerCase(), failure(error, host));
  }
  return found;
}

/** Commands whose refusal is about the message. */
const ABOUT_THE_MESSAGE = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);

/** Final is a 5xx to MAIL, RCPT or DATA, and a message larger than the other host accepts (RFC 1870). */
export function failure(error: unknown, host: string): Said {
  const field = (name: string): unknown => Reflect.get(Object(error), name);
  const status = Number(field('responseCode') ?? 0);
  const response = field('response');
  const reply =
    typeof response === 'string' && response !== ''
      ? response
      : (tlsFailureOf(error) ?? (error instanceof Error ? error.message : String(error)));
  const answered = status === 0 ? {} : { remoteMta: host };
  const about = ABOUT_THE_MESSAGE.has(String(field('command')));
  if (about && status === 0 && field('code') === 'EMESSAGE')
    return { kind: 'failed', code: '5.3.4', reply: oneLine(reply) };
  if (about && status >= 500 && status < 600)
    return { kind: 'failed', code: enhancedCode(reply, '5', '0.0'), reply: oneLine(reply), ...answered };
  return {
    kind: 'deferred',
    code: enhancedCode(reply, '4', status === 0 ? '4.1' : '0.0'),
    reply: oneLine(reply),
    ...answered,
  };
}
