/** `prove` while PostgreSQL and Temporal themselves are killed under load: nothing is lost. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type DistributionServer,
  distributionPostgres,
  embeddedPrograms,
  startDistributionServer,
} from '#dev/launcher/postgres-binaries.ts';
import { temporalProgram } from '#dev/launcher/temporal-program.ts';
import { startTemporalServer, type TemporalServer } from '#dev/launcher/temporal-server.ts';
import { at } from '#test/support/api-world.ts';
import { migratedDatabase } from '#test/support/distribution-server.ts';
import { type PartProcess, startPart } from '#test/support/part-process.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { testTls, testVariables } from '#test/support/services.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const HOST = '127.0.0.1';
const PATIENCE_MS = 120_000;
/** As a supervisor does. */
const RESTART_DELAYS_MS = Array.from({ length: 100 }, () => 500);
const PARTS = ['api', 'worker', 'mail'] as const;

describe('prove on servers of its own', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'prove-servers-'));
  const parts: PartProcess[] = [];
  let postgres: DistributionServer;
  let temporal: TemporalServer;
  let environment: Record<string, string>;
  let smtp: string;

  before(async () => {
    // The server of PostgreSQL has a user of its own where the tests are root.
    chmodSync(folder, 0o755);
    [postgres, temporal] = await Promise.all([
      startDistributionServer({
        programs: distributionPostgres() ?? embeddedPrograms(),
        folder: path.join(folder, 'postgres'),
        port: await testPort(),
        restartDelaysMs: RESTART_DELAYS_MS,
      }),
      startTemporalServer({
        program: await temporalProgram({ configured: process.env['TEMPORAL_CLI'], onProgress() {} }),
        folder: path.join(folder, 'temporal'),
        port: await testPort(),
        ui: false,
        namespace: 'default',
      }),
    ]);
    const ports = { api: await testPort(), smtp: await testPort() };
    smtp = `${HOST}:${ports.smtp}`;
    const common = {
      SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
      CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
      TEMPORAL_TASK_QUEUE: 'prove-servers',
      DATABASE_URL: await migratedDatabase(postgres, 'prove'),
      TEMPORAL_ADDRESS: temporal.address,
      DATA_DIR: folder,
      API_PORT: String(ports.api),
      SMTP_PORT: String(ports.smtp),
    };
    for (const part of PARTS)
      parts.push(startPart(part, testVariables({ ...common, METRICS_PORT: String(await testPort()) })));
    environment = testVariables({ ...common, API_PUBLIC_URL: `http://${HOST}:${ports.api}` });
    for (const part of parts)
      await waitUntil('the service to be ready', async () => (await part.readiness())?.status === 'ready', PATIENCE_MS);
  });
  after(async () => {
    for (const part of parts) await part.stop();
    await temporal?.stop();
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('PostgreSQL and Temporal are killed in turn under load, and nothing is lost', async () => {
    // Each run kills the next one.
    const script = path.join(folder, 'kill-one');
    writeFileSync(
      script,
      [
        'cd "$(dirname "$0")"',
        'if [ -e next ]; then rm next; exec kill -9 "$(cat temporal/temporal.pid)"; fi',
        'touch next; exec kill -9 "$(head -n 1 postgres/data/postmaster.pid)"',
      ].join('\n'),
    );
    const { code, stdout, stderr } = await runAdmin(
      [
        ...['prove', '--smtp', smtp, '--server-name', 'localhost', '--ca', testTls().caFile, '--json'],
        ...['--seconds', '16', '--rate', '5', '--kill-every', '5', '--kill-command', `sh ${script}`],
      ],
      { environment },
    );
    const log = parts.map((part) => part.output().slice(-2_000)).join('\n');
    assert.equal(code, 0, `${stdout}\n${stderr}\n${log}`);
    const report: unknown = JSON.parse(stdout);
    assert.deepEqual([at(report, 'lost'), at(report, 'wrong')], [0, []]);
    const kills = at(report, 'kills') as readonly { readonly exitCode: number }[];
    assert.ok(kills.length >= 2, stdout);
    assert.deepEqual([...new Set(kills.map(({ exitCode }) => exitCode))], [0]);
    assert.ok(postgres.crashes() >= 1, 'PostgreSQL was started again');
    // What a client had to try again is the only thing that may be there twice.
    assert.ok(Number(at(report, 'duplicated')) <= 10, stdout);
    assert.ok(Number(at(report, 'delivery', 'count')) >= 40, stdout);
    assert.ok(Number(at(report, 'acceptance', 'max')) > 0 && Number(at(report, 'delivery', 'p95')) > 0, stdout);
  });
});
