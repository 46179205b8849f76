import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReadingBusy, readingThreads } from '#mailstore/reading/reading-threads.ts';
import { readMessage } from '#mime/read-message.ts';

const HOSTILE = new URL('./hostile-thread.ts', import.meta.url);
const LIMITS = { threads: 1, cpuMs: 100, wallMs: 60_000, startMs: 60_000, heapMib: 64, waitingBytes: 1_000_000 };
const letter = (subject: string, html = '<p>Hello') =>
  Buffer.from(`From: Ann <ann@example.com>\nSubject: ${subject}\nContent-Type: text/html\n\n${html}\n`);

describe('reading in a thread', () => {
  it('gives the same result as reading in the process', async () => {
    const threads = readingThreads();
    const bytes = letter(
      'Code',
      '<h1>aBc</h1><table><tr><td>Code<td>123456</table><a href="https://a.example/x">Go</a>',
    );
    assert.deepEqual(await threads.read(bytes, 'a'), readMessage(bytes));
    await threads.close();
  });

  it('reads a window on a larger buffer, and leaves that as it is', async () => {
    const threads = readingThreads();
    const around = Buffer.concat([Buffer.from('before'), letter('Window'), Buffer.from('after')]);
    const read = await threads.read(around.subarray(6, -5), 'a');
    assert.equal(read?.subject, 'Window');
    assert.equal(around.toString('latin1', 0, 6), 'before');
    await threads.close();
  });

  it('ends a thread that a message keeps busy, keeps the structure of that message, and continues', async () => {
    const threads = readingThreads(LIMITS, HOSTILE);
    const [frozen, next] = await Promise.all([threads.read(letter('freeze'), 'a'), threads.read(letter('next'), 'a')]);
    assert.equal(frozen?.subject, 'freeze');
    assert.deepEqual([frozen.content.status, frozen.content.text, frozen.preview], ['failed', '', '']);
    assert.ok(Buffer.isBuffer(frozen.envelope));
    assert.deepEqual([next?.content.status, next?.content.text], ['ok', 'Hello']);
    await threads.close();
  });

  it('says so where not even the structure can be read', async () => {
    const threads = readingThreads(LIMITS, HOSTILE);
    assert.equal(await threads.read(letter('freeze at once'), 'a'), undefined);
    assert.equal((await threads.read(letter('next'), 'a'))?.content.status, 'ok');
    await threads.close();
  });

  it('keeps the process running when a message uses all memory of a thread, or ends the thread', async () => {
    const threads = readingThreads({ ...LIMITS, cpuMs: 60_000 }, HOSTILE);
    for (const subject of ['grow', 'exit', 'grow'])
      assert.equal((await threads.read(letter(subject), 'a'))?.content.status, 'failed', subject);
    assert.equal((await threads.read(letter('next'), 'a'))?.content.status, 'ok');
    await threads.close();
  });

  it('refuses what would wait beyond the bound, and takes it again later', async () => {
    const threads = readingThreads({ ...LIMITS, waitingBytes: 200 }, HOSTILE);
    const first = threads.read(letter('first'), 'a');
    const larger = threads.read(letter('larger', 'x'.repeat(300)), 'a');
    await assert.rejects(threads.read(letter('last'), 'b'), ReadingBusy);
    for (const read of await Promise.all([first, larger])) assert.equal(read?.content.status, 'ok');
    assert.equal((await threads.read(letter('last'), 'b'))?.subject, 'last');
    await threads.close();
  });

  it('charges no message with the start of its thread', async () => {
    const threads = readingThreads(LIMITS, HOSTILE);
    assert.equal((await threads.read(letter('first'), 'a'))?.content.status, 'ok');
    await threads.close();
  });

  it('ends a thread that waits without using the processor, by wall time', async () => {
    const threads = readingThreads({ ...LIMITS, cpuMs: 60_000, wallMs: 300 }, HOSTILE);
    assert.equal((await threads.read(letter('sleep'), 'a'))?.content.status, 'failed');
    assert.equal((await threads.read(letter('next'), 'a'))?.content.status, 'ok');
    await threads.close();
  });

  it('gives up a thread that never starts, and continues', async () => {
    const threads = readingThreads({ ...LIMITS, startMs: 1 }, HOSTILE);
    assert.equal(await threads.read(letter('first'), 'a'), undefined);
    assert.equal(await threads.read(letter('second'), 'a'), undefined);
    await threads.close();
  });

  it('does not delay the others while one freezes', async () => {
    const threads = readingThreads({ ...LIMITS, threads: 2, cpuMs: 1_000 }, HOSTILE);
    const order: string[] = [];
    const read = async (subject: string) => {
      await threads.read(letter(subject), 'a');
      order.push(subject);
    };
    await Promise.all([read('freeze'), ...Array.from({ length: 20 }, (_, i) => read(`letter ${i}`))]);
    assert.equal(order.at(-1), 'freeze');
    await threads.close();
  });

  it('lets the message of one source wait for one of another that floods, not for all of its messages', async () => {
    const threads = readingThreads(LIMITS, HOSTILE);
    const order: string[] = [];
    const read = async (subject: string, source: string) => {
      await threads.read(letter(subject), source);
      order.push(subject);
    };
    const flood = Array.from({ length: 6 }, (_, i) => read(i === 0 ? 'freeze' : `flood ${i}`, '203.0.113.7'));
    await Promise.all([...flood, read('one', '198.51.100.1'), read('two', 'mailbox')]);
    assert.deepEqual(order, ['freeze', 'flood 1', 'one', 'two', 'flood 2', 'flood 3', 'flood 4', 'flood 5']);
    await threads.close();
  });
});
