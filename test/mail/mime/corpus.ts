/**
 * Messages written for these tests: the forms of RFC 2045–2049, 2231, 6532, 3464 and 5965, and every sort of damage
 * seen in real mail. Lines are given with LF and become CRLF, except where the damage is the line end itself.
 */

export interface CorpusMessage {
  readonly name: string;
  readonly bytes: Buffer;
  /** BODYSTRUCTURE, where this message is about it. */
  readonly structure?: string;
  readonly subject?: string;
  readonly text?: string;
  /** `id filename contentType size` of each attachment. */
  readonly attachments?: readonly string[];
}

const crlf = (text: string): string => text.replace(/\r?\n/g, '\r\n');
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

interface Expectation {
  readonly structure?: string;
  readonly subject?: string;
  readonly text?: string;
  readonly attachments?: readonly string[];
}

const mail = (name: string, text: string, expected: Expectation = {}): CorpusMessage => ({
  name,
  bytes: Buffer.from(crlf(text)),
  ...expected,
});
const rawMail = (name: string, bytes: Buffer, expected: Expectation = {}): CorpusMessage => ({
  name,
  bytes,
  ...expected,
});

const HEAD = 'From: Ann <ann@example.com>\nTo: bot@agents.test\nSubject: Hello\n';
const multipart = (subtype: string, boundary: string, parts: readonly string[], end = `--${boundary}--\n`): string =>
  `${HEAD}MIME-Version: 1.0\nContent-Type: multipart/${subtype}; boundary="${boundary}"\n\npreamble\n${parts
    .map((part) => `--${boundary}\n${part}\n`)
    .join('')}${end}`;

function nested(depth: number): string {
  let text = 'Content-Type: text/plain\n\ndeepest\n';
  for (let level = depth; level > 0; level--)
    text = `Content-Type: multipart/mixed; boundary="b${level}"\n\n--b${level}\n${text}\n--b${level}--\n`;
  return HEAD + text;
}

function forwarded(depth: number): string {
  let text = 'Subject: innermost\n\nend\n';
  for (let level = 0; level < depth; level++) text = `Subject: level ${level}\nContent-Type: message/rfc822\n\n${text}`;
  return HEAD + text;
}

export const corpus: readonly CorpusMessage[] = [
  mail('plain text without MIME', `${HEAD}\nHello\nthere\n`, {
    structure: '("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 14 2 NIL NIL NIL NIL)',
    text: 'Hello\nthere\n',
    subject: 'Hello',
    attachments: [],
  }),
  mail('no body and no empty line', 'Subject: only a header\n', {
    structure: '("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 0 0 NIL NIL NIL NIL)',
    text: '',
  }),
  mail('header without line end', 'Subject: cut', { subject: 'cut' }),
  rawMail('nothing at all', Buffer.alloc(0), {
    structure: '("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 0 0 NIL NIL NIL NIL)',
  }),
  mail('empty header', '\nbody only\n', { text: 'body only\n' }),
  rawMail('a single CR', latin1('\r')),
  rawMail('a single LF', latin1('\n')),
  rawMail(
    'bare LF everywhere',
    latin1(`${HEAD}Content-Type: multipart/mixed; boundary=x\n\n--x\n\none\n--x\n\ntwo\n--x--\n`),
    {
      structure:
        '(("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 3 0 NIL NIL NIL NIL)("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 3 0 NIL NIL NIL NIL) "mixed" ("boundary" "x") NIL NIL NIL)',
      text: 'one\ntwo',
    },
  ),
  rawMail('bare CR in a header', latin1('Subject: a\rb\r\n\r\nx\r\n')),
  rawMail('mixed line ends', latin1('From: a@b.c\nSubject: mixed\r\n\nline\r\nline\n'), { subject: 'mixed' }),
  rawMail('NUL bytes in header and body', latin1('Subject: a\0b\r\nFrom: x\0 <a@b.c>\r\n\r\na\0b\r\n'), {
    subject: 'ab',
    text: 'ab\n',
  }),
  mail('NUL in the name of a parameter', `${HEAD}Content-Type: text/plain; na\0me=x; charset=utf-8\n\nok\n`, {
    text: 'ok\n',
  }),
  rawMail('raw UTF-8 header (RFC 6532)', Buffer.from(crlf('From: Jörg <jörg@example.com>\nSubject: Grüße\n\nß\n')), {
    subject: 'Grüße',
    text: 'ß\n',
  }),
  rawMail('undeclared Latin-1 header and body', latin1(crlf('Subject: Gr\xfc\xdfe\n\nGr\xfc\xdfe\n')), {
    subject: 'Grüße',
    text: 'Grüße\n',
  }),
  mail(
    'Q and B encoded words, joined over the fold',
    'Subject: =?utf-8?Q?Gr=C3=BC=C3?=\n =?UTF-8?B?n2U=?= and more\n\nx\n',
    {
      subject: 'Grüße and more',
    },
  ),
  mail('encoded word with language tag', 'Subject: =?iso-8859-1*de?Q?Gr=FC=DFe?=\n\nx\n', { subject: 'Grüße' }),
  mail('encoded word in an unknown charset', 'Subject: =?x-unknown?Q?abc?=\n\nx\n', { subject: 'abc' }),
  mail('half an encoded word', 'Subject: =?utf-8?B?w\n\nx\n', { subject: '=?utf-8?B?w' }),
  mail('ISO-2022-JP subject', 'Subject: =?ISO-2022-JP?B?GyRCJDMkcyRLJEEkTxsoQg==?=\n\nx\n', { subject: 'こんにちは' }),
  mail(
    'quoted-printable body',
    `${HEAD}Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=\n=C3=9Fe =3D ok   \nend=\n`,
    {
      text: 'Grüße = ok\nend',
    },
  ),
  mail('damaged quoted-printable', `${HEAD}Content-Transfer-Encoding: Quoted-Printable\n\na=ZZb=4\nc=\n`, {}),
  mail(
    'base64 body',
    `${HEAD}Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: BASE64\n\nR3LDvMOfZQo=\n`,
    {
      text: 'Grüße\n',
    },
  ),
  mail(
    'base64 with rubbish and padding in the middle',
    `${HEAD}Content-Transfer-Encoding: base64\n\nSGk=!!\nIHlv\n*dQ==\n`,
    {
      text: 'Hi you',
    },
  ),
  mail('unknown transfer encoding', `${HEAD}Content-Transfer-Encoding: x-magic\n\nas it is\n`, { text: 'as it is\n' }),
  mail(
    'Windows-1252 body',
    `${HEAD}Content-Type: text/plain; charset=windows-1252\nContent-Transfer-Encoding: quoted-printable\n\n=93hi=94 =80\n`,
    {
      text: '“hi” €\n',
    },
  ),
  mail(
    'GB18030 body',
    `${HEAD}Content-Type: text/plain; charset=gb18030\nContent-Transfer-Encoding: base64\n\nxOO6ww==\n`,
    {
      text: '你好',
    },
  ),
  mail(
    'HTML alone',
    `${HEAD}Content-Type: text/html\n\n<html><body><p>Hello <b>you</b></p><script>evil()</script></body></html>\n`,
    {
      text: 'Hello you',
    },
  ),
  mail(
    'alternative with text and HTML',
    multipart('alternative', 'a=_1', [
      'Content-Type: text/plain\n\nplain words',
      'Content-Type: text/html\n\n<p>html words</p>',
    ]),
    {
      text: 'plain words',
      structure:
        '(("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 11 0 NIL NIL NIL NIL)("text" "html" ("charset" "us-ascii") NIL NIL "7bit" 17 0 NIL NIL NIL NIL) "alternative" ("boundary" "a=_1") NIL NIL NIL)',
    },
  ),
  mail(
    'attachment with a plain name',
    multipart('mixed', 'b', [
      'Content-Type: text/plain\n\nsee attachment',
      'Content-Type: application/pdf; name="a.pdf"\nContent-Disposition: attachment; filename="report.pdf"; size=3\nContent-Transfer-Encoding: base64\nContent-ID: <one@x>\nContent-Description: the report\nContent-MD5: Q2hlY2s=\nContent-Language: en, de\nContent-Location: http://x/\n\nAAEC',
    ]),
    {
      attachments: ['2 report.pdf application/pdf 3'],
      structure:
        '(("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 14 0 NIL NIL NIL NIL)("application" "pdf" ("name" "a.pdf") "<one@x>" "the report" "base64" 4 "Q2hlY2s=" ("attachment" ("filename" "report.pdf" "size" "3")) ("en" "de") "http://x/") "mixed" ("boundary" "b") NIL NIL NIL)',
    },
  ),
  mail(
    'RFC 2231 name in pieces and encoded',
    multipart('mixed', 'b', [
      'Content-Type: text/csv\nContent-Disposition: attachment;\n filename*0*=utf-8\'\'%E2%82%AC%20;\n filename*1*=rates;\n filename*2=".csv"\n\n1,2',
    ]),
    {
      attachments: ['1 € rates.csv text/csv 3'],
      structure: `(("text" "csv" ("charset" "us-ascii") NIL NIL "7bit" 3 0 NIL ("attachment" ("filename*" "utf-8''%E2%82%AC%20rates.csv")) NIL NIL) "mixed" ("boundary" "b") NIL NIL NIL)`,
    },
  ),
  mail(
    'encoded word as file name',
    multipart('mixed', 'b', [
      'Content-Type: image/png; name="=?utf-8?B?w6QucG5n?="\nContent-Transfer-Encoding: base64\n\nAA==',
    ]),
    {
      attachments: ['1 ä.png image/png 1'],
    },
  ),
  mail('path-like file name', multipart('mixed', 'b', ['Content-Type: text/x; name="../../etc/passwd"\n\nx']), {
    attachments: ['1 ../../etc/passwd text/x 1'],
  }),
  mail(
    'inline image by Content-ID',
    multipart('related', 'r', [
      'Content-Type: text/html\n\n<img src="cid:i">',
      'Content-Type: image/gif\nContent-ID: <i>\nContent-Transfer-Encoding: base64\n\nR0lG',
    ]),
    {
      attachments: ['2 null image/gif 3'],
    },
  ),
  mail(
    'no closing boundary',
    multipart('mixed', 'b', ['Content-Type: text/plain\n\nfirst', 'Content-Type: text/plain\n\nsecond'], ''),
    {
      text: 'first\nsecond\n',
    },
  ),
  mail('boundary that never occurs', `${HEAD}Content-Type: multipart/mixed; boundary=never\n\nsome text\n`, {
    structure: '("application" "octet-stream" ("boundary" "never") NIL NIL "7bit" 11 NIL NIL NIL NIL)',
  }),
  mail('multipart without boundary', `${HEAD}Content-Type: multipart/mixed\n\n--x\n\ntext\n--x--\n`, {
    structure: '("application" "octet-stream" NIL NIL NIL "7bit" 20 NIL NIL NIL NIL)',
  }),
  mail('only a closing boundary', `${HEAD}Content-Type: multipart/mixed; boundary=b\n\n--b--\n`),
  mail('empty part', `${HEAD}Content-Type: multipart/mixed; boundary=b\n\n--b\n--b\n\n--b--\n`),
  mail(
    'boundary with spaces behind it',
    `${HEAD}Content-Type: multipart/mixed; boundary="b c"\n\n--b c  \n\none\n--b c--\t\n`,
    { text: 'one' },
  ),
  mail(
    'inner boundary begins with the outer one',
    `${HEAD}Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/mixed; boundary=ab\n\n--ab\n\ninner\n--ab--\n--a\n\nouter\n--a--\n`,
    {
      text: 'inner\nouter',
    },
  ),
  mail(
    'inner multipart not closed',
    `${HEAD}Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\ninner\n--a\n\nouter\n--a--\n`,
    {
      text: 'inner\nouter',
    },
  ),
  mail(
    'boundary in the middle of a line',
    `${HEAD}Content-Type: multipart/mixed; boundary=b\n\n--b\n\nsee --b here\n--b--\n`,
    { text: 'see --b here' },
  ),
  mail(
    'text after the closing boundary',
    multipart('mixed', 'b', ['Content-Type: text/plain\n\nfirst'], '--b--\nepilogue\n--b\n\nghost\n--b--\n'),
    {
      text: 'first',
    },
  ),
  mail('part without header', `${HEAD}Content-Type: multipart/mixed; boundary=b\n\n--b\n\nno header\n--b--\n`, {
    text: 'no header',
  }),
  mail(
    'part whose header has no empty line',
    `${HEAD}Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n--b--\n`,
  ),
  mail('digest', `${HEAD}Content-Type: multipart/digest; boundary=d\n\n--d\n\nSubject: inner\n\nhi\n--d--\n`, {
    structure:
      '(("message" "rfc822" NIL NIL NIL "7bit" 20 (NIL "inner" NIL NIL NIL NIL NIL NIL NIL NIL) ("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 2 0 NIL NIL NIL NIL) 2 NIL NIL NIL NIL) "digest" ("boundary" "d") NIL NIL NIL)',
  }),
  mail(
    'forwarded message',
    multipart('mixed', 'b', [
      'Content-Type: text/plain\n\nfyi',
      'Content-Type: message/rfc822\n\nFrom: "O\'Neil, \\"Q\\"" <q@x.y>\nSubject: orig\n\nbody',
    ]),
    {
      text: 'fyi',
      attachments: ['2 null message/rfc822 52'],
    },
  ),
  mail(
    'message/rfc822 in base64',
    `${HEAD}Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\nU3ViamVjdDogeA==\n`,
  ),
  mail(
    'delivery status notification (RFC 3464)',
    multipart('report; report-type=delivery-status', 'b', [
      'Content-Type: text/plain\n\nfailed',
      'Content-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\nFinal-Recipient: rfc822; a@b\nAction: failed\nStatus: 5.1.1',
      'Content-Type: text/rfc822-headers\n\nSubject: x',
    ]),
  ),
  mail(
    'complaint (RFC 5965)',
    `${HEAD}Content-Type: multipart/report; report-type=feedback-report; boundary=b\n\n--b\n\nspam\n--b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\n--b--\n`,
  ),
  mail(
    'signed message',
    `${HEAD}Content-Type: multipart/signed; protocol="application/pgp-signature"; micalg=pgp-sha256; boundary=s\n\n--s\nContent-Type: text/plain\n\nsigned\n--s\nContent-Type: application/pgp-signature; name=sig.asc\n\n-----BEGIN PGP SIGNATURE-----\n--s--\n`,
    {
      text: 'signed',
      attachments: ['2 sig.asc application/pgp-signature 29'],
    },
  ),
  mail(
    'content type with comments and odd case',
    `${HEAD}Content-Type: (c) TEXT/Plain (x); Charset = (y) "UTF-8"\n\nok\n`,
    {
      structure: '("text" "plain" ("charset" "UTF-8") NIL NIL "7bit" 4 1 NIL NIL NIL NIL)',
    },
  ),
  mail('content type that is nonsense', `${HEAD}Content-Type: ///;;;=\n\nok\n`, {
    structure: '("application" "octet-stream" NIL NIL NIL "7bit" 4 NIL NIL NIL NIL)',
  }),
  mail('content type "text"', `${HEAD}Content-Type: text\n\nok\n`, { text: 'ok\n' }),
  mail('unclosed quote in a parameter', `${HEAD}Content-Type: text/plain; charset="utf-8\n\nok\n`, { text: 'ok\n' }),
  mail('parameter given twice', `${HEAD}Content-Type: text/plain; charset=utf-8; charset=iso-8859-1\n\nok\n`),
  mail('lines that are no fields', 'From someone Sat Jan 1\nSubject: kept\nrubbish line\n: no name\n\nx\n', {
    subject: 'kept',
  }),
  mail('folded subject', 'Subject: one\n two\n\tthree\n\nx\n', { subject: 'one two\tthree' }),
  mail('space before the colon', 'Subject : spaced\n\nx\n', { subject: 'spaced' }),
  mail('two From fields', 'From: a@x.y\nFrom: b@x.y\nSubject: twice\n\nx\n'),
  mail(
    'groups, comments, routes, empty items',
    'From: (only a comment)\nTo: A Group: a@x.y, "B \\" C" <b@x.y>;, , <@r1,@r2:c@x.y>, d@x.y (Dee)\nCc: undisclosed-recipients:;\nSubject: addresses\n\nx\n',
  ),
  mail('address without domain', 'From: root\nTo: <postmaster>\n\nx\n'),
  mail('address list that never ends', `To: ${'a@b.c, '.repeat(5_000)}\n\nx\n`),
  mail('thousand levels of comments', `From: ${'('.repeat(1_000)}x${')'.repeat(1_000)} <a@b.c>\n\nx\n`),
  mail('very long subject', `Subject: ${'long '.repeat(1_000)}\n\nx\n`),
  mail('header of half a megabyte', `${'X-Pad: '.padEnd(1_000, 'y')}\n`.repeat(500) + 'Subject: late\n\nbody\n'),
  mail('nested 31 deep', nested(31), { text: 'deepest\n' }),
  mail('nested 60 deep', nested(60)),
  mail('forwarded 50 times', forwarded(50)),
  mail(
    '1,500 parts',
    multipart(
      'mixed',
      'p',
      Array.from({ length: 1_500 }, (_, i) => `\npart ${i}`),
    ),
  ),
  mail(
    'reply with quote and signature',
    `${HEAD}\nYes, do that.\n\nOn Mon, Jan 5, 2026 at 9:00 AM Bob <bob@x.y> wrote:\n> Shall I?\n\n-- \nAnn\n`,
  ),
  mail('format=flowed', `${HEAD}Content-Type: text/plain; format=flowed; delsp=yes\n\nlong \nline\n`),
  mail(
    'calendar invitation',
    multipart('alternative', 'c', [
      'Content-Type: text/plain\n\nMeeting',
      'Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nEND:VCALENDAR',
    ]),
    {
      text: 'Meeting',
      attachments: ['2 null text/calendar 30'],
    },
  ),
  mail(
    'attachment that is the whole message',
    `${HEAD}Content-Type: application/zip; name=x.zip\nContent-Transfer-Encoding: base64\n\nUEsDBA==\n`,
    {
      text: '',
      attachments: ['1 x.zip application/zip 4'],
    },
  ),
  mail('text part with a file name', `${HEAD}Content-Type: text/plain; name=notes.txt\n\nnotes\n`, {
    attachments: ['1 notes.txt text/plain 7'],
  }),
  rawMail('random bytes', Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 7919 + (i >> 3)) % 256))),
];
