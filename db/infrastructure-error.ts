/**
 * Distinguishes infrastructure errors (PostgreSQL is unreachable, full, read-only, or two transactions conflicted) from
 * wrong statements. Infrastructure errors are temporary: the same work can be repeated later, and no delivery, mail or
 * request caused them.
 *
 * SQLSTATEs are those of PostgreSQL's appendix A; other codes are of Node's sockets.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** The kinds of infrastructure errors of the database. */
export type InfrastructureFault =
  /** No connection could be made: nothing was asked. */
  | 'unreachable'
  /** The connection broke: the last statement, which may have been the commit, may or may not have been done. */
  | 'connection_lost'
  /** The disk, the memory or the connections of the server are used up (class 53), or its storage fails (class 58). */
  | 'out_of_resources'
  /** A standby, or a primary that was set read-only. */
  | 'read_only'
  /** Two transactions met, or a lock or statement took too long: the transaction was rolled back and may be repeated. */
  | 'conflict';

const FAULT_OF_CODE: Readonly<Record<string, InfrastructureFault>> = {
  ECONNREFUSED: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  EAI_FAIL: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable', // no local port is free
  ENOBUFS: 'unreachable',
  EMFILE: 'unreachable', // no socket can be made: this process has as many files as it may
  ENFILE: 'unreachable',
  '08001': 'unreachable', // sqlclient_unable_to_establish_sqlconnection
  '08004': 'unreachable', // sqlserver_rejected_establishment_of_sqlconnection
  '53300': 'unreachable', // too_many_connections
  '57P03': 'unreachable', // cannot_connect_now
  '57P04': 'unreachable', // database_dropped
  ECONNABORTED: 'connection_lost',
  ECONNRESET: 'connection_lost',
  EPIPE: 'connection_lost',
  ETIMEDOUT: 'connection_lost',
  '25P03': 'connection_lost', // idle_in_transaction_session_timeout
  '40003': 'connection_lost', // statement_completion_unknown
  '25006': 'read_only', // read_only_sql_transaction
  '40001': 'conflict', // serialization_failure
  '40P01': 'conflict', // deadlock_detected
  '55P03': 'conflict', // lock_not_available
  '57014': 'conflict', // query_canceled: statement_timeout
};

/** Beginnings of SQLSTATEs that mean the same throughout; single codes above go first. */
const FAULT_OF_CLASS: Readonly<Record<string, InfrastructureFault>> = {
  '08': 'connection_lost', // connection_exception
  '53': 'out_of_resources', // insufficient_resources: 53100 disk_full, 53200 out_of_memory
  '57P': 'connection_lost', // operator_intervention that ends sessions: admin_shutdown, crash_shutdown, idle_session_timeout
  '58': 'out_of_resources', // system_error: 58030 io_error
};

/** internal_error: what PostgreSQL has no code for. A full disk is among it, "could not write init file" for one. */
const INTERNAL_ERROR = 'XX000';
const STORAGE_FAILS =
  /No space left on device|Disk quota exceeded|Input\/output error|Read-only file system|Too many open files|^could not (?:access status of transaction|extend|flush|fsync|write)\b|^could not (?:close|create|open|read|rename|seek|truncate) (?!relation with OID).*\b(?:file|directory)\b/;

/** What ends a session, or keeps it from beginning, whatever its code. */
const ENDS_SESSION = new Set(['FATAL', 'PANIC']);
/** Of those, by class, errors before a session begins: invalid_authorization, invalid_catalog_name. */
const REFUSED_AT_LOGIN = new Set(['28', '3D']);

/** Messages of the driver that have no code. */
const FAULT_OF_MESSAGE: readonly (readonly [RegExp, InfrastructureFault])[] = [
  [
    /^(?:timeout exceeded when trying to connect|timeout expired|Cannot use a pool after calling end|The server does not support SSL|There was an error establishing an SSL|SASL: )/,
    'unreachable',
  ],
  [
    /^(?:Connection terminated|Client has encountered a connection error|Client was closed and is not queryable|Query read timeout|Received unexpected \w+ message from backend)/,
    'connection_lost',
  ],
];

/** The infrastructure error in an error or its causes; undefined: another error. */
export function infrastructureFault(error: unknown): InfrastructureFault | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const fault = faultOf(each);
    if (fault !== undefined) return fault;
    if (!(each instanceof AggregateError)) continue;
    for (const inner of each.errors) {
      const innerFault = infrastructureFault(inner);
      if (innerFault !== undefined) return innerFault;
    }
  }
  return undefined;
}

function faultOf(error: Error): InfrastructureFault | undefined {
  const code = textOf(error, 'code');
  const isSqlState = code.length === SQLSTATE_CHARACTERS;
  return (
    FAULT_OF_CODE[code] ??
    (isSqlState ? (FAULT_OF_CLASS[code.slice(0, 2)] ?? FAULT_OF_CLASS[code.slice(0, 3)]) : undefined) ??
    (code === INTERNAL_ERROR && STORAGE_FAILS.test(error.message) ? 'out_of_resources' : undefined) ??
    (isSqlState && ENDS_SESSION.has(textOf(error, 'severity'))
      ? REFUSED_AT_LOGIN.has(code.slice(0, 2))
        ? 'unreachable'
        : 'connection_lost'
      : undefined) ??
    FAULT_OF_MESSAGE.find(([message]) => message.test(error.message))?.[1]
  );
}

const SQLSTATE_CHARACTERS = 5;

function textOf(error: Error, property: string): string {
  const value: unknown = Reflect.get(error, property);
  return typeof value === 'string' ? value : '';
}

/** Whether the infrastructure is to blame, and the same work may succeed later. */
export const isInfrastructureError = (error: unknown): boolean => infrastructureFault(error) !== undefined;

/** Whether it is unknown if the last statement, which may have been the commit, was executed. */
export const isAnswerLost = (error: unknown): boolean => infrastructureFault(error) === 'connection_lost';

/** Further tries of a transaction that PostgreSQL rolled back because of another one. */
const CONFLICT_RETRIES = 3;
/** Wait before the first of them, in milliseconds; doubled for each further one, and up to twice as long by chance. */
const CONFLICT_DELAY_MS = 10;

/** SQLSTATEs after which PostgreSQL's manual (13.5) asks to repeat the transaction: serialization_failure, deadlock_detected. */
const CONFLICTS = new Set(['40001', '40P01']);

/** Whether PostgreSQL rolled a transaction back because it met another one: nothing was done, and it may be repeated. */
function isConflict(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if ('code' in each && typeof each.code === 'string' && CONFLICTS.has(each.code)) return true;
  return false;
}

/** Runs a transaction, and repeats it after a conflict. @throws the conflict, if it persists */
export async function retryConflicts<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let retry = 0; ; retry++)
    try {
      return await transaction();
    } catch (error) {
      if (retry >= CONFLICT_RETRIES || !isConflict(error)) throw error;
      await delay(CONFLICT_DELAY_MS * 2 ** retry * (1 + Math.random()));
    }
}
