/**
 * Wakes the fast lane and the dispatcher when deliveries wait.
 *
 * Within a process a wake-up reaches subscribers directly. A process without a subscriber that makes first attempts (an
 * api or mail process) notifies the others by NOTIFY: the first wake-up at once, those of the next 10 ms in one. The message is empty, the rows are the
 * truth; a lost one costs at most the dispatcher's sweep interval.
 */
import type { Logger } from '#core/platform/log/logger.ts';
import type { Database } from '#db/database.ts';
import { type Listening, listen, spacedNotices } from '#db/listen.ts';

const CHANNEL = 'deliveries_due';
const NOTIFY_INTERVAL_MS = 10;

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
  let listening: Listening | undefined;
  let closed = false;
  const notices = spacedNotices(NOTIFY_INTERVAL_MS, () => {
    db.query(`select pg_notify('${CHANNEL}', '')`).catch((error: Error) =>
      log.debug({ error: error.message }, 'NOTIFY failed; the sweep will find the deliveries'),
    );
  });

  return {
    wake() {
      if (closed) return;
      wakeAll();
      if (!complete) notices.ask();
    },
    onWake(listener, { makesFirstAttempts } = { makesFirstAttempts: true }) {
      complete ||= makesFirstAttempts;
      listeners.add(listener);
      listening ??= listen(databaseUrl, {
        name: 'agent-mailbox listen',
        channel: CHANNEL,
        onNotification: wakeAll,
        onConnected: wakeAll,
      });
    },
    async close() {
      closed = true;
      notices.close();
      await listening?.close();
    },
  };
}
