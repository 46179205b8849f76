/** Examples of the RFCs that no other dialogue plays, with our folders, UIDs and delimiter. */
import { test } from 'node:test';
import { play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { LUNCH, note } from './messages.ts';

const OPEN = `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]`;

function filled(count: number, from = 1): MemoryStore {
  const store = new MemoryStore();
  if (from > 1) store.skipUids('INBOX', from);
  for (let i = 1; i <= count; i++) store.deliver('INBOX', note(`mail ${i}`));
  return store;
}

async function withFolders(...names: string[]): Promise<MemoryStore> {
  const store = new MemoryStore(false);
  for (const name of names) await store.createFolder(name, null);
  return store;
}

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

test('RFC 9051 §6.3.5: DELETE of a folder with folders inside leaves a name that is none', async () => {
  await play(
    await withFolders('blurdybloop', 'foo', 'foo/bar'),
    `C: A682 LIST "" *
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * LIST (\\HasNoChildren) "/" blurdybloop
     S: * LIST (\\HasChildren) "/" foo
     S: * LIST (\\HasNoChildren) "/" foo/bar
     S: A682 OK
     C: A683 DELETE blurdybloop
     S: A683 OK
     C: A684 DELETE foo
     S: A684 OK
     C: A685 LIST "" *
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * LIST (\\NonExistent \\HasChildren) "/" foo
     S: * LIST (\\HasNoChildren) "/" foo/bar
     S: A685 OK
     C: A686 SELECT foo
     S: A686 NO [NONEXISTENT]
     C: A687 DELETE foo/bar
     S: A687 OK
     C: A688 LIST "" foo*
     S: A688 OK`,
  );
});

test('RFC 9051 §6.3.6: RENAME with folders inside; INBOX keeps its own', async () => {
  const store = await withFolders('blurdybloop', 'foo', 'foo/bar', 'INBOX/bar');
  store.deliver('INBOX', note('one'));
  store.deliver('INBOX/bar', note('stays'));
  await play(
    store,
    `C: A683 RENAME blurdybloop sarasoop
     S: A683 OK
     C: A684 RENAME foo zowie
     S: A684 OK
     C: A685 RENAME INBOX old-mail
     S: A685 OK
     C: A686 LIST "" *
     S: * LIST (\\HasChildren) "/" INBOX
     S: * LIST (\\HasNoChildren) "/" INBOX/bar
     S: * LIST (\\HasNoChildren) "/" old-mail
     S: * LIST (\\HasNoChildren) "/" sarasoop
     S: * LIST (\\HasChildren) "/" zowie
     S: * LIST (\\HasNoChildren) "/" zowie/bar
     S: A686 OK
     C: A687 STATUS INBOX/bar (MESSAGES)
     S: * STATUS INBOX/bar (MESSAGES 1)
     S: A687 OK
     C: A688 STATUS old-mail (MESSAGES)
     S: * STATUS old-mail (MESSAGES 1)
     S: A688 OK`,
  );
});

test('RFC 9051 §6.3.7 and §6.3.8: SUBSCRIBE and UNSUBSCRIBE of a name without folder', async () => {
  await play(
    new MemoryStore(false),
    `C: A002 SUBSCRIBE #news.comp.mail.mime
     S: A002 OK
     C: A003 LIST (SUBSCRIBED) "" "*"
     S: * LIST (\\NonExistent \\Subscribed \\HasNoChildren) "/" "#news.comp.mail.mime"
     S: A003 OK
     C: A004 UNSUBSCRIBE #news.comp.mail.mime
     S: A004 OK
     C: A005 LSUB "" *
     S: A005 OK`,
  );
});

test('RFC 3501 §6.3.8: LIST with a reference, and the root of one', async () => {
  await play(
    await withFolders('~/Mail/foo', '~/Mail/meetings'),
    `C: A101 LIST "" ""
     S: * LIST (\\Noselect) "/" ""
     S: A101 OK
     C: A102 LIST #news.comp.mail.misc ""
     S: * LIST (\\Noselect) "/" ""
     S: A102 OK
     C: A202 LIST ~/Mail/ %
     S: * LIST (\\HasNoChildren) "/" "~/Mail/foo"
     S: * LIST (\\HasNoChildren) "/" "~/Mail/meetings"
     S: A202 OK`,
  );
});

test('RFC 5258 §5: \\HasChildren is of folders, CHILDINFO of subscriptions', async () => {
  const store = await withFolders('Foo', 'Foo/Bar', 'Foo/Baz', 'Moo');
  await store.subscribe('Foo/Baz', true);
  await play(
    store,
    `C: CA3 LIST "" "%" RETURN (CHILDREN)
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * LIST (\\HasChildren) "/" Foo
     S: * LIST (\\HasNoChildren) "/" Moo
     S: CA3 OK
     C: C02 LIST (SUBSCRIBED) "" "*"
     S: * LIST (\\Subscribed \\HasNoChildren) "/" Foo/Baz
     S: C02 OK
     C: C03 LIST (SUBSCRIBED) "" "%" RETURN (CHILDREN)
     S: C03 OK
     C: C04 LIST (SUBSCRIBED RECURSIVEMATCH) "" "%"
     S: * LIST (\\HasChildren) "/" Foo ("CHILDINFO" ("SUBSCRIBED"))
     S: C04 OK
     C: C05 SUBSCRIBE Foo
     S: C05 OK
     C: C06 LIST (SUBSCRIBED RECURSIVEMATCH) "" "%"
     S: * LIST (\\Subscribed \\HasChildren) "/" Foo ("CHILDINFO" ("SUBSCRIBED"))
     S: C06 OK
     C: C07 LIST "" ("INBOX" "Foo/%" "Moo/%")
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * LIST (\\HasNoChildren) "/" Foo/Bar
     S: * LIST (\\HasNoChildren) "/" Foo/Baz
     S: C07 OK
     C: C08 LIST (NONSENSE) "" "%"
     S: C08 BAD ...
     C: C09 LIST "" "%" RETURN (NONSENSE)
     S: C09 BAD ...`,
  );
});

test('RFC 5819 §2: a name without folder has no STATUS', async () => {
  const store = await withFolders('foo', 'bar/inside');
  await store.deleteFolder('bar');
  store.deliver('INBOX', note('one'), { flags: 1 });
  store.deliver('foo', note('two'));
  await play(
    store,
    `C: A01 LIST "" % RETURN (STATUS (MESSAGES UNSEEN))
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * STATUS INBOX (MESSAGES 1 UNSEEN 0)
     S: * LIST (\\NonExistent \\HasChildren) "/" bar
     S: * LIST (\\HasNoChildren) "/" foo
     S: * STATUS foo (MESSAGES 1 UNSEEN 1)
     S: A01 OK`,
  );
});

test('RFC 6154 §5: RETURN (SPECIAL-USE), and CREATE for two uses at once is refused', async () => {
  await play(
    new MemoryStore(),
    `C: t1 LIST "" "%" RETURN (SPECIAL-USE)
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * LIST (\\HasNoChildren \\Archive) "/" Archive
     S: * LIST (\\HasNoChildren \\Drafts) "/" Drafts
     S: * LIST (\\HasNoChildren \\Junk) "/" Junk
     S: * LIST (\\HasNoChildren \\Sent) "/" Sent
     S: * LIST (\\HasNoChildren \\Trash) "/" Trash
     S: t1 OK
     C: t2 CREATE MySpecial (USE (\\Drafts \\Sent))
     S: t2 NO [USEATTR]
     C: t3 CREATE Everything (USE (\\All))
     S: t3 NO [USEATTR]`,
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

test('RFC 2177 §3: mail that comes while idling', async () => {
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

test('RFC 5182 §2.4: $ in COPY, STORE, OR and a further search; pipelined behind the one that saves', async () => {
  await play(
    filled(4),
    `${OPEN}
     C: A280 STORE 1:2 +FLAGS.SILENT ($Forwarded)
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

test('RFC 8508 §3: REPLACE of a draft in its own folder; a target that is missing, a quota that is full', async () => {
  const store = new MemoryStore();
  for (let i = 1; i <= 4; i++) store.deliver('Drafts', note(`draft ${i}`), { flags: 16 });
  store.quotaBytes = 600;
  await play(
    store,
    `C: s1 SELECT Drafts
     S: *** s1 OK [READ-WRITE]
     C: A003 REPLACE 4 Drafts (\\Seen \\Draft $MDNSent) {3+}
     C: abc
     S: * OK [APPENDUID 1600000002 5] ...
     S: * 5 EXISTS
     S: * 5 RECENT
     S: * 4 EXPUNGE
     S: A003 OK
     C: A004 UID REPLACE 3 missing (\\Draft) {3+}
     C: abc
     S: A004 NO [TRYCREATE]
     C: A005 UID REPLACE 3 Drafts (\\Draft) {601}
     S: A005 NO [OVERQUOTA]
     C: A006 UID SEARCH DRAFT
     S: * SEARCH 1 2 3 5
     S: A006 OK`,
  );
});

test('RFC 9208 §4: the quota counts, and COPY beyond it is OVERQUOTA while MOVE is not', async () => {
  const store = filled(2);
  store.quotaBytes = 300;
  await play(
    store,
    `${OPEN}
     C: G0 GETQUOTA ""
     S: * QUOTA "" (STORAGE 1 0 MESSAGE 2 4294967295)
     S: G0 OK
     C: A004 COPY 1:2 Archive
     S: A004 NO [OVERQUOTA]
     C: A005 UID MOVE 1 Archive
     S: *** A005 OK
     C: A006 STORE 1 +FLAGS.SILENT (\\Deleted)
     S: A006 OK
     C: A007 STATUS INBOX (MESSAGES DELETED DELETED-STORAGE)
     S: * STATUS INBOX (MESSAGES 1 DELETED 1 DELETED-STORAGE 1)
     S: A007 OK`,
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
