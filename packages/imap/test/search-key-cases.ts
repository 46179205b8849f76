/** A message with parts in parts, another beside it, and what each key of SEARCH finds there (RFC 9051 §6.4.4). */
import assert from 'node:assert/strict';
import type { MailboxStore } from '@agent-mailbox/mail-store';
import { SEARCH_KEYS } from '#imap/search/search-messages.ts';
import { type Client, loggedIn } from './dialogue.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

export const NESTED = `From: =?utf-8?q?J=C3=B6rg_Sender?= <joerg@from.example>
Sender: Secretary <office@sender.example>
To: "Doe, Jane" <jane@to.example>, Friends: Ben <ben@group.example>, carl@group.example;
To: second@to.example
Cc: =?utf-8?b?${base64('Käthe')}?= <kate@cc.example>
Bcc: hidden@bcc.example (a comment)
Reply-To: answers@reply.example
Subject: =?utf-8?b?${base64('Größe des Pakets')}?=
Comments: joerg@elsewhere.example
X-Empty:
Date: Sat, 21 Nov 2026 23:30:00 -0500
Message-ID: <nested@from.example>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="outer"

preamble
--outer
Content-Type: multipart/alternative; boundary="inner"

--inner
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

plainword Stra=DFe soft=
break
--inner
Content-Type: text/html; charset=utf-8

<style>.styleword { color: red }</style><p title="t">html<b>joined</b>word &amp; caf&eacute;<td>cell</td><td>next</td>
--inner--
--outer
Content-Type: text/csv; name="figures.csv"
Content-Disposition: attachment; filename*=utf-8''f%C3%BCr%20dich.csv
Content-Transfer-Encoding: base64
Content-Description: =?utf-8?q?Beschreibung_f=C3=BCr_Teil?=

${base64('csvword;Überschrift')}
--outer
Content-Type: message/rfc822
Content-Description: partheaderword

From: Inner Writer <writer@inner.example>
To: reader@inner.example
Subject: =?utf-8?q?innersubject_=C3=BCber?=
Content-Type: multipart/mixed; boundary="deep"

--deep
Content-Type: text/plain
Content-ID: <deepid@inner.example>

deepword
--deep
Content-Type: message/rfc822

Subject: deepestsubject

deepestword
--deep--
--outer
Content-Type: message/delivery-status

Reporting-MTA: dns; reportword.example

--outer
Content-Type: application/octet-stream
Content-Transfer-Encoding: base64
Content-ID: <binaryid@from.example>

${base64('binaryword binaryword')}
--outer--
`;

export const PLAIN = `From: other@from.example
To: other@to.example
Subject: plain
Date: Mon, 23 Nov 2026 10:00:00 +0000
Message-ID: <plain@from.example>

nothing special
`;

const NONE = '';
const FIRST = ' 1';
const SECOND = ' 2';
const BOTH = ' 1 2';

/** Where each text is found: by BODY, by TEXT. */
const TEXTS: readonly (readonly [needle: string, inBody: boolean, inText: boolean])[] = [
  ['plainword', true, true],
  ['STRASSE'.replace('SS', 'ß'), true, true],
  ['softbreak', true, true],
  ['htmljoinedword & CAFÉ cell next', true, true],
  ['styleword', false, false],
  ['<b>', false, false],
  ['csvword;überschrift', true, true],
  ['innersubject über', true, true],
  ['Inner Writer', true, true],
  ['deepword', true, true],
  ['deepestsubject', true, true],
  ['deepestword', true, true],
  ['reportword', true, true],
  ['binaryword', false, false],
  // Header fields of parts, which stand in the body.
  ['figures.csv', true, true],
  ['für dich.csv', true, true],
  ['Beschreibung für Teil', true, true],
  ['partheaderword', true, true],
  ['deepid@inner', true, true],
  ['binaryid@from', true, true],
  ['text/csv', true, true],
  // Those of the message: TEXT alone.
  ['größe des', false, true],
  ['office@sender', false, true],
  ['X-Empty', false, true],
  ['multipart/mixed', true, true],
];

/** Keys about the envelope: the fields of its structure, decoded, and nothing else. */
const ENVELOPE: readonly (readonly [key: string, needle: string, found: string])[] = [
  ['FROM', 'jörg sender', FIRST],
  ['FROM', 'Jörg Sender <joerg@from.example>', FIRST],
  ['FROM', 'from.example', BOTH],
  ['FROM', 'office@sender', NONE],
  ['FROM', '=?utf-8', NONE],
  ['FROM', 'elsewhere', NONE],
  ['FROM', 'writer@inner', NONE],
  ['TO', 'doe, jane <jane@to.example>', FIRST],
  ['TO', 'second@to', FIRST],
  ['TO', 'Friends:', FIRST],
  ['TO', 'carl@group', FIRST],
  ['TO', 'reader@inner', NONE],
  ['TO', 'answers@reply', NONE],
  ['CC', 'KÄTHE <kate', FIRST],
  ['CC', 'jane', NONE],
  ['BCC', 'hidden@bcc.example', FIRST],
  ['BCC', 'kate', NONE],
  ['SUBJECT', 'GRÖSSE'.replace('SS', 'ß'), FIRST],
  ['SUBJECT', '=?utf-8', NONE],
  ['SUBJECT', 'innersubject', NONE],
  ['FROM', '', BOTH],
  ['CC', '', BOTH],
  ['SUBJECT', '', BOTH],
];

const HEADER: readonly (readonly [field: string, needle: string, found: string])[] = [
  ['Comments', 'elsewhere', FIRST],
  ['from', 'jörg', FIRST],
  ['To', '"Doe, Jane"', FIRST],
  ['To', 'second@', FIRST],
  ['X-Empty', '', FIRST],
  ['X-Empty', 'x', NONE],
  ['X-Nothing', '', NONE],
  ['Content-Description', '', NONE],
  ['Content-ID', 'deepid', NONE],
  ['Subject', 'innersubject', NONE],
];

/** Keys whose answer depends on nothing but the two messages, which came with \Seen and $Word, and without flags. */
const OTHERS: readonly (readonly [query: string, found: string])[] = [
  ['ALL', BOTH],
  ['SEEN', FIRST],
  ['UNSEEN', SECOND],
  ['ANSWERED', NONE],
  ['UNANSWERED', BOTH],
  ['FLAGGED', NONE],
  ['UNFLAGGED', BOTH],
  ['DELETED', NONE],
  ['UNDELETED', BOTH],
  ['DRAFT', NONE],
  ['UNDRAFT', BOTH],
  ['RECENT', BOTH],
  ['NEW', SECOND],
  ['OLD', NONE],
  ['KEYWORD $word', FIRST],
  ['UNKEYWORD $WORD', SECOND],
  ['BEFORE 2-Feb-2026', FIRST],
  ['ON 1-Feb-2026', FIRST],
  ['SINCE 2-Feb-2026', SECOND],
  ['SENTBEFORE 22-Nov-2026', FIRST],
  ['SENTON 21-Nov-2026', FIRST],
  ['SENTSINCE 22-Nov-2026', SECOND],
  ['SAVEDBEFORE 1-Jan-2020', NONE],
  ['SAVEDSINCE 1-Jan-2020', BOTH],
  ['SAVEDON 1-Jan-2020', NONE],
  ['SAVEDATESUPPORTED', BOTH],
  ['OLDER 60', BOTH],
  ['YOUNGER 60', NONE],
  ['LARGER 500', FIRST],
  ['SMALLER 500', SECOND],
  ['UID 2:*', SECOND],
  ['MODSEQ 1', BOTH],
  ['EMAILID msg_unknown', NONE],
  ['THREADID thr_unknown', NONE],
  ['NOT BODY deepword', SECOND],
  ['OR TEXT partheaderword SUBJECT plain', BOTH],
];

const literal = (text: string): string => `{${Buffer.byteLength(text)}+}\r\n${text}`;

/** Every case, written as a client writes it. */
export const SEARCH_KEY_CASES: readonly (readonly [query: string, found: string])[] = [
  ...TEXTS.flatMap(([needle, inBody, inText]): [string, string][] => [
    [`BODY ${literal(needle)}`, inBody ? FIRST : NONE],
    [`TEXT ${literal(needle)}`, inText ? FIRST : NONE],
  ]),
  ...ENVELOPE.map(([key, needle, found]): [string, string] => [`${key} ${literal(needle)}`, found]),
  ...HEADER.map(([field, needle, found]): [string, string] => [`HEADER ${field} ${literal(needle)}`, found]),
  ...OTHERS,
];

/** Keys that no case names. */
export const missingKeys = (): string[] =>
  SEARCH_KEYS.filter((key) => !SEARCH_KEY_CASES.some(([query]) => new RegExp(`(?:^| )${key}(?: |$)`).test(query)));

/** Asks all cases in a folder that holds the two messages alone. */
export async function askSearchKeys(client: Client): Promise<void> {
  await client.command('s', 'SELECT INBOX');
  for (const [query, found] of SEARCH_KEY_CASES) {
    const lines = await client.command('q', `SEARCH CHARSET UTF-8 ${query}`);
    const answer = lines.find((line) => line.startsWith('* SEARCH'))?.replace(/ \(MODSEQ \d+\)$/, '');
    assert.equal(answer, `* SEARCH${found}`, `${query} → ${lines.at(-1)}`);
  }
}

export async function appendBoth(store: MailboxStore): Promise<void> {
  const client = await loggedIn(store);
  const mails: readonly (readonly [string, string])[] = [
    [NESTED, '(\\Seen $Word) " 1-Feb-2026 00:30:00 +0530"'],
    [PLAIN, '" 2-Feb-2026 23:30:00 -0800"'],
  ];
  for (const [text, facts] of mails) {
    const lines = await client.command('a', `APPEND INBOX ${facts} ${literal(text.replaceAll('\n', '\r\n'))}`);
    assert.match(lines.at(-1) ?? '', /^a OK/);
  }
  await client.close();
}
