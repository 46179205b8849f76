/**
 * Signs of life of a lane. They are written into the database twice a second; leases of the lane are valid for 2.5 seconds
 * after its last sign, and longer while no other lane can write its signs either.
 *
 *   sign ──▶ sure for two seconds ──no sign──▶ unsure: nothing is claimed or sent ──sign──▶ sure of new leases alone
 */
import { setTimeout as delay } from 'node:timers/promises';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Logger } from '#core/platform/log/logger.ts';
import type { Sql } from '#db/database.ts';
import { endLane, type LaneOffer, showLife } from '#db/queries/deliveries/lane-life.ts';
import { LANE_SIGN_MS, LANE_VALID_MS } from '#domain/webhooks/delivery-limits.ts';

export interface SignOfLife {
  /**
   * Whether the leases are valid for some time yet. False while the database is away, or after this process stood
   * still: others may have taken over, and nothing may be claimed or sent.
   */
  readonly isSure: boolean;
  /**
   * Whether leases taken then are valid: it is sure, and has been since. @param atMs `performance.now()` before the claim
   */
  leasesValidSince(atMs: number): boolean;
  /** Resolves when it is sure, or has ended. */
  untilSure(): Promise<void>;
  /** Frees what is still leased. */
  end(): Promise<void>;
}

/** A request that begins this long before the leases expire was sent while they were valid. */
const MARGIN_MS = 500;
const LOOK_MS = 100;

/** By two clocks: one stands still while the machine is suspended, the other can be set. */
interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

const thisMoment = (): Moment => ({ monotonicMs: performance.now(), wallMs: Date.now() });

/** By the clock on which more time has passed. */
const sinceMs = ({ monotonicMs, wallMs }: Moment): number =>
  Math.max(performance.now() - monotonicMs, Date.now() - wallMs);

/** @param offer what it takes from other processes, asked before each sign; undefined: nothing */
export function signOfLife(
  sql: Sql,
  lane: string,
  log: Logger,
  offer: () => LaneOffer | undefined = () => undefined,
): SignOfLife {
  /** When the last sign that arrived was sent. */
  let shown: Moment | undefined;
  /** When it became sure. */
  let unbrokenSinceMs = Number.POSITIVE_INFINITY;
  let ended = false;
  let showing: Promise<void> | undefined;

  const isSure = () => !ended && shown !== undefined && sinceMs(shown) < LANE_VALID_MS - MARGIN_MS;

  async function show(): Promise<void> {
    const sentAt = thisMoment();
    try {
      await showLife(sql, lane, offer());
      // What was leased before may have been taken over.
      if (!isSure()) unbrokenSinceMs = performance.now();
      shown = sentAt;
    } catch (error) {
      // The claims meet the same outage and report it.
      log.debug({ error: reasonOf(error) }, 'no sign of life could be written');
    }
  }

  function showSoon(): void {
    if (ended) return;
    showing ??= show().finally(() => {
      showing = undefined;
    });
  }

  const timer = setInterval(showSoon, LANE_SIGN_MS);
  showSoon();
  return {
    get isSure() {
      return isSure();
    },
    leasesValidSince: (atMs) => isSure() && unbrokenSinceMs <= atMs,
    async untilSure() {
      while (!ended && !isSure()) {
        showSoon();
        await Promise.all([showing, delay(LOOK_MS)]);
      }
    },
    async end() {
      ended = true;
      clearInterval(timer);
      await showing;
      // If it fails, the leases expire.
      await endLane(sql, lane).catch(() => {});
    },
  };
}
