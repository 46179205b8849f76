/** Mail to read: a mix of about 5 KB a message, the same in every run, and large ones. */

/** Mulberry32: the same numbers from the same seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SYLLABLES =
  'ba be bo da de di fa fo ga go ka ki la le lo ma me mi na no pa pe ra re ri sa se so ta te to va'.split(' ');

/** In every 1,000th message. */
export const RARE_WORD = 'zanzibar';
const RARE_EVERY = 1_000;
const FIRST_DATE = Date.UTC(2026, 0, 1);

/**
 * One in two is plain text, one in four has a HTML alternative, one in four an attachment; 1 to 14 KB.
 *
 * @param number from 0; part of the subject
 */
export function mixedMessage(number: number): Buffer {
  const next = random(number + 1);
  const upTo = (count: number) => Math.floor(next() * count);
  const word = () => Array.from({ length: 2 + upTo(2) }, () => SYLLABLES[upTo(SYLLABLES.length)]).join('');
  const line = () => Array.from({ length: 11 }, word).join(' ');
  const text = (bytes: number): string => {
    const lines = number % RARE_EVERY === 0 ? [`They went to ${RARE_WORD} by ship.`] : [];
    for (let size = 0; size < bytes; size += 66) lines.push(line());
    return `${lines.join('\r\n')}\r\n`;
  };
  const subject = number % 3 === 0 ? `Re: ${word()} ${number - 1}` : `${word()} ${word()} ${number}`;
  const header = [
    `Received: from mx${upTo(9)}.example.com by mail.example.org; ${new Date(FIRST_DATE + number * 60_000).toUTCString()}`,
    `Date: ${new Date(FIRST_DATE + number * 60_000 - upTo(100_000) * 1_000).toUTCString().replace('GMT', '+0000')}`,
    `From: ${word()} ${word()} <${word()}@example.com>`,
    `To: Reader <reader@agents.test>, ${word()} <${word()}@example.org>`,
    `Subject: ${subject}`,
    `Message-ID: <${number}.${upTo(1e9)}@example.com>`,
    'MIME-Version: 1.0',
  ];
  const bytes = 600 + Math.floor(next() ** 2 * 11_500);
  const boundary = `=_${number}_${upTo(1e9)}`;
  const whole = (type: string, parts: readonly string[]): string =>
    `${[...header, `Content-Type: ${type}; boundary="${boundary}"`].join('\r\n')}\r\n\r\n${parts
      .map((part) => `--${boundary}\r\n${part}\r\n`)
      .join('')}--${boundary}--\r\n`;
  const plain = (size: number) => `Content-Type: text/plain; charset=utf-8\r\n\r\n${text(size)}`;
  if (number % 4 === 1)
    return Buffer.from(
      whole('multipart/alternative', [
        plain(bytes * 0.45),
        `Content-Type: text/html; charset=utf-8\r\n\r\n<html><body><p>${text(bytes * 0.55)}</p></body></html>`,
      ]),
    );
  if (number % 4 === 3) {
    const data = Buffer.from(Array.from({ length: Math.floor(bytes * 0.4) }, () => upTo(256))).toString('base64');
    return Buffer.from(
      whole('multipart/mixed', [
        plain(bytes * 0.4),
        `Content-Type: application/octet-stream; name="data-${number}.bin"\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="data-${number}.bin"\r\n\r\n${data.replace(/.{76}/g, '$&\r\n')}`,
      ]),
    );
  }
  return Buffer.from(`${[...header, 'Content-Type: text/plain; charset=utf-8'].join('\r\n')}\r\n\r\n${text(bytes)}`);
}

/** A message with one attachment, of nearly this many bytes. */
export function largeMessage(number: number, bytes: number): Buffer {
  const next = random(number + 1);
  const data = Buffer.alloc(Math.floor(bytes * 0.73));
  for (let at = 0; at + 4 <= data.length; at += 4) data.writeUInt32LE(Math.floor(next() * 2 ** 32), at);
  return Buffer.from(
    `Date: Thu, 01 Jan 2026 00:00:00 +0000\r\nFrom: <a@example.com>\r\nTo: <reader@agents.test>\r\nSubject: Large ${number}\r\nMessage-ID: <large.${number}@example.com>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nSee the attachment.\r\n--b\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n${data.toString('base64').replace(/.{76}/g, '$&\r\n')}\r\n--b--\r\n`,
  );
}
