import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loggedIn, play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { LUNCH, note } from './messages.ts';

const OPEN = `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]`;

test('FETCH answers ENVELOPE, BODYSTRUCTURE, BODY and the macros (RFC 9051 §7.5.2)', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', LUNCH, { flags: 1, internalDate: new Date('1996-07-17T02:44:25Z') });
  const envelope =
    '("Mon, 7 Feb 1994 21:52:25 -0800 (PST)" "afternoon meeting" (("Fred Foobar" NIL "foobar" "Blurdybloop.example")) (("Fred Foobar" NIL "foobar" "Blurdybloop.example")) (("Fred Foobar" NIL "foobar" "Blurdybloop.example")) ((NIL NIL "mooch" "owatagu.siam.edu.example")) NIL NIL NIL "<B27397-0100000@Blurdybloop.example>")';
  const body = '("text" "plain" ("charset" "US-ASCII") NIL NIL "7bit" 55 1)';
  await play(
    store,
    `${OPEN}
     C: a1 FETCH 1 (FLAGS BODYSTRUCTURE)
     S: * 1 FETCH (FLAGS (\\Seen \\Recent) BODYSTRUCTURE ("text" "plain" ("charset" "US-ASCII") NIL NIL "7bit" 55 1 NIL NIL NIL NIL))
     S: a1 OK
     C: a2 FETCH 1 FULL
     S: * 1 FETCH (FLAGS (\\Seen \\Recent) INTERNALDATE "17-Jul-1996 02:44:25 +0000" RFC822.SIZE ${LUNCH.length + LUNCH.split('\n').length - 1} ENVELOPE ${envelope} BODY ${body})
     S: a2 OK
     C: a8 FETCH 1 ENVELOPE
     S: * 1 FETCH (ENVELOPE ${envelope})
     S: a8 OK
     C: a3 FETCH 1 ALL
     S: * 1 FETCH (FLAGS (\\Seen \\Recent) INTERNALDATE ... RFC822.SIZE ... ENVELOPE ${envelope})
     S: a3 OK
     C: a4 FETCH 1 FAST
     S: * 1 FETCH (FLAGS (\\Seen \\Recent) INTERNALDATE "17-Jul-1996 02:44:25 +0000" RFC822.SIZE ...)
     S: a4 OK
     C: a5 UID FETCH 1 (EMAILID THREADID SAVEDATE PREVIEW MODSEQ)
     S: * OK [HIGHESTMODSEQ 2] ...
     S: * 1 FETCH (UID 1 EMAILID (msg_1) THREADID (thr_1) SAVEDATE "21-Nov-2026 10:00:00 +0000" PREVIEW "Hello Joe, do you think we can meet at 3:30 tomorrow?" MODSEQ (2))
     S: a5 OK
     C: a6 FETCH 1 PREVIEW (LAZY)
     S: * 1 FETCH (PREVIEW "Hello Joe, do you think we can meet at 3:30 tomorrow?")
     S: a6 OK
     C: a7 FETCH 1 (PREVIEW (LAZY))
     S: * 1 FETCH (PREVIEW "Hello Joe, do you think we can meet at 3:30 tomorrow?")
     S: a7 OK`,
  );
});

const NESTED = `From: a@example.org
To: b@example.org
Subject: nested
Content-Type: multipart/mixed; boundary=outer

preamble
--outer
Content-Type: text/plain

first
--outer
Content-Type: message/rfc822
X-Part: yes

From: inner@example.org
Subject: inside
Subject: twice
To: someone@example.org
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain

inner text
--inner
Content-Type: text/html
Content-Transfer-Encoding: quoted-printable

<b>=3D</b>
--inner--
--outer
Content-Type: application/octet-stream
Content-Transfer-Encoding: base64

AAEC
--outer--
`;

async function sectionOf(items: string, message = NESTED): Promise<string> {
  const store = new MemoryStore();
  store.deliver('INBOX', message, { flags: 1 });
  const client = await loggedIn(store);
  await client.command('s', 'SELECT INBOX');
  const lines = await client.command('f', `FETCH 1 ${items}`);
  await client.close();
  assert.match(lines.at(-1) ?? '', /^f OK/);
  return lines.slice(0, -1).join('\n');
}

const CASES: readonly [item: string, value: string][] = [
  ['BODY.PEEK[1]', 'BODY[1] {5}\nfirst)'],
  ['BODY.PEEK[1.MIME]', 'BODY[1.MIME] {28}\nContent-Type: text/plain\n\n)'],
  ['BODY.PEEK[2.MIME]', 'BODY[2.MIME] {45}\nContent-Type: message/rfc822\nX-Part: yes\n\n)'],
  [
    'BODY.PEEK[2.HEADER.FIELDS (To SUBJECT)]',
    'BODY[2.HEADER.FIELDS (To SUBJECT)] {60}\nSubject: inside\nSubject: twice\nTo: someone@example.org\n\n)',
  ],
  [
    'BODY.PEEK[HEADER.FIELDS.NOT (From To Content-Type)]',
    'BODY[HEADER.FIELDS.NOT (From To Content-Type)] {19}\nSubject: nested\n\n)',
  ],
  ['BODY.PEEK[HEADER.FIELDS (X-None)]', 'BODY[HEADER.FIELDS (X-None)] {2}\n\n)'],
  ['BODY.PEEK[2.1]', 'BODY[2.1] {10}\ninner text)'],
  ['BODY.PEEK[2.2]', 'BODY[2.2] {10}\n<b>=3D</b>)'],
  ['BINARY.PEEK[2.2]', 'BINARY[2.2] {8}\n<b>=</b>)'],
  ['BINARY.SIZE[2.2]', 'BINARY.SIZE[2.2] 8)'],
  ['BINARY.PEEK[3]', 'BINARY[3] ~{3}\n\0\x01\x02)'],
  ['BINARY.PEEK[3]<1.1>', 'BINARY[3]<1> {1}\n\x01)'],
  ['BODY.PEEK[3]<1.2>', 'BODY[3]<1> {2}\nAE)'],
  ['BODY.PEEK[3]<99.2>', 'BODY[3]<99> "")'],
  ['BODY.PEEK[4]', 'BODY[4] NIL)'],
  ['BODY.PEEK[1.1]', 'BODY[1.1] NIL)'],
  ['BODY.PEEK[1.HEADER]', 'BODY[1.HEADER] NIL)'],
  ['BODY.PEEK[2.2.MIME]<0.12>', 'BODY[2.2.MIME]<0> {12}\nContent-Type)'],
];
for (const [item, value] of CASES)
  test(`sections: ${item}`, async () => {
    assert.equal(await sectionOf(item), `* 1 FETCH (${value}`);
  });

test('sections match the bytes: 2 = 2.HEADER + 2.TEXT, [] = HEADER + TEXT', async () => {
  const text = async (item: string) => (await sectionOf(item)).replace(/^[^\n]*\n/, '').slice(0, -1);
  assert.equal(await text('BODY.PEEK[2]'), (await text('BODY.PEEK[2.HEADER]')) + (await text('BODY.PEEK[2.TEXT]')));
  assert.equal(await text('BODY.PEEK[]'), (await text('BODY.PEEK[HEADER]')) + (await text('BODY.PEEK[TEXT]')));
  assert.equal(await text('RFC822'), NESTED);
  assert.equal(await text('RFC822.HEADER'), await text('BODY.PEEK[HEADER]'));
  assert.equal(await text('RFC822.TEXT'), await text('BODY.PEEK[TEXT]'));
  assert.equal(await text('BINARY.PEEK[]'), NESTED);
});

test('a message that is no multipart has part 1, and BODY of a multipart drops extension data', async () => {
  const single = note('x', 'Content-Type: text/plain\n');
  assert.equal(await sectionOf('BODY.PEEK[1]', single), '* 1 FETCH (BODY[1] {7}\nText.\n)');
  assert.equal(await sectionOf('BODY.PEEK[2]', single), '* 1 FETCH (BODY[2] NIL)');
  assert.match(
    await sectionOf('BODY'),
    /^\* 1 FETCH \(BODY \(\("text" "plain" \("charset" "us-ascii"\) NIL NIL "7bit" 5 0\)\("message" "rfc822" NIL NIL NIL "7bit" \d+ \(.*\) \(\("text" "plain" .*\)\("text" "html" .*\) "alternative"\) \d+\)\("application" "octet-stream" NIL NIL NIL "base64" 4\) "mixed"\)\)$/s,
  );
});

test('an encoding that is not known answers UNKNOWN-CTE (RFC 3516)', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('x', 'Content-Transfer-Encoding: rot13\n'));
  await play(
    store,
    `${OPEN}
     C: a1 FETCH 1 BINARY.PEEK[1]
     S: a1 NO [UNKNOWN-CTE]
     C: a2 FETCH 1 BODY.PEEK[1]
     S: * 1 FETCH (BODY[1] {7}
     S: Text.
     S: )
     S: a2 OK`,
  );
});

test('BODY[] sets \\Seen and reports it; PEEK, ENVELOPE and PREVIEW do not', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('x'));
  store.deliver('INBOX', note('y'));
  await play(
    store,
    `${OPEN}
     C2: b1 SELECT INBOX
     S2: *** b1 OK [READ-WRITE]
     C: a1 FETCH 1 (BODY.PEEK[TEXT] RFC822.HEADER PREVIEW)
     S: *** a1 OK
     C: a2 FETCH 1 FLAGS
     S: * 1 FETCH (FLAGS (\\Recent))
     S: a2 OK
     C: a3 FETCH 1:2 (BODY[TEXT])
     S: * 1 FETCH (BODY[TEXT] {7}
     S: Text.
     S: FLAGS (\\Seen \\Recent))
     S: * 2 FETCH (BODY[TEXT] {7}
     S: Text.
     S: FLAGS (\\Seen \\Recent))
     S: a3 OK
     C: a4 FETCH 1 (FLAGS BODY[TEXT])
     S: * 1 FETCH (FLAGS (\\Seen \\Recent) BODY[TEXT] {7}
     S: Text.
     S: )
     S: a4 OK
     C2: b2 NOOP
     S2: * 1 FETCH (FLAGS (\\Seen))
     S2: * 2 FETCH (FLAGS (\\Seen))
     S2: b2 OK
     C: a5 STORE 1 -FLAGS.SILENT (\\Seen)
     S: a5 OK
     C: a6 FETCH 1 BINARY[1]
     S: * 1 FETCH (BINARY[1] {7}
     S: Text.
     S: FLAGS (\\Seen \\Recent))
     S: a6 OK`,
  );
});

test('a message expunged elsewhere keeps its number, the rest is served, EXPUNGEISSUED', async () => {
  const store = new MemoryStore();
  for (const subject of ['one', 'two', 'three']) store.deliver('INBOX', note(subject));
  await play(
    store,
    `${OPEN}
     C2: b1 SELECT INBOX
     S2: *** b1 OK [READ-WRITE]
     C2: b2 MOVE 2 Trash
     S2: * OK [COPYUID 1600000005 2 1] ...
     S2: * 2 EXPUNGE
     S2: b2 OK
     C: a1 FETCH 1:3 (UID)
     S: * 1 FETCH (UID 1)
     S: * 3 FETCH (UID 3)
     S: a1 OK [EXPUNGEISSUED]
     C: a2 FETCH 1:3 (RFC822.SIZE)
     S: * 1 FETCH (RFC822.SIZE 114)
     S: * 3 FETCH (RFC822.SIZE 116)
     S: a2 OK [EXPUNGEISSUED]
     C: a3 STORE 2:3 +FLAGS (\\Seen)
     S: * 3 FETCH (FLAGS (\\Seen \\Recent))
     S: a3 OK [EXPUNGEISSUED]
     C: a4 COPY 1:2 Trash
     S: * 2 EXPUNGE
     S: a4 NO [EXPUNGEISSUED]
     C: a6 UID FETCH 1:3 (UID)
     S: * 1 FETCH (UID 1)
     S: * 2 FETCH (UID 3)
     S: a6 OK`,
  );
});

test('names of fields that are no atoms are quoted in the answer', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('x'));
  await play(
    store,
    `${OPEN}
     C: a1 FETCH 1 BODY.PEEK[HEADER.FIELDS (subject "two words" "a\\"b")]
     S: * 1 FETCH (BODY[HEADER.FIELDS (subject "two words" "a\\"b")] {14}
     S: Subject: x
     S:
     S: )
     S: a1 OK`,
  );
});

test('wrong items are BAD', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('x'));
  const client = await loggedIn(store);
  await client.command('s', 'SELECT INBOX');
  for (const items of [
    'NONSENSE',
    '()',
    'BODY[',
    'BODY[0]',
    'BODY[MIME]',
    'BODY[1.]x',
    'BODY[HEADER.FIELDS ()]',
    'BODY[HEADER.FIELDS ("X\u00ff")]',
    'BODY[]<0>',
    'BODY[]<0.0>',
    'FLAGS[1]',
    'BINARY[HEADER]',
    '(FLAGS) (CHANGEDSINCE)',
    '(FLAGS) (VANISHED)',
  ])
    assert.match((await client.command('f', `FETCH 1 ${items}`)).at(-1) ?? '', /^f BAD/, items);
  await client.close();
});

test('a large message is streamed slice by slice as the client reads it', async () => {
  const store = new MemoryStore();
  const body = `${'0123456789abcdef'.repeat(4)}\n`.repeat(60_000);
  store.deliver('INBOX', note('large', '', body), { flags: 1 });
  const client = await loggedIn(store);
  await client.command('s', 'SELECT INBOX');
  client.socket.pause();
  client.send('f FETCH 1 BODY[]\r\n');
  await new Promise((resolve) => setImmediate(resolve));
  client.socket.resume();
  const lines: string[] = [];
  for (let line = await client.line(); line !== undefined && !line.startsWith('f '); line = await client.line())
    lines.push(line);
  const size = Number(/\{(\d+)\}$/.exec(lines[0] ?? '')?.[1]);
  assert.equal(lines.slice(1, -1).join('\r\n').length + 2, size);
  await client.close();
});
