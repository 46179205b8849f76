import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailable } from '@agent-mailbox/mail-store';
import { loggedIn, play } from './dialogue.ts';
import { MemoryStore } from './memory-store.ts';
import { note } from './messages.ts';

test('IDLE answers "+" at once and reports changes as they happen (RFC 2177)', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', note('one'));
  const client = await loggedIn(store);
  await client.command('s', 'SELECT INBOX');
  client.send('A002 IDLE\r\n');
  assert.equal(await client.line(), '+ idling');
  store.deliver('INBOX', note('two'));
  assert.equal(await client.line(), '* 2 EXISTS');
  assert.equal(await client.line(), '* 2 RECENT');
  await store.storeFlags({ folderId: 1, uids: [1], change: 'add', flags: 8, keywords: [], unchangedSince: null });
  assert.equal(await client.line(), '* 1 FETCH (FLAGS (\\Deleted \\Recent))');
  await store.expunge(1, null);
  assert.equal(await client.line(), '* 1 EXPUNGE');
  client.send('done\r\n');
  assert.equal(await client.line(), 'A002 OK IDLE completed');
  await client.close();
});

test('changes are reported before the tagged OK; anything but DONE is BAD', async () => {
  const store = new MemoryStore();
  const client = await loggedIn(store);
  await client.command('s', 'SELECT INBOX');
  store.deliver('INBOX', note('one'));
  client.send('a1 IDLE\r\nDONE\r\na2 IDLE\r\na3 NOOP\r\n');
  const lines: (string | undefined)[] = [];
  for (let i = 0; i < 6; i++) lines.push(await client.line());
  assert.deepEqual(lines, [
    '+ idling',
    '* 1 EXISTS',
    '* 1 RECENT',
    'a1 OK IDLE completed',
    '+ idling',
    'a2 BAD Expected DONE',
  ]);
  await client.close();
});

test('IDLE keeps the line alive and works without a selected folder', async () => {
  const client = await loggedIn(new MemoryStore(), { limits: { idleKeepaliveMs: 5 } });
  client.send('a1 IDLE\r\n');
  assert.equal(await client.line(), '+ idling');
  assert.equal(await client.line(), '* OK Still here');
  client.send('DONE\r\n');
  let line = await client.line();
  while (line === '* OK Still here') line = await client.line();
  assert.equal(line, 'a1 OK IDLE completed');
  await client.close();
});

test('IDLE outlives a store that is away for a while and misses nothing', async () => {
  const store = new MemoryStore();
  const client = await loggedIn(store, { limits: { idleKeepaliveMs: 5 } });
  await client.command('s', 'SELECT INBOX');
  client.send('a1 IDLE\r\n');
  assert.equal(await client.line(), '+ idling');
  store.failure = new StoreUnavailable('away');
  store.deliver('INBOX', note('one'));
  let line = await client.line();
  while (line === '* OK Still here') line = await client.line();
  assert.equal(line, '* 1 EXISTS');
  await client.close();
});

test('nothing is sent while no command runs', async () => {
  await play(
    new MemoryStore(),
    `C: a1 SELECT INBOX
     S: *** a1 OK [READ-WRITE]
     C2: b1 APPEND INBOX {3+}
     C2: abc
     S2: b1 OK ...
     C2: b2 NOOP
     S2: b2 OK
     C: a2 SEARCH ALL
     S: * 1 EXISTS
     S: * 1 RECENT
     S: * SEARCH 1
     S: a2 OK`,
  );
});
