/** Examples of the RFCs of extensions that no other dialogue plays, with our folders, UIDs and delimiter. */
import { test } from 'node:test';
import { play } from './dialogue.ts';
import { filled, OPEN } from './filled-store.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

test('RFC 4315 §2.1 and §3: UID EXPUNGE leaves others alone, COPYUID names both sides', async () => {
  const store = filled(1, 304);
  store.skipUids('INBOX', 319);
  store.deliver('INBOX', note('b'));
  store.deliver('INBOX', note('c'));
  store.skipUids('Archive', 3_956);
  await play(
    store,
    `${OPEN}
     C: A004 COPY 1:3 Archive
     S: A004 OK [COPYUID 1600000003 304,319:320 3956:3958] ...
     C: A005 UID COPY 444:494 Archive
     S: A005 OK Nothing to copy
     C: A006 STORE 1,3 +FLAGS.SILENT (\\Deleted)
     S: A006 OK
     C: A101 UID EXPUNGE 304:319
     S: * 1 EXPUNGE
     S: A101 OK
     C: A102 UID FETCH 1:* FLAGS
     S: * 1 FETCH (UID 319 FLAGS (\\Recent))
     S: * 2 FETCH (UID 320 FLAGS (\\Deleted \\Recent))
     S: A102 OK`,
  );
});

test('RFC 6851 §3.3: UID MOVE', async () => {
  const store = filled(3, 42);
  store.skipUids('Archive', 1_202);
  await play(
    store,
    `${OPEN}
     C: a UID MOVE 42:69 Archive
     S: * OK [COPYUID 1600000003 42:44 1202:1204] ...
     S: * 3 EXPUNGE
     S: * 2 EXPUNGE
     S: * 1 EXPUNGE
     S: a OK`,
  );
});

test('RFC 5161 §3: ENABLE says what was enabled, and nothing else', async () => {
  await play(
    new MemoryStore(),
    `C: t2 ENABLE CONDSTORE X-GOOD-IDEA
     S: * ENABLED CONDSTORE
     S: t2 OK
     C: t3 ENABLE X-GOOD-IDEA
     S: * ENABLED
     S: t3 OK
     C: t4 ENABLE
     S: t4 BAD ...`,
  );
});

test('RFC 7162 §3.1: STATUS, FETCH MODSEQ, and MODSEQ in ESEARCH and SORT', async () => {
  await play(
    filled(4),
    `C: A042 STATUS INBOX (UIDNEXT MESSAGES HIGHESTMODSEQ)
     S: * STATUS INBOX (UIDNEXT 5 MESSAGES 4 HIGHESTMODSEQ 5)
     S: A042 OK
     ${OPEN}
     C: a1 FETCH 1 (MODSEQ)
     S: * 1 FETCH (MODSEQ (2))
     S: a1 OK
     C: a2 SEARCH RETURN (ALL) MODSEQ 3
     S: * ESEARCH (TAG "a2") ALL 2:4 MODSEQ 5
     S: a2 OK
     C: a3 SEARCH RETURN (MAX) MODSEQ 3
     S: * ESEARCH (TAG "a3") MAX 4 MODSEQ 5
     S: a3 OK
     C: a4 SORT (REVERSE ARRIVAL SUBJECT) UTF-8 MODSEQ 4
     S: * SORT 3 4 (MODSEQ 5)
     S: a4 OK
     C: b107 STORE 1:* (UNCHANGEDSINCE 5) +FLAGS.SILENT ($Processed)
     S: * FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft $Processed)
     S: * OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft $Processed \\*)] ...
     S: * 1 FETCH (MODSEQ (6))
     S: * 2 FETCH (MODSEQ (6))
     S: * 3 FETCH (MODSEQ (6))
     S: * 4 FETCH (MODSEQ (6))
     S: b107 OK
     C: b108 STORE 1 (UNCHANGEDSINCE 5) -FLAGS.SILENT ($Processed)
     S: b108 OK [MODIFIED 1]
     C: b109 UID STORE 1,3,5:9 (UNCHANGEDSINCE 6) +FLAGS.SILENT (\\Seen)
     S: * 1 FETCH (UID 1 MODSEQ (7))
     S: * 3 FETCH (UID 3 MODSEQ (7))
     S: b109 OK`,
  );
});

test('RFC 7162 §3.2.5 and §3.2.10: reselecting with known UIDs, then VANISHED for a move elsewhere', async () => {
  const store = filled(6);
  await play(
    store,
    `${OPEN}
     C: a1 MOVE 2:3 Trash
     S: *** a1 OK`,
  );
  await play(
    store,
    `C: A01 ENABLE QRESYNC
     S: * ENABLED QRESYNC
     S: A01 OK
     C: A02 SELECT INBOX (QRESYNC (1600000000 7 1:2,5:6))
     S: * FLAGS ...
     S: * 4 EXISTS
     S: *** * OK [MAILBOXID (F1)] ...
     S: * VANISHED (EARLIER) 2
     S: A02 OK [READ-WRITE]
     C2: b1 SELECT INBOX
     S2: *** b1 OK [READ-WRITE]
     C2: b2 UID MOVE 4:5 Trash
     S2: *** b2 OK
     C: A03 NOOP
     S: * VANISHED 4:5
     S: A03 OK
     C: A04 UID FETCH 1:* (FLAGS)
     S: * 1 FETCH (UID 1 FLAGS ())
     S: * 2 FETCH (UID 6 FLAGS ())
     S: A04 OK`,
  );
});

test('RFC 8474 §3 and §4: ids outlive RENAME and COPY', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('one'));
  await play(
    store,
    `C: 3 CREATE foo
     S: 3 OK [MAILBOXID (F7)] ...
     C: 4 STATUS foo (MAILBOXID)
     S: * STATUS foo (MAILBOXID (F7))
     S: 4 OK
     C: 5 RENAME foo renamed
     S: 5 OK
     C: 6 STATUS renamed (MAILBOXID)
     S: * STATUS renamed (MAILBOXID (F7))
     S: 6 OK
     C: 7 LIST "" renamed RETURN (STATUS (MAILBOXID))
     S: * LIST (\\HasNoChildren) "/" renamed
     S: * STATUS renamed (MAILBOXID (F7))
     S: 7 OK
     ${OPEN}
     C: 8 COPY 1 renamed
     S: 8 OK [COPYUID 1600000006 1 1] ...
     C: 9 FETCH 1 (EMAILID THREADID)
     S: * 1 FETCH (EMAILID (msg_1) THREADID (thr_1))
     S: 9 OK
     C: 10 EXAMINE renamed
     S: * OK [CLOSED] ...
     S: *** * OK [MAILBOXID (F7)] ...
     S: 10 OK [READ-ONLY]
     C: 11 FETCH 1 (EMAILID THREADID)
     S: * 1 FETCH (EMAILID (msg_1) THREADID (thr_1))
     S: 11 OK
     C: 12 SEARCH EMAILID msg_1 THREADID thr_1
     S: * SEARCH 1
     S: 12 OK`,
  );
});

test('RFC 6855 §3 and §4: names and mail in UTF-8 after ENABLE', async () => {
  await play(
    new MemoryStore(false),
    `C: a1 ENABLE UTF8=ACCEPT
     S: * ENABLED UTF8=ACCEPT
     S: a1 OK
     C: a2 CREATE "Entwürfe"
     S: a2 OK [MAILBOXID (F2)] ...
     C: a3 APPEND "Entwürfe" UTF8 (~{3+}
     C: abc)
     S: a3 OK [APPENDUID 1600000001 1] ...
     C: a4 LIST "" "Entw*"
     S: * LIST (\\HasNoChildren) "/" "Entwürfe"
     S: a4 OK
     C: a5 SELECT "Entwürfe"
     S: *** a5 OK [READ-WRITE]
     C: a6 SORT (SUBJECT) US-ASCII ALL
     S: a6 BAD ...
     C: a7 THREAD REFERENCES US-ASCII ALL
     S: a7 BAD ...`,
  );
});
