/**
 * Wakes the fast lane and the dispatcher when deliveries wait.
 *
 * Within a process a wake-up reaches subscribers directly. A process without a subscriber that makes first attempts (an
 * api or mail process) notifies the others by NOTIFY: the first wake-up at once, those of the next 10 ms in one. The message is empty, the rows are the
 * truth; a lost one costs at most the dispatcher's sweep interval.
 */
import type pg from 'pg';
import type { Logger } from '#core/platform/log/logger.ts';
import { connect, newConnection } from '#db/connections.ts';
import type { Database } from '#db/database.ts';

const CHANNEL = 'deliveries_due';
const NOTIFY_INTERVAL_MS = 10;
const RECONNECT_MS = 1_000;

export interface DeliveriesDue {
  /** Call after the commit that recorded an event. Never throws, never waits. */
  wake(): void;
  /**
   * Calls `listener` on every wake-up of this process and, once connected, of the others.
   *
   * @param as default: it makes first attempts or has them made, so no other process needs to hear of this one's events
   */
  onWake(listener: () => void, as?: { readonly makesFirstAttempts: boolean }): void;
  close(): Promise<void>;
}

export function openDeliveriesDue(db: Database, databaseUrl: string, log: Logger): DeliveriesDue {
  const listeners = new Set<() => void>();
  const wakeAll = () => {
    for (const listener of listeners) listener();
  };
  /** A listener of this process makes first attempts. */
  let complete = false;
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
    const connection = newConnection(databaseUrl, 'agent-mailbox listen');
    client = connection;
    let lost = false;
    const onLost = () => {
      if (lost || closed) return;
      lost = true;
      reconnectTimer = setTimeout(() => void listen(), RECONNECT_MS);
    };
    connection.on('error', onLost);
    connection.on('end', onLost);
    connection.on('notification', wakeAll);
    try {
      await connect(connection);
      await connection.query(`listen ${CHANNEL}`);
      wakeAll(); // notifications sent while nobody listened are lost
    } catch {
      onLost();
      await connection.end().catch(() => {});
    }
  }

  return {
    wake() {
      if (closed) return;
      wakeAll();
      if (complete) return;
      if (notifyTimer === undefined) notify();
      else again = true;
    },
    onWake(listener, { makesFirstAttempts } = { makesFirstAttempts: true }) {
      complete ||= makesFirstAttempts;
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
