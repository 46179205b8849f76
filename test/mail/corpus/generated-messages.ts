/** Messages of the corpus that are too large to be kept as files; each has its expectations in `limits/`. */

const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

const HEAD = 'From: Ann <ann@example.com>\nTo: bot@agents.test\nSubject: Hello\n';

const multipart = (subtype: string, boundary: string, parts: readonly string[]): string =>
  `${HEAD}MIME-Version: 1.0\nContent-Type: multipart/${subtype}; boundary="${boundary}"\n\n${parts
    .map((part) => `--${boundary}\n${part}\n`)
    .join('')}--${boundary}--\n`;

const BASE64_LINE = 'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowMTIzNDU2Nzg5YWJjZGVmZ2hpamtsbW5vcHFyc3R1';

const texts: Readonly<Record<string, () => string>> = {
  'limits/header-of-half-a-megabyte': () => `${`${'X-Pad: '.padEnd(1_000, 'y')}\n`.repeat(500)}Subject: late\n\nbody\n`,
  'limits/address-list-that-never-ends': () => `To: ${'a@b.c, '.repeat(5_000)}\n\nx\n`,
  'limits/header-of-five-thousand-recipients': () =>
    `From: a@example.com\nTo: ${times(5_000, (i) => `Person ${i} <p${i}@example.com>`).join(',\n ')}\nSubject: many\n\nx\n`,
  'limits/parts-of-a-thousand-messages': () =>
    multipart(
      'digest',
      'g',
      times(600, (i) => `\nSubject: m${i}\n\nx`),
    ),
  'limits/part-header-above-256-kib': () =>
    multipart('mixed', 'h', [
      `Content-Type: multipart/mixed; boundary=i\nX-Pad: ${'p'.repeat(263_000)}\n\n--i\n\nunseen\n--i--\n`,
      '\nseen',
    ]),
  'limits/attachment-of-three-megabytes': () =>
    multipart('mixed', 'big', [
      '\nsee',
      `Content-Type: application/octet-stream; name=big.bin\nContent-Transfer-Encoding: base64\n\n${times(40_000, () => BASE64_LINE).join('\n')}`,
    ]),
  'limits/text-above-one-megabyte': () =>
    `${HEAD}\n${times(50_000, (i) => `line ${String(i).padStart(6, '0')} of a long text`).join('\n')}\n`,
  'limits/ten-thousand-encoded-words': () =>
    `From: a@example.com\nSubject: ${times(10_000, () => '=?utf-8?B?w6Q=?=').join('\n ')}\n\nb\n`,
};

/** Undefined: the message is a file. */
export function generatedMessage(name: string): Buffer | undefined {
  const make = texts[name];
  return make === undefined ? undefined : Buffer.from(crlf(make()));
}
