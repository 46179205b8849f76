import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPrivateKey, randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { register } from '@prometheus-io/client';
import { makeCertificate } from '#core/certificates/x509-certificate.ts';
import { instanceDkimPlace } from '#core/mailboxes/domain-records.ts';
import { connectTemporal, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { ProcessName } from '#core/platform/process/database-connections.ts';
import { openServices, type Services } from '#core/platform/process/services.ts';
import { sealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { CHECK_STATES, openReadiness, type Readiness, type ReadinessMonitor } from '#core/process/readiness.ts';
import { needs } from '#test/support/programs.ts';
import { openTestServices, testLog, testSettings } from '#test/support/services.ts';
import { tcpProxy } from '#test/support/tcp-proxy.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const NOBODY_ID = 65_534;
const DISK = needs('the right to mount file systems');
const folder = mkdtempSync(path.join(tmpdir(), 'readiness-'));
const mounted: string[] = [];
let services: Services;
let temporal: TemporalClient;

/** A small file system of its own. */
function smallDisk(name: string, sizeKiB: number): string {
  const disk = mkdtempSync(path.join(folder, name));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeKiB}k`, 'tmpfs', disk]);
  mounted.push(disk);
  return disk;
}

before(async () => {
  chmodSync(folder, 0o755);
  services = await openTestServices({ DATA_DIR: path.join(folder, 'data') });
  temporal = connectTemporal(services.settings);
});
after(async () => {
  await temporal?.close();
  await services?.close();
  for (const disk of mounted) execFileSync('umount', [disk]);
  rmSync(folder, { recursive: true, force: true });
});

async function withMonitor<Result>(
  name: ProcessName,
  use: (monitor: ReadinessMonitor) => Promise<Result>,
  { engine = temporal, on = services, running = true } = {},
): Promise<Result> {
  const monitor = openReadiness(on, name);
  monitor.useTemporal(engine);
  monitor.useWorker({ isRunning: () => running });
  try {
    return await use(monitor);
  } finally {
    await monitor.close();
  }
}

const find = (monitor: ReadinessMonitor, what: string, is: (found: Readiness) => boolean): Promise<Readiness> =>
  waitUntil(what, async () => {
    const found = await monitor.current();
    return is(found) && found;
  });

/** Without settings of the tests' server, which may lose its data. */
const ofService = (problems: Readiness['problems']) => problems.filter(({ check }) => check !== 'databaseSettings');

test('every process is ready if all is well, each with the checks it needs', async () => {
  for (const [name, further] of [
    ['api', []],
    ['worker', ['worker']],
    ['mail', ['dataFolder', 'certificate']],
    ['all', ['worker', 'dataFolder', 'certificate']],
  ] as const)
    await withMonitor(name, async (monitor) => {
      const { status, checks, problems } = await monitor.current();
      assert.deepEqual([status, ofService(problems)], ['ready', []], name);
      const expected = ['postgresql', 'migrations', 'temporal', 'secretsKeys', 'databaseSettings', ...further];
      assert.deepEqual(new Set(Object.keys(checks)), new Set(expected), name);
    });
});

test('while only Temporal is away, api and mail stay ready, worker and all do not', async () => {
  const away = connectTemporal({ ...services.settings, TEMPORAL_ADDRESS: '127.0.0.1:9' });
  try {
    for (const [name, status] of [
      ['api', 'ready'],
      ['mail', 'ready'],
      ['worker', 'not_ready'],
      ['all', 'not_ready'],
    ] as const)
      await withMonitor(
        name,
        async (monitor) => {
          const found = await monitor.current();
          assert.equal(found.status, status, name);
          assert.deepEqual(
            ofService(found.problems).map(({ check, state, blocking }) => [check, state, blocking]),
            [['temporal', 'unreachable', status === 'not_ready']],
          );
        },
        { engine: away },
      );
  } finally {
    await away.close();
  }
});

test('a worker that takes no tasks makes worker and all not ready', async () => {
  for (const name of ['worker', 'all'] as const)
    await withMonitor(
      name,
      async (monitor) => {
        const { status, checks } = await monitor.current();
        assert.deepEqual([status, checks.worker], ['not_ready', 'not_running']);
      },
      { running: false },
    );
});

test('a process that is still starting is not ready', async () => {
  const monitor = openReadiness(services, 'mail');
  assert.equal((await monitor.current()).status, 'not_ready');
  await monitor.close();
});

test('a read-only PostgreSQL makes every process not ready, and it recovers', async () => {
  const [{ name } = { name: '' }] = await services.db.query<{ name: string }>('select current_database() as name');
  await withMonitor('mail', async (monitor) => {
    assert.equal((await monitor.current()).status, 'ready');
    await services.db.query(`alter database ${name} set default_transaction_read_only = on`);
    await services.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()`,
      [name],
    );
    await services.db.query('set default_transaction_read_only = on').catch(() => {});
    const found = await find(monitor, 'read_only', ({ checks }) => checks.postgresql === 'read_only');
    assert.equal(found.status, 'not_ready');
    await services.db.query('set default_transaction_read_only = off');
    await services.db.query(`alter database ${name} reset default_transaction_read_only`);
    await services.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()`,
      [name],
    );
    await find(monitor, 'ready again', ({ status }) => status === 'ready');
  });
});

test('a full disk of PostgreSQL makes a process not ready, and it recovers', DISK, async () => {
  const disk = smallDisk('tablespace-', 64 * 1024);
  chownSync(disk, NOBODY_ID, NOBODY_ID);
  const own = await openTestServices({ DATA_DIR: path.join(folder, 'data') });
  const space = `small_${randomBytes(4).toString('hex')}`;
  const [{ name } = { name: '' }] = await own.db.query<{ name: string }>('select current_database() as name');
  // Of the test's own server, which keeps running.
  const maintenance = await openServices(
    testSettings({ DATABASE_URL: (own.settings.DATABASE_URL ?? '').replace(`/${name}`, '/postgres') }),
    testLog(),
  );
  try {
    await maintenance.db.query(`create tablespace ${space} location '${disk}'`);
    await own.db.pool.query('select 1');
    await maintenance.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()`,
      [name],
    );
    await maintenance.db.query(`alter database ${name} set tablespace ${space}`);
    await withMonitor(
      'api',
      async (monitor) => {
        await find(monitor, 'ready', ({ status }) => status === 'ready');
        await own.db.query('create table filling (bytes text)');
        await own.db.query('alter table filling alter column bytes set storage external');
        await assert.rejects(async () => {
          for (;;) await own.db.query(`insert into filling select repeat('x', 4000) from generate_series(1, 200)`);
        }, /could not extend file|No space left/);
        // A few rows more, until there is no page left.
        for (let full = false; !full; )
          await own.db.query(`insert into filling values (repeat('x', 1900))`).catch(() => {
            full = true;
          });
        const found = await find(monitor, 'full', ({ checks }) => checks.postgresql === 'out_of_resources');
        assert.equal(found.status, 'not_ready');
        await own.db.query('drop table filling');
        await find(monitor, 'ready again', ({ status }) => status === 'ready');
      },
      { on: own },
    );
  } finally {
    await own.close();
    await maintenance.db.query(`drop tablespace if exists ${space}`);
    await maintenance.close();
  }
});

test('a PostgreSQL that is away or lacks migrations makes a process not ready', async () => {
  const url = new URL(services.settings.DATABASE_URL ?? '');
  const proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = `127.0.0.1:${proxy.port}`;
  const proxied = await openServices({ ...services.settings, DATABASE_URL: url.href }, testLog());
  try {
    await withMonitor(
      'api',
      async (monitor) => {
        assert.equal((await monitor.current()).status, 'ready');
        proxy.cut();
        const away = await find(monitor, 'away', ({ checks }) => checks.postgresql === 'unreachable');
        assert.deepEqual([away.status, away.checks.migrations], ['not_ready', 'unknown']);
        proxy.restore();
        await find(monitor, 'ready again', ({ status }) => status === 'ready');
        await services.db.query(`update migrations set name = 'x' || name where id = 3`);
        const pending = await find(monitor, 'pending', ({ checks }) => checks.migrations === 'pending');
        assert.deepEqual([pending.status, pending.checks.postgresql], ['not_ready', 'ok']);
        await services.db.query(`update migrations set name = substr(name, 2) where id = 3`);
      },
      { on: proxied },
    );
  } finally {
    await proxied.close();
    await proxy.close();
  }
});

test('secrets of a key that is not configured show: some are a warning, all make a process not ready', async () => {
  const key = (id: string) => ({ id, key: randomBytes(32) });
  const [old, present] = [key('old'), key('present')];
  const insert = `insert into dkim_key (domain, selector, public_key, private_key_sealed) values ($1, 's', 'p', $2)`;
  const sealWith = (each: ReturnType<typeof key>, domain: string) =>
    services.db.query(insert, [domain, sealedSecrets([each]).seal('private', instanceDkimPlace(domain))]);
  const on = { ...services, secrets: sealedSecrets([present]) };
  await sealWith(old, 'old.example');
  const found = (name: ProcessName) => withMonitor(name, (monitor) => monitor.current(), { on });
  for (const name of ['api', 'worker', 'all'] as const)
    assert.deepEqual([(await found(name)).status, (await found(name)).checks.secretsKeys], ['not_ready', 'missing']);
  assert.equal((await found('mail')).status, 'ready');
  await sealWith(present, 'present.example');
  const some = await found('api');
  assert.deepEqual([some.status, some.checks.secretsKeys], ['ready', 'missing_some']);
  assert.match(some.problems[0]?.message ?? '', /add it after the first/);
  await services.db.query('delete from dkim_key');
  assert.equal((await found('api')).checks.secretsKeys, 'ok');
});

test('a full disk of DATA_DIR makes mail not ready, api not', DISK, async () => {
  const disk = smallDisk('spool-', 512);
  const on = { ...services, settings: { ...services.settings, DATA_DIR: disk } };
  await withMonitor(
    'mail',
    async (monitor) => {
      assert.equal((await monitor.current()).status, 'ready');
      writeFileSync(path.join(disk, 'filling'), Buffer.alloc(400 * 1024));
      const found = await find(monitor, 'full', ({ checks }) => checks.dataFolder === 'full');
      assert.equal(found.status, 'not_ready');
      rmSync(path.join(disk, 'filling'));
      await find(monitor, 'ready again', ({ status }) => status === 'ready');
    },
    { on },
  );
});

test('a certificate that expires soon, has expired or cannot be read shows as a warning, with its metric', async () => {
  const DAY_MS = 86_400_000;
  const expiry = async () => {
    const metric = await register.getSingleMetric('agent_mailbox_tls_certificate_expiry_timestamp_seconds')?.get();
    return Number(metric?.values[0]?.value) * 1_000;
  };
  await withMonitor('mail', (monitor) => monitor.current());
  const expiresAtMs = await expiry();
  assert.ok(expiresAtMs > Date.now());
  for (const [beforeMs, state] of [
    [15 * DAY_MS, 'ok'],
    [13 * DAY_MS, 'expiring'],
    [-1_000, 'expired'],
  ] as const) {
    const on = { ...services, now: () => expiresAtMs - beforeMs };
    const found = await withMonitor('mail', (monitor) => monitor.current(), { on });
    assert.deepEqual([found.status, found.checks.certificate], ['ready', state]);
  }
  const on = { ...services, settings: { ...services.settings, TLS_CERT: path.join(folder, 'nowhere.pem') } };
  const found = await withMonitor('mail', (monitor) => monitor.current(), { on });
  assert.deepEqual([found.status, found.checks.certificate], ['ready', 'unreadable']);
});

test('in production a certificate that mail clients refuse is a warning', async () => {
  const inProduction = (more: Partial<Services['settings']>) => ({
    ...services,
    settings: { ...services.settings, MODE: 'production' as const, ...more },
  });
  const certificate = async (on: Services) => {
    const { status, checks, problems } = await withMonitor('mail', (monitor) => monitor.current(), { on });
    assert.deepEqual(
      ofService(problems).map(({ check, blocking }) => [check, blocking]),
      [['certificate', false]],
    );
    assert.equal(status, 'ready');
    return checks.certificate;
  };
  assert.equal(await certificate(inProduction({})), 'untrusted');

  const write = (name: string, pem: string) => {
    const file = path.join(folder, name);
    writeFileSync(file, pem);
    return file;
  };
  const issuedItself = makeCertificate({ commonName: 'mail.test', validDays: 90, dnsNames: ['mail.test'] });
  const own = inProduction({ TLS_CERT: write('self.pem', issuedItself.certPem) });
  assert.equal(await certificate(own), 'untrusted');

  const root = makeCertificate({ commonName: 'An authority', validDays: 90, isCa: true });
  const issuer = { commonName: 'An authority', key: createPrivateKey(root.keyPem) };
  const issued = makeCertificate({ commonName: 'mail.test', validDays: 90, dnsNames: ['mail.test'], issuer });
  const TLS_CERT = write('issued.pem', issued.certPem);
  assert.equal(await certificate(inProduction({ TLS_CERT, MAIL_HOSTNAME: 'other.test' })), 'wrong_name');
  const good = await withMonitor('mail', (monitor) => monitor.current(), { on: inProduction({ TLS_CERT }) });
  assert.equal(good.checks.certificate, 'ok');
});

test('each check is a metric, and many requests share one run', async () => {
  await withMonitor('all', async (monitor) => {
    let probes = 0;
    const count = () => probes++;
    services.db.pool.on('acquire', count);
    await Promise.all(Array.from({ length: 200 }, () => monitor.current()));
    services.db.pool.off('acquire', count);
    assert.ok(probes < 10, `${probes} connections were taken`);
  });
  const metric = await register.getSingleMetric('agent_mailbox_readiness_check')?.get();
  assert.deepEqual(new Set(metric?.values.map(({ labels }) => labels['check'])), new Set(Object.keys(CHECK_STATES)));
});
