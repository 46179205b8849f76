/** `prove` on a started installation: a killed worker loses nothing, and what is lost is reported. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type ApiWorld, apiWorld, at } from '#test/support/api-world.ts';
import { type PartProcess, startPart } from '#test/support/part-process.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { testTls, testVariables } from '#test/support/services.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const PATIENCE_MS = 120_000;
const PARTS = ['api', 'worker', 'mail'] as const;
type Part = (typeof PARTS)[number];
const HOST = '127.0.0.1';

describe('prove', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'prove-'));
  const environments = new Map<Part, Record<string, string>>();
  const parts = new Map<Part, PartProcess>();
  let isOver = false;
  let world: ApiWorld;
  let environment: Record<string, string>;
  let smtp: string;

  /** Starts a part, and starts it again when it ends, as a supervisor does. */
  function start(part: Part): void {
    const started = startPart(part, environments.get(part) ?? {});
    parts.set(part, started);
    writeFileSync(path.join(folder, `${part}.pid`), String(started.process.pid));
    started.process.once('exit', () => {
      if (!isOver) start(part);
    });
  }

  before(async () => {
    const common = {
      SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
      CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
      TEMPORAL_TASK_QUEUE: `prove-${randomBytes(6).toString('hex')}`,
      DATA_DIR: folder,
    };
    world = await apiWorld(common);
    const ports = { api: await testPort(), smtp: await testPort() };
    smtp = `${HOST}:${ports.smtp}`;
    for (const part of PARTS)
      environments.set(
        part,
        testVariables({
          ...common,
          DATABASE_URL: world.services.settings.DATABASE_URL ?? '',
          API_PORT: String(ports.api),
          SMTP_PORT: String(ports.smtp),
          METRICS_PORT: String(await testPort()),
        }),
      );
    environment = { ...environments.get('api'), API_PUBLIC_URL: `http://${HOST}:${ports.api}` };
    for (const part of PARTS) start(part);
    for (const part of PARTS)
      await waitUntil(
        `${part} to be ready`,
        async () => (await parts.get(part)?.readiness())?.status === 'ready',
        PATIENCE_MS,
      );
  });
  after(async () => {
    isOver = true;
    for (const part of parts.values()) await part.stop();
    await world?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const prove = (...args: string[]) =>
    runAdmin(['prove', '--smtp', smtp, '--server-name', 'localhost', '--ca', testTls().caFile, '--json', ...args], {
      environment,
    });

  test('a worker that is killed under load loses nothing, and the organization is gone afterwards', async () => {
    const kill = `kill -9 $(cat ${path.join(folder, 'worker.pid')})`;
    const { code, stdout, stderr } = await prove(
      '--seconds',
      '8',
      '--rate',
      '5',
      '--kill-every',
      '3',
      '--kill-command',
      kill,
    );
    assert.equal(code, 0, `${stdout}\n${stderr}`);
    const report: unknown = JSON.parse(stdout);
    assert.deepEqual([at(report, 'lost'), at(report, 'wrong')], [0, []]);
    assert.deepEqual(at(report, 'kills', 0, 'exitCode'), 0);
    assert.ok(Number(at(report, 'account', 'kinds', 'inbound', 'accepted')) >= 10, stdout);
    assert.ok(Number(at(report, 'account', 'kinds', 'mailbox', 'accepted')) >= 3, stdout);
    assert.ok(Number(at(report, 'delivery', 'count')) >= 13, stdout);
    assert.ok(Number(at(report, 'acceptedPerSecondAndCore')) > 0);
    assert.deepEqual(await world.sql(`select slug from organizations where slug like 'prove-%'`), []);
  });

  test('a delivery that is lost is reported, with an exit code of its own', async () => {
    await world.sql('create sequence lost_deliveries');
    await world.sql(`create function lose_one() returns trigger language plpgsql as $$
      begin return case when nextval('lost_deliveries') = 2 then null else new end; end $$`);
    await world.sql('create trigger lose_one before insert on deliveries for each row execute function lose_one()');
    try {
      const { code, stdout, stderr } = await prove('--seconds', '3', '--rate', '3');
      assert.equal(code, 3, `${stdout}\n${stderr}`);
      const report: unknown = JSON.parse(stdout);
      assert.equal(at(report, 'lost'), 1, stdout);
      assert.deepEqual(at(report, 'wrong'), ['deliveries: rows missing: 1']);
      assert.deepEqual(at(report, 'kills'), []);
    } finally {
      await world.sql('drop trigger lose_one on deliveries');
    }
  });

  test('an address that the service does not reach is said at once, and nothing is left', async () => {
    const { code, stderr } = await prove('--seconds', '1', '--receiver-url', 'https://10.0.0.1/proof');
    assert.equal(code, 1);
    assert.match(stderr, /--receiver-url/);
    assert.deepEqual(await world.sql(`select slug from organizations where slug like 'prove-%'`), []);
  });
});
