/** How many connections to PostgreSQL the processes open, for the check of the server's limit. */
import { randomBytes } from 'node:crypto';

/** Connections of a process beside those of DATABASE_POOL_MAX, by their use. */
export const FURTHER_CONNECTIONS = {
  /** One for claims, one for signs of life. */
  fastLane: 2,
  /** Reservations of workflows. */
  workflows: 3,
  /** One for each loop that claims. */
  dispatcher: 2,
  /** Listens for deliveries that are due. */
  wakeUps: 1,
  /** Listens for changes of mailboxes. */
  mailChanges: 1,
} as const;

/** A process of the service. */
export type ProcessName = 'api' | 'worker' | 'mail' | 'all';

const USES: Readonly<Record<ProcessName, readonly (keyof typeof FURTHER_CONNECTIONS)[]>> = {
  api: ['dispatcher', 'wakeUps', 'mailChanges'],
  worker: ['fastLane', 'workflows', 'wakeUps'],
  mail: ['mailChanges'],
  all: ['fastLane', 'workflows', 'dispatcher', 'wakeUps', 'mailChanges'],
};

/** Connections that a process opens at most. @param poolMax DATABASE_POOL_MAX */
export const connectionsAtMost = (process: ProcessName, poolMax: number): number =>
  USES[process].reduce((sum, use) => sum + FURTHER_CONNECTIONS[use], poolMax);

/** All names of our connections begin so. */
const NAME = 'agent-mailbox';

/**
 * Name of a process's pool in `pg_stat_activity`, such as `agent-mailbox api 3f9c, up to 24 connections`. It lets each
 * process add up what all of them may open.
 */
export const connectionName = (process: ProcessName, poolMax: number): string =>
  `${NAME} ${process} ${randomBytes(2).toString('hex')}, up to ${connectionsAtMost(process, poolMax)} connections`;

/** Adds up the names of all sessions of a database server: our processes at most, and others as they are now. */
export function addUpConnections(names: readonly string[]): { readonly ours: number; readonly others: number } {
  const processes = new Set<string>();
  let [ours, others] = [0, 0];
  for (const name of names) {
    if (!name.startsWith(NAME)) others++;
    const [, atMost] = /, up to (\d+) connections$/.exec(name) ?? [];
    if (atMost === undefined || processes.has(name)) continue;
    processes.add(name);
    ours += Number(atMost);
  }
  return { ours, others };
}
