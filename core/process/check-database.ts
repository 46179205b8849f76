/**
 * Settings of the PostgreSQL server, the database and the role that harm the service and that a session cannot change
 * for itself (`db/connections.ts` sets the others). They are warnings: the operator may have reasons.
 */

import type { Logger } from '#core/platform/log/logger.ts';
import { addUpConnections } from '#core/platform/process/database-connections.ts';
import type { Sql } from '#db/database.ts';

/** A setting that harms. */
export interface DatabaseProblem {
  /** What is wrong, in the form of a state of a readiness check. */
  readonly state: string;
  /** Its effect and what to do. */
  readonly message: string;
}

const LOOK_EVERY_MS = 60_000;
const MS_PER_SECOND = 1_000;
const KIB_PER_MIB = 1_024;
const PAGES_PER_MIB = 128;
const SHARED_BUFFERS_LEAST_MIB = 64;
const TEMPORARY_FILES_LEAST_MIB = 256;
/** Timeouts that end what the service does on purpose: migrations, retention, the reading of large mail. */
const STATEMENT_LEAST_SECONDS = 60;
const LOCK_LEAST_SECONDS = 5;
const IDLE_IN_TRANSACTION_LEAST_SECONDS = 30;
/** Connections that listen are idle for ever, those of pools for a minute. */
const IDLE_SESSION_LEAST_SECONDS = 300;

/** Values in the unit of `pg_settings`, by name; a setting that this version of PostgreSQL lacks is absent. */
type ServerSettings = ReadonlyMap<string, string>;

interface DatabaseFacts {
  /** Of the collation of the database: as its indexes were made, and as the system provides it now. */
  readonly collation: string;
  readonly collationVersion: string | null;
  readonly actualVersion: string | null;
  /** Whether `lower` changes letters outside of ASCII. */
  readonly foldsLetters: boolean;
  readonly hidesRows: boolean;
  readonly isSuperuser: boolean;
  /** -1: none. */
  readonly roleLimit: number;
  readonly databaseLimit: number;
  /** Names of all client sessions of the server. */
  readonly sessions: readonly string[];
}

const NAMES = [
  ...['jit', 'fsync', 'full_page_writes', 'synchronous_commit', 'autovacuum', 'track_counts', 'shared_buffers'],
  ...['temp_file_limit', 'statement_timeout', 'transaction_timeout', 'lock_timeout', 'idle_session_timeout'],
  ...['idle_in_transaction_session_timeout', 'lc_messages', 'session_replication_role', 'max_connections'],
  ...['superuser_reserved_connections', 'reserved_connections'],
];

const FACTS = /* sql */ `
  select coalesce(d.datcollate, '') as collation, d.datcollversion as "collationVersion",
         pg_database_collation_actual_version(d.oid) as "actualVersion", lower(chr(196)) = chr(228) as "foldsLetters",
         exists (select from pg_class c
                  where c.relrowsecurity and row_security_active(c.oid)
                    and c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('events'))) as "hidesRows",
         r.rolsuper as "isSuperuser", r.rolconnlimit as "roleLimit", d.datconnlimit as "databaseLimit",
         (select coalesce(array_agg(coalesce(application_name, '')), '{}')
            from pg_stat_activity
           where datid is not null and coalesce(backend_type, 'client backend') = 'client backend') as sessions
    from pg_database d cross join pg_roles r
   where d.datname = current_database() and r.rolname = current_user`;

type Check = (settings: ServerSettings, facts: DatabaseFacts) => DatabaseProblem | undefined;

const isOff =
  (name: string, message: string): Check =>
  (settings) =>
    settings.get(name) === 'off' ? { state: `${name}_off`, message } : undefined;

/** For timeouts, whose unit is milliseconds and of which 0 is none. */
const isShort =
  (name: string, leastSeconds: number, effect: string): Check =>
  (settings) => {
    const ms = Number(settings.get(name) ?? 0);
    if (ms === 0 || ms >= leastSeconds * MS_PER_SECOND) return undefined;
    return {
      state: `${name}_short`,
      message: `${name} is ${ms / MS_PER_SECOND} s: ${effect}. Set it to 0 or at least ${leastSeconds} s for the role of DATABASE_URL.`,
    };
  };

const CHECKS: readonly Check[] = [
  (settings) =>
    settings.get('jit') === 'on'
      ? {
          state: 'session_lost',
          message:
            'The settings of a session are not kept: a pooler between the service and PostgreSQL works in transaction mode, in which notifications and locks of sessions do not work either. Use its session mode, or connect without it.',
        }
      : undefined,
  isOff('fsync', 'fsync is off: a crash of the machine damages the database, and accepted mail is lost. Set it to on.'),
  isOff(
    'full_page_writes',
    'full_page_writes is off: a crash of the machine may damage the database. Set it to on, unless the file system writes pages whole.',
  ),
  isOff(
    'synchronous_commit',
    'synchronous_commit is off: a crash of the server loses mail that was accepted just before. Set it to on for the role of DATABASE_URL.',
  ),
  isOff(
    'autovacuum',
    'autovacuum is off: tables grow without end and their plans become slow. Set it to on, and track_counts as well.',
  ),
  isOff('track_counts', 'track_counts is off, so autovacuum does not see what to do. Set it to on.'),
  (settings) => {
    const mebibytes = Number(settings.get('shared_buffers')) / PAGES_PER_MIB;
    return mebibytes < SHARED_BUFFERS_LEAST_MIB
      ? {
          state: 'shared_buffers_small',
          message: `shared_buffers is ${mebibytes} MB: indexes do not fit and are read again and again. Set it to 128MB at least, better a quarter of the memory.`,
        }
      : undefined;
  },
  (settings) => {
    const limit = Number(settings.get('temp_file_limit') ?? -1);
    return limit !== -1 && limit < TEMPORARY_FILES_LEAST_MIB * KIB_PER_MIB
      ? {
          state: 'temp_file_limit_small',
          message: `temp_file_limit is ${Math.round(limit / KIB_PER_MIB)} MB: long searches and reports fail. Set it to ${TEMPORARY_FILES_LEAST_MIB}MB at least, or to -1.`,
        }
      : undefined;
  },
  isShort('statement_timeout', STATEMENT_LEAST_SECONDS, 'migrations, retention and the reading of large mail fail'),
  isShort('transaction_timeout', STATEMENT_LEAST_SECONDS, 'migrations and retention fail'),
  isShort('lock_timeout', LOCK_LEAST_SECONDS, 'requests and migrations fail that wait for another one'),
  isShort(
    'idle_in_transaction_session_timeout',
    IDLE_IN_TRANSACTION_LEAST_SECONDS,
    'transactions are lost when the machine of the service is busy',
  ),
  isShort('idle_session_timeout', IDLE_SESSION_LEAST_SECONDS, 'connections that listen are made again and again'),
  (settings) =>
    /^(?:$|C(?:$|[._])|POSIX$|en(?:$|[._]))/i.test(settings.get('lc_messages') ?? '')
      ? undefined
      : {
          state: 'lc_messages_translated',
          message: `lc_messages is ${settings.get('lc_messages')}, and the role may not set it: some errors of a full disk are known by their English text alone. Set it to C for the database: alter database … set lc_messages = 'C' as a superuser.`,
        },
  (settings) =>
    settings.get('session_replication_role') === 'origin'
      ? undefined
      : {
          state: 'triggers_off',
          message:
            'session_replication_role is not origin: triggers do not run, and pages do not show changes. Reset it for the role of DATABASE_URL.',
        },
  (_, { collation, collationVersion, actualVersion }) =>
    collationVersion === null || actualVersion === null || collationVersion === actualVersion
      ? undefined
      : {
          state: 'collation_changed',
          message: `The order of texts (collation ${collation}) changed from version ${collationVersion} to ${actualVersion} with the system: indexes may miss rows. Run REINDEX DATABASE, then ALTER DATABASE … REFRESH COLLATION VERSION.`,
        },
  (_, { foldsLetters, collation }) =>
    foldsLetters
      ? undefined
      : {
          state: 'collation_ascii',
          message: `The collation ${collation} knows the letters of ASCII alone: searches distinguish Ä from ä. Move to a database with another one, such as C.UTF-8.`,
        },
  (_, { hidesRows }) =>
    hidesRows
      ? {
          state: 'row_security',
          message:
            'Row security is enabled on a table and would hide rows from the service, so its statements fail. Disable it, or give the role BYPASSRLS.',
        }
      : undefined,
  tooFewConnections,
];

function tooFewConnections(settings: ServerSettings, facts: DatabaseFacts): DatabaseProblem | undefined {
  const value = (name: string) => Number(settings.get(name) ?? 0);
  const reserved = facts.isSuperuser ? 0 : value('superuser_reserved_connections') + value('reserved_connections');
  const { ours, others } = addUpConnections(facts.sessions);
  const limits = [
    { name: 'max_connections', free: value('max_connections') - reserved - others },
    { name: 'the connection limit of the role', free: facts.isSuperuser ? -1 : facts.roleLimit },
    { name: 'the connection limit of the database', free: facts.isSuperuser ? -1 : facts.databaseLimit },
  ].filter(({ name, free }) => name === 'max_connections' || free !== -1);
  const least = limits.reduce((one, other) => (other.free < one.free ? other : one));
  if (ours <= least.free) return undefined;
  return {
    state: 'connections_few',
    message: `The processes of the service may open ${ours} connections, but ${least.name} leaves them ${Math.max(0, least.free)}: raise it, or lower DATABASE_POOL_MAX.`,
  };
}

/** What harms the service. Two small statements, but not for each request. */
export async function checkDatabase(sql: Sql): Promise<DatabaseProblem[]> {
  const rows = await sql.query<{ name: string; setting: string }>(
    `select name, setting from pg_settings where name = any($1)`,
    [NAMES],
  );
  const [facts] = await sql.query<DatabaseFacts>(FACTS);
  if (facts === undefined) return [];
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]));
  return CHECKS.flatMap((check) => check(settings, facts) ?? []);
}

/** Looks at the settings again and again, and logs each that begins to harm and no longer does. */
export function watchDatabaseSettings(sql: Sql, log: Logger) {
  let last: { readonly problems: readonly DatabaseProblem[]; readonly atMs: number } | undefined;
  return {
    /** Those found last; undefined: not known yet. */
    problems: (): readonly DatabaseProblem[] | undefined => last?.problems,
    /** Asks the server, unless it did within the last minute. */
    async look(): Promise<void> {
      const atMs = performance.now();
      if (last !== undefined && atMs - last.atMs < LOOK_EVERY_MS) return;
      const before = last?.problems ?? [];
      const problems = await checkDatabase(sql);
      last = { problems, atMs };
      const isIn = (list: readonly DatabaseProblem[], state: string) => list.some((each) => each.state === state);
      for (const { state, message } of problems)
        if (!isIn(before, state)) log.warn({ check: 'databaseSettings', state }, message);
      for (const { state } of before)
        if (!isIn(problems, state))
          log.info({ check: 'databaseSettings', state }, 'a setting of PostgreSQL harms no longer');
    },
  };
}
