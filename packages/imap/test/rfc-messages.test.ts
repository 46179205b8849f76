/** Examples of the RFCs about messages that no other dialogue plays, with our folders, UIDs and delimiter. */
import { test } from 'node:test';
import { play } from './dialogue.ts';
import { filled, OPEN } from './filled-store.ts';
import { MemoryStore } from './memory-store.ts';
import { LUNCH, note } from './messages.ts';

test('RFC 9051 §8: a sample connection', async () => {
  const store = new MemoryStore();
  for (let i = 1; i <= 18; i++)
    store.deliver('INBOX', i === 12 ? LUNCH : note(`mail ${i}`), {
      flags: i < 18 ? 1 : 0,
      internalDate: new Date('1996-07-17T09:44:25Z'),
    });
  const from = '(("Fred Foobar" NIL "foobar" "Blurdybloop.example"))';
  await play(
    store,
    `C: a002 select inbox
     S: * FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)
     S: * 18 EXISTS
     S: * 18 RECENT
     S: * OK [UNSEEN 18] ...
     S: * OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft \\*)] ...
     S: * OK [UIDVALIDITY 1600000000] UIDs valid
     S: * OK [UIDNEXT 19] ...
     S: * OK [HIGHESTMODSEQ 19] ...
     S: * OK [MAILBOXID (F1)] ...
     S: a002 OK [READ-WRITE] SELECT completed
     C: a003 fetch 12 full
     S: * 12 FETCH (FLAGS (\\Seen \\Recent) INTERNALDATE "17-Jul-1996 09:44:25 +0000" RFC822.SIZE ... ENVELOPE ("Mon, 7 Feb 1994 21:52:25 -0800 (PST)" "afternoon meeting" ${from} ${from} ${from} ((NIL NIL "mooch" "owatagu.siam.edu.example")) NIL NIL NIL "<B27397-0100000@Blurdybloop.example>") BODY ("text" "plain" ("charset" "US-ASCII") NIL NIL "7bit" 55 1))
     S: a003 OK
     C: a004 fetch 12 body[header]
     S: * 12 FETCH (BODY[HEADER] {...}
     S: Date: Mon, 7 Feb 1994 21:52:25 -0800 (PST)
     S: From: Fred Foobar <foobar@Blurdybloop.example>
     S: Subject: afternoon meeting
     S: To: mooch@owatagu.siam.edu.example
     S: Message-Id: <B27397-0100000@Blurdybloop.example>
     S: MIME-Version: 1.0
     S: Content-Type: TEXT/PLAIN; CHARSET=US-ASCII
     S:
     S: )
     S: a004 OK
     C: a005 store 12 +flags \\deleted
     S: * 12 FETCH (FLAGS (\\Deleted \\Seen \\Recent))
     S: a005 OK
     C: a006 logout
     S: * BYE ...
     S: a006 OK`,
  );
});

test('RFC 3501 §6.4.4: SEARCH with several keys, without a match, and with CHARSET', async () => {
  const store = filled(2);
  store.deliver('INBOX', note('from a smith').replace('Ann <ann@', 'Smith <smith@'), { flags: 4 });
  store.deliver('INBOX', note('flagged'), { flags: 4 });
  store.deliver('INBOX', note('мама'), { flags: 4 });
  await play(
    store,
    `${OPEN}
     C: A282 SEARCH FLAGGED SINCE 1-Feb-1994 NOT FROM "Smith"
     S: * SEARCH 4 5
     S: A282 OK
     C: A283 SEARCH TEXT "string not in mailbox"
     S: * SEARCH
     S: A283 OK
     C: A284 SEARCH CHARSET UTF-8 TEXT {5}
     S: + ...
     C: smith
     S: * SEARCH 3
     S: A284 OK
     C: A285 SEARCH RETURN (MIN COUNT) FLAGGED SINCE 1-Feb-1994 NOT FROM "Smith"
     S: * ESEARCH (TAG "A285") MIN 4 COUNT 2
     S: A285 OK
     C: A286 SEARCH RETURN () FLAGGED SINCE 1-Feb-1994 NOT FROM "Smith"
     S: * ESEARCH (TAG "A286") ALL 4:5
     S: A286 OK
     C: A287 UID SEARCH RETURN (MIN MAX) TEXT "string not in mailbox"
     S: * ESEARCH (TAG "A287") UID
     S: A287 OK`,
  );
});

test('RFC 9051 §6.4.5: FETCH 2:4 (FLAGS BODY[HEADER.FIELDS (DATE FROM)])', async () => {
  const fields = `From: Ann <ann@example.org>
     S: Date: Fri, 20 Nov 2026 09:00:00 +0000
     S:`;
  await play(
    filled(4),
    `C: s1 EXAMINE INBOX
     S: *** s1 OK [READ-ONLY]
     C: A654 FETCH 2:4 (FLAGS BODY[HEADER.FIELDS (DATE FROM)])
     S: * 2 FETCH (FLAGS (\\Recent) BODY[HEADER.FIELDS (DATE FROM)] {70}
     S: ${fields}
     S: )
     S: * 3 FETCH (FLAGS (\\Recent) BODY[HEADER.FIELDS (DATE FROM)] {70}
     S: ${fields}
     S: )
     S: * 4 FETCH (FLAGS (\\Recent) BODY[HEADER.FIELDS (DATE FROM)] {70}
     S: ${fields}
     S: )
     S: A654 OK`,
  );
});

test('RFC 9051 §6.4.9: UID FETCH of a range with gaps names numbers and UIDs', async () => {
  const store = filled(2, 4_827_313);
  store.skipUids('INBOX', 4_827_943);
  store.deliver('INBOX', note('x'), { flags: 1 });
  store.skipUids('INBOX', 4_828_442);
  store.deliver('INBOX', note('y'), { flags: 1 });
  await play(
    store,
    `${OPEN}
     C: A999 UID FETCH 4827314:4828442 FLAGS
     S: * 2 FETCH (UID 4827314 FLAGS (\\Recent))
     S: * 3 FETCH (UID 4827943 FLAGS (\\Seen \\Recent))
     S: * 4 FETCH (UID 4828442 FLAGS (\\Seen \\Recent))
     S: A999 OK`,
  );
});

test('RFC 2177 §3: mail that arrives while idling', async () => {
  await play(
    filled(3),
    `${OPEN}
     C: A002 IDLE
     S: + idling
     C2: b1 APPEND INBOX {3+}
     C2: abc
     S2: b1 OK ...
     S: * 4 EXISTS
     S: * 4 RECENT
     C2: b2 SELECT INBOX
     S2: *** b2 OK [READ-WRITE]
     C2: b3 MOVE 2 Trash
     S2: *** b3 OK
     S: * 2 EXPUNGE
     C: DONE
     S: A002 OK
     C: A003 FETCH 3 UID
     S: * 3 FETCH (UID 4)
     S: A003 OK`,
  );
});

test('RFC 2971 §3: ID', async () => {
  await play(
    new MemoryStore(),
    `C: a023 ID ("name" "sodr" "version" "19.34" "vendor" "Pink Floyd Music Limited")
     S: * ID ("name" "Agent Mailbox")
     S: a023 OK
     C: a042 ID NIL
     S: * ID ("name" "Agent Mailbox")
     S: a042 OK
     C: a043 ID ()
     S: * ID ("name" "Agent Mailbox")
     S: a043 OK
     C: a044 ID ("name")
     S: a044 BAD ...`,
  );
});

test('RFC 5032 §3: YOUNGER and OLDER take seconds above 0', async () => {
  const store = new MemoryStore();
  for (const days of [10, 2, 1])
    store.deliver('INBOX', note(`${days} days`), { internalDate: new Date(Date.now() - days * 86_400_000) });
  await play(
    store,
    `${OPEN}
     C: a1 SEARCH UNSEEN YOUNGER 259200
     S: * SEARCH 2 3
     S: a1 OK
     C: a2 SEARCH UNSEEN OLDER 259200
     S: * SEARCH 1
     S: a2 OK
     C: a3 SEARCH YOUNGER 259200 OLDER 129600
     S: * SEARCH 2
     S: a3 OK
     C: a4 SEARCH YOUNGER 0
     S: a4 BAD ...`,
  );
});

test('RFC 5182 §2.4: $ in COPY, STORE, OR and a further search; pipelined after the one that saves', async () => {
  await play(
    filled(4),
    `${OPEN}
     C: A280 STORE 1:2 +FLAGS.SILENT ($Forwarded)
     S: * FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft $Forwarded)
     S: * OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft $Forwarded \\*)] ...
     S: A280 OK
     C: A281 SEARCH RETURN (SAVE) KEYWORD $Forwarded
     S: A281 OK
     C: A282 SEARCH RETURN (MIN COUNT) OR $ 4
     S: * ESEARCH (TAG "A282") MIN 1 COUNT 3
     S: A282 OK
     C: A283 COPY $ Archive
     S: A283 OK [COPYUID 1600000003 1:2 1:2] ...
     C: A284 UID STORE $ +FLAGS (\\Seen)
     S: * 1 FETCH (UID 1 FLAGS (\\Seen $Forwarded \\Recent))
     S: * 2 FETCH (UID 2 FLAGS (\\Seen $Forwarded \\Recent))
     S: A284 OK
     C: A285 SEARCH RETURN (SAVE) $ 2
     S: A285 OK
     C: A286 FETCH $ UID
     S: * 2 FETCH (UID 2)
     S: A286 OK
     C: A287 SEARCH RETURN (SAVE MIN MAX) ALL
     S: * ESEARCH (TAG "A287") MIN 1 MAX 4
     S: A287 OK
     C: A288 FETCH $ UID
     S: * 1 FETCH (UID 1)
     S: * 4 FETCH (UID 4)
     S: A288 OK
     C: A289 SELECT INBOX
     S: *** A289 OK [READ-WRITE]
     C: A290 FETCH $ UID
     S: A290 OK`,
  );
});

test('RFC 5256 §3: SORT by date and by subject, nothing found, THREAD of nothing', async () => {
  const store = new MemoryStore();
  for (const [subject, day] of [
    ['b', 3],
    ['a', 5],
    ['b', 1],
  ] as const)
    store.deliver('INBOX', note(subject).replace('20 Nov 2026', `${day} Nov 2026`));
  await play(
    store,
    `${OPEN}
     C: A282 SORT (SUBJECT) UTF-8 SINCE 1-Feb-1994
     S: * SORT 2 1 3
     S: A282 OK
     C: A283 SORT (SUBJECT REVERSE DATE) UTF-8 ALL
     S: * SORT 2 1 3
     S: A283 OK
     C: A284 SORT (SUBJECT) US-ASCII TEXT "not in mailbox"
     S: * SORT
     S: A284 OK
     C: A285 THREAD ORDEREDSUBJECT UTF-8 SINCE 5-MAR-2000
     S: * THREAD (3 1)(2)
     S: A285 OK
     C: A286 THREAD REFERENCES US-ASCII TEXT "gewp"
     S: * THREAD
     S: A286 OK
     C: E01 UID SORT RETURN (COUNT ALL) (REVERSE DATE) UTF-8 UNDELETED UNKEYWORD $Junk
     S: * ESEARCH (TAG "E01") UID ALL 2,1,3 COUNT 3
     S: E01 OK`,
  );
});
