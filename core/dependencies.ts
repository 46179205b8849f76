/** Whether what a process depends on can be reached, asked once at the start, so that a wrong address says what to do. */
import { Connection } from '@temporalio/client';
import pg from 'pg';
import { SettingsError } from './settings.ts';
import type { temporalConnectionOptions } from './temporal-client.ts';

const POSTGRES_MINIMUM = 15;
const POSTGRES_WITHIN_MS = 8_000;
const TEMPORAL_WITHIN_MS = 5_000;

/** An address without its password, for messages. */
function shownUrl(url: string): string {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = '***';
  return shown.href;
}

/** Words of an error; several addresses of one name fail with one error each. */
function words(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(words).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** @throws {SettingsError} when the server cannot be reached or is too old */
export async function requirePostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: POSTGRES_WITHIN_MS });
  client.on('error', () => {}); // A connection lost from here on fails the query below.
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    );
    const major = Math.floor((rows[0]?.version ?? 0) / 10_000);
    if (major < POSTGRES_MINIMUM)
      throw new SettingsError([
        `DATABASE_URL leads to PostgreSQL ${major}, but at least ${POSTGRES_MINIMUM} is needed: upgrade it, or use another server`,
      ]);
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    throw new SettingsError([
      `DATABASE_URL: ${shownUrl(url)} cannot be used: ${words(error)}. ` +
        'Start that server, correct the address, or unset DATABASE_URL under `npm start` for an embedded one',
    ]);
  } finally {
    await client.end().catch(() => {});
  }
}

/** What is wrong with a Temporal frontend and its namespace; undefined: nothing. */
export async function temporalProblem(
  options: ReturnType<typeof temporalConnectionOptions>,
  namespace: string,
  withinMs = TEMPORAL_WITHIN_MS,
): Promise<string | undefined> {
  try {
    const connection = await Connection.connect({ ...options, connectTimeout: withinMs });
    try {
      await connection.withDeadline(Date.now() + withinMs, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
      return undefined;
    } finally {
      await connection.close();
    }
  } catch (error) {
    return words(error);
  }
}

/** @throws {SettingsError} when it does not answer */
export async function requireTemporal(
  options: ReturnType<typeof temporalConnectionOptions>,
  namespace: string,
): Promise<void> {
  const problem = await temporalProblem(options, namespace);
  if (problem !== undefined)
    throw new SettingsError([
      `TEMPORAL_ADDRESS: no Temporal with namespace "${namespace}" answers at ${options.address}: ${problem}. ` +
        'Start it, correct TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE or TEMPORAL_TLS, or unset TEMPORAL_ADDRESS under `npm start`',
    ]);
}
