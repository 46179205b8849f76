/** Which command is allowed in which state (RFC 9051 §3). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, loggedIn, play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

const OF_A_SELECTED_FOLDER = [
  'CHECK',
  'CLOSE',
  'UNSELECT',
  'EXPUNGE',
  'UID EXPUNGE 1',
  'SEARCH ALL',
  'UID SEARCH ALL',
  'SORT (DATE) UTF-8 ALL',
  'UID SORT (DATE) UTF-8 ALL',
  'THREAD REFERENCES UTF-8 ALL',
  'UID THREAD REFERENCES UTF-8 ALL',
  'FETCH 1 FLAGS',
  'UID FETCH 1 FLAGS',
  'STORE 1 FLAGS (\\Seen)',
  'UID STORE 1 FLAGS (\\Seen)',
  'COPY 1 Sent',
  'UID COPY 1 Sent',
  'MOVE 1 Sent',
  'UID MOVE 1 Sent',
  'REPLACE 1 Sent {3+}\r\nabc',
  'UID REPLACE 1 Sent {3+}\r\nabc',
];

const OF_A_MAILBOX = [
  'ENABLE CONDSTORE',
  'SELECT INBOX',
  'EXAMINE INBOX',
  'CREATE x',
  'DELETE x',
  'RENAME x y',
  'SUBSCRIBE x',
  'UNSUBSCRIBE x',
  'LIST "" *',
  'LSUB "" *',
  'XLIST "" *',
  'NAMESPACE',
  'STATUS INBOX (MESSAGES)',
  'APPEND INBOX {3+}\r\nabc',
  'IDLE',
  'GETQUOTA ""',
  'GETQUOTAROOT INBOX',
  'COMPRESS DEFLATE',
];

test('before login nothing of the mailbox can be done', async () => {
  const client = await connect(new MemoryStore(), { limits: { badCommandsMax: 100 } });
  for (const [i, command] of [...OF_A_MAILBOX, ...OF_A_SELECTED_FOLDER].entries())
    assert.deepEqual(await client.command(`n${i}`, command), [`n${i} BAD Log in first`], command);
  assert.match((await client.command('i', 'ID NIL')).at(-1) ?? '', /^i OK/);
  await client.close();
});

test('without a selected folder nothing of a folder can be done', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('one'));
  const client = await loggedIn(store, { limits: { badCommandsMax: 100 } });
  for (const [i, command] of OF_A_SELECTED_FOLDER.entries())
    assert.match((await client.command(`n${i}`, command)).at(-1) ?? '', new RegExp(`^n${i} BAD`), command);
  assert.equal((await store.folder('INBOX'))?.total, 1);
  await client.close();
  assert.equal(store.openSpools, 0);
});

test('after login neither login nor STARTTLS is accepted, in any state', async () => {
  await play(
    new MemoryStore(),
    `C: a1 LOGIN a b
     S: a1 BAD ...
     C: a2 AUTHENTICATE PLAIN
     S: a2 BAD ...
     C: a3 STARTTLS
     S: a3 BAD ...
     C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]
     C: a4 LOGIN a b
     S: a4 BAD ...
     C: a5 AUTHENTICATE PLAIN
     S: a5 BAD ...
     C: a6 STARTTLS
     S: a6 BAD ...`,
  );
});

test('commands that need no folder also work while one is selected', async () => {
  await play(
    new MemoryStore(),
    `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]
     C: a1 CAPABILITY
     S: * CAPABILITY IMAP4rev1 IMAP4rev2 ...
     S: a1 OK
     C: a2 ID NIL
     S: * ID ...
     S: a2 OK
     C: a3 CREATE x
     S: a3 OK ...
     C: a4 SUBSCRIBE x
     S: a4 OK
     C: a5 LSUB "" *
     S: * LSUB () "/" x
     S: a5 OK
     C: a6 XLIST "" x
     S: * XLIST (\\HasNoChildren) "/" x
     S: a6 OK
     C: a7 UNSUBSCRIBE x
     S: a7 OK
     C: a8 RENAME x y
     S: a8 OK
     C: a9 DELETE y
     S: a9 OK
     C: a10 NAMESPACE
     S: * NAMESPACE (("" "/")) NIL NIL
     S: a10 OK
     C: a11 GETQUOTA ""
     S: * QUOTA "" (STORAGE 0 97656)
     S: a11 OK
     C: a12 GETQUOTAROOT Sent
     S: * QUOTAROOT Sent ""
     S: * QUOTA "" (STORAGE 0 97656)
     S: a12 OK
     C: a13 LOGOUT
     S: * BYE ...
     S: a13 OK`,
  );
  await play(
    new MemoryStore(),
    `C: s1 SELECT INBOX
     S: *** s1 OK [READ-WRITE]
     C: a1 COMPRESS DEFLATE
     S: a1 OK`,
  );
});
