import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreRefused } from '@agent-mailbox/mail-store';
import { MAIL_FLAGS } from '@agent-mailbox/mail-store/flags';
import { MemoryStore } from '@agent-mailbox/mail-store/memory';

/** A store with three messages in INBOX. */
async function filled() {
  const store = new MemoryStore();
  for (const subject of ['one', 'two', 'three']) store.deliver('INBOX', `Subject: ${subject}\n\n${subject} body\n`);
  const inbox = await store.folder('inbox');
  assert.ok(inbox);
  return { store, inbox };
}

test('UIDs ascend and are never given twice; each change has a higher MODSEQ', async () => {
  const { store, inbox } = await filled();
  assert.deepEqual([...((await store.view(inbox.id, false))?.uids ?? [])], [1, 2, 3]);
  await store.expunge(inbox.id, [3], true);
  assert.equal(store.deliver('INBOX', 'Subject: four\n\n'), 4);
  const changes = await store.changes(inbox.id, inbox.highestModseq);
  assert.ok(changes !== undefined && changes !== 'too-old');
  assert.deepEqual(changes.vanished, [3]);
  assert.deepEqual(
    changes.changed.map(({ uid }) => uid),
    [4],
  );
  assert.ok(changes.highestModseq > inbox.highestModseq);
});

test('forgotten changes are answered too-old', async () => {
  const { store, inbox } = await filled();
  store.deliver('INBOX', 'Subject: four\n\n');
  store.prune('INBOX');
  assert.equal(await store.changes(inbox.id, inbox.highestModseq), 'too-old');
});

test('flags with unchangedSince leave newer messages alone and name them', async () => {
  const { store, inbox } = await filled();
  const change = { folderId: inbox.id, change: 'add', flags: MAIL_FLAGS.seen, keywords: [] } as const;
  const first = await store.storeFlags({ ...change, uids: [1], unchangedSince: null });
  assert.equal(first.states[0]?.flags, MAIL_FLAGS.seen);
  const second = await store.storeFlags({ ...change, uids: [1, 2, 9], unchangedSince: inbox.highestModseq });
  assert.deepEqual([second.modified, second.missing, second.states.map(({ uid }) => uid)], [[1], [9], [2]]);
});

test('MOVE takes the messages out of one folder into the other, and quota refuses copies as a whole', async () => {
  const { store, inbox } = await filled();
  const trash = await store.folder('Trash');
  assert.ok(trash);
  const moved = await store.move(inbox.id, [1, 2], trash.id);
  assert.deepEqual(moved.from, [1, 2]);
  assert.deepEqual([(await store.folder('INBOX'))?.total, (await store.folder('Trash'))?.total], [1, 2]);
  store.quotaBytes = 1;
  await assert.rejects(store.copy(trash.id, [...moved.to], inbox.id), (error) => {
    return error instanceof StoreRefused && error.refusal === 'over-quota';
  });
  assert.equal((await store.folder('INBOX'))?.total, 1);
});

test('watchers are woken by changes until they stop', async () => {
  const { store, inbox } = await filled();
  let woken = 0;
  const stop = store.watch(inbox.id, () => woken++);
  store.deliver('INBOX', 'Subject: four\n\n');
  stop();
  store.deliver('INBOX', 'Subject: five\n\n');
  assert.equal(woken, 1);
});

test('a search finds decoded text', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', 'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\nContent-Transfer-Encoding: base64\n\naGVsbG8=\n');
  const inbox = await store.folder('INBOX');
  assert.ok(inbox);
  const find = async (query: Parameters<MemoryStore['search']>[2]) => [
    ...(await store.search(inbox.id, Uint32Array.of(1), query)),
  ];
  assert.deepEqual(await find({ kind: 'envelope', field: 'subject', text: 'GRÜßE' }), [1]);
  assert.deepEqual(await find({ kind: 'body', text: 'HELLO' }), [1]);
  assert.deepEqual(await find({ kind: 'not', of: { kind: 'body', text: 'hello' } }), []);
});
