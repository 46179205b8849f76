/**
 * Wakes the fast lane and the dispatcher when deliveries wait, and hands leased ones over to the lane of another process.
 *
 * Within a process a wake-up reaches subscribers directly. A process without a subscriber that makes first attempts (an
 * api or mail process) notifies the others by NOTIFY: the first at once, those of the next 10 ms in one. A wake-up is
 * empty, a hand-over contains a lane and the deliveries leased to it. The rows are the truth: a lost wake-up costs at most
 * the dispatcher's sweep interval, a lost hand-over two seconds, after which a lane looks for what it has.
 */
import type { Logger } from '#core/platform/log/logger.ts';
import type { Database } from '#db/database.ts';
import { type Listening, listen, spacedNotices } from '#db/listen.ts';
import type { LeasedDelivery } from '#db/queries/deliveries/claim-deliveries.ts';

const CHANNEL = 'deliveries_due';
const NOTIFY_INTERVAL_MS = 10;
/** A message of NOTIFY has 8,000 bytes at most; a delivery and its reservation take 74. */
const HANDED_PER_NOTICE = 100;

export interface DeliveriesDue {
  /** Call after the commit that recorded an event. Never throws, never waits. */
  wake(): void;
  /**
   * Calls `listener` on every wake-up of this process and, once connected, of the others.
   *
   * @param as default: it makes first attempts or has them made, so no other process needs to hear of this one's events
   */
  onWake(listener: () => void, as?: { readonly makesFirstAttempts: boolean }): void;
  /** Tells the lane of another process what was leased to it. Call it after the commit. Never throws, never waits. */
  handOver(lane: string, leased: readonly LeasedDelivery[]): void;
  /** Calls `listener` with what other processes lease to a lane of this one. It hears them once `onWake` was called. */
  onHandOver(lane: string, listener: (leased: readonly LeasedDelivery[]) => void): void;
  close(): Promise<void>;
}

/** What a hand-over says. */
type HandOver = readonly [lane: string, leased: readonly (readonly [id: string, reservation: string])[]];

export function openDeliveriesDue(db: Database, databaseUrl: string, log: Logger): DeliveriesDue {
  const listeners = new Set<() => void>();
  const lanes = new Map<string, (leased: readonly LeasedDelivery[]) => void>();
  const wakeAll = () => {
    for (const listener of listeners) listener();
  };
  /** A listener of this process makes first attempts. */
  let complete = false;
  let listening: Listening | undefined;
  let closed = false;
  const notify = (messages: readonly string[]) =>
    db
      .query(`select pg_notify('${CHANNEL}', message) from unnest($1::text[]) as message`, [messages])
      .catch((error: Error) => log.debug({ error: error.message }, 'NOTIFY failed; the deliveries will be found'));
  const notices = spacedNotices(NOTIFY_INTERVAL_MS, () => void notify(['']));
  /** By lane. */
  const handed = new Map<string, LeasedDelivery[]>();
  const handOvers = spacedNotices(NOTIFY_INTERVAL_MS, () => void tellLanes());

  async function tellLanes(): Promise<void> {
    const messages: string[] = [];
    for (const [lane, leased] of handed)
      for (let at = 0; at < leased.length; at += HANDED_PER_NOTICE) {
        const some = leased.slice(at, at + HANDED_PER_NOTICE);
        messages.push(
          JSON.stringify([lane, some.map(({ id, reservation }) => [id, reservation] as const)] satisfies HandOver),
        );
      }
    handed.clear();
    if (messages.length > 0) await notify(messages);
  }

  function heard(message: string): void {
    if (message === '') return wakeAll();
    const [lane, leased] = JSON.parse(message) as HandOver;
    lanes.get(lane)?.(leased.map(([id, reservation]) => ({ id, reservation })));
  }

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
        onNotification: heard,
        onConnected: wakeAll,
      });
    },
    handOver(lane, leased) {
      if (closed || leased.length === 0) return;
      handed.set(lane, [...(handed.get(lane) ?? []), ...leased]);
      handOvers.ask();
    },
    onHandOver: (lane, listener) => void lanes.set(lane, listener),
    async close() {
      closed = true;
      notices.close();
      handOvers.close();
      await tellLanes();
      await listening?.close();
    },
  };
}
