import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WRITE_BATCH_MAX_BYTES, WRITE_BATCH_MAX_MESSAGES } from '#domain/mail/mail-limits.ts';
import { type BatchItem, writeBatcher } from '#mailstore/delivery/write-delivery.ts';

interface Item extends BatchItem {
  readonly name: string;
}
const item = (name: string, mailboxIds: readonly string[] = ['a'], bytes = 1): Item => ({ name, mailboxIds, bytes });

/** A batcher whose transactions end when the test says so. */
function held() {
  const running: { items: readonly Item[]; finish: () => void; fail: (error: Error) => void }[] = [];
  const batcher = writeBatcher<Item, string>(
    (items) =>
      new Promise((resolve, reject) => {
        const finish = () => resolve(items.map(({ name }) => `done ${name}`));
        running.push({ items, finish, fail: reject });
      }),
  );
  const names = () => running.map(({ items }) => items.map(({ name }) => name).join(' '));
  return { batcher, running, names };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the write batch', () => {
  it('writes at once when idle, and gathers writes that arrive meanwhile', async () => {
    const { batcher, running, names } = held();
    const first = batcher.add(item('1'));
    const more = [batcher.add(item('2')), batcher.add(item('3'))];
    assert.deepEqual(names(), ['1']);
    running[0]?.finish();
    assert.equal(await first, 'done 1');
    await settled();
    assert.deepEqual(names(), ['1', '2 3']);
    running[1]?.finish();
    assert.deepEqual(await Promise.all(more), ['done 2', 'done 3']);
    await batcher.idle();
  });
  it('lets other mailboxes pass one that is being written, never a mailbox itself', async () => {
    const { batcher, running, names } = held();
    void batcher.add(item('a1', ['a']));
    void batcher.add(item('a2', ['a']));
    void batcher.add(item('b1', ['b']));
    assert.deepEqual(names(), ['a1', 'b1']);
    running[1]?.finish();
    await settled();
    assert.deepEqual(names(), ['a1', 'b1'], 'a2 waits for a1');
    running[0]?.finish();
    await settled();
    assert.deepEqual(names(), ['a1', 'b1', 'a2']);
  });
  it('sends a write over several mailboxes alone, and nothing of them overtakes it', async () => {
    const { batcher, running, names } = held();
    void batcher.add(item('a1', ['a']));
    void batcher.add(item('both', ['a', 'b']));
    void batcher.add(item('b1', ['b']));
    assert.deepEqual(names(), ['a1']);
    running[0]?.finish();
    await settled();
    assert.deepEqual(names(), ['a1', 'both']);
    running[1]?.finish();
    await settled();
    assert.deepEqual(names(), ['a1', 'both', 'b1']);
  });
  it('keeps to 64 messages and 4 MiB', async () => {
    const { batcher, running } = held();
    void batcher.add(item('first'));
    for (let i = 0; i < WRITE_BATCH_MAX_MESSAGES + 5; i++) void batcher.add(item(`m${i}`));
    running[0]?.finish();
    await settled();
    assert.equal(running[1]?.items.length, WRITE_BATCH_MAX_MESSAGES);
    const large = held();
    void large.batcher.add(item('first'));
    for (let i = 0; i < 3; i++) void large.batcher.add(item(`l${i}`, ['a'], WRITE_BATCH_MAX_BYTES / 2));
    large.running[0]?.finish();
    await settled();
    assert.equal(large.running[1]?.items.length, 2);
  });
  it('repeats a failed batch one by one, so that only the bad one fails', async () => {
    const batcher = writeBatcher<Item, string>(async (items) => {
      await settled();
      if (items.some(({ name }) => name === 'bad')) throw new Error('bad one');
      return items.map(({ name }) => name);
    });
    const results = await Promise.allSettled(['x', 'good', 'bad', 'fine'].map((name) => batcher.add(item(name))));
    assert.deepEqual(
      results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed')),
      ['x', 'good', 'failed', 'fine'],
    );
  });
});
