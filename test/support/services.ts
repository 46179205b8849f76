/**
 * What a test file works with: a database of its own, the shared Temporal server, settings that suit tests.
 *
 * `npm test` starts one PostgreSQL and one Temporal server for all files and says where by environment variables; each
 * call here copies the migrated template database. Close what you opened: a forgotten connection keeps the file's
 * process alive and fails the run.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { createLogger, type Logger } from '#core/platform/log/logger.ts';
import { openServices, type Services } from '#core/platform/process/services.ts';
import { readSettings, type Settings } from '#core/platform/settings/settings.ts';

/** Environment variables by which `test/run.ts` passes the started servers to test files. */
export const TEST_ENVIRONMENT = {
  /** Connection string of the PostgreSQL server's maintenance database. */
  postgres: 'TEST_POSTGRES_URL',
  /** Name of the migrated, empty database. */
  template: 'TEST_TEMPLATE_DATABASE',
  temporal: 'TEST_TEMPORAL_ADDRESS',
  /** File with the bundled workflows. */
  workflowBundle: 'TEST_WORKFLOW_BUNDLE',
  /** `on` or `off`: WEBHOOK_FAST_LANE of the services. */
  fastLane: 'TEST_FAST_LANE',
  caFile: 'TEST_CA_FILE',
  certFile: 'TEST_CERT_FILE',
  keyFile: 'TEST_KEY_FILE',
} as const;

function given(name: keyof typeof TEST_ENVIRONMENT): string {
  const value = process.env[TEST_ENVIRONMENT[name]];
  if (value === undefined || value === '')
    throw new Error(
      `${TEST_ENVIRONMENT[name]} is not set. Run test files by \`npm test -- <file>\`, which starts what they need.`,
    );
  return value;
}

/** Root certificate of `certFile`, which is for localhost, 127.0.0.1 and mail.test. */
export const testTls = () => ({ caFile: given('caFile'), certFile: given('certFile'), keyFile: given('keyFile') });

/** The bundled workflows, for `startWorker`. */
export const testWorkflowBundle = () => ({ codePath: given('workflowBundle') });

/** Whether services of tests have a fast lane: the delivery suite runs with it and without it. */
export const testFastLane = (): boolean => process.env[TEST_ENVIRONMENT.fastLane] !== 'off';

export const testTemporalAddress = (): string => given('temporal');

/** Silent, unless TEST_LOG names a level. */
export const testLog = (): Logger =>
  captured === undefined
    ? createLogger(process.env['TEST_LOG'] ?? 'silent', pino.destination(2))
    : createLogger('debug', { write: (line) => captured?.push(line) });

let captured: string[] | undefined;

/** Keeps the lines of all logs that are opened afterwards, debug included. */
export function captureLogs(): readonly string[] {
  captured ??= [];
  return captured;
}

const randomName = (prefix: string): string => `${prefix}_${randomBytes(8).toString('hex')}`;

/** Environment of a service in a test: free ports, own task queue, own secrets, loopback destinations allowed. */
export function testVariables(overrides: Readonly<Record<string, string>> = {}): Record<string, string> {
  const tls = testTls();
  return {
    LOG_LEVEL: 'silent',
    METRICS_PORT: '0',
    API_PORT: '0',
    SMTP_PORT: '0',
    SUBMISSION_PORT: '0',
    SUBMISSIONS_PORT: '0',
    IMAP_PORT: '0',
    IMAPS_PORT: '0',
    POP3_PORT: '0',
    POP3S_PORT: '0',
    DATABASE_POOL_MAX: '10',
    TEMPORAL_ADDRESS: testTemporalAddress(),
    TEMPORAL_TASK_QUEUE: randomName('test'),
    OPERATOR_KEY: 'amo_test-operator-key',
    SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
    CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
    MAIL_DOMAIN: 'agents.test',
    MAIL_HOSTNAME: 'mail.test',
    TLS_CERT: tls.certFile,
    TLS_KEY: tls.keyFile,
    WEBHOOK_FAST_LANE: testFastLane() ? 'on' : 'off',
    WEBHOOK_ALLOW_DESTINATIONS: '127.0.0.0/8,::1/128',
    WEBHOOK_EXTRA_CA: tls.caFile,
    ...overrides,
  };
}

/** The same as parsed settings. */
export const testSettings = (overrides: Readonly<Record<string, string>> = {}): Settings =>
  readSettings(testVariables(overrides));

export interface TestDatabase {
  readonly url: string;
  /** Ends the remaining connections. */
  drop(): Promise<void>;
}

async function maintain(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: given('postgres') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A migrated database that nobody else uses. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = randomName('test');
  // The default strategy writes all 800 files through the log and the buffers: four times the work, for durability.
  await maintain(`create database ${name} template ${given('template')} strategy file_copy`);
  return testDatabase(name);
}

function testDatabase(name: string): TestDatabase {
  const url = new URL(given('postgres'));
  url.pathname = name;
  return { url: url.href, drop: () => maintain(`drop database ${name} with (force)`) };
}

/** A database without any table. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const name = randomName('test');
  await maintain(`create database ${name}`);
  return testDatabase(name);
}

/** Services on a database of their own. `close` drops it. */
export async function openTestServices(overrides: Readonly<Record<string, string>> = {}): Promise<Services> {
  const database = await createTestDatabase();
  const services = await openServices(testSettings({ DATABASE_URL: database.url, ...overrides }), testLog());
  return {
    ...services,
    async close() {
      await services.close();
      await database.drop();
    },
  };
}
