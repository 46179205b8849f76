import { test } from 'node:test';
import { play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

test('LIST "" "" gives the delimiter; % stops at it; several patterns give no duplicates', async () => {
  await play(
    new MemoryStore(),
    `C: a0 CREATE Archive/2025
     S: a0 OK [MAILBOXID (F7)]
     C: a1 LIST "" ""
     S: * LIST (\\Noselect) "/" ""
     S: a1 OK
     C: a2 LIST "" %
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * LIST (\\HasChildren \\Archive) "/" Archive
     S: * LIST (\\HasNoChildren \\Drafts) "/" Drafts
     S: * LIST (\\HasNoChildren \\Junk) "/" Junk
     S: * LIST (\\HasNoChildren \\Sent) "/" Sent
     S: * LIST (\\HasNoChildren \\Trash) "/" Trash
     S: a2 OK
     C: a3 LIST Archive/ %
     S: * LIST (\\HasNoChildren) "/" Archive/2025
     S: a3 OK
     C: a4 LIST "" (inbox "Arch*" "*2025")
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * LIST (\\HasChildren \\Archive) "/" Archive
     S: * LIST (\\HasNoChildren) "/" Archive/2025
     S: a4 OK`,
  );
});

/** The folders of RFC 5258 §5. */
async function fruit(): Promise<MemoryStore> {
  const store = new MemoryStore(false);
  for (const name of [
    'Fruit',
    'Fruit/Apple',
    'Fruit/Banana',
    'Tofu',
    'Vegetable',
    'Vegetable/Broccoli',
    'Vegetable/Corn',
  ])
    await store.createFolder(name, null);
  for (const name of ['INBOX', 'Fruit/Banana', 'Fruit/Peach', 'Vegetable', 'Vegetable/Broccoli'])
    await store.subscribe(name, true);
  return store;
}

test('LIST (SUBSCRIBED) shows subscribed names, those that do not exist too (RFC 5258 §5)', async () => {
  await play(
    await fruit(),
    `C: A01 LIST "" "*"
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * LIST (\\HasChildren) "/" Fruit
     S: * LIST (\\HasNoChildren) "/" Fruit/Apple
     S: * LIST (\\HasNoChildren) "/" Fruit/Banana
     S: * LIST (\\HasNoChildren) "/" Tofu
     S: * LIST (\\HasChildren) "/" Vegetable
     S: * LIST (\\HasNoChildren) "/" Vegetable/Broccoli
     S: * LIST (\\HasNoChildren) "/" Vegetable/Corn
     S: A01 OK
     C: A02 LIST (SUBSCRIBED) "" "*"
     S: * LIST (\\Subscribed \\HasNoChildren) "/" INBOX
     S: * LIST (\\Subscribed \\HasNoChildren) "/" Fruit/Banana
     S: * LIST (\\NonExistent \\Subscribed \\HasNoChildren) "/" Fruit/Peach
     S: * LIST (\\Subscribed \\HasChildren) "/" Vegetable
     S: * LIST (\\Subscribed \\HasNoChildren) "/" Vegetable/Broccoli
     S: A02 OK
     C: A04 LIST (REMOTE) "" "%" RETURN (CHILDREN SUBSCRIBED)
     S: * LIST (\\Subscribed \\HasNoChildren) "/" INBOX
     S: * LIST (\\HasChildren) "/" Fruit
     S: * LIST (\\HasNoChildren) "/" Tofu
     S: * LIST (\\Subscribed \\HasChildren) "/" Vegetable
     S: A04 OK
     C: A08 LIST (SUBSCRIBED RECURSIVEMATCH) "" "%"
     S: * LIST (\\Subscribed \\HasNoChildren) "/" INBOX
     S: * LIST (\\HasChildren) "/" Fruit ("CHILDINFO" ("SUBSCRIBED"))
     S: * LIST (\\Subscribed \\HasChildren) "/" Vegetable ("CHILDINFO" ("SUBSCRIBED"))
     S: A08 OK
     C: A09 LIST (RECURSIVEMATCH) "" "%"
     S: A09 BAD ...
     C: A10 LIST (SUBSCRIBED) "" (Tofu)
     S: A10 OK
     C: A11 LIST () "" Tofu RETURN ()
     S: * LIST (\\HasNoChildren) "/" Tofu
     S: A11 OK`,
  );
});

test('LIST RETURN (STATUS …) answers each STATUS after its LIST line (RFC 5819, RFC 8438)', async () => {
  const store = new MemoryStore(false);
  await store.createFolder('foo', null);
  store.deliver('INBOX', note('a'));
  await play(
    store,
    `C: A01 LIST "" % RETURN (STATUS (MESSAGES UNSEEN SIZE))
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * STATUS INBOX (MESSAGES 1 UNSEEN 1 SIZE 112)
     S: * LIST (\\HasNoChildren) "/" foo
     S: * STATUS foo (MESSAGES 0 UNSEEN 0 SIZE 0)
     S: A01 OK
     C: A02 LIST (SUBSCRIBED RECURSIVEMATCH) "" "%" RETURN (STATUS (MESSAGES))
     S: A02 OK`,
  );
});

test('special uses are listed, selected and returned (RFC 6154)', async () => {
  await play(
    new MemoryStore(),
    `C: t1 LIST (SPECIAL-USE) "" "*"
     S: * LIST (\\HasNoChildren \\Archive) "/" Archive
     S: * LIST (\\HasNoChildren \\Drafts) "/" Drafts
     S: * LIST (\\HasNoChildren \\Junk) "/" Junk
     S: * LIST (\\HasNoChildren \\Sent) "/" Sent
     S: * LIST (\\HasNoChildren \\Trash) "/" Trash
     S: t1 OK
     C: t2 LIST "" Sent RETURN (SPECIAL-USE)
     S: * LIST (\\HasNoChildren \\Sent) "/" Sent
     S: t2 OK
     C: t3 XLIST "" *
     S: * XLIST (\\HasNoChildren \\Inbox) "/" INBOX
     S: * XLIST (\\HasNoChildren \\Archive) "/" Archive
     S: * XLIST (\\HasNoChildren \\Drafts) "/" Drafts
     S: * XLIST (\\HasNoChildren \\Spam) "/" Junk
     S: * XLIST (\\HasNoChildren \\Sent) "/" Sent
     S: * XLIST (\\HasNoChildren \\Trash) "/" Trash
     S: t3 OK`,
  );
});

test('LSUB shows names that do not exist, and \\Noselect above them at % (RFC 3501 §6.3.9)', async () => {
  const store = new MemoryStore(false);
  await store.subscribe('#news/comp/mail/mime', true);
  await store.subscribe('foo', true);
  await play(
    store,
    `C: A002 LSUB "#news/" "comp/mail/*"
     S: * LSUB () "/" "#news/comp/mail/mime"
     S: A002 OK
     C: A003 LSUB "#news/" "comp/%"
     S: * LSUB (\\Noselect) "/" "#news/comp/mail"
     S: A003 OK
     C: A004 LSUB "" "*"
     S: * LSUB () "/" "#news/comp/mail/mime"
     S: * LSUB () "/" foo
     S: A004 OK`,
  );
});

test('a level without a folder is listed \\NonExistent \\HasChildren', async () => {
  const store = new MemoryStore(false);
  await store.createFolder('a', null);
  await store.createFolder('a/b', null);
  await store.deleteFolder('a');
  await play(
    store,
    `C: a1 LIST "" a*
     S: * LIST (\\NonExistent \\HasChildren) "/" a
     S: * LIST (\\HasNoChildren) "/" a/b
     S: a1 OK`,
  );
});

test('names are modified UTF-7 before and UTF-8 after ENABLE (RFC 9051 §5.1)', async () => {
  const store = new MemoryStore(false);
  await play(
    store,
    `C: a1 CREATE Entw&APw-rfe
     S: a1 OK [MAILBOXID (F2)]
     C: a2 CREATE "R&-D"
     S: a2 OK [MAILBOXID (F3)]
     C: a3 LIST "" *
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * LIST (\\HasNoChildren) "/" Entw&APw-rfe
     S: * LIST (\\HasNoChildren) "/" R&-D
     S: a3 OK
     C: a4 ENABLE IMAP4rev2
     S: * ENABLED IMAP4rev2
     S: a4 OK
     C: a5 LIST "" *
     S: * LIST (\\HasNoChildren) "/" INBOX
     S: * LIST (\\HasNoChildren) "/" "Entwürfe"
     S: * LIST (\\HasNoChildren) "/" R&D
     S: a5 OK
     C: a6 STATUS "Entwu\u0308rfe" (MESSAGES)
     S: * STATUS "Entwürfe" (MESSAGES 0)
     S: a6 OK
     C: a7 CREATE Entw&APw-rfe
     S: a7 OK [MAILBOXID (F4)]`,
  );
});

test('a pattern full of wildcards does not hang the server', async () => {
  const store = new MemoryStore(false);
  await store.createFolder('a'.repeat(200), null);
  await play(
    store,
    `C: a1 LIST "" ${'*a'.repeat(80)}%b
     S: a1 OK
     C: a2 LIST "" ${'*a'.repeat(1_025)}
     S: a2 NO [LIMIT]
     C: a3 LSUB "" ${'%a'.repeat(1_025)}
     S: a3 NO [LIMIT]
     C: a4 LIST "" ${'a'.repeat(3_000)}
     S: a4 OK`,
  );
});

test('CHILDINFO is sent where it adds information, and parents of listed names are omitted (RFC 5258 §3.5, §5)', async () => {
  const store = new MemoryStore(false);
  for (const name of ['foo2/bar1', 'foo2/bar2', 'baz2/bar2', 'baz2/bar22', 'baz2/bar222', 'eps2/mamba'])
    await store.createFolder(name, null);
  await store.createFolder('qux2/bar2', null);
  await store.deleteFolder('qux2');
  for (const name of ['foo2/bar1', 'foo2/bar2', 'baz2/bar2', 'baz2/bar22', 'baz2/bar222', 'eps2', 'eps2/mamba'])
    await store.subscribe(name, true);
  await store.subscribe('qux2/bar2', true);
  await play(
    store,
    `C: D03 LIST (RECURSIVEMATCH SUBSCRIBED) "" "*2"
     S: * LIST (\\Subscribed \\HasNoChildren) "/" baz2/bar2
     S: * LIST (\\Subscribed \\HasNoChildren) "/" baz2/bar22
     S: * LIST (\\Subscribed \\HasNoChildren) "/" baz2/bar222
     S: * LIST (\\Subscribed \\HasChildren) "/" eps2 ("CHILDINFO" ("SUBSCRIBED"))
     S: * LIST (\\HasChildren) "/" foo2 ("CHILDINFO" ("SUBSCRIBED"))
     S: * LIST (\\Subscribed \\HasNoChildren) "/" foo2/bar2
     S: * LIST (\\Subscribed \\HasNoChildren) "/" qux2/bar2
     S: D03 OK
     C: D04 LIST (RECURSIVEMATCH SUBSCRIBED) "" "*"
     S: * LIST (\\Subscribed \\HasNoChildren) "/" baz2/bar2
     S: * LIST (\\Subscribed \\HasNoChildren) "/" baz2/bar22
     S: * LIST (\\Subscribed \\HasNoChildren) "/" baz2/bar222
     S: * LIST (\\Subscribed \\HasChildren) "/" eps2 ("CHILDINFO" ("SUBSCRIBED"))
     S: * LIST (\\Subscribed \\HasNoChildren) "/" eps2/mamba
     S: * LIST (\\Subscribed \\HasNoChildren) "/" foo2/bar1
     S: * LIST (\\Subscribed \\HasNoChildren) "/" foo2/bar2
     S: * LIST (\\Subscribed \\HasNoChildren) "/" qux2/bar2
     S: D04 OK
     C: D05 LIST (SUBSCRIBED) "" "%2"
     S: * LIST (\\Subscribed \\HasChildren) "/" eps2
     S: D05 OK
     C: D06 LIST (SUBSCRIBED RECURSIVEMATCH) "" "%" RETURN (STATUS (MESSAGES))
     S: * LIST (\\HasChildren) "/" baz2 ("CHILDINFO" ("SUBSCRIBED"))
     S: * LIST (\\Subscribed \\HasChildren) "/" eps2 ("CHILDINFO" ("SUBSCRIBED"))
     S: * STATUS eps2 (MESSAGES 0)
     S: * LIST (\\HasChildren) "/" foo2 ("CHILDINFO" ("SUBSCRIBED"))
     S: * LIST (\\NonExistent \\HasChildren) "/" qux2 ("CHILDINFO" ("SUBSCRIBED"))
     S: D06 OK`,
  );
});

test('CHILDINFO names the criterion that was asked for (RFC 6154)', async () => {
  const store = new MemoryStore();
  await store.renameFolder('Sent', 'Mail/Sent');
  await play(
    store,
    `C: a1 LIST (SPECIAL-USE RECURSIVEMATCH) "" M%
     S: * LIST (\\NonExistent \\HasChildren) "/" Mail ("CHILDINFO" ("SPECIAL-USE"))
     S: a1 OK`,
  );
});

test('a name that is not in NFC is answered with OLDNAME once IMAP4rev2 is enabled (RFC 9051 §6.3.9.7)', async () => {
  const given = 'Entwu\u0308rfe';
  await play(
    new MemoryStore(false),
    `C: a1 CREATE "${given}"
     S: a1 OK ...
     C: a2 DELETE "${given}"
     S: a2 OK
     C: a3 ENABLE IMAP4rev2
     S: * ENABLED IMAP4rev2
     S: a3 OK
     C: a4 CREATE "${given}"
     S: * LIST (\\HasNoChildren) "/" "Entwürfe" ("OLDNAME" ("${given}"))
     S: a4 OK ...
     C: a5 EXAMINE "${given}"
     S: *** * LIST (\\HasNoChildren) "/" "Entw...rfe" ("OLDNAME" ("Entwu...rfe"))
     S: a5 OK [READ-ONLY]
     C: a6 EXAMINE "Entwürfe"
     S: *** * LIST (\\HasNoChildren) "/" "Entw...rfe"
     S: a6 OK [READ-ONLY]
     C: a7 UNSELECT
     S: a7 OK
     C: a8 RENAME "${given}" plain
     S: * LIST (\\HasNoChildren) "/" plain ("OLDNAME" ("${given}"))
     S: a8 OK
     C: a9 RENAME plain "${given}"
     S: * LIST (\\HasNoChildren) "/" "Entwürfe" ("OLDNAME" (plain))
     S: a9 OK
     C: a10 DELETE "${given}"
     S: * LIST (\\NonExistent) "/" "Entwürfe" ("OLDNAME" ("${given}"))
     S: a10 OK
     C: a11 CREATE plain
     S: a11 OK ...`,
  );
});
