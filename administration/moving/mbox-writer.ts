/**
 * Messages as mbox in the variant mboxrd: each line `From `, also with `>` before it, gets one more `>`.
 *
 * Before the message's own lines are some of ours, so that it comes back byte for byte. Programs that do not know them
 * show a message with some more fields.
 */
import { hash } from 'node:crypto';
import type { MailFlag } from '#domain/mail/mail-flags.ts';
import type { StoredPlacement } from '#mailstore/messages/stored-placements.ts';
import { lettersOf, withLf } from './moved-message.ts';

/** Field of the first of our lines. Its values: version, lines, size, sha256, eol, date, offset, keywords. */
export const EXPORT_FIELD = 'X-Agent-Mailbox-Export';
export const STATUS_LETTERS: Readonly<Record<string, MailFlag>> = { R: 'seen' };
export const X_STATUS_LETTERS: Readonly<Record<string, MailFlag>> = {
  A: 'answered',
  F: 'flagged',
  D: 'deleted',
  T: 'draft',
};

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** As the C function asctime writes it, UTC. */
function asctime(date: Date): string {
  const time = date.toISOString().slice(11, 19);
  return `${DAYS[date.getUTCDay()]} ${MONTHS[date.getUTCMonth()]} ${String(date.getUTCDate()).padStart(2)} ${time} ${date.getUTCFullYear()}`;
}

export function mboxEntry(message: StoredPlacement & { readonly bytes: Buffer }): Buffer {
  const { bytes, flags, keywords, internalDate, internalOffsetMinutes, envelopeFrom } = message;
  const lf = withLf(bytes);
  const sender = /^[\x21-\x7e]+$/.test(envelopeFrom ?? '') ? envelopeFrom : 'MAILER-DAEMON';
  const values = {
    v: 1,
    lines: 4,
    size: bytes.length,
    sha256: hash('sha256', bytes),
    eol: lf === undefined ? 'as-is' : 'crlf',
    date: internalDate.toISOString(),
    offset: internalOffsetMinutes,
  };
  const head = [
    `From ${sender} ${asctime(internalDate)}`,
    `${EXPORT_FIELD}: ${Object.entries(values)
      .map(([name, value]) => `${name}=${value}`)
      .join('; ')}`,
    `Status: ${lettersOf(flags, STATUS_LETTERS)}O`,
    `X-Status: ${lettersOf(flags, X_STATUS_LETTERS)}`,
    `X-Keywords: ${keywords.join(' ')}`,
    '',
  ].join('\n');
  const body = quoted(lf ?? bytes);
  return Buffer.concat([Buffer.from(head), body, Buffer.from(body.at(-1) === 10 ? '\n' : '\n\n')]);
}

function quoted(bytes: Buffer): Buffer {
  const lines = [...quotableLines(bytes)];
  const whole = Buffer.allocUnsafe(bytes.length + lines.length);
  let [from, to] = [0, 0];
  for (const at of lines) {
    to += bytes.copy(whole, to, from, at);
    whole[to++] = 62;
    from = at;
  }
  bytes.copy(whole, to, from);
  return whole;
}

/** Where they begin: numbers alone, because a message may have millions of lines. */
function* quotableLines(bytes: Buffer): Generator<number> {
  for (let at = 0; at < bytes.length; ) {
    if (isQuotable(bytes, at)) yield at;
    const end = bytes.indexOf(10, at);
    if (end < 0) break;
    at = end + 1;
  }
}

const FROM = Buffer.from('From ');

/** Whether a line is `From `, with any number of `>` before it. */
export function isQuotable(bytes: Buffer, lineStart: number): boolean {
  let at = lineStart;
  while (bytes[at] === 62) at++;
  return bytes.compare(FROM, 0, FROM.length, at, Math.min(at + FROM.length, bytes.length)) === 0;
}
