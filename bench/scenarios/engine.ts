import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '#bench/event-load.ts';
import { acknowledgedReceipts, allAcknowledged, type FigureRow, outcomeOf, percentiles } from '#bench/measure.ts';
import { openDeliveriesReach, retire } from '#bench/open-deliveries.ts';
import { nextRun, producersOf, type Scenario, type ScenarioContext, subscribersOf, warmUp } from '#bench/scenario.ts';
import type { Receipt } from '#bench/sink.ts';
import { firstIdAt } from '#domain/ids.ts';

const EVENTS_PER_SECOND = 50;
const ORGANIZATIONS = 50;
/** Before, during and after the time in which the engine is stopped. */
const SECONDS = [30, 60, 30] as const;

/** Stops the engine (SIGSTOP). It keeps its connections and answers nothing. */
async function stopEngine({ world }: ScenarioContext, seconds: number): Promise<void> {
  const pid = world.temporalServer.pid();
  process.kill(pid, 'SIGSTOP');
  try {
    await delay(seconds * 1_000);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

async function withoutEngine(context: ScenarioContext): Promise<{ columns: string[]; rows: FigureRow[] }> {
  const { world, options } = context;
  const [before, during, after] = SECONDS;
  const events = (before + during + after) * EVENTS_PER_SECOND;
  const subscribers = await subscribersOf(context, {
    events,
    organizations: ORGANIZATIONS,
    endpoints: 1,
    place: () => '/flaky',
  });
  const endpointIds = subscribers.flatMap((subscriber) => subscriber.endpointIds);
  const run = nextRun();
  await world.sink.call('begin', run);
  const from = firstIdAt('delivery', Date.now());
  const load = { run, first: 0, events, producers: producersOf(options), subscribers, perSecond: EVENTS_PER_SECOND };
  const making = options.source.make(world, load);
  await delay(before * 1_000);
  const stoppedMs = monotonicMs();
  await stopEngine(context, during);
  const backMs = monotonicMs();
  const times = await making;
  await allAcknowledged(world, events);
  await openDeliveriesReach(world.services, endpointIds, 0);
  const receipts = await acknowledgedReceipts(world);
  const { lost, duplicated } = await outcomeOf(world.services, {
    from,
    endpointIds,
    receipts,
    times,
    everyEvent: true,
  });
  await retire(world, subscribers);
  const startedMs = ({ event }: Receipt) => times.startedMs[event] ?? 0;
  const spans = [
    receipts.filter((receipt) => startedMs(receipt) < stoppedMs),
    receipts.filter((receipt) => startedMs(receipt) >= stoppedMs && startedMs(receipt) < backMs),
    receipts.filter((receipt) => startedMs(receipt) >= backMs),
  ];
  const row = (name: string, of: (span: readonly Receipt[]) => number, digits = 0): FigureRow => ({
    name,
    digits,
    values: spans.map(of),
  });
  const first = (span: readonly Receipt[]) =>
    percentiles(span.map((receipt) => receipt.firstAtMs - startedMs(receipt)));
  const retried = (span: readonly Receipt[]) => span.filter(({ requests }) => requests > 1);
  const last = (span: readonly Receipt[]) => retried(span).reduce((most, { atMs }) => Math.max(most, atMs), backMs);
  return {
    columns: ['before', 'it stands still', 'after'],
    rows: [
      row('deliveries acknowledged', (span) => span.length),
      row('first attempts, call to receiver, p50 ms', (span) => first(span).p50, 1),
      row('first attempts, call to receiver, p99 ms', (span) => first(span).p99, 1),
      row('first attempts that failed, all retried', (span) => retried(span).length),
      row('s from its return to the last retry', (span) => (last(span) - backMs) / 1_000, 1),
      { name: 'lost, of all', digits: 0, values: [lost] },
      { name: 'duplicated, of all', digits: 0, values: [duplicated] },
    ],
  };
}

export const engine: Scenario = {
  name: 'engine',
  text: '50 events/s for two minutes, a tenth of first attempts fails; Temporal is stopped for 60 s of them',
  async run(context) {
    await warmUp(context);
    const { columns, rows } = await withoutEngine(context);
    return [{ title: `Temporal stands still, source ${context.options.source.name}`, columns, rows }];
  },
};
