import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Services } from '#core/platform/process/services.ts';
import type { CopyValue } from '#db/copy-rows.ts';
import { blobKey, readBlob, storeBlob, streamBlob } from '#mailstore/blobs/blob-store.ts';
import { openTestServices } from '#test/support/services.ts';

let services: Services;
before(async () => {
  services = await openTestServices();
});
after(() => services?.close());

async function copied(text: string, values: readonly CopyValue[] = []): Promise<(Buffer | null)[][]> {
  const rows: (Buffer | null)[][] = [];
  await services.db.copyRows(text, values, (fields) => rows.push(fields.map((field) => field && Buffer.from(field))));
  return rows;
}

test('fields are returned as stored bytes, whatever they contain', async () => {
  const bytes = Buffer.concat([Buffer.from([0, 0xff, 0x80, 0x5c]), randomBytes(300_000)]);
  assert.deepEqual(await copied('select $1, null::bytea, $2::int4', [bytes, -7]), [
    [bytes, null, Buffer.from([255, 255, 255, 249])],
  ]);
  assert.deepEqual(await copied('select 1 where false'), []);
  assert.equal((await copied('select n from generate_series(1, $1) as n', [5_000])).length, 5_000);
});

test('a value is never read as part of the statement', async () => {
  const hostile = [`'); drop table blob; --`, `\\'; select 1`, '$1 $2', `E'\\x41'`, ''];
  const rows = await copied('select $2, each from unnest($1) as each order by each = any(array[$2])', [
    hostile,
    hostile[1] ?? '',
  ]);
  assert.deepEqual(new Set(rows.map(([, each]) => each?.toString())), new Set(hostile));
  assert.ok(rows.every(([value]) => value?.toString() === hostile[1]));
  await assert.rejects(copied('select $1', [1.5]), TypeError);
  await assert.rejects(copied('select $2', ['one']), TypeError);
});

test('a statement that fails, and a reader that throws, leave connections that serve others', async () => {
  await assert.rejects(copied('select 1/0'), /division by zero/);
  await assert.rejects(
    services.db.copyRows('select n from generate_series(1, 10000) as n', [], () => {
      throw new Error('enough');
    }),
    /enough/,
  );
  const all = await Promise.all(Array.from({ length: 30 }, (_, i) => copied('select $1', [i])));
  assert.ok(all.every((rows) => rows.length === 1));
  assert.equal(services.db.pool.idleCount, services.db.pool.totalCount);
});

test('any range of a blob has the right bytes, across slices and pieces, and is short at its end', async () => {
  const bytes = randomBytes(1_300_001);
  const key = blobKey(bytes);
  await storeBlob(services.db, key, bytes);
  const ranges = [0, 1, 32_768, 32_769, 61_440, 61_441, 524_288, 524_289, bytes.length - 1].flatMap((from) =>
    [1, 32_768, 32_769, 61_441, 524_288, 600_000, bytes.length].map((length) => [from, length] as const),
  );
  for (const [from, length] of ranges) {
    const read = await readBlob(services.db, key, from, length);
    assert.ok(read.equals(bytes.subarray(from, from + length)), `${length} bytes from ${from}`);
  }
  assert.equal((await readBlob(services.db, key, bytes.length, 100_000)).length, 0);
  assert.equal((await readBlob(services.db, randomBytes(32), 0, 100_000)).length, 0);
  const streamed: Buffer[] = [];
  for await (const chunk of streamBlob(services.db, key, 10, bytes.length)) streamed.push(chunk);
  assert.ok(Buffer.concat(streamed).equals(bytes.subarray(10)));
});
