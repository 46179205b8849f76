/** Injects a fault under load, and measures until every operation that began before its end is accepted. */
import { setTimeout as delay } from 'node:timers/promises';
import { firstIdAt } from '#domain/ids.ts';
import { type Cluster, SERVICE_DATABASE } from './cluster.ts';
import type { Fault } from './faults.ts';
import type { LogLines, LogWatch } from './log-watch.ts';
import type { ReadinessCounts, ReadinessWatch } from './readiness-watch.ts';

export interface FaultFigures {
  readonly fault: Fault;
  readonly beganMs: number;
  /** Duration of the fault itself. */
  readonly lastedSeconds: number;
  /** From the end of the fault (a kill ends at once), until every process was ready; undefined: not in time. */
  readonly readySeconds: number | undefined;
  /** Until every operation begun before the end of the fault was accepted. */
  readonly acceptedSeconds: number | undefined;
  /** Until all webhooks and mails of everything accepted by then were delivered. */
  readonly deliveredSeconds: number | undefined;
  /** What the service did not create again after the engine's state was dropped. */
  readonly missing: readonly string[];
  readonly openDeliveries: number;
  /** Operations begun before the end of the fault that were not accepted within the time limit, with their last try. */
  readonly openOperations: readonly string[];
  readonly logs: readonly LogLines[];
  readonly readiness: ReadonlyMap<string, Readonly<ReadinessCounts>>;
  /** Programs that ended, with how often. */
  readonly restarts: ReadonlyMap<string, number>;
}

const POLL_MS = 300;
/** A delivery without its workflow is overdue after 2 minutes, and the sweep runs every half minute. */
const RECOVERED_WITHIN_MS = 240_000;
/** The next fault begins this long after the recovery from the previous one. */
const BETWEEN_MS = 2_000;

/** Deliveries and messages to send that are not final, of those made before. */
const OPEN = `
  select (select count(*)::int from deliveries where organization_id = $1 and id < $2 and status in ('pending', 'failed'))
       + (select count(*)::int from outbound_message where organization_id = $1 and id < $3 and state <> 'done') as open`;

async function openBefore({ postgres, subscriber }: Cluster, beforeMs: number): Promise<number> {
  const [row] = await postgres.ask<{ open: number }>(SERVICE_DATABASE, OPEN, [
    subscriber.organizationId,
    firstIdAt('delivery', beforeMs),
    firstIdAt('message', beforeMs),
  ]);
  return row?.open ?? 0;
}

export async function runFault(
  cluster: Cluster,
  fault: Fault,
  watches: { readonly readiness: ReadinessWatch; readonly logs: LogWatch },
): Promise<FaultFigures> {
  const restartsOf = () => new Map(cluster.programs().map((program) => [program.name, program.restarts()]));
  watches.logs.read();
  watches.readiness.reset();
  const restartsBefore = restartsOf();
  const beganMs = Date.now();
  await fault.carryOut(cluster);
  const endedMs = Date.now();
  const deadline = endedMs + RECOVERED_WITHIN_MS;
  const seconds = (ms: number | undefined) => (ms === undefined ? undefined : (ms - endedMs) / 1_000);
  let [readyMs, acceptedMs, deliveredMs]: (number | undefined)[] = [];
  let openDeliveries = 0;
  let missing: readonly string[] = [];
  const openOperations = () => cluster.ledger.open().filter((operation) => operation.beganAtMs <= endedMs);
  while (Date.now() < deadline && (readyMs === undefined || deliveredMs === undefined || missing.length > 0)) {
    await delay(POLL_MS);
    if (fault.missing !== undefined) missing = await fault.missing(cluster).catch(() => ['the namespace']);
    if (watches.readiness.allReadySince(endedMs)) readyMs ??= Date.now();
    if (openOperations().length === 0) acceptedMs ??= Date.now();
    if (acceptedMs === undefined || deliveredMs !== undefined) continue;
    try {
      openDeliveries = await openBefore(cluster, acceptedMs);
      if (openDeliveries === 0) deliveredMs = Date.now();
    } catch {
      // The database itself is not back yet.
    }
  }
  const restarts = [...restartsOf()].map(
    ([name, count]) => [name, Math.max(0, count - (restartsBefore.get(name) ?? 0))] as const,
  );
  const figures: FaultFigures = {
    fault,
    beganMs,
    lastedSeconds: (endedMs - beganMs) / 1_000,
    readySeconds: seconds(readyMs),
    acceptedSeconds: seconds(acceptedMs),
    deliveredSeconds: seconds(deliveredMs),
    missing,
    openDeliveries,
    openOperations: openOperations().map(({ mark, tries, lastTry }) => `${mark} after ${tries} tries: ${lastTry}`),
    logs: watches.logs.read(),
    readiness: new Map(watches.readiness.counts()),
    restarts: new Map(restarts.filter(([, count]) => count > 0)),
  };
  await delay(BETWEEN_MS);
  return figures;
}
