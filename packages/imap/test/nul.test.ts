/** NUL: in literal8 alone, in both directions (RFC 9051 §4.3, RFC 3516). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FETCH_MACROS, SIMPLE_ITEMS } from '#imap/fetch/fetch-items.ts';
import { loggedIn, play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';
import { connectRaw } from './raw-client.ts';

/** NUL in every place a message has. */
const POISONED = `From: A\0nn <an\0n@exam\0ple.org>
To: g\0roup: b\0ob@example.org;
Subject: one\0two
Date: Fri, 20 Nov 2026 09:00:00 +0000\0
Message-ID: <a\0b@example.org>
X-\0Odd: y
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"; x="p\0q"

--b
Content-Type: text/plain; charset="utf\0-8"
Content-ID: <c\0d>
Content-Description: e\0f
Content-Disposition: attachment; filename="g\0h.txt"
Content-Language: d\0e
Content-Location: http://x/\0y
Content-MD5: \0

first\0line
--b
Content-Type: message/rfc822

Subject: inner\0subject
From: in\0ner@example.org

inner\0body
--b
Content-Type: application/octet-stream
Content-Transfer-Encoding: base64

AAECAw==
--b--
`;

const SECTIONS = ['', 'HEADER', 'TEXT', '1', '1.MIME', '2', '2.HEADER', '2.TEXT', '2.1', '3'];
const FIELDS = ['HEADER.FIELDS (SUBJECT FROM)', 'HEADER.FIELDS.NOT (SUBJECT)', '2.HEADER.FIELDS (SUBJECT)'];

/** Whether there is a NUL outside a literal8. */
function hasStrayNul(answer: Buffer): boolean {
  const text = answer.toString('latin1');
  const announcement = /(~?)\{(\d+)\}\r\n/g;
  let at = 0;
  for (let found = announcement.exec(text); found !== null; found = announcement.exec(text)) {
    const start = found.index + found[0].length;
    const end = start + Number(found[2]);
    if (text.slice(at, start).includes('\0') || (found[1] === '' && text.slice(start, end).includes('\0'))) return true;
    announcement.lastIndex = at = end;
  }
  return text.slice(at).includes('\0');
}

for (const size of ['small', 'large'] as const)
  test(`no answer to FETCH contains NUL outside a literal8: a ${size} message`, async () => {
    const store = new MemoryStore();
    const text = size === 'small' ? POISONED : POISONED.replace('first\0line', 'first\0line\n'.repeat(120_000));
    store.deliver('INBOX', text);
    const bytes = Buffer.from(text.replaceAll('\n', '\r\n'), 'latin1');
    const client = await connectRaw(store);
    const items = [
      ...SIMPLE_ITEMS,
      ...Object.keys(FETCH_MACROS),
      ...[...SECTIONS, ...FIELDS].map((section) => `BODY.PEEK[${section}]`),
      ...SECTIONS.map((section) => `BODY.PEEK[${section}]<3.100>`),
      ...['', '1', '3'].flatMap((part) => [`BINARY.PEEK[${part}]`, `BINARY.PEEK[${part}]<0.3>`]),
    ];
    for (const item of items) {
      const answer = await client.command(`FETCH 1 ${item}`);
      assert.ok(!hasStrayNul(answer), item);
    }
    const whole = await client.command('FETCH 1 BODY.PEEK[]');
    const start = whole.indexOf('\r\n') + 2;
    assert.match(whole.toString('latin1', 0, start), new RegExp(`BODY\\[\\] \\{${bytes.length}\\}`));
    const shown = Buffer.from(bytes.map((byte) => (byte === 0 ? 0x80 : byte)));
    assert.ok(whole.subarray(start, start + bytes.length).equals(shown), 'all other bytes stay, at their places');
    const exact = await client.command('FETCH 1 BINARY.PEEK[]');
    const from = exact.indexOf('\r\n') + 2;
    assert.match(exact.toString('latin1', 0, from), new RegExp(`BINARY\\[\\] ~\\{${bytes.length}\\}`));
    assert.ok(exact.subarray(from, from + bytes.length).equals(bytes), 'BINARY[] is exact');
    for (const command of [
      'SORT (SUBJECT FROM TO CC) UTF-8 ALL',
      'THREAD REFERENCES UTF-8 ALL',
      'SEARCH SUBJECT onetwo',
    ])
      assert.ok(!hasStrayNul(await client.command(command)), command);
    await client.close();
  });

test('NUL in an ordinary literal of APPEND or REPLACE is BAD, and nothing is stored; a literal8 may contain it', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('one'));
  await play(
    store,
    `C: a1 SELECT INBOX
     S: *** a1 OK [READ-WRITE]
     C: a2 APPEND INBOX {3+}
     C: a\0b
     S: a2 BAD A literal with NUL must be sent as a literal8...
     C: a3 APPEND INBOX {3}
     S: + Ready for the literal
     C: a\0b
     S: a3 BAD A literal with NUL...
     C: a4 REPLACE 1 INBOX {3+}
     C: a\0b
     S: a4 BAD A literal with NUL...
     C: a5 APPEND INBOX {3+}
     C: abc {3+}
     C: \0bc {3}
     S: a5 BAD A literal with NUL...
     C: a6 STATUS INBOX (MESSAGES)
     S: * STATUS INBOX (MESSAGES 1)
     S: a6 OK
     C: a7 APPEND INBOX ~{3+}
     C: a\0b
     S: * 2 EXISTS
     S: * 2 RECENT
     S: a7 OK [APPENDUID 1600000000 2]`,
  );
});

test('NUL is BAD in every other place of a command', async () => {
  const client = await loggedIn(new MemoryStore(), { limits: { badCommandsMax: 1_000 } });
  await client.command('s', 'SELECT INBOX');
  for (const text of [
    'CREATE a\0b',
    'CREATE "a\0b"',
    'CREATE {3+}\r\na\0b',
    'SEARCH SUBJECT {3+}\r\na\0b',
    'SEARCH SUBJECT ~{3+}\r\na\0b',
    'ID ("name" "a\0b")',
    'ID ("name" {3+}\r\na\0b)',
    'LIST "" {3+}\r\na\0b',
    'STORE 1 +FLAGS (a\0b)',
    'NOOP\0',
  ])
    assert.match((await client.command('q', text)).at(-1) ?? '', /^q BAD/, JSON.stringify(text));
  await client.close();
});
