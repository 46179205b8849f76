/**
 * Leases deliveries to fast lanes of other processes, in a process that has none (api and mail of a cluster).
 *
 *   signs of life of all lanes, read each second ──▶ what each offers: room, a fan-out, whom it passes over
 *   insert with the lease of one of them ──commit──▶ NOTIFY with the ids ──▶ the lane reads the rows, and attempts
 *                                                       └─ lost: the lane looks for what it has, every two seconds
 *
 * What is known of a lane is up to two seconds old. If it has died meanwhile, its leases end like all others, and another
 * lane takes over. If it was shut down, its row says so for an hour, and another lane takes over at once.
 *
 * Whoever leases elsewhere knows less than the lane: how much an organization has in flight there, or an endpoint has
 * waiting. So each organization has a limit in each second, and beyond it deliveries wait for a claim.
 */
import { randomUUID } from 'node:crypto';
import type { Database } from '#db/database.ts';
import type { DirectLease, LeasingLane } from '#db/direct-lease.ts';
import { type OfferingLane, offeringLanes } from '#db/queries/deliveries/lane-life.ts';
import type { DeliveriesDue } from './deliveries-due.ts';

/** How often the lanes are read. */
const LOOK_MS = 1_000;
/** What was read longer ago counts no more. */
const KNOWN_MS = 1_500;
/** Deliveries of one organization between two looks. */
const ORGANIZATION_MAX = 250;

export interface LanesElsewhere {
  close(): void;
}

/** Adds them to the lanes of the database. They take nothing in a process that has a lane of its own. */
export function openLanesElsewhere(db: Database, deliveriesDue: Pick<DeliveriesDue, 'handOver'>): LanesElsewhere {
  let timer: NodeJS.Timeout | undefined;
  let known: { readonly lanes: readonly OfferingLane[]; readonly atMs: number } = { lanes: [], atMs: 0 };
  /** Deliveries since the last look, by lane or organization. */
  let used = new Map<string, number>();
  let turn = 0;
  let isAsking = false;
  const use = (id: string, count: number) => void used.set(id, (used.get(id) ?? 0) + count);
  const usedOf = (id: string) => used.get(id) ?? 0;

  async function look(): Promise<void> {
    if (isAsking) return;
    if (db.lanes.size > 1) return stop();
    isAsking = true;
    try {
      const atMs = performance.now();
      known = { lanes: await offeringLanes(db), atMs };
      used = new Map();
    } catch {
      // Deliveries wait for a claim meanwhile.
    }
    isAsking = false;
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  const leasing: LeasingLane = {
    open(organizationIds) {
      if (db.lanes.size > 1) return undefined;
      if (timer === undefined) {
        timer = setInterval(() => void look(), LOOK_MS).unref();
        void look();
      }
      if (performance.now() - known.atMs > KNOWN_MS) return undefined;
      const withRoom = known.lanes.filter(({ id, offer }) => usedOf(id) < offer.room);
      const lane = withRoom[turn++ % Math.max(1, withRoom.length)];
      return lane === undefined ? undefined : leaseTo(lane, organizationIds);
    },
  };

  function leaseTo({ id: lane, offer }: OfferingLane, organizationIds: readonly string[]): DirectLease {
    const reservation = randomUUID();
    const beyondShare = organizationIds.filter((id) => usedOf(id) >= ORGANIZATION_MAX);
    const { fanOutId, passedOver } = offer;
    let ids: readonly string[] = [];
    return {
      lane,
      reservation,
      fanOutId,
      passedOver: { ...passedOver, organizationIds: [...passedOver.organizationIds, ...beyondShare] },
      wrote(leased) {
        ids = leased.map(({ id }) => id);
        use(lane, ids.length);
        for (const { organizationId } of leased) use(organizationId, 1);
      },
      ended(end) {
        // Whether there are rows is unknown after a lost answer: the lane reads it.
        if (end !== 'rolled back')
          deliveriesDue.handOver(
            lane,
            ids.map((id) => ({ id, reservation })),
          );
      },
    };
  }

  db.lanes.add(leasing);
  return {
    close() {
      stop();
      db.lanes.delete(leasing);
    },
  };
}
