/** CREATE, DELETE, RENAME, SUBSCRIBE, UNSUBSCRIBE, STATUS, NAMESPACE, GETQUOTA, GETQUOTAROOT. */
import { test } from 'node:test';
import { play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

test('CREATE makes parents and answers the MAILBOXID (RFC 9051 §6.3.4, RFC 8474)', async () => {
  await play(
    new MemoryStore(false),
    `C: A003 CREATE owatagusiam/
     S: A003 OK [MAILBOXID (F2)]
     C: A004 CREATE owatagusiam/blurdybloop
     S: A004 OK [MAILBOXID (F3)]
     C: A005 CREATE x/y/z
     S: A005 OK [MAILBOXID (F6)]
     C: A006 LIST "" x*
     S: * LIST (\\HasChildren) "/" x
     S: * LIST (\\HasChildren) "/" x/y
     S: * LIST (\\HasNoChildren) "/" x/y/z
     S: A006 OK
     C: A007 CREATE x
     S: A007 NO [ALREADYEXISTS]
     C: A008 CREATE inbox
     S: A008 NO [ALREADYEXISTS]
     C: A009 CREATE "a//b"
     S: A009 NO [CANNOT]
     C: A010 CREATE "a*"
     S: A010 NO [CANNOT]
     C: A011 CREATE "&bad"
     S: A011 NO [CANNOT]
     C: A012 CREATE ${Array.from({ length: 17 }, () => 'd').join('/')}
     S: A012 NO [LIMIT]
     C: A013 CREATE ${'n'.repeat(256)}
     S: A013 NO [LIMIT]
     C: A014 CREATE
     S: A014 BAD ...`,
  );
});

test('CREATE (USE …) makes a special folder once (RFC 6154 §3)', async () => {
  await play(
    new MemoryStore(false),
    `C: t1 CREATE MySpecial (USE (\\Drafts))
     S: t1 OK [MAILBOXID (F2)]
     C: t2 LIST "" MySpecial
     S: * LIST (\\HasNoChildren \\Drafts) "/" MySpecial
     S: t2 OK
     C: t3 CREATE Another (USE (\\Drafts))
     S: t3 NO [USEATTR]
     C: t4 CREATE Everything (USE (\\All))
     S: t4 NO [USEATTR]
     C: t5 CREATE Plain (USE ())
     S: t5 OK [MAILBOXID (F3)]`,
  );
});

test('DELETE refuses folders that other protocols need; the selected folder is closed', async () => {
  await play(
    new MemoryStore(),
    `C: a1 DELETE INBOX
     S: a1 NO [CANNOT]
     C: a2 DELETE Sent
     S: a2 NO [CANNOT]
     C: a3 DELETE nothing
     S: a3 NO [NONEXISTENT]
     C: a4 CREATE x
     S: a4 OK [MAILBOXID (F7)]
     C: a5 SELECT x
     S: *** a5 OK [READ-WRITE]
     C2: b1 SELECT x
     S2: *** b1 OK [READ-WRITE]
     C: a6 DELETE x
     S: * OK [CLOSED] ...
     S: a6 OK
     C: a7 FETCH 1 FLAGS
     S: a7 BAD ...
     C2: b2 NOOP
     S2: b2 OK
     S2: * BYE The selected folder was deleted`,
  );
});

test('RENAME renames children too; RENAME INBOX moves its messages and leaves it empty', async () => {
  const store = new MemoryStore(false);
  store.deliver('INBOX', note('one'));
  await play(
    store,
    `C: A682 CREATE blurdybloop/sub
     S: A682 OK ...
     C: A683 RENAME blurdybloop sarasoop
     S: A683 OK
     C: A684 LIST "" *
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * LIST (\\HasChildren) "/" sarasoop
     S: * LIST (\\HasNoChildren) "/" sarasoop/sub
     S: A684 OK
     C: A685 SELECT INBOX
     S: *** A685 OK [READ-WRITE]
     C: A686 RENAME INBOX old-mail
     S: * 1 EXPUNGE
     S: A686 OK
     C: A687 STATUS old-mail (MESSAGES)
     S: * STATUS old-mail (MESSAGES 1)
     S: A687 OK
     C: A688 RENAME nothing x
     S: A688 NO [NONEXISTENT]
     C: A689 RENAME sarasoop old-mail
     S: A689 NO [ALREADYEXISTS]
     C: A690 RENAME sarasoop INBOX
     S: A690 NO [ALREADYEXISTS]`,
  );
});

test('subscriptions are of names and survive DELETE', async () => {
  await play(
    new MemoryStore(false),
    `C: A002 SUBSCRIBE news
     S: A002 OK
     C: A003 CREATE news
     S: A003 OK ...
     C: A004 DELETE news
     S: A004 OK
     C: A005 LIST (SUBSCRIBED) "" *
     S: * LIST (\\NonExistent \\Subscribed \\HasNoChildren) "/" news
     S: A005 OK
     C: A006 UNSUBSCRIBE news
     S: A006 OK
     C: A007 LIST (SUBSCRIBED) "" *
     S: A007 OK`,
  );
});

test('STATUS knows all items (RFC 9051, 7162, 8438, 8474, 7889, 9208)', async () => {
  const store = new MemoryStore(false);
  store.deliver('INBOX', note('one'), { flags: 8 });
  store.deliver('INBOX', note('two'), { flags: 1 });
  await play(
    store,
    `C: A042 STATUS inbox (MESSAGES RECENT UIDNEXT UIDVALIDITY UNSEEN DELETED DELETED-STORAGE SIZE HIGHESTMODSEQ MAILBOXID APPENDLIMIT)
     S: * STATUS INBOX (MESSAGES 2 RECENT 2 UIDNEXT 3 UIDVALIDITY 1600000000 UNSEEN 1 DELETED 1 DELETED-STORAGE 1 SIZE 228 HIGHESTMODSEQ 3 MAILBOXID (F1) APPENDLIMIT 26214400)
     S: A042 OK
     C: A043 STATUS nothing (MESSAGES)
     S: A043 NO [NONEXISTENT]
     C: A044 STATUS INBOX ()
     S: A044 BAD ...
     C: A045 STATUS INBOX (NONSENSE)
     S: A045 BAD ...
     C: A046 ENABLE IMAP4rev2
     S: * ENABLED IMAP4rev2
     S: A046 OK
     C: A047 STATUS INBOX (RECENT)
     S: * STATUS INBOX (RECENT 0)
     S: A047 OK`,
  );
});

test('STATUS of the selected folder first reports new messages, and agrees with them', async () => {
  const store = new MemoryStore(false);
  store.deliver('INBOX', note('one'));
  await play(
    store,
    `C: a1 SELECT INBOX
     S: *** a1 OK [READ-WRITE]
     C2: b1 APPEND INBOX (\\Seen) {3+}
     C2: abc
     S2: b1 OK ...
     C2: b2 SELECT INBOX
     S2: *** b2 OK [READ-WRITE]
     C2: b3 STORE 1 +FLAGS.SILENT (\\Deleted)
     S2: b3 OK
     C: a2 STATUS INBOX (MESSAGES UNSEEN DELETED RECENT UIDNEXT)
     S: * 2 EXISTS
     S: * 1 RECENT
     S: * 1 FETCH (FLAGS (\\Deleted \\Recent))
     S: * STATUS INBOX (MESSAGES 2 UNSEEN 1 DELETED 1 RECENT 1 UIDNEXT 3)
     S: a2 OK
     C2: b4 EXPUNGE
     S2: * 1 EXPUNGE
     S2: b4 OK
     C: a3 LIST "" INBOX RETURN (STATUS (MESSAGES UNSEEN))
     S: * 1 EXPUNGE
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * STATUS INBOX (MESSAGES 1 UNSEEN 0)
     S: a3 OK`,
  );
});

test('NAMESPACE, GETQUOTA and GETQUOTAROOT (RFC 2342, RFC 9208)', async () => {
  const store = new MemoryStore(false);
  store.deliver('INBOX', note('one'));
  await play(
    store,
    `C: a1 NAMESPACE
     S: * NAMESPACE (("" "/")) NIL NIL
     S: a1 OK
     C: a2 GETQUOTA ""
     S: * QUOTA "" (STORAGE 1 97656)
     S: a2 OK
     C: a3 GETQUOTAROOT INBOX
     S: * QUOTAROOT INBOX ""
     S: * QUOTA "" (STORAGE 1 97656)
     S: a3 OK
     C: a4 GETQUOTA other
     S: a4 NO [NONEXISTENT]
     C: a5 GETQUOTAROOT other
     S: a5 NO [NONEXISTENT]`,
  );
});
