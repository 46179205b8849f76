/** Contents outside the rows, in a real object storage: moved, read, collected, backed up; and what its faults cost. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { StoreUnavailable } from '@agent-mailbox/mail-store';
import { retentionStep } from '#activities/delete-history.ts';
import { erase, mailboxTarget } from '#administration/erasure/erase.ts';
import { openChunks, sealedRange, sealObject } from '#core/platform/objects/object-cipher.ts';
import { ObjectStoreError } from '#core/platform/objects/object-store-error.ts';
import { s3Store } from '#core/platform/objects/s3-store.ts';
import type { BlobObjects } from '#db/blob-objects.ts';
import { OBJECT_CHUNK_BYTES } from '#domain/mail/blob-storage.ts';
import { startBlobMover } from '#mailstore/blobs/blob-mover.ts';
import { type BlobSource, blobKey, readBlob, readMessageSlice, readMessages } from '#mailstore/blobs/blob-store.ts';
import { blobPlaces, moveToObjects, moveToRows, removeFreeObjects } from '#mailstore/blobs/move-blobs.ts';
import { checkFiles } from '#operations/backup/load-backup.ts';
import { writeBackup } from '#operations/backup/write-backup.ts';
import { type ObjectStorage, startObjectStorage } from '#test/support/object-storage.ts';
import { findProgram, needs } from '#test/support/programs.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { letter, openStoreWorld, type StoreMailbox, type StoreWorld } from '#test/support/store-world.ts';
import { type TcpProxy, tcpProxy } from '#test/support/tcp-proxy.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let storage: ObjectStorage;
let proxy: TcpProxy;
let world: StoreWorld;
let objects: BlobObjects;
let mailbox: StoreMailbox;
let prefix = '';
before(async () => {
  if (findProgram('versitygw') === undefined) return;
  storage = await startObjectStorage();
  proxy = await tcpProxy({ host: '127.0.0.1', port: Number(new URL(storage.url).port) });
});
after(async () => {
  await proxy?.close();
  await storage?.close();
});
// Each has a database of its own, and its own part of the bucket.
beforeEach(async () => {
  if (storage === undefined) return;
  prefix = `${randomBytes(4).toString('hex')}/`;
  const S3_ENDPOINT = `http://127.0.0.1:${proxy.port}`;
  world = await openStoreWorld({ settings: { ...storage.settings, S3_ENDPOINT, S3_PREFIX: prefix } });
  objects = world.services.db.objects ?? assert.fail('no object storage');
  mailbox = await world.newMailbox();
});
afterEach(() => world?.close());

const files = (): string[] => storage.files().filter((file) => file.includes(`/${prefix}`));

interface Stored {
  readonly id: string;
  readonly bytes: Buffer;
}

async function stored(size: number, word = 'words'): Promise<Stored> {
  const text = letter('Stored', '', `${word} ${randomBytes(size / 2).toString('hex')}\r\n`);
  const outcome = await world.deliver(mailbox, text);
  assert.equal(outcome.kind, 'delivered');
  const id = outcome.kind === 'delivered' ? (outcome.deliveries[0]?.messageId ?? '') : '';
  return { id, bytes: Buffer.from(text) };
}

async function moveAll(): Promise<number> {
  let moved = 0;
  for (let more = true; more; ) {
    const portion = await moveToObjects(world.services.db, objects, 0);
    moved += portion.done;
    more = portion.more;
  }
  return moved;
}

async function moveBack(): Promise<void> {
  for (let [more, from] = [true, '']; more; ) {
    const portion = await moveToRows(world.services.db, objects, from);
    [more, from] = [portion.more, portion.after ?? ''];
  }
}

const age = () => world.sql(`update blob_object set since = since - interval '2 hours' where state <> 'used'`);

async function assertReadable({ id, bytes }: Stored): Promise<void> {
  const { db } = world.services;
  assert.deepEqual(await readBlob(db, blobKey(bytes), 0, bytes.length), bytes);
  for (const [from, length] of [
    [0, 10],
    [bytes.length - 7, 100],
    [OBJECT_CHUNK_BYTES - 3, 9],
    [bytes.length, 5],
    [1, 100_000],
  ] as const)
    assert.deepEqual(
      await readMessageSlice(db, mailbox.id, id, from, length),
      bytes.subarray(from, from + length),
      `${from}, ${length}`,
    );
  assert.deepEqual((await readMessages(db, mailbox.id, [id], 1e9)).get(id), bytes);
}

test('contents are moved while they are read, encrypted, and moved back', needs('versitygw'), async () => {
  const all = [await stored(100, 'planted-word'), await stored(200_000, 'planted-word'), await stored(700_000)];
  assert.equal(await moveAll(), 3);
  const { rows, objects: outside } = await blobPlaces(world.services.db);
  assert.deepEqual([rows.blobs, outside.blobs], [0, 3]);
  for (const each of all) await assertReadable(each);
  assert.equal(files().length, 3);
  for (const file of files())
    for (const word of ['planted-word', blobKey(all[0]?.bytes ?? Buffer.alloc(0)).toString('hex')]) {
      assert.equal(readFileSync(file).includes(word), false, 'the storage can read a content');
      assert.equal(file.includes(word), false, 'the storage can recognize a content');
    }
  assert.deepEqual(await world.faults(), []);
  // The same content again shares the object.
  const again = await world.deliver(mailbox, all[1]?.bytes.toString() ?? '');
  assert.equal(again.kind, 'delivered');
  assert.equal(await moveAll(), 0);

  await moveBack();
  for (const each of all) await assertReadable(each);
  assert.equal(files().length, 3, 'removed while a reader may have looked it up');
  await age();
  await removeFreeObjects(world.services.db, objects);
  assert.deepEqual([files(), (await blobPlaces(world.services.db)).freeObjects], [[], 0]);
  assert.deepEqual(await world.faults(), []);
});

test('several processes move each content once', needs('versitygw'), async () => {
  for (let n = 0; n < 30; n++) await stored(50);
  const moved = await Promise.all([moveAll(), moveAll(), moveAll()]);
  await moveAll();
  const places = await blobPlaces(world.services.db);
  assert.equal(places.rows.blobs, 0);
  assert.ok(moved.reduce((sum, each) => sum + each, 0) <= 30);
  assert.equal(places.objects.blobs, 30);
  // One that came second may have written an object, which is free.
  const count = files().length;
  assert.ok(count >= 30 && count <= 30 + places.freeObjects, `${count} objects`);
});

test('what a killed process left is removed, and its content is moved again', needs('versitygw'), async () => {
  const { bytes } = await stored(1_000);
  const key = blobKey(bytes);
  const left = objects.newObject();
  await world.sql(`insert into blob_object (name, sha256, key_sealed, state) values ($1, $2, $3, 'writing')`, [
    left.name,
    key,
    left.keySealed,
  ]);
  await objects.write(left, key, bytes);
  assert.equal(await moveAll(), 0, 'another process may be moving it');
  await age();
  await removeFreeObjects(world.services.db, objects);
  assert.equal(files().length, 0);
  assert.equal(await moveAll(), 1);
});

test('an object goes with its content, also at once; while a backup reads, it stays', needs('versitygw'), async () => {
  const { id } = await stored(1_000);
  await moveAll();
  const count = files().length;
  await world.sql('delete from placement where message_id = $1', [id]);
  const [row] = await world.sql('delete from message where id = $1 returning blob', [id]);
  await world.sql('delete from blob where sha256 = $1', [row?.['blob']]);
  await removeFreeObjects(world.services.db, objects);
  assert.equal(files().length, count, 'removed in the hour in which a reader may need it');
  await age();
  await world.services.db.transaction(async (sql) => {
    await sql.query(`select pg_advisory_xact_lock_shared(hashtext('agent-mailbox'), hashtext('backup'))`);
    await retentionStep(world.services, { step: 'blobs' }, { heartbeat() {}, isEnding: () => false });
    assert.equal(files().length, count, 'removed while a backup reads');
  });
  await retentionStep(world.services, { step: 'blobs' }, { heartbeat() {}, isEnding: () => false });
  assert.equal(files().length, count - 1);

  const erased = await stored(1_000);
  await moveAll();
  await world.sql('delete from placement where message_id = $1', [erased.id]);
  await world.sql('delete from message where id = $1', [erased.id]);
  await world.sql('delete from blob where sha256 = $1', [blobKey(erased.bytes)]);
  await removeFreeObjects(world.services.db, objects, true);
  assert.equal(files().length, count - 1);
});

test('a deletion in the middle of a move leaves nothing behind', needs('versitygw'), async () => {
  const before = files().length;
  const { id, bytes } = await stored(1_000);
  const interrupted: BlobObjects = {
    ...objects,
    async write(object, sha256, content) {
      await objects.write(object, sha256, content);
      await world.sql('delete from placement where message_id = $1', [id]);
      await world.sql('delete from message where id = $1', [id]);
      await world.sql('delete from blob where sha256 = $1', [blobKey(bytes)]);
    },
  };
  await moveToObjects(world.services.db, interrupted, 0);
  await age();
  await removeFreeObjects(world.services.db, objects);
  assert.equal(files().length, before);
});

test(
  'while the storage is away mail is accepted and kept, and what is there cannot be read for now',
  needs('versitygw'),
  async () => {
    const there = await stored(1_000);
    await moveAll();
    proxy.cut();
    const here = await stored(1_000);
    await assert.rejects(moveAll(), ObjectStoreError);
    await assertReadable(here);
    await assert.rejects(readBlob(world.services.db, blobKey(there.bytes), 0, 100), StoreUnavailable);
    proxy.restore();
    await assertReadable(there);
    assert.equal(await moveAll(), 1);
    await assertReadable(here);
  },
);

test(
  'a content that was changed in the storage is an error, and a finding of the invariants',
  needs('versitygw'),
  async () => {
    const { bytes } = await stored(1_000);
    await moveAll();
    const [row] = await world.sql('select object from blob where sha256 = $1', [blobKey(bytes)]);
    const store = s3Store(settingsOf(storage), 1);
    const name = String(row?.['object']);
    const sealed = await store.get(name, 0, bytes.length + 16);
    sealed[5] = (sealed[5] ?? 0) ^ 1;
    await store.put(name, sealed);
    await assert.rejects(readBlob(world.services.db, blobKey(bytes), 0, 100), /was changed in the object storage/);
    assert.match((await world.faults()).join('\n'), /was changed in the object storage/);
    sealed[5] = (sealed[5] ?? 0) ^ 1;
    await store.put(name, sealed);
    assert.deepEqual(await world.faults(), []);
  },
);

test('a backup has the contents of both places', needs('versitygw'), async () => {
  await stored(3_000);
  await moveAll();
  await stored(3_000);
  const folder = mkdtempSync(path.join(tmpdir(), 'backup-'));
  const url = world.services.settings.DATABASE_URL ?? '';
  try {
    await assert.rejects(writeBackup({ url, folder, productVersion: '1' }), /Set S3_ENDPOINT/);
    const { manifest } = await writeBackup({ url, folder, objects, productVersion: '1' });
    const { rows, objects: outside } = await blobPlaces(world.services.db);
    assert.equal(manifest.blobs.count, rows.blobs + outside.blobs);
    assert.deepEqual(manifest.blobs.damaged, []);
    assert.deepEqual(await checkFiles(folder, manifest), []);
    const list = manifest.tables.find(({ table }) => table === 'blob');
    assert.equal(
      list?.columns.includes('object'),
      false,
      'a restore would look for the objects of another installation',
    );
    assert.equal(
      manifest.tables.some(({ table }) => table === 'blob_object'),
      false,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a content that comes back into its row while it is read is read whole', needs('versitygw'), async () => {
  const { id, bytes } = await stored(200_000);
  const { db } = world.services;
  const racing = (): BlobSource => {
    let raced = false;
    return {
      objects,
      copyRows: db.copyRows,
      async query(text, values) {
        if (!raced && text.includes('blob_object')) {
          raced = true;
          await moveBack();
        }
        return db.query(text, values);
      },
    };
  };
  for (const read of [
    () => readBlob(racing(), blobKey(bytes), 0, 100),
    () => readBlob(racing(), blobKey(bytes), 0, bytes.length),
    async () => (await readMessages(racing(), mailbox.id, [id], 1e9)).get(id) ?? Buffer.alloc(0),
  ]) {
    await moveAll();
    const found = await read();
    assert.ok(found.length > 0, 'a content that is there was not found');
    assert.deepEqual(found, bytes.subarray(0, found.length));
  }
});

test('an erasure takes the object with its mail', needs('versitygw'), async () => {
  await stored(1_000, 'erased');
  await moveAll();
  assert.equal(files().length, 1);
  const { services } = world;
  const options = { backups: undefined, onPortion() {}, despiteHolds: false };
  const { statement } = await erase(services, await mailboxTarget(services.db, mailbox.id), options);
  assert.equal(statement.counts['blob'], 1);
  assert.deepEqual(files(), []);
});

test('an operator moves all contents there and back, and sees where they are', needs('versitygw'), async () => {
  await stored(1_000);
  const { DATABASE_URL = '', DATA_DIR, SECRETS_KEYS = [] } = world.services.settings;
  const keys = SECRETS_KEYS.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(',');
  const environment = { ...storage.settings, S3_PREFIX: prefix, DATABASE_URL, DATA_DIR, SECRETS_KEYS: keys };
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runAdmin([...args, '--json'], { environment });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  assert.equal((await run('blobs', 'move', 's3')).moved, 1);
  assert.equal((await run('blobs', 'status')).objects.blobs, 1);
  assert.equal((await run('blobs', 'move', 's3')).moved, 0);
  assert.equal((await run('blobs', 'move', 'postgresql')).rows.blobs, 1);
  const without = await runAdmin(['blobs', 'move', 's3'], { environment: { DATABASE_URL, DATA_DIR } });
  assert.equal(without.code, 1);
  assert.match(without.stderr, /S3_ENDPOINT/);
});

test('with BLOB_STORE=s3 the service moves contents by itself', needs('versitygw'), async () => {
  const { settings } = world.services;
  const services = { ...world.services, settings: { ...settings, BLOB_STORE: 's3' as const } };
  await stored(1_000);
  await world.sql(`update blob set created_at = now() - interval '2 minutes'`);
  const mover = startBlobMover(services);
  await waitUntil('it is moved', () => files().length === 1);
  await mover.close();
  assert.equal((await blobPlaces(services.db)).objects.blobs, 1);
});

const settingsOf = ({ url, settings }: ObjectStorage) => ({
  endpoint: url,
  region: 'us-east-1',
  bucket: settings['S3_BUCKET'] ?? '',
  prefix,
  accessKeyId: settings['S3_ACCESS_KEY_ID'] ?? '',
  secretAccessKey: settings['S3_SECRET_ACCESS_KEY'] ?? '',
});

test('a wrong key of the storage is an error that shows its answer', needs('versitygw'), async () => {
  const store = s3Store({ ...settingsOf(storage), secretAccessKey: 'wrong' }, 1);
  await assert.rejects(store.put('x', Buffer.from('x')), /answered 403: .*SignatureDoesNotMatch/);
});

/** A server that answers as it should not. */
async function answering(listener: RequestListener, work: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  try {
    await work(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
const fakeStore = (endpoint: string) =>
  s3Store({ endpoint, region: 'us-east-1', bucket: 'b', prefix: '', accessKeyId: 'a', secretAccessKey: 's' }, 1);

test('wrong answers are errors: too few bytes, too many, no range, cut connections; failures are tried again', async () => {
  const cases: Readonly<Record<string, RequestListener>> = {
    'it sent 3 of 10 bytes': (_, response) => void response.writeHead(206).end('abc'),
    'it sent more than the 10 bytes': (_, response) => void response.writeHead(206).end('x'.repeat(1_000)),
    'answered 200': (_, response) => void response.writeHead(200).end('0123456789'),
    'has no object': (_, response) => void response.writeHead(404).end(),
    'terminated|fetch failed': (_, response) => {
      response.writeHead(206, { 'content-length': '10' });
      response.write('abc');
      response.socket?.destroy();
    },
  };
  for (const [message, listener] of Object.entries(cases))
    await answering(listener, async (url) => {
      await assert.rejects(fakeStore(url).get('x', 0, 10), new RegExp(message), message);
    });
  let asked = 0;
  await answering(
    (_, response) => {
      asked++;
      if (asked < 3) response.writeHead(503).end();
      else response.writeHead(206).end('0123456789');
    },
    async (url) => {
      assert.equal((await fakeStore(url).get('x', 0, 10)).toString(), '0123456789');
    },
  );
  assert.equal(asked, 3);
});

test('chunks of an object cannot be cut, exchanged or taken from another one', () => {
  const key = randomBytes(32);
  const bytes = randomBytes(2 * OBJECT_CHUNK_BYTES + 10);
  const content = { sha256: blobKey(bytes), size: bytes.length };
  const sealed = sealObject(key, content.sha256, bytes);
  assert.deepEqual(openChunks(key, content, 0, sealed), bytes);
  const range = sealedRange(content, OBJECT_CHUNK_BYTES + 1, 5);
  const part = sealed.subarray(range.from, range.from + range.length);
  assert.deepEqual(
    openChunks(key, content, range.firstChunk, part).subarray(1, 6),
    bytes.subarray(OBJECT_CHUNK_BYTES + 1, OBJECT_CHUNK_BYTES + 6),
  );
  const cut = sealed.subarray(0, sealed.length - 1);
  const exchanged = Buffer.concat([
    sealed.subarray(range.from, range.from + range.length),
    sealed.subarray(0, range.from),
  ]);
  for (const wrong of [cut, exchanged]) assert.throws(() => openChunks(key, content, 0, wrong));
  assert.throws(() => openChunks(key, { ...content, size: content.size + 1 }, 0, sealed));
  assert.throws(() => openChunks(key, { ...content, sha256: blobKey(Buffer.from('other')) }, 0, sealed));
  assert.deepEqual(
    openChunks(
      key,
      { sha256: blobKey(Buffer.alloc(0)), size: 0 },
      0,
      sealObject(key, blobKey(Buffer.alloc(0)), Buffer.alloc(0)),
    ),
    Buffer.alloc(0),
  );
});
