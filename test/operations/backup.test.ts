/** Backup, verification and restore of a database, without a running service. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir, uptime } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newId } from '#core/platform/new-id.ts';
import { requireAgreedSettings } from '#core/platform/settings/agreed-settings.ts';
import { connect, newConnection } from '#db/connections.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { BACKUP_LOCK, migrate } from '#db/migrate.ts';
import { createPartitions } from '#db/partitions.ts';
import { changesKept } from '#mailstore/changes/read-changes.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { type BackupManifest, beginBackup, manifestPath, readManifest } from '#operations/backup/backup-folder.ts';
import { blobPath } from '#operations/backup/blob-files.ts';
import { readRecordedEnds } from '#operations/backup/credentials.ts';
import { loadBackup } from '#operations/backup/load-backup.ts';
import { restoreBackup, verifyBackup } from '#operations/backup/restore-backup.ts';
import { readSecrets } from '#operations/backup/secrets.ts';
import { BACKED_UP_TABLES, LEFT_OUT_TABLES } from '#operations/backup/tables.ts';
import { writeBackup } from '#operations/backup/write-backup.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { createEmptyDatabase, type TestDatabase } from '#test/support/services.ts';
import { letter, openStoreWorld, type StoreMailbox, type StoreWorld, spooled } from '#test/support/store-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { readRecord, recordedVersions } from '#test/upgrade/record-format.ts';
import { restoreRows } from '#test/upgrade/recorded-rows.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let world: StoreWorld;
let mailbox: StoreMailbox;
let folder: string;
let url: string;
const databases: TestDatabase[] = [];

before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'backup-'));
  world = await openStoreWorld();
  url = world.services.settings.DATABASE_URL ?? '';
  mailbox = await world.newMailbox();
  for (let n = 0; n < 30; n++) await world.deliver(mailbox, letter(`Mail ${n}`, '', `Body ${n}.\r\n`.repeat(50)));
  await waitUntil('their texts', async () => (await world.sql('select 1 from message_text')).length === 30);
  await waitUntil('their passages', async () => (await world.sql('select 1 from carried_mail')).length === 30);
  await world.sql(
    `insert into installation_setting (name, value) values ('TEMPORAL_ADDRESS', 'there:7233'), ('TEMPORAL_NAMESPACE_ID', 'x')`,
  );
});

after(async () => {
  for (const database of databases) await database.drop();
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

let named = 0;
const newFolder = (): string => path.join(folder, `backup-${++named}`);
const backUp = (at: string, since?: string) => writeBackup({ url, folder: at, since, productVersion: '9.9.9' });

async function emptyDatabase(): Promise<string> {
  const database = await createEmptyDatabase();
  databases.push(database);
  return database.url;
}

const LEAVE = { holdOutgoing: false, endKinds: [], recorded: [], endRecorded: false } as const;

async function restored(
  at: string,
  into?: string,
  now = new Date(),
): Promise<{ url: string; db: Database; close(): Promise<void> }> {
  const target = into ?? (await emptyDatabase());
  await restoreBackup({ url: target, folder: at, manifest: await readManifest(at), now, ...LEAVE });
  const db = await openDatabase({ url: target, poolMax: 1 });
  return { url: target, db, close: () => db.close() };
}

/** All rows of a table in one hash. */
const hashOf = async (db: Pick<Database, 'query'>, table: string): Promise<unknown> =>
  (
    await db.query(`select count(*)::int as n, md5(string_agg(t::text, ',' order by t::text)) as hash from ${table} t`)
  )[0];

test('every table of the schema is either backed up, or left out with a reason', async () => {
  const rows = await world.sql<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  const listed = [...BACKED_UP_TABLES, ...Object.keys(LEFT_OUT_TABLES)];
  assert.deepEqual(listed.toSorted(), rows.map(({ name }) => name).toSorted());
});

/** Renewed or forgotten by a restore; what has an entry in the log of changes is emptied. */
const CHANGED = new Set([
  'folder',
  'mailbox_counter',
  'change_log',
  'decision_log',
  'expunged',
  'installation_setting',
]);

describe('a backup', () => {
  let first: string;
  let manifest: BackupManifest;
  before(async () => {
    first = newFolder();
    ({ manifest } = await backUp(first));
  });

  test('is restored with every row of every table, and the invariants hold', async () => {
    const there = await restored(first);
    try {
      for (const table of BACKED_UP_TABLES.filter((name) => !CHANGED.has(name)))
        assert.deepEqual(await hashOf(there.db, table), await hashOf(world.services.db, table), table);
      for (const { rule, atFault, examples } of await checkMailStore(there.db, { all: true }))
        assert.equal(atFault, 0, `${rule}: ${examples.join()}`);
      const settings = await there.db.query<{ name: string }>('select name from installation_setting');
      assert.deepEqual(
        settings.map(({ name }) => name),
        ['RESTORE'],
      );
      // Foreign keys, indexes and triggers are back.
      const objects = (db: Database) =>
        db.query(
          `select 'index' as kind, indexname::text as name, replace(indexdef, ' ON ONLY ', ' ON ') as definition from pg_indexes where schemaname = 'public' and tablename not similar to '%(_default|2026%)'
           union all select 'constraint', conname::text, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace and contype in ('f', 'p', 'u') and conparentid = 0
           union all select 'trigger', tgname::text, tgenabled::text from pg_trigger where not tgisinternal and tgparentid = 0 order by 1, 2, 3`,
        );
      assert.deepEqual(await objects(there.db), await objects(world.services.db));
    } finally {
      await there.close();
    }
  });

  test('gives no UID, change or folder id a second time, in whatever restore', async () => {
    const folders = (db: Pick<Database, 'query'>) =>
      db.query<{ name: string; uid_validity: number; modseq: number }>(
        `select name, uid_validity::float8, modseq::float8 from folder where mailbox_id = $1 order by id`,
        [mailbox.id],
      );
    const before = await folders(world.services.db);
    const [counter] = await world.sql<{ seq: number }>('select change_seq::float8 as seq from mailbox_counter');
    const now = new Date();
    const [one, other] = [await restored(first, undefined, now), await restored(first, undefined, now)];
    try {
      // The lost database goes on after the backup, with folders, mail and changes.
      await mailbox.store.createFolder('After the backup', null);
      await world.deliver(mailbox, letter('After the backup'));
      const [lost] = await world.sql<{ seq: number }>('select change_seq::float8 as seq from mailbox_counter');
      const given = new Set([...before, ...(await folders(world.services.db))].map((each) => each.uid_validity));
      for (const { db } of [one, other]) {
        const renewed = await folders(db);
        assert.equal(renewed.length, before.length);
        for (const [at, each] of renewed.entries()) {
          assert.ok(!given.has(each.uid_validity), `${each.name} has a UIDVALIDITY of before`);
          assert.ok(each.modseq > (before[at]?.modseq ?? 0) + 1_000);
          given.add(each.uid_validity);
        }
        for (const seen of [counter?.seq ?? 0, lost?.seq ?? 0])
          assert.equal(await changesKept(db, mailbox.id, seen), 'too-old', 'a stream of before would miss changes');
        const [ids] = await db.query<{ next: number }>(
          `select nextval(pg_get_serial_sequence('folder', 'id'))::float8 as next`,
        );
        const [max] = await world.sql<{ max: number }>('select max(id)::float8 as max from folder');
        assert.ok((ids?.next ?? 0) > (max?.max ?? 0));
      }
    } finally {
      await one.close();
      await other.close();
    }
  });

  test('as an increment shares what is known, has what is new, and not what was deleted', async () => {
    const [newest] = await world.sql<{ sha256: string }>(
      `select encode(sha256, 'hex') as sha256 from blob order by created_at limit 1`,
    );
    const { message } = await (async () => {
      const { uids } = await mailbox.store.append(mailbox.inbox.id, [spooled(letter('Only for a moment'))]);
      return { message: uids[0] ?? 0 };
    })();
    const second = newFolder();
    const { blobs } = await backUp(second, first);
    assert.equal(blobs.shared, manifest.blobs.count);
    assert.ok(blobs.written >= 1);
    const sharedFile = blobPath(second, newest?.sha256 ?? '');
    assert.equal(statSync(sharedFile).ino, statSync(blobPath(first, newest?.sha256 ?? '')).ino);
    const gone = await world.sql<{ sha256: string }>(
      `with p as (delete from placement where folder_id = $1 and uid = $2 returning message_id),
            s as (delete from placement_state where folder_id = $1 and uid = $2)
       select encode(m.blob, 'hex') as sha256 from p join message m on m.id = p.message_id`,
      [mailbox.inbox.id, message],
    );
    const sha256 = gone[0]?.sha256 ?? assert.fail('nothing was deleted');
    assert.ok(existsSync(blobPath(second, sha256)));
    await world.sql(`delete from message where blob = decode($1, 'hex')`, [sha256]);
    await world.sql(`delete from blob where sha256 = decode($1, 'hex')`, [sha256]);
    await world.sql(
      `with counted as (
         update folder f set total = (select count(*) from placement where folder_id = f.id),
                unseen = (select count(*) from placement_state where folder_id = f.id and flags & 1 = 0),
                bytes = (select coalesce(sum(size), 0) from placement where folder_id = f.id) where id = $1)
       update mailbox_counter c set messages = messages - 1,
              bytes_used = (select sum(p.size) from placement p join folder f on f.id = p.folder_id where f.mailbox_id = c.mailbox_id)
        where mailbox_id = $2`,
      [mailbox.inbox.id, mailbox.id],
    );
    const third = newFolder();
    await backUp(third, second);
    assert.ok(!existsSync(blobPath(third, sha256)), 'deleted content is in a later backup');
    rmSync(second, { recursive: true });
    const there = await restored(third);
    await there.close();
  });

  test('with content that is damaged in the database is restored as it is, and so is an increment', async () => {
    const [damaged] = await world.sql<{ key: string; bytes: Buffer }>(
      `select encode(sha256, 'hex') as key, bytes from blob order by created_at desc limit 1`,
    );
    const write = (bytes: Buffer | undefined) =>
      world.sql('update blob set bytes = $2 where sha256 = decode($1, $$hex$$)', [damaged?.key, bytes]);
    await write(Buffer.concat([damaged?.bytes.subarray(1) ?? Buffer.alloc(0), Buffer.from('x')]));
    const [full, increment] = [newFolder(), newFolder()];
    try {
      assert.deepEqual((await backUp(full)).manifest.blobs.damaged, [damaged?.key]);
      assert.deepEqual((await backUp(increment, full)).manifest.blobs.damaged, [damaged?.key]);
      for (const at of [full, increment]) await (await restored(at)).close();
    } finally {
      await write(damaged?.bytes);
    }
    // What the database has whole again is taken from there.
    const whole = newFolder();
    assert.deepEqual((await backUp(whole, increment)).manifest.blobs.damaged, []);
    await (await restored(whole)).close();
  });

  test('is refused by name when a file is damaged or missing, and nothing is loaded', async () => {
    const broken = newFolder();
    const [blob] = await world.sql<{ sha256: string }>(
      `select encode(sha256, 'hex') as sha256 from blob order by created_at limit 1`,
    );
    const target = await emptyDatabase();
    const attempts: [damage: (at: string) => void, message: RegExp][] = [
      [(at) => flip(path.join(at, 'tables/message.copy.zst')), /tables\/message\.copy\.zst is damaged/],
      [(at) => rmSync(path.join(at, 'tables/members.copy.zst')), /tables\/members\.copy\.zst is missing/],
      [(at) => flip(blobPath(at, blob?.sha256 ?? '')), /blobs\/.*\.zst is damaged/],
      [(at) => rmSync(blobPath(at, blob?.sha256 ?? '')), /blobs\/.*\.zst is missing/],
      [(at) => change(manifestPath(at), '"rows": 30', '"rows": 31'), /manifest\.json is damaged or was changed/],
      [(at) => rmSync(manifestPath(at)), /is no backup: it has no manifest/],
    ];
    for (const [damage, message] of attempts) {
      cpSync(first, broken, { recursive: true });
      damage(broken);
      await assert.rejects(restored(broken, target), message);
      rmSync(broken, { recursive: true });
    }
    const db = await openDatabase({ url: target, poolMax: 1 });
    try {
      assert.deepEqual(await db.query('select 1 from organizations'), []);
    } finally {
      await db.close();
    }
    // What was refused before does not stand in the way of a whole backup.
    await (await restored(first, target)).close();
  });

  test('of a newer format, or with migrations of a later version, names that version', async () => {
    const target = await emptyDatabase();
    const newer = newFolder();
    cpSync(first, newer, { recursive: true });
    change(manifestPath(newer), '"formatVersion": 1', '"formatVersion": 2');
    await assert.rejects(restored(newer, target), /made by version 9\.9\.9 in a newer format/);
    const later = { ...manifest, migrations: [...manifest.migrations, 'Migration20991231000001_of_the_future'] };
    await assert.rejects(
      restoreBackup({ url: target, folder: first, manifest: later, now: new Date(), ...LEAVE }),
      /made by version 9\.9\.9, which has migrations that this version does not know/,
    );
  });

  test('is restored into an empty database only, and written into an empty folder only', async () => {
    await assert.rejects(restored(first, url), /The database is not empty: it has rows in "organizations"/);
    await assert.rejects(backUp(first), /is a finished backup already/);
    const other = newFolder();
    cpSync(path.join(root, 'docs/adr'), other, { recursive: true });
    await assert.rejects(backUp(other), /is not empty/);
    await assert.rejects(
      writeBackup({ url: await emptyDatabase(), folder: newFolder(), productVersion: '1' }),
      /no Agent Mailbox/,
    );
  });

  test('between the load and its end lets no process begin, and is ended by a second call', async () => {
    const target = await emptyDatabase();
    const db = await openDatabase({ url: target, poolMax: 2 });
    try {
      await loadBackup({ url: target, db, folder: first, manifest });
      await assert.rejects(requireAgreedSettings(db, {}), /this database is being restored/);
      const { loaded } = await restoreBackup({ url: target, folder: first, manifest, now: new Date(), ...LEAVE });
      assert.equal(loaded.continued, true);
      await requireAgreedSettings(db, {});
      await assert.rejects(restored(first, target), /not empty/);
    } finally {
      await db.close();
    }
  });

  test('is verified in a copy that is gone afterwards', async () => {
    const options = { url, folder: first, secrets: undefined, all: true, now: new Date() };
    const report = await verifyBackup({ ...options, manifest });
    assert.equal(report.sound, true, JSON.stringify(report.rules));
    assert.ok(report.rules.length > 5);
    const copies = await world.sql(`select 1 from pg_database where datname like current_database() || '_verify_%'`);
    assert.deepEqual(copies, []);
  });
});

test('a backup while mail is delivered is the state of one moment', async () => {
  let stopped = false;
  let delivered = 0;
  const load = (async () => {
    while (!stopped) {
      await world.deliver(mailbox, letter(`Load ${++delivered}`));
    }
  })();
  await waitUntil('some load', () => delivered > 10);
  const at = newFolder();
  await backUp(at);
  const during = delivered;
  stopped = true;
  await load;
  assert.ok(during > 10);
  const there = await restored(at);
  try {
    for (const { rule, atFault, examples } of await checkMailStore(there.db, { all: true }))
      assert.equal(atFault, 0, `${rule}: ${examples.join()}`);
  } finally {
    await there.close();
  }
});

test('a migration waits for the end of a backup before it takes any lock', async () => {
  const target = await emptyDatabase();
  const [db, backup] = [await openDatabase({ url: target, poolMax: 2 }), newConnection(target, 'a backup')];
  await connect(backup);
  try {
    await backup.query(`begin; select pg_advisory_xact_lock_shared(${BACKUP_LOCK})`);
    const waiting = Promise.withResolvers<void>();
    const migrated = migrate(db, Date.now(), waiting.resolve);
    await waiting.promise;
    assert.deepEqual(await db.query(`select 1 from pg_class where relname = 'organizations'`), []);
    await backup.query('commit');
    assert.ok((await migrated).length > 0);
  } finally {
    await backup.end();
    await db.close();
  }
});

test('secrets are sealed by a passphrase, and readable by their owner alone', async () => {
  const at = newFolder();
  const secrets = { settings: { SECRETS_KEYS: 'k1:abc', CREDENTIAL_PEPPER: 'pepper' }, generated: null };
  const { manifest } = await writeBackup({ url, folder: at, secrets, passphrase: 'open sesame', productVersion: '1' });
  assert.equal(manifest.secrets, 'sealed');
  const file = path.join(at, 'secrets.json');
  if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.ok(!readFileSync(file, 'utf8').includes('abc'));
  await assert.rejects(readSecrets(at, undefined), /is sealed/);
  await assert.rejects(readSecrets(at, 'open'), /does not open with this passphrase/);
  assert.deepEqual(await readSecrets(at, 'open sesame'), secrets);
});

test('credentials that were revoked after the backup are named by a newer audit log, and ended again', async () => {
  const [organization] = await world.sql<{ id: string }>('select id from organizations');
  const [kept, revoked] = [newId('apiKey'), newId('apiKey')];
  for (const id of [kept, revoked])
    await world.sql(
      `insert into api_keys (id, organization_id, name, key_hash, key_hint, scopes) values ($1::text, $2, 'Key', sha256(convert_to($1::text, 'UTF8')), 'amk', '{}')`,
      [id, organization?.id],
    );
  const older = newFolder();
  const { manifest } = await backUp(older);
  await world.sql('delete from api_keys where id = $1', [revoked]);
  await world.sql(
    `insert into audit_entries (id, organization_id, actor, action, target_id, details) values ($1, $2, '{"type":"user"}', 'api_key.deleted', $3, '{"name":"a \\\\ \\" b"}')`,
    [newId('audit'), organization?.id, revoked],
  );
  const newer = newFolder();
  await backUp(newer);
  const exported = path.join(folder, 'audit.json');
  const rows = await world.sql(
    `select action, target_id as "targetId", details, created_at as "createdAt" from audit_entries`,
  );
  writeFileSync(exported, JSON.stringify({ data: rows }));

  for (const [source, end] of [
    [newer, false],
    [exported, true],
  ] as const) {
    const target = await emptyDatabase();
    const recorded = await readRecordedEnds(source, new Date(manifest.takenAt));
    const report = await restoreBackup({
      url: target,
      folder: older,
      manifest,
      now: new Date(),
      ...LEAVE,
      recorded,
      endRecorded: end,
    });
    assert.deepEqual(
      report.recorded.valid.map(({ targetId }) => targetId),
      [revoked],
    );
    assert.equal(report.credentials.find(({ kind }) => kind === 'api-keys')?.valid, end ? 1 : 2);
    const db = await openDatabase({ url: target, poolMax: 1 });
    try {
      const keys = await db.query<{ id: string }>('select id from api_keys order by id');
      assert.deepEqual(
        keys.map(({ id }) => id),
        end ? [kept] : [kept, revoked].toSorted(),
      );
    } finally {
      await db.close();
    }
  }
  const target = await emptyDatabase();
  const report = await restoreBackup({
    url: target,
    folder: older,
    manifest,
    now: new Date(),
    ...LEAVE,
    endKinds: ['api-keys', 'mailbox-tokens'],
  });
  assert.deepEqual(
    report.credentials.filter(({ ended }) => ended).map(({ kind, valid }) => [kind, valid > 0]),
    [
      ['api-keys', true],
      ['mailbox-tokens', true],
    ],
  );
  const db = await openDatabase({ url: target, poolMax: 1 });
  try {
    assert.deepEqual(await db.query('select 1 from api_keys union all select 1 from mailbox_token'), []);
  } finally {
    await db.close();
  }
  await assert.rejects(readRecordedEnds(path.join(root, 'README.md'), new Date()), /neither a backup nor an audit log/);
  const onePage = path.join(folder, 'page.json');
  writeFileSync(onePage, JSON.stringify({ data: [], nextCursor: 'more' }));
  await assert.rejects(readRecordedEnds(onePage, new Date()), /is a page of a longer list/);
});

/** The program itself, to be killed. */
function program(args: readonly string[], environment: Readonly<Record<string, string>>): ChildProcess {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  return spawn(process.execPath, ['operations/admin.ts', ...args], {
    cwd: root,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...environment },
    stdio: 'ignore',
  });
}

async function killed(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  const [code, signal] = (await ended) as [number | null, string | null];
  assert.deepEqual([code, signal], [null, 'SIGKILL'], 'it had ended before');
}

test('a backup that was interrupted before the machine started again is continued, whoever has its process number now', async () => {
  const at = newFolder();
  mkdirSync(at, { recursive: true });
  const begun = { pid: process.ppid, host: hostname(), begunAt: new Date(Date.now() - uptime() * 1_000 - 60_000) };
  writeFileSync(path.join(at, 'unfinished.json'), JSON.stringify(begun));
  assert.equal(await beginBackup(at), true);
  const other = newFolder();
  mkdirSync(other, { recursive: true });
  writeFileSync(path.join(other, 'unfinished.json'), JSON.stringify({ ...begun, begunAt: new Date() }));
  await assert.rejects(beginBackup(other), /is writing a backup/);
});

test('backup and restore that are killed in the middle begin again', async () => {
  // Enough for a kill in between.
  await world.sql(
    `insert into blob (sha256, size, bytes) select sha256(b), length(b), b
       from (select convert_to(repeat(md5(n::text), 2000), 'UTF8') as b from generate_series(1, 4000) n) as made`,
  );
  const at = newFolder();
  const files = () =>
    existsSync(path.join(at, 'blobs')) ? readdirSync(path.join(at, 'blobs'), { recursive: true }).length : 0;
  const environment = { DATABASE_URL: url };
  const first = program(['backup', at], environment);
  await waitUntil('some files', () => files() > 700);
  await killed(first);
  assert.ok(!existsSync(manifestPath(at)));
  await assert.rejects(readManifest(at), /is an unfinished backup\. Run the same `backup` again/);
  const again = await runAdmin(['backup', at, '--json'], { environment });
  assert.equal(again.code, 0, again.stderr);
  const { continued, blobs } = JSON.parse(again.stdout) as {
    continued: boolean;
    blobs: { kept: number; written: number };
  };
  assert.equal(continued, true);
  assert.ok(blobs.kept > 100, JSON.stringify(blobs));

  const target = await emptyDatabase();
  const admin = await openDatabase({ url: target, poolMax: 1 });
  try {
    const restore = program(['restore', at], { DATABASE_URL: target, DATA_DIR: path.join(folder, 'data') });
    await waitUntil('the copy of mail', async () => {
      const rows = await admin.query<{ tuples: number }>(
        `select tuples_processed as tuples from pg_stat_progress_copy where datname = current_database() and relid <> 0 and tuples_processed > 500`,
      );
      return rows.length > 0;
    });
    await killed(restore);
    await waitUntil('the end of its connection', async () => {
      const rows = await admin.query(
        `select 1 from pg_stat_activity where datname = current_database() and application_name = 'agent-mailbox restore'`,
      );
      return rows.length === 0;
    });
    assert.deepEqual(await admin.query('select 1 from blob limit 1'), []);
    const end = await runAdmin(['restore', at, '--json'], {
      environment: { DATABASE_URL: target, DATA_DIR: path.join(folder, 'data') },
    });
    assert.equal(end.code, 0, end.stderr);
    for (const { rule, atFault, examples } of await checkMailStore(admin))
      assert.equal(atFault, 0, `${rule}: ${examples.join()}`);
    assert.deepEqual(await hashOf(admin, 'message'), await hashOf(world.services.db, 'message'));
  } finally {
    await admin.close();
  }
});

test('the backup of a released version is verified as a rehearsal of its upgrade', async () => {
  const version = recordedVersions()[0] ?? assert.fail('no version was recorded');
  const { manifest: recorded, installation } = readRecord(version);
  const source = await emptyDatabase();
  const db = await openDatabase({ url: source, poolMax: 2 });
  try {
    await db.orm.migrator.up({ migrations: recorded.migrations.map(({ name }) => name) });
    await createPartitions(db, Date.parse(recorded.recordedAt));
    const laterMs = Math.floor((Date.now() - 3_600_000 - Date.parse(recorded.recordedAt)) / 1_000) * 1_000;
    await db.transaction((sql) => restoreRows(sql, installation.rows, laterMs));
  } finally {
    await db.close();
  }
  const data = path.join(folder, 'recorded-data');
  mkdirSync(data);
  writeFileSync(path.join(data, 'secrets.json'), JSON.stringify(installation.secrets));
  const at = newFolder();
  const environment = { DATABASE_URL: source, DATA_DIR: data };
  const made = await runAdmin(['backup', at], { environment });
  assert.equal(made.code, 0, made.stderr);
  const run = await runAdmin(['verify', at, '--all', '--json'], { environment });
  assert.equal(run.code, 0, `${run.stdout}${run.stderr}`);
  const { report } = JSON.parse(run.stdout) as { report: Awaited<ReturnType<typeof verifyBackup>> };
  assert.equal(report.secrets, 'fit');
  const names = new Set(recorded.migrations.map(({ name }) => name));
  for (const name of report.restored?.loaded.migrated ?? []) assert.ok(!names.has(name));
  assert.equal(report.restored?.loaded.schemaDiffers, false);
  assert.equal(report.restored?.mail.held, 1);
  assert.ok((report.restored?.mail.deliveries ?? 0) >= 2);
});

/** Changes one byte in the middle. */
function flip(file: string): void {
  const bytes = readFileSync(file);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  rmSync(file);
  writeFileSync(file, bytes);
}

function change(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8');
  assert.ok(text.includes(from), `${file} lacks ${from}`);
  writeFileSync(file, text.replace(from, to));
}
