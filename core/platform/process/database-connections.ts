/** How many connections to PostgreSQL the processes open, for the check of the server's limit. */
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { Socket } from 'node:net';

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

/** Connections over the limit that get an answer at the same time; further ones are closed without one. */
const REFUSED_AT_ONCE_MAX = 100;
/** A refused client has this long to read its answer. */
const REFUSED_GRACE_MS = 1_000;
/** After which a refused client may come back. */
export const CONNECTIONS_RETRY_AFTER_SECONDS = 5;

const ANSWER = `HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: ${CONNECTIONS_RETRY_AFTER_SECONDS}\r\nContent-Length: 0\r\n\r\n`;

/**
 * Limits the connections of an HTTP server. The next one is answered 503 with Retry-After (RFC 9110 §15.6.4) and closed,
 * before anything of it is read. Call it before the server listens.
 *
 * @param onRefused called for each connection that is refused
 * @param answer the whole HTTP answer to them
 */
export function limitConnections(
  server: Server,
  max: number,
  onRefused: () => void = () => {},
  answer: () => string = () => ANSWER,
): void {
  const serving = server.listeners('connection');
  let open = 0;
  server.maxConnections = max + REFUSED_AT_ONCE_MAX;
  server.on('drop', onRefused);
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    // In-memory connections of this process are not counted.
    if (socket instanceof Socket) {
      if (open >= max) {
        onRefused();
        refuse(socket, answer());
        return;
      }
      open++;
      socket.once('close', () => open--);
    }
    for (const serve of serving) Reflect.apply(serve, server, [socket]);
  });
}

function refuse(socket: Socket, answer: string): void {
  const cut = setTimeout(() => socket.destroy(), REFUSED_GRACE_MS);
  socket.on('error', () => {});
  socket.once('close', () => clearTimeout(cut));
  // What the client sends is read and dropped: closing with unread bytes would reset the connection and lose the answer.
  socket.resume();
  socket.end(answer);
}
