/**
 * Nothing a stranger writes costs more than in proportion to its length. Each reader gets documents made of pairs of
 * fragments, short and twice as long twice over, and the processor time of the two is compared: a reader whose time grows
 * with the square of the length takes four times as long for each doubling.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { searchText } from '@agent-mailbox/mail-store/search-text';
import { readableAddresses } from '@agent-mailbox/mime-structure/addresses';
import { decodeCharset, decodeUndeclared } from '@agent-mailbox/mime-structure/charset';
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import { indexMessage, safeFilename } from '@agent-mailbox/mime-structure/index-message';
import { parseParameterized } from '@agent-mailbox/mime-structure/parameters';
import { parseMailDate } from '@agent-mailbox/mime-structure/parse-date';
import { readStructure } from '@agent-mailbox/mime-structure/read-structure';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';
import { receivedFields, withoutForgedResults } from '#mail/smtp/trace-headers.ts';
import { listedHeader } from '#mailstore/delivery/recipients.ts';
import { readCarriedText } from '#mime/carried/carried-text.ts';
import { letterRuns } from '#mime/carried/letter-runs.ts';
import { readingsOf } from '#mime/carried/readings.ts';
import { hiddenMarks } from '#mime/carried/telling-words.ts';
import { htmlContent } from '#mime/html-content.ts';
import { messageLinks } from '#mime/message-links.ts';
import { oneTimeCode } from '#mime/one-time-code.ts';
import { areQuotations, quotable } from '#mime/quotations.ts';
import { readMessage } from '#mime/read-message.ts';
import { readReport } from '#mime/read-report.ts';
import { extractReply } from '#mime/reply-text.ts';
import { baseSubject } from '#mime/subject.ts';
import { patternMatcher } from '#packages/imap/src/commands/list.ts';

interface Reader {
  readonly read: (text: string) => unknown;
  readonly fragments: readonly string[];
  /** Characters of the shorter document: enough that a reader of quadratic time clearly shows. */
  readonly size: number;
}

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const HTML = [
  '<li>',
  '<td>',
  '<li><td>',
  '<p>',
  '<b>',
  '</b>',
  '<div>',
  '</div>',
  '<a href=x>',
  '</a>',
  '<table>',
  '<tr>',
  '<ul>',
  '<ol>',
  '<dt>',
  '<option>',
  '<blockquote>',
  '<pre>\n',
  '<br>',
  '<!--',
  '<style>',
  '<',
  '&amp',
  '\u200c',
  ' ',
  'a',
  "<i a='",
  '<i hidden>',
];
const HEADER = [
  '(',
  ')',
  '<',
  '>',
  '"',
  '\\',
  ',',
  ';',
  ':',
  '@',
  '.',
  '=',
  '[',
  ']',
  ' ',
  '\t',
  'a',
  'a@b',
  '<a@b>',
  '=?utf-8?q?a?=',
  '=?utf-8?b?YQ==?=',
  '=?',
  '?=',
  'x*0=a;',
  "x*1*='%41;",
  'x="',
  "utf-8''",
  '%',
  '\xc3',
  '\xa4',
  '\x93',
  'a=b;',
  '1 jan ',
  '1',
  '-',
  'Re: ',
  '[x]',
  '/',
  '<<',
  '>,',
];
const LINES = [
  '\n',
  '\r',
  '\r\n',
  ' ',
  '\t',
  '> ',
  '>',
  'On Monday\n',
  'On a wrote:\n',
  '--',
  '-- \n',
  '--b\n',
  '--b--\n',
  '--b-->\n',
  '_____\n',
  'From: a\n',
  'Sent: b\n',
  'Content-Type: multipart/mixed; boundary=b\n',
  'Content-Type: message/rfc822\n\n',
  'Content-Type: text/html\n\n',
  'a',
  ':',
  '=\n',
  '=41',
  '=',
  'YQ==',
  'Received: a\n',
  'Authentication-Results: mx.test\n',
  'a@b.c',
  'https://x.example/',
  '(',
  ')',
  '.',
  ',',
  '123456',
  '123 ',
  '12-',
  'code',
  'code: ',
  'AB12-',
  '\xe9',
  '\xff\xfe',
  '\0',
  'Action: failed\n',
];

const LINKED = [
  '<a href="https://x.example/1?a=b">',
  '<a href="https://x.example/unsubscribe/">',
  '</a>',
  '<p>',
  'confirm ',
  'not you? ',
  'here',
  '. ',
  ': ',
  'https://x.example/v ',
  'https://',
  ')',
];

/** For readers whose parts are tested above, or beside their own tests. */
const SOME_LINES = [
  '\n',
  ' ',
  '> ',
  '--b\n',
  '(',
  '.',
  '-',
  '123456',
  '12-',
  'code: ',
  'AB12-',
  'https://x.example/',
  'a@b.c',
  '\xe9',
];

const mail = (head: string, body = 'x') => bytes(`From: a@example.com\n${head}\n\n${body}\n`);
const READERS: Readonly<Record<string, Reader>> = {
  HTML: { read: htmlContent, fragments: HTML, size: 24_000 },
  addresses: { read: readableAddresses, fragments: HEADER, size: 3_000 },
  parameters: { read: (text) => parseParameterized(`a/b; ${text}`), fragments: HEADER, size: 3_000 },
  'encoded words': { read: decodeWords, fragments: HEADER, size: 3_000 },
  dates: { read: parseMailDate, fragments: HEADER, size: 3_000 },
  'subjects and file names': {
    read: (text) => [baseSubject(text), safeFilename(text)],
    fragments: HEADER,
    size: 3_000,
  },
  'undeclared charsets': { read: (text) => decodeUndeclared(bytes(text)), fragments: LINES, size: 4_000 },
  'declared charsets': {
    read: (text) => ['utf-7', 'utf-16', 'iso-2022-jp'].map((charset) => decodeCharset(bytes(text), charset)),
    fragments: [...HEADER, '+', '+-', '\x1b$B', '\x1b(B'],
    size: 2_500,
  },
  'transfer encodings': {
    read: (text) => ['base64', 'quoted-printable'].map((encoding) => decodeTransfer(bytes(text), encoding)),
    fragments: LINES,
    size: 4_000,
  },
  'header fields': {
    read: (text) => readStructure(mail(`To: ${text}\nReferences: ${text}\nContent-Disposition: ${text}`)),
    fragments: [...HEADER, '\n', '\n ', '\nTo: '],
    size: 2_000,
  },
  'the structure of a message': {
    read: (text) => readStructure(mail('Content-Type: multipart/mixed; boundary=b', `--b\n${text}`)),
    fragments: LINES,
    size: 6_000,
  },
  'multiparts with another boundary': {
    read: (text) =>
      readStructure(mail('Content-Type: multipart/mixed; boundary=other', `--b\nContent-Type: a/b\n${text}`)),
    fragments: LINES,
    size: 4_000,
  },
  'what lists show of a header': {
    read: (text) => {
      const message = mail(`To: ${text}\nSubject: ${text}`);
      return listedHeader(message, indexMessage(message));
    },
    fragments: ['\n ', ' ', '"', '(', '<a@b>', ',', ':', ';', '=?utf-8?q?a?=', '=?', 'a', '\xe9'],
    size: 2_000,
  },
  'what a search looks at': {
    read: (text) => {
      const message = mail(`Subject: ${text}`, text);
      return searchText(message, indexMessage(message));
    },
    fragments: SOME_LINES,
    size: 2_000,
  },
  'patterns of folder names': {
    read: (text) => patternMatcher(text)('a/'.repeat(100)),
    fragments: ['*', '%', 'a', '/', '*a', '%/'],
    size: 2_000,
  },
  reports: {
    read: (text) =>
      readReport(
        mail(
          'Content-Type: multipart/report; boundary=r',
          `--r\nContent-Type: message/delivery-status\n\n${text}\n--r\nContent-Type: message/feedback-report\n\n${text}`,
        ),
      ),
    fragments: LINES,
    size: 4_000,
  },
  replies: { read: extractReply, fragments: LINES, size: 4_000 },
  quotations: {
    read: (text) => areQuotations([`> aab${text.slice(0, text.length / 4)}`], quotable([text])),
    fragments: ['a', 'b', 'ab', 'a '],
    size: 16_000,
  },
  links: {
    read: (text) => messageLinks({ subject: text, text, links: [], code: null }),
    fragments: LINES,
    size: 4_000,
  },
  'links of HTML': {
    read: (text) => {
      const content = htmlContent(text);
      return messageLinks({ subject: 'Confirm your address', ...content, code: null });
    },
    fragments: LINKED,
    size: 4_000,
  },
  codes: {
    read: (text) => oneTimeCode({ subject: text, text: `code\n${text}` }),
    fragments: [...SOME_LINES, '"', '\t', 'your ', 'enter ', 'weekly report ', '4 ', 'K7-', '验证码'],
    size: 1_000,
  },
  // As long as what is read for codes: the bounds of lines and numbers are met.
  'codes of long mails': {
    read: (text) => oneTimeCode({ subject: 'Sign in', text }),
    fragments: ['code: ', '482913\n', 'enter 4829 ', '"', '. '],
    size: 8_000,
  },
  'trace fields and forged results': {
    read: (text) => withoutForgedResults(mail(text), receivedFields(mail(text)), 'mx.test'),
    fragments: LINES,
    size: 4_000,
  },
  'readings of outgoing text': {
    read: (text) => {
      for (const reading of readingsOf(text, { cut: false })) letterRuns(reading);
      hiddenMarks(text);
      return readCarriedText(text, async () => {});
    },
    fragments: [
      'a',
      'A1-',
      '1 ',
      '- ',
      '.',
      '%41',
      '\\x41',
      '&#65;',
      'begin',
      '\n',
      '\t',
      '~',
      '>',
      'one ',
      'PK\x03\x04',
      '1',
      'm̶',
    ],
    size: 4_000,
  },
  'whole messages': { read: (text) => readMessage(mail('Subject: code', text)), fragments: SOME_LINES, size: 3_000 },
};

/** Twice as much, twice over, takes 4 times as long, or 16 times where time grows with the square. */
const RATIO_OF_FOUR_MAX = 8;
/**
 * Below this ratio at the shorter sizes, the part that grows with the square is less than the ratio above could show at
 * the longer ones (0.29 of the linear part; that shows 0.5 of it): most documents need not be read at those. Documents of
 * one fragment are in any case: a reader may change its way with the length.
 */
const RATIO_OF_FOUR_PLAIN = 4.8;
/** Times below this are lost in what else the machine does. */
const TELLING_MS = 12;
const TRIES = 3;

function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The least of several runs: the others were disturbed. */
const least = (runs: number, work: () => unknown): number =>
  Math.min(...Array.from({ length: runs }, () => cpuMs(work)));

const fill = (unit: string, size: number): string => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);

/** Undefined: it does not grow faster than its document. */
function growsTooFast({ read }: Reader, unit: string, size: number): string | undefined {
  const time = (length: number, runs: number) => {
    const text = fill(unit, length);
    return least(runs, () => read(text));
  };
  const once = time(2 * size, 1);
  if (once < TELLING_MS) return undefined;
  const isOneFragment = unit.slice(0, unit.length / 2) === unit.slice(unit.length / 2);
  if (!isOneFragment && once / time(size / 2, 3) < RATIO_OF_FOUR_PLAIN) return undefined;
  let ratio = 0;
  // Found at one size alone, it may be garbage collection or a late compilation: what grows too fast does so at both.
  for (const scale of [1, 2])
    for (let tries = 0; tries < TRIES; tries++) {
      ratio = time(8 * scale * size, 1) / Math.max(0.5, time(2 * scale * size, 2));
      if (ratio < RATIO_OF_FOUR_MAX) return undefined;
    }
  return `${JSON.stringify(unit)} of ${8 * size} characters takes ${ratio.toFixed(1)} times as long as of ${2 * size}`;
}

describe('the time a reader takes grows as its document does', () => {
  for (const [name, reader] of Object.entries(READERS))
    it(`in ${name}`, () => {
      const slow: string[] = [];
      for (const first of reader.fragments)
        for (const second of reader.fragments) {
          const found = growsTooFast(reader, first + second, reader.size);
          if (found !== undefined) slow.push(found);
        }
      assert.deepEqual(slow, []);
    });

  it('and one that takes its square is found', () => {
    const square: Reader = {
      read: (text) => {
        let count = 0;
        for (let at = 0; at < text.length; at++)
          for (let to = 0; to < text.length; to++) if (text[to] === text[at]) count++;
        return count;
      },
      fragments: [],
      size: 250,
    };
    // Just long enough to tell on this machine.
    let { size } = square;
    while (least(2, () => square.read(fill('ab', 2 * size))) < 1.5 * TELLING_MS) size = Math.ceil(1.3 * size);
    // Beside other work a measurement may be off; what takes its square is found sooner or later.
    let found: string | undefined;
    for (let looks = 0; looks < 5 && found === undefined; looks++) found = growsTooFast(square, 'ab', size);
    assert.match(found ?? '', /takes \d+\.\d times/);
  });
});
