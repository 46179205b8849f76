/** PostgreSQL, the secrets in it, Temporal, and what waits in both. Each look-up has a limit of time. */
import { temporalConnectionOptions } from '#core/platform/engine/temporal-client.ts';
import { inspectTemporal } from '#core/platform/engine/temporal-setup.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { addUpConnections, connectionsAtMost } from '#core/platform/process/database-connections.ts';
import type { SealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { agreedTemporal, otherTemporal, requireAgreedSettings } from '#core/platform/settings/agreed-settings.ts';
import { type Settings, SettingsError } from '#core/platform/settings/settings.ts';
import { checkDatabase } from '#core/process/check-database.ts';
import { MESSAGES } from '#core/process/readiness.ts';
import { checkSecretsKeys } from '#core/process/start-checks.ts';
import type { Database, Sql } from '#db/database.ts';
import { pendingMigrations } from '#db/migrate.ts';
import { type Finding, findingsOf } from './finding.ts';

const QUERY_WITHIN_MS = 5_000;
/** By then somebody should have taken it: sweeps run every minute. */
const OVERDUE_SECONDS = 300;
const MIB = 1024 * 1024;

/** Runs statements that may take long, with a limit. */
export const bounded = <Result>(db: Database, work: (sql: Sql) => Promise<Result>): Promise<Result> =>
  db.transaction(async (sql) => {
    await sql.query(`set local statement_timeout = ${QUERY_WITHIN_MS}`);
    return work(sql);
  });

/** Version, schema and settings of the server, and settings that the database was set up with. */
export async function databaseFindings(db: Database, settings: Settings): Promise<Finding[]> {
  const { ok, warning, error } = findingsOf('postgresql');
  const [server] = await db.query<{ version: string; bytes: number }>(
    `select current_setting('server_version') as version, pg_database_size(current_database()) as bytes`,
  );
  const findings = [
    ok(`PostgreSQL ${server?.version}, the database has ${Math.ceil((server?.bytes ?? 0) / MIB)} MB.`),
    ...(await checkDatabase(db)).map(({ message }) => {
      const [what = '', ...todo] = message.split(/(?<=\.) /);
      return warning(what, todo.join(' '));
    }),
  ];
  const pending = await pendingMigrations(db);
  if (pending.length > 0) {
    findings.push(
      error(`${pending.length} migrations of this version are missing.`, 'Run `agent-mailbox-admin migrate`.'),
    );
    return findings;
  }
  try {
    await requireAgreedSettings(db, settings);
  } catch (failure) {
    if (!(failure instanceof SettingsError)) throw failure;
    for (const problem of failure.problems) {
      const [what = '', ...todo] = problem.split(/(?<=\.) /);
      findings.push(error(what.endsWith('.') ? what : `${what}.`, todo.join(' ')));
    }
  }
  return findings;
}

/** What the processes that run may open, and one more of each kind, as in a rolling restart. */
export async function connectionFindings(db: Sql, settings: Settings): Promise<Finding[]> {
  const { ok, warning } = findingsOf('connections');
  const [facts] = await db.query<{ most: number; names: string[] }>(
    `select current_setting('max_connections')::int as most,
            (select coalesce(array_agg(coalesce(application_name, '')), '{}') from pg_stat_activity
              where datid is not null and coalesce(backend_type, 'client backend') = 'client backend') as names`,
  );
  const { ours, others } = addUpConnections(facts?.names ?? []);
  const most = facts?.most ?? 0;
  const what = `The processes that run may open ${ours} connections; ${others} of other programs are open, of ${most}`;
  const further = (['api', 'worker', 'mail'] as const).reduce(
    (sum, each) => sum + connectionsAtMost(each, settings.DATABASE_POOL_MAX),
    0,
  );
  // More than there are at all is reported with the settings of the server.
  if (ours + others <= most && ours + others + further > most)
    return [
      warning(
        `${what}. One more of each process, as in a rolling restart, may open ${further}.`,
        'Raise max_connections, or lower DATABASE_POOL_MAX.',
      ),
    ];
  return [ok(`${what}.`)];
}

/** Whether the keys open what is sealed in the database. */
export async function secretsFindings(db: Sql, secrets: SealedSecrets): Promise<Finding[]> {
  const { ok, warning, error } = findingsOf('secrets');
  const { state, missingIds } = await checkSecretsKeys(db, secrets);
  if (state === 'ok') return [ok(`SECRETS_KEYS opens every kind of sealed value; "${secrets.newestKeyId}" seals.`)];
  const [what = '', ...todo] = (MESSAGES.secretsKeys[state] ?? '').split(/(?<=[.:]) /);
  const report = state === 'missing' ? error : warning;
  return [report(`${what} (${missingIds.map((id) => `"${id}"`).join(', ')})`, todo.join(' '))];
}

/** Namespace, search attributes, workers. @param db undefined: not reachable; nothing is compared with it */
export async function temporalFindings(settings: Settings, db: Sql | undefined): Promise<Finding[]> {
  const { ok, warning, error } = findingsOf('temporal');
  if (settings.TEMPORAL_ADDRESS === undefined)
    return [
      error('TEMPORAL_ADDRESS is not set, and no `npm start` runs in DATA_DIR.', 'Set it, or start the service.'),
    ];
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TEMPORAL_TASK_QUEUE: queue } = settings;
  try {
    const { namespaceId, missingAttributes, workers } = await inspectTemporal(
      temporalConnectionOptions(settings),
      namespace,
      queue,
    );
    const other = db === undefined ? undefined : otherTemporal(await agreedTemporal(db), { namespaceId, address });
    if (other !== undefined) return [error(other)];
    if (namespaceId === undefined)
      return [error(`Temporal at ${address} has no namespace ${namespace}.`, 'Run `agent-mailbox-admin migrate`.')];
    return [
      ok(`Temporal at ${address} has the namespace ${namespace}.`),
      missingAttributes.length > 0
        ? error(
            `The namespace lacks search attributes: ${missingAttributes.join(', ')}.`,
            'Run `agent-mailbox-admin migrate`.',
          )
        : ok('It has the search attributes.'),
      workers === 0
        ? warning(
            `No worker asks for tasks of the queue ${queue}: nothing is sent, and webhooks are not repeated.`,
            'Start a worker (`npm run start:worker`, or the container worker).',
          )
        : ok(`${workers} worker${workers === 1 ? ' asks' : 's ask'} for tasks of the queue ${queue}.`),
    ];
  } catch (failure) {
    return [
      error(
        `Temporal at ${address} does not answer: ${reasonOf(failure)}.`,
        'Check that it runs, and TEMPORAL_ADDRESS, TEMPORAL_TLS and TEMPORAL_API_KEY.',
      ),
    ];
  }
}

/** What waits: its count, the age of the oldest, and how many are overdue with the age of the oldest of them. */
export interface Backlog {
  readonly queue: 'webhooks' | 'outgoing messages' | 'consents' | 'notices';
  readonly waiting: number;
  readonly oldestSeconds: number | null;
  readonly overdue: number;
  readonly overdueSeconds: number | null;
}

/** `since`: when it began to wait; `due`: when it should go on. */
const queue = (name: Backlog['queue'], from: string, since: string, due: string) => `
  select '${name}' as queue, count(*)::int as waiting, extract(epoch from now() - min(${since}))::float8 as "oldestSeconds",
         count(*) filter (where ${due} < now())::int as overdue,
         extract(epoch from now() - min(${due}) filter (where ${due} < now()))::float8 as "overdueSeconds"
    from ${from}`;

const BACKLOG = [
  queue(
    'webhooks',
    `deliveries where status in ('pending', 'failed')`,
    'created_at',
    'coalesce(next_attempt_at, created_at)',
  ),
  queue('outgoing messages', `outbound_message where state in ('scheduled', 'sending')`, 'submitted_at', 'due_at'),
  queue('consents', `consent where status = 'pending'`, 'created_at', 'expires_at'),
  queue('notices', `member_notices where state = 'waiting'`, 'created_at', 'due_at'),
].join(' union all ');

/** Counts what waits, of all organizations. Reads partial indexes of open rows. @throws after five seconds */
export const readBacklog = (db: Database): Promise<Backlog[]> =>
  bounded(db, (sql) => sql.query<Backlog & object>(BACKLOG));

function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}

export async function backlogFindings(db: Database): Promise<Finding[]> {
  const { ok, note, warning } = findingsOf('backlog');
  try {
    return (await readBacklog(db)).map(({ queue: name, waiting, oldestSeconds, overdue, overdueSeconds }) => {
      if (waiting === 0) return ok(`No ${name} are waiting.`);
      const what = `${waiting} ${name} wait, the oldest for ${duration(oldestSeconds ?? 0)}`;
      if (overdueSeconds !== null && overdueSeconds > OVERDUE_SECONDS)
        return warning(
          `${what}; ${overdue} are overdue, the oldest by ${duration(overdueSeconds)}.`,
          'Look whether worker and Temporal run, and at the log of the worker.',
        );
      return ok(`${what}.`);
    });
  } catch (failure) {
    return [note(`What waits could not be counted: ${reasonOf(failure)}.`)];
  }
}

/** Whether the object storage of contents can be used, and is set where it is needed. */
export async function objectFindings(db: Database, settings: Settings): Promise<Finding[]> {
  const { ok, note, error } = findingsOf('objects');
  const [found] = await db.query<{ used: boolean }>(`select exists (select from blob_object) as used`);
  if (db.objects === undefined) {
    const needed = settings.BLOB_STORE === 's3' || found?.used === true;
    return needed
      ? [
          error(
            'Contents of mail are in an object storage, or shall be, and it is not set.',
            'Set S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY in every process.',
          ),
        ]
      : [];
  }
  try {
    await db.objects.probe();
  } catch (failure) {
    return [
      error(
        `The object storage at ${settings.S3_ENDPOINT} cannot be used: ${reasonOf(failure)}.`,
        'Until it can, mail is accepted and its contents wait in PostgreSQL; mail whose content is there cannot be read.',
      ),
    ];
  }
  return [
    settings.BLOB_STORE === 's3'
      ? ok(`The object storage at ${settings.S3_ENDPOINT} takes, gives and removes objects.`)
      : note('An object storage is set, and BLOB_STORE is `postgresql`: new contents stay in PostgreSQL.'),
  ];
}
