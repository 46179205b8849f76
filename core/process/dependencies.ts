/**
 * Whether what a process depends on can be reached, checked once at the start, so that a wrong address fails with a
 * message that says what to do.
 */
import { Connection } from '@temporalio/client';
import type { temporalConnectionOptions } from '#core/platform/engine/temporal-client.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { SettingsError } from '#core/platform/settings/settings.ts';
import { newConnection } from '#db/connections.ts';

const POSTGRES_MINIMUM = 15;
const POSTGRES_WITHIN_MS = 8_000;
const TEMPORAL_WITHIN_MS = 5_000;

/** An address without its password, for messages. */
function shownUrl(url: string): string {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = '***';
  return shown.href;
}

/** @throws {SettingsError} when the server cannot be reached or is too old, or the database stores other text than UTF-8 */
export async function requirePostgres(url: string): Promise<void> {
  const client = newConnection(url, 'agent-mailbox start', { withinMs: POSTGRES_WITHIN_MS });
  client.on('error', () => {}); // A connection lost from here on fails the query below.
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number; encoding: string }>(
      `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
    );
    const major = Math.floor((rows[0]?.version ?? 0) / 10_000);
    if (major < POSTGRES_MINIMUM)
      throw new SettingsError([
        `DATABASE_URL is a PostgreSQL ${major} server, but at least version ${POSTGRES_MINIMUM} is needed: upgrade it, or use another server`,
      ]);
    // Elsewhere mail in other scripts is refused or, worse, cut within a character.
    const encoding = rows[0]?.encoding;
    if (encoding !== 'UTF8')
      throw new SettingsError([
        `DATABASE_URL is a database with the encoding ${encoding}, but UTF8 is needed. An encoding cannot be changed: ` +
          "create another database: create database … encoding 'UTF8' template template0",
      ]);
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    throw new SettingsError([
      `DATABASE_URL: ${shownUrl(url)} cannot be used: ${reasonOf(error)}. ` +
        'Start that server, correct the address, or unset DATABASE_URL to let `npm start` run an embedded one',
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
    return reasonOf(error);
  }
}
