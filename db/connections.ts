/**
 * Every connection of the service begins with the same settings, so that it does not depend on how the server, the
 * database or the role is configured (docs/adr/0021). `core/process/check-database.ts` warns of what a connection
 * cannot set for itself.
 *
 * They are set by a statement, not by the start-up parameter `options`, which PgBouncer refuses.
 */
import pg from 'pg';

const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  // Compiling a plan takes up to seconds, and no statement of ours runs that long. PostgreSQL compiles what it expects
  // to be costly, so statements that forbid kinds of plans (`openSteadyPlans`) and those over many partitions as well.
  jit: 'off',
  // Parallel plans need shared memory (a container has 64 MB) and take the cores of the requests beside them.
  max_parallel_workers_per_gather: '0',
  // An interval of a day has 23 or 25 hours where the clocks change.
  timezone: 'UTC',
  // The driver reads these forms.
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  standard_conforming_strings: 'on',
  // Locks are taken, and rows looked at again, as this level does it.
  default_transaction_isolation: 'read committed',
  // A policy that hides rows causes an error. Without this, hidden rows would seem not to exist.
  row_security: 'off',
};

/** Names that `set` takes without quotes. */
const asStatements = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `set ${name} = '${value}'`)
    .join('; ');

/** Settings are for the errors of PostgreSQL, whose texts `infrastructure-error.ts` reads, only if the role may set them. */
const ENGLISH_MESSAGES = `select set_config('lc_messages', 'C', false) where has_parameter_privilege('lc_messages', 'set')`;

const BEGIN_SESSION = `${asStatements(SESSION_SETTINGS)}; ${ENGLISH_MESSAGES}`;

/** @param further settings of this connection alone */
async function beginSession(client: pg.ClientBase, further: Readonly<Record<string, string>> = {}): Promise<void> {
  // One message, so one round trip.
  await client.query([BEGIN_SESSION, ...(Object.keys(further).length > 0 ? [asStatements(further)] : [])].join('; '));
}

/** For the option of the same name of a pool: a connection is given out when its session has begun. */
export const onConnect =
  (further?: Readonly<Record<string, string>>) =>
  (client: pg.ClientBase): Promise<void> =>
    beginSession(client, further);

/** A single connection; add listeners, then open it by `connect`. @param name shown in `pg_stat_activity` */
export const newConnection = (url: string, name: string, limits: { readonly withinMs?: number } = {}): pg.Client =>
  new pg.Client({
    connectionString: url,
    application_name: name,
    ...(limits.withinMs === undefined ? {} : { connectionTimeoutMillis: limits.withinMs }),
  });

/** Opens a connection and begins its session. */
export async function connect(connection: pg.Client): Promise<void> {
  await connection.connect();
  await beginSession(connection);
}
