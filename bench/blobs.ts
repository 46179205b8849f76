/**
 * `npm run bench:blobs`: what contents of mail cost in PostgreSQL and in an object storage: space, log, time of moving and
 * of reading. The storage is versitygw on the same machine (`npm run versitygw`), so its times have no network.
 *
 * Options: `--contents <n>` (20,000) of `--bytes <n>` (20,000) each, which do not compress, as mail with attachments.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { blobObjectsOf } from '#core/platform/objects/blob-objects.ts';
import { readSettings } from '#core/platform/settings/settings.ts';
import type { BlobObjects } from '#db/blob-objects.ts';
import { type Database, openDatabase } from '#db/database.ts';
import type { Portion } from '#db/delete-portion.ts';
import { migrate } from '#db/migrate.ts';
import { startEmbeddedPostgres } from '#dev/launcher/embedded-postgres.ts';
import { blobKey, readBlob, storeBlob } from '#mailstore/blobs/blob-store.ts';
import { moveToObjects, moveToRows } from '#mailstore/blobs/move-blobs.ts';
import { startObjectStorage } from '#test/support/object-storage.ts';

const { values } = parseArgs({
  options: { contents: { type: 'string', default: '20000' }, bytes: { type: 'string', default: '20000' } },
});
const [contents, bytes] = [Number(values.contents), Number(values.bytes)];
const READS = 500;
const MILLION = 1_000_000;
const GB = 1e9;

const keys: Buffer[] = [];

async function measured(db: Database, what: string, work: () => Promise<void>): Promise<void> {
  const wal = async () =>
    (await db.query<{ at: number }>(`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as at`))[0]?.at ?? 0;
  const [before, start] = [await wal(), performance.now()];
  await work();
  const ms = performance.now() - start;
  const written = (await wal()) - before;
  console.log(
    `${what}: ${(ms / contents).toFixed(2)} ms and ${Math.round(written / contents)} bytes of log a content; a million: ${((ms * MILLION) / contents / 60_000).toFixed(0)} minutes`,
  );
}

async function space(db: Database, what: string): Promise<void> {
  await db.query('vacuum full blob');
  const [row] = await db.query<{ blob: number; objects: number }>(
    `select pg_total_relation_size('blob') as blob, pg_total_relation_size('blob_object') as objects`,
  );
  const of = (size: number): string =>
    `${Math.round(size / contents)} bytes a content, ${((size * MILLION) / contents / GB).toFixed(2)} GB a million`;
  console.log(`${what}: blob ${of(row?.blob ?? 0)}; blob_object ${of(row?.objects ?? 0)}`);
}

async function reads(db: Database, what: string): Promise<void> {
  const times: number[] = [];
  for (let n = 0; n < READS; n++) {
    const start = performance.now();
    await readBlob(db, keys[Math.floor((n * keys.length) / READS)] ?? Buffer.alloc(0), 0, bytes);
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  console.log(
    `${what}: read p50 ${times[READS / 2]?.toFixed(2)} ms, p99 ${times[Math.floor(READS * 0.99)]?.toFixed(2)} ms`,
  );
}

async function all(move: (after: string) => Promise<Portion>): Promise<void> {
  for (let [more, after] = [true, '']; more; ) {
    const portion = await move(after);
    [more, after] = [portion.more, portion.after ?? ''];
  }
}

async function measure(db: Database, objects: BlobObjects, files: () => string[]): Promise<void> {
  await measured(db, 'stored in PostgreSQL', async () => {
    for (let n = 0; n < contents; n++) {
      const content = randomBytes(bytes);
      const key = blobKey(content);
      keys.push(key);
      await storeBlob(db, key, content);
    }
  });
  await space(db, 'in PostgreSQL');
  await reads(db, 'in PostgreSQL');
  await measured(db, 'moved to the object storage', () => all(() => moveToObjects(db, objects, 0)));
  await space(db, 'in the object storage');
  const stored = files().reduce((sum, file) => sum + statSync(file).size, 0);
  console.log(`in the object storage: ${Math.round(stored / contents)} bytes an object`);
  await reads(db, 'in the object storage');
  await measured(db, 'moved back', () => all((after) => moveToRows(db, objects, after)));
}

const folder = mkdtempSync(path.join(tmpdir(), 'bench-blobs-'));
const [storage, postgres] = await Promise.all([
  startObjectStorage(),
  startEmbeddedPostgres({ folder: path.join(folder, 'postgres'), port: 0 }),
]);
try {
  const objects = blobObjectsOf(
    readSettings({ ...storage.settings, SECRETS_KEYS: `bench:${randomBytes(32).toString('base64')}` }),
  );
  if (objects === undefined) throw new Error('no object storage');
  const db = await openDatabase({ url: postgres.url, poolMax: 10, objects });
  try {
    await migrate(db);
    await measure(db, objects, storage.files);
  } finally {
    await db.close();
  }
} finally {
  await postgres.stop();
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
}
