/**
 * Tells the dispatcher that deliveries wait.
 *
 * Within a process a nudge reaches listeners directly. A process without a listener (a mail process) tells the others
 * by NOTIFY: the first nudge at once, those of the next 50 ms in one. The message carries nothing, the rows are the
 * truth; a lost one costs at most the dispatcher's sweep interval.
 */
import pg from 'pg';
import type { Database } from '../db/database.ts';
import type { Logger } from './logger.ts';

const CHANNEL = 'deliveries_due';
const NOTIFY_INTERVAL_MS = 50;
const RECONNECT_MS = 1_000;

export interface DeliveriesDue {
  /** Call after the commit that recorded an event. Never throws, never waits. */
  nudge(): void;
  /** Calls `listener` on every nudge of this process and, once connected, of the others. */
  onNudge(listener: () => void): void;
  close(): Promise<void>;
}

export function openDeliveriesDue(db: Database, databaseUrl: string, log: Logger): DeliveriesDue {
  const listeners = new Set<() => void>();
  const tellAll = () => {
    for (const listener of listeners) listener();
  };
  let client: pg.Client | undefined;
  let closed = false;
  let notifyTimer: NodeJS.Timeout | undefined;
  let reconnectTimer: NodeJS.Timeout | undefined;
  let again = false;

  function notify(): void {
    db.query(`select pg_notify('${CHANNEL}', '')`).catch((error: Error) =>
      log.debug({ error: error.message }, 'NOTIFY failed; the sweep will find the deliveries'),
    );
    notifyTimer = setTimeout(() => {
      notifyTimer = undefined;
      if (!again || closed) return;
      again = false;
      notify();
    }, NOTIFY_INTERVAL_MS);
  }

  async function listen(): Promise<void> {
    const connection = new pg.Client({ connectionString: databaseUrl, application_name: 'agent-mailbox listen' });
    client = connection;
    let lost = false;
    const onLost = () => {
      if (lost || closed) return;
      lost = true;
      reconnectTimer = setTimeout(() => void listen(), RECONNECT_MS);
    };
    connection.on('error', onLost);
    connection.on('end', onLost);
    connection.on('notification', tellAll);
    try {
      await connection.connect();
      await connection.query(`listen ${CHANNEL}`);
      tellAll(); // what was told while nobody listened
    } catch {
      onLost();
      await connection.end().catch(() => {});
    }
  }

  return {
    nudge() {
      if (closed) return;
      if (listeners.size > 0) tellAll();
      else if (notifyTimer === undefined) notify();
      else again = true;
    },
    onNudge(listener) {
      listeners.add(listener);
      if (listeners.size === 1) void listen();
    },
    async close() {
      closed = true;
      clearTimeout(notifyTimer);
      clearTimeout(reconnectTimer);
      await client?.end().catch(() => {});
    },
  };
}
