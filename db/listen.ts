import type pg from 'pg';
import { connect, newConnection } from './connections.ts';

const RECONNECT_MS = 1_000;

export interface Listening {
  close(): Promise<void>;
}

interface ListenOptions {
  /** Shown in `pg_stat_activity`. */
  readonly name: string;
  readonly channel: string;
  readonly onNotification: (payload: string) => void;
  /** It listens, from now on or again: notifications that were sent while nobody listened are lost. */
  readonly onConnected: () => void;
}

/** Listens to a channel over a connection of its own, which is opened again a second after it was lost. */
export function listen(databaseUrl: string, options: ListenOptions): Listening {
  const { name, channel, onNotification, onConnected } = options;
  let client: pg.Client | undefined;
  let reconnectTimer: NodeJS.Timeout | undefined;
  let closed = false;

  async function open(): Promise<void> {
    const connection = newConnection(databaseUrl, name);
    client = connection;
    let lost = false;
    const onLost = () => {
      if (lost || closed) return;
      lost = true;
      reconnectTimer = setTimeout(() => void open(), RECONNECT_MS);
    };
    connection.on('error', onLost);
    connection.on('end', onLost);
    connection.on('notification', ({ payload = '' }) => onNotification(payload));
    try {
      await connect(connection);
      await connection.query(`listen ${channel}`);
      onConnected();
    } catch {
      onLost();
      await connection.end().catch(() => {});
    }
  }

  void open();
  return {
    async close() {
      closed = true;
      clearTimeout(reconnectTimer);
      await client?.end().catch(() => {});
    },
  };
}

interface SpacedNotices {
  /** Sends at once, or with the next ones if some were sent less than the interval ago. */
  ask(): void;
  close(): void;
}

/** The first notice at once, those of the next `intervalMs` in one. @param send sends whatever is unsent */
export function spacedNotices(intervalMs: number, send: () => void): SpacedNotices {
  let timer: NodeJS.Timeout | undefined;
  let again = false;
  function sendNow(): void {
    again = false;
    send();
    timer = setTimeout(() => {
      timer = undefined;
      if (again) sendNow();
    }, intervalMs);
  }
  return {
    ask() {
      if (timer === undefined) sendNow();
      else again = true;
    },
    close: () => {
      clearTimeout(timer);
      again = false;
    },
  };
}
