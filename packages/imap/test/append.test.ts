import assert from 'node:assert/strict';
import { test } from 'node:test';
import { play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { LUNCH } from './messages.ts';

const BYTES = LUNCH.replace(/\n/g, '\r\n');
const lines = BYTES.trimEnd()
  .split('\r\n')
  .map((line) => `C: ${line}`)
  .join('\n');
/** The message as the lines of a dialogue, the last line break being that of the command. */
const SIZE = BYTES.length - 2;

test('APPEND stores the message byte for byte and answers APPENDUID (RFC 9051 §6.3.12, RFC 4315)', async () => {
  const store = new MemoryStore();
  await play(
    store,
    `C: A003 APPEND Sent (\\Seen $MDNSent) "07-Feb-1994 21:52:25 -0800" {${SIZE}}
     S: + Ready for the literal
     ${lines}
     S: A003 OK [APPENDUID 1600000001 1] APPEND completed
     C: a4 EXAMINE Sent
     S: * FLAGS (... $MDNSent)
     S: * 1 EXISTS
     S: * 1 RECENT
     S: * OK [PERMANENTFLAGS ()] ...
     S: * OK [UIDVALIDITY ...
     S: * OK [UIDNEXT 2] ...
     S: * OK [HIGHESTMODSEQ ...
     S: * OK [MAILBOXID (F2)] ...
     S: a4 OK [READ-ONLY]
     C: a5 FETCH 1 (FLAGS INTERNALDATE RFC822.SIZE)
     S: * 1 FETCH (FLAGS (\\Seen $MDNSent \\Recent) INTERNALDATE " 7-Feb-1994 21:52:25 -0800" RFC822.SIZE ${SIZE})
     S: a5 OK`,
  );
  const view = await store.view(2, false);
  assert.equal(view?.uids.length, 1);
  assert.equal(Buffer.from(await store.slice('msg_1', 0, 10_000)).toString(), BYTES.slice(0, -2));
});

test('MULTIAPPEND is all or nothing and answers ascending UIDs (RFC 3502)', async () => {
  const store = new MemoryStore();
  await play(
    store,
    `C: A003 APPEND INBOX (\\Seen) {3}
     S: + Ready for the literal
     C: abc (\\Flagged) " 7-Feb-1994 22:43:04 -0800" {4}
     S: + Ready for the literal
     C: defg
     S: A003 OK [APPENDUID 1600000000 1:2]
     C: a4 APPEND INBOX {3+}
     C: abc {0+}
     C:
     S: a4 NO An empty message is not stored
     C: a5 STATUS INBOX (MESSAGES)
     S: * STATUS INBOX (MESSAGES 2)
     S: a5 OK`,
  );
});

test('APPEND to a missing folder answers TRYCREATE', async () => {
  await play(
    new MemoryStore(),
    `C: A003 APPEND saved {3}
     S: + Ready for the literal
     C: abc
     S: A003 NO [TRYCREATE]
     C: A004 APPEND {5}
     S: + Ready for the literal
     C: saved {3+}
     C: abc
     S: A004 NO [TRYCREATE]`,
  );
});

test('a literal too large is refused before "+", and one that is not waited for is read and dropped', async () => {
  await play(
    new MemoryStore(),
    `C: a1 APPEND INBOX {11}
     S: a1 NO [TOOBIG]
     C: a2 APPEND INBOX {11+}
     C: 123456789ab
     S: a2 NO [TOOBIG]
     C: a3 APPEND INBOX {5+}
     C: 12345 {11+}
     C: 123456789ab (\\Seen)
     S: a3 NO [TOOBIG]
     C: a4 APPEND INBOX {10}
     S: + Ready for the literal
     C: 1234567890
     S: a4 OK [APPENDUID 1600000000 1]
     C: a5 APPEND INBOX {999999999999+}
     S: * BYE The literal is far too large`,
    { messageMaxBytes: 10 },
  );
});

test('APPEND beyond the quota answers OVERQUOTA before the literal is taken', async () => {
  const store = new MemoryStore();
  store.quotaBytes = 20;
  await play(
    store,
    `C: a1 APPEND INBOX {15}
     S: + Ready for the literal
     C: 123456789012345
     S: a1 OK [APPENDUID 1600000000 1]
     C: a2 APPEND INBOX {6}
     S: a2 NO [OVERQUOTA]`,
  );
});

test('APPEND takes UTF8 (~{n}) and a bare literal8 with NUL (RFC 6855, RFC 3516)', async () => {
  const store = new MemoryStore();
  await play(
    store,
    `C: a1 ENABLE UTF8=ACCEPT
     S: * ENABLED UTF8=ACCEPT
     S: a1 OK
     C: a2 APPEND INBOX (\\Seen) UTF8 (~{3+}
     C: abc)
     S: a2 OK [APPENDUID 1600000000 1]
     C: a3 APPEND INBOX ~{3}
     S: + Ready for the literal
     C: a\0b
     S: a3 OK [APPENDUID 1600000000 2]
     C: a4 APPEND INBOX UTF8 ({3+}
     C: abc)
     S: a4 BAD ...`,
  );
  assert.equal(Buffer.from(await store.slice('msg_2', 0, 9)).toString('hex'), '610062');
});

test('APPEND into the selected folder sends EXISTS', async () => {
  const store = new MemoryStore();
  await play(
    store,
    `C: a1 SELECT Drafts
     S: * FLAGS ...
     S: * 0 EXISTS
     S: * 0 RECENT
     S: * OK [PERMANENTFLAGS ...
     S: * OK [UIDVALIDITY ...
     S: * OK [UIDNEXT 1] ...
     S: * OK [HIGHESTMODSEQ 1] ...
     S: * OK [MAILBOXID (F3)] ...
     S: a1 OK [READ-WRITE]
     C: a2 APPEND Drafts (\\Draft) {3+}
     C: abc
     S: * 1 EXISTS
     S: * 1 RECENT
     S: a2 OK [APPENDUID 1600000002 1]`,
  );
});

test('APPEND with a date that does not exist is BAD, and stores nothing', async () => {
  const dates = ['31-Feb-2026 10:00:00 +0000', '01-Feb-2026 24:00:00 +0000', '01-Feb-2026 10:60:00 +0000'];
  await play(
    new MemoryStore(),
    `${dates
      .map(
        (date, i) => `C: a${i} APPEND INBOX "${date}" {3+}
     C: abc
     S: a${i} BAD ...`,
      )
      .join('\n')}
     C: b APPEND INBOX "31-Dec-2016 23:59:60 +0000" {3+}
     C: abc
     S: b OK [APPENDUID 1600000000 1]`,
  );
});
