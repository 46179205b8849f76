/** A login that may only read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOnlyStore } from '@agent-mailbox/mail-store/read-only-store';
import { connect, loginTo, play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

test('SELECT opens read-only, reading works and sets no \\Seen, and everything that writes is refused', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('one'));
  await play(
    store,
    `C: a1 SELECT INBOX
     S: * FLAGS ...
     S: * 1 EXISTS
     S: * 1 RECENT
     S: * OK [UNSEEN 1] ...
     S: * OK [PERMANENTFLAGS ()] ...
     S: *** a1 OK [READ-ONLY] SELECT completed
     C: a2 STORE 1 +FLAGS (\\Seen)
     S: a2 NO [READ-ONLY]
     C: a3 FETCH 1 BODY[TEXT]
     S: *** a3 OK
     C: a4 FETCH 1 FLAGS
     S: * 1 FETCH (FLAGS (\\Recent))
     S: a4 OK
     C: a5 COPY 1 Sent
     S: a5 NO [NOPERM] This token may only read
     C: a6 MOVE 1 Sent
     S: a6 NO [READ-ONLY]
     C: a7 EXPUNGE
     S: a7 NO [READ-ONLY]
     C: a8 APPEND INBOX {5+}
     C: hello
     S: a8 NO [NOPERM] This token may only read
     C: a9 CREATE New
     S: a9 NO [NOPERM]
     C: a10 RENAME Sent Other
     S: a10 NO [NOPERM]
     C: a11 DELETE Archive
     S: a11 NO [NOPERM]
     C: a12 SUBSCRIBE Sent
     S: a12 NO [NOPERM]
     C: a13 SEARCH ALL
     S: * SEARCH 1
     S: a13 OK
     C: a14 CLOSE
     S: a14 OK`,
    { login: loginTo(readOnlyStore(store)) },
  );
  const inbox = await store.folder('INBOX');
  assert.deepEqual([inbox?.total, inbox?.unseen, inbox?.recentFrom], [1, 1, 1]);
});

test('a valid token that may not use IMAP is refused with AUTHORIZATIONFAILED', async () => {
  const text = 'This token may only send';
  const client = await connect(new MemoryStore(), { login: async () => ({ kind: 'not-permitted', text }) });
  assert.deepEqual(await client.command('a1', 'LOGIN a b'), [`a1 NO [AUTHORIZATIONFAILED] ${text}`]);
  await client.close();
});
