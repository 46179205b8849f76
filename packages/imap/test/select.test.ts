/** SELECT, EXAMINE, CLOSE, UNSELECT, CHECK. */
import { test } from 'node:test';
import { play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

test('SELECT under IMAP4rev2 has no RECENT and lists the folder', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('one'), { keywords: ['work'] });
  await play(
    store,
    `C: a0 ENABLE IMAP4rev2
     S: * ENABLED IMAP4rev2
     S: a0 OK
     C: A142 SELECT INBOX
     S: * FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft work)
     S: * 1 EXISTS
     S: * OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft work \\*)] ...
     S: * OK [UIDVALIDITY 1600000000] ...
     S: * OK [UIDNEXT 2] ...
     S: * OK [HIGHESTMODSEQ 2] ...
     S: * OK [MAILBOXID (F1)] ...
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: A142 OK [READ-WRITE]
     C: a2 FETCH 1 FLAGS
     S: * 1 FETCH (FLAGS (work))
     S: a2 OK
     C: a3 CREATE Sent/2025
     S: a3 OK ...
     C: a4 SELECT Sent
     S: *** * LIST (\\HasChildren \\Sent) "/" Sent
     S: a4 OK [READ-WRITE]`,
  );
});

test('a second SELECT says CLOSED; a failed one leaves none selected', async () => {
  await play(
    new MemoryStore(),
    `C: a1 SELECT INBOX
     S: *** a1 OK [READ-WRITE]
     C: a2 EXAMINE Sent
     S: * OK [CLOSED] ...
     S: *** a2 OK [READ-ONLY]
     C: a3 SELECT nothing
     S: * OK [CLOSED] ...
     S: a3 NO [NONEXISTENT]
     C: a4 FETCH 1:* FLAGS
     S: a4 BAD ...`,
  );
});

test('nothing can be written after EXAMINE, and EXAMINE leaves \\Recent to others', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('one'), { flags: 8 });
  await play(
    store,
    `C: a1 EXAMINE INBOX
     S: * FLAGS ...
     S: * 1 EXISTS
     S: * 1 RECENT
     S: *** a1 OK [READ-ONLY]
     C: a2 STORE 1 +FLAGS (\\Seen)
     S: a2 NO [READ-ONLY]
     C: a3 EXPUNGE
     S: a3 NO [READ-ONLY]
     C: a4 MOVE 1 Trash
     S: a4 NO [READ-ONLY]
     C: a5 FETCH 1 (BODY[TEXT] FLAGS)
     S: * 1 FETCH (BODY[TEXT] {7}
     S: Text.
     S: FLAGS (\\Deleted \\Recent))
     S: a5 OK
     C: a6 CLOSE
     S: a6 OK
     C: a7 SELECT INBOX
     S: * FLAGS ...
     S: * 1 EXISTS
     S: * 1 RECENT
     S: *** a7 OK [READ-WRITE]
     C: a8 UNSELECT
     S: a8 OK
     C: a9 SELECT INBOX
     S: * FLAGS ...
     S: * 1 EXISTS
     S: * 0 RECENT
     S: *** a9 OK [READ-WRITE]
     C: a10 CLOSE
     S: a10 OK
     C: a11 STATUS INBOX (MESSAGES)
     S: * STATUS INBOX (MESSAGES 0)
     S: a11 OK`,
  );
});

test('CHECK reports changes', async () => {
  const store = new MemoryStore();
  await play(
    store,
    `C: a1 SELECT INBOX
     S: *** a1 OK [READ-WRITE]
     C2: b1 APPEND INBOX {3+}
     C2: abc
     S2: b1 OK ...
     C: a2 CHECK
     S: * 1 EXISTS
     S: * 1 RECENT
     S: a2 OK`,
  );
});

test('1:* in an empty folder is OK with nothing; a number out of range is BAD', async () => {
  await play(
    new MemoryStore(),
    `C: a1 SELECT INBOX
     S: *** a1 OK [READ-WRITE]
     C: a2 FETCH 1:* FLAGS
     S: a2 OK
     C: a3 FETCH 1 FLAGS
     S: a3 BAD ...
     C: a4 UID FETCH 1:* FLAGS
     S: a4 OK
     C: a5 UID FETCH 77 FLAGS
     S: a5 OK`,
  );
});

test('\\Recent of mail that arrives while a folder is open is claimed by that session, and not by a read-only one', async () => {
  const store = new MemoryStore();
  await play(
    store,
    `C: a1 EXAMINE INBOX
     S: *** a1 OK [READ-ONLY]
     C2: b1 APPEND INBOX {3+}
     C2: abc
     S2: b1 OK ...
     C: a2 NOOP
     S: * 1 EXISTS
     S: * 1 RECENT
     S: a2 OK
     C2: b2 STATUS INBOX (RECENT)
     S2: * STATUS INBOX (RECENT 1)
     S2: b2 OK
     C: a3 SELECT INBOX
     S: *** a3 OK [READ-WRITE]
     C2: b3 APPEND INBOX {3+}
     C2: def
     S2: b3 OK ...
     C: a4 NOOP
     S: * 2 EXISTS
     S: * 2 RECENT
     S: a4 OK
     C2: b4 STATUS INBOX (RECENT)
     S2: * STATUS INBOX (RECENT 0)
     S2: b4 OK
     C2: b5 SELECT INBOX
     S2: * FLAGS ...
     S2: * 2 EXISTS
     S2: * 0 RECENT
     S2: *** b5 OK [READ-WRITE]
     C: a5 FETCH 2 FLAGS
     S: * 2 FETCH (FLAGS (\\Recent))
     S: a5 OK`,
  );
});
