/** The result of an SMTP session by nodemailer for each recipient. */

import type { SMTPEnvelopeDsn } from 'nodemailer/lib/smtp-connection';
import { tlsFailureOf } from '#client/tls-failure.ts';
import { withAsciiDomain } from '#core/platform/addresses/domain-names.ts';
import { oneLine } from '#domain/mail/text-forms.ts';
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

/** Whether the answer to a message says that the host has taken it, and no line of it the contrary. */
export const saysTaken = (reply: string): boolean =>
  /^2\d\d(?:[ -]|$)/.test(reply) && !/^[45]\d\d(?:[ -]|$)/m.test(reply);

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

/** An answer that RFC 5321 §4.3.2 does not allow here. */
export const outOfPlace = (reply: string, host: string): Said => ({
  kind: 'deferred',
  code: '4.5.0',
  reply: oneLine(`Unexpected answer: ${reply}`),
  remoteMta: host,
});

/** What nodemailer knows of a transaction: its results and errors do not always say it. */
export interface Transaction {
  readonly mailError?: unknown;
  readonly accepted?: readonly string[];
  readonly rejectedErrors?: readonly { readonly recipient?: string }[];
}

/** RCPT refusals, by lower-cased address. */
export function rejections({ accepted = [], rejectedErrors = [] }: Transaction, host: string): Map<string, Said> {
  const found = new Map<string, Said>();
  for (const error of rejectedErrors) {
    const said = failure(error, host);
    const later = accepted.length > 0 && tooManyRecipients(said);
    found.set(`${error.recipient}`.toLowerCase(), later ? { ...said, kind: 'deferred', code: '4.5.3' } : said);
  }
  return found;
}

/** Some hosts still say so with 552 instead of 452 (RFC 5321 §4.5.3.1.10): the next transaction is shorter. */
const tooManyRecipients = ({ code, reply }: Said): boolean =>
  code === '5.5.3' || (code === '5.0.0' && reply.startsWith('552'));

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
  if (field('command') === 'MAIL FROM' && status === 0 && field('code') === 'EMESSAGE')
    return { kind: 'failed', code: '5.3.4', reply: oneLine(reply) };
  if (about && status >= 500 && status < 600)
    return { kind: 'failed', code: enhancedCode(reply, '5', '0.0'), reply: oneLine(reply), ...answered };
  return {
    kind: 'deferred',
    code: enhancedCode(reply, '4', status >= 400 ? '0.0' : reply === response ? '5.0' : '4.1'),
    reply: oneLine(reply),
    ...answered,
  };
}
