/** Examples of the RFCs about folders that no other dialogue plays, with our folders, UIDs and delimiter. */
import { test } from 'node:test';
import { play } from './dialogue.ts';
import { filled, OPEN, withFolders } from './filled-store.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

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
     S: * FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft $MDNSent)
     S: * OK [PERMANENTFLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft $MDNSent \\*)] ...
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
     S: * QUOTA "" (STORAGE 1 0)
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
