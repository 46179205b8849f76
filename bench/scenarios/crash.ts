import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs, noTimes } from '#bench/event-load.ts';
import { acknowledgedReceipts, allAcknowledged, type Outcome, outcomeOf } from '#bench/measure.ts';
import { openDeliveriesReach, retire } from '#bench/open-deliveries.ts';
import { nextRun, producersOf, type Scenario, type ScenarioContext, subscribersOf, warmUp } from '#bench/scenario.ts';
import type { Part } from '#bench/world.ts';
import { firstIdAt } from '#domain/ids.ts';

const PARTS: readonly Part[] = ['service', 'PostgreSQL', 'Temporal'];
const EVENTS = 3_000;
/** The part is killed when so much of the load has arrived. */
const KILL_AT_RATIO = 1 / 3;
const POLL_MS = 5;
const SETTLED_POLL_MS = 200;

interface CrashFigures extends Outcome {
  readonly acceptedEvents: number;
  readonly arrivedBefore: number;
  readonly downSeconds: number;
  /** From running again to the last delivery. */
  readonly deliveredSeconds: number;
  /** From running again until no delivery is open in the database. */
  readonly settledSeconds: number;
}

async function killInDrain(context: ScenarioContext, part: Part): Promise<CrashFigures> {
  const { world, options } = context;
  const { sink, services } = world;
  const events = options.events ?? EVENTS;
  const endpoints = options.endpoints ?? 1;
  const subscribers = await subscribersOf(context, { events, organizations: 1, endpoints });
  const endpointIds = subscribers.flatMap((subscriber) => subscriber.endpointIds);
  const run = nextRun();
  await sink.call('begin', run);
  const from = firstIdAt('delivery', Date.now());
  const load = { run, first: 0, events, producers: producersOf(options), subscribers, untilFailure: true };
  // The killed service cannot report what it had accepted; its rows can.
  const making = options.source.make(world, load).catch(() => noTimes(events));
  const killAt = events * endpoints * KILL_AT_RATIO;
  let arrivedBefore = 0;
  while (arrivedBefore < killAt) {
    arrivedBefore = await sink.call('acknowledged', undefined);
    await delay(POLL_MS);
  }
  const killedMs = monotonicMs();
  await world.crash(part);
  const runningMs = monotonicMs();
  const times = await making;
  await allAcknowledged(world, await owedOnceReachable(context, from, endpointIds));
  await openDeliveriesReach(services, endpointIds, 0);
  const settledMs = monotonicMs();
  const receipts = await acknowledgedReceipts(world);
  const outcome = await outcomeOf(services, { from, endpointIds, receipts, times, everyEvent: true });
  await retire(world, subscribers);
  const lastMs = receipts.reduce((last, { atMs }) => Math.max(last, atMs), 0);
  return {
    ...outcome,
    acceptedEvents: times.acceptedMs.filter((ms) => ms > 0).length,
    arrivedBefore,
    downSeconds: (runningMs - killedMs) / 1_000,
    deliveredSeconds: Math.max(0, lastMs - runningMs) / 1_000,
    settledSeconds: (settledMs - runningMs) / 1_000,
  };
}

/** Number of deliveries, queried until the database answers. */
async function owedOnceReachable({ world }: ScenarioContext, from: string, endpointIds: string[]): Promise<number> {
  for (;;) {
    try {
      const [row] = await world.services.db.query<{ count: number }>(
        `select count(*)::int as count from deliveries where id >= $1 and endpoint_id = any($2)`,
        [from, endpointIds],
      );
      return row?.count ?? 0;
    } catch {
      await delay(SETTLED_POLL_MS);
    }
  }
}

export const crash: Scenario = {
  name: 'crash',
  text: 'SIGKILL of the service, of PostgreSQL and of Temporal in the middle of a drain',
  async run(context) {
    await warmUp(context);
    const repeat = context.options.repeat ?? 1;
    const columns: string[] = [];
    const runs: CrashFigures[] = [];
    for (const part of PARTS)
      for (let n = 0; n < repeat; n++) {
        columns.push(part);
        runs.push(await killInDrain(context, part));
      }
    const row = (name: string, of: (figures: CrashFigures) => number, digits = 0) => ({
      name,
      digits,
      values: runs.map(of),
    });
    const rows = [
      row('deliveries owed', ({ deliveries }) => deliveries),
      row('arrived before the kill', ({ arrivedBefore }) => arrivedBefore),
      row('events their maker knows as accepted', ({ acceptedEvents }) => acceptedEvents),
      row('lost', ({ lost }) => lost),
      row('duplicated', ({ duplicated }) => duplicated),
      row('s from the kill until it runs again', ({ downSeconds }) => downSeconds, 1),
      row('s from then to the last delivery', ({ deliveredSeconds }) => deliveredSeconds, 1),
      row('s from then until every result is recorded', ({ settledSeconds }) => settledSeconds, 1),
    ];
    return [{ title: `killed in a drain, source ${context.options.source.name}`, columns, rows }];
  },
};
