/** What the two most frequent writing requests cost: their time, their rate, CPU, and traffic with PostgreSQL. */
import type { EventLoad, LoadTimes } from '#bench/event-load.ts';
import { type FigureRow, type Measured, percentiles } from '#bench/measure.ts';
import { openDeliveriesReach } from '#bench/open-deliveries.ts';
import { counted, nextRun, type Scenario, type ScenarioContext } from '#bench/scenario.ts';
import { createSubscribers, type Subscriber } from '#bench/subscribers.ts';

const REPEATS = 3;
/** Requests of the measurement without other load, one after another at this rate. */
const IDLE_REQUESTS = 200;
const IDLE_PER_SECOND = 40;
const WARM_UP_REQUESTS = 500;
const CLIENTS = 50;
const MAILBOXES = 20;

const KINDS = [
  { title: 'POST /api/mailboxes', call: 'api', requests: 3_000 },
  { title: 'POST /api/mailboxes/:id/messages to a mailbox here', call: 'letters', requests: 1_000 },
] as const;
type Kind = (typeof KINDS)[number];

interface Figures {
  readonly idleMs: { readonly p50: number; readonly p99: number };
  readonly perSecond: number;
  readonly busyMs: { readonly p50: number; readonly p99: number };
  readonly statements: number;
  readonly roundTrips: number;
  readonly serviceCpu: number;
  readonly postgresCpu: number;
}

export const requests: Scenario = {
  name: 'requests',
  text: 'POST of mailboxes and of messages, with a webhook: answers alone and to 50 clients, traffic with PostgreSQL',
  async run(context) {
    const { world, options } = context;
    const measured: Measured[] = [];
    for (const kind of KINDS) {
      const subscribers = await createSubscribers(world.services, {
        organizations: 1,
        mailboxesEach: MAILBOXES,
        urls: () => [world.url('/ok/0')],
      });
      await make(context, kind, subscribers, { events: WARM_UP_REQUESTS, producers: CLIENTS });
      const runs: Figures[] = [];
      for (let n = 0; n < (options.repeat ?? REPEATS); n++)
        runs.push(await context.watch(() => figuresOf(context, kind, subscribers)));
      const clients = counted(options.producers ?? CLIENTS, 'client');
      measured.push({ title: `${kind.title}, ${clients}`, rows: rowsOf(runs) });
    }
    return measured;
  },
};

/** Until the answers are there and the deliveries made. */
async function make(
  { world }: ScenarioContext,
  { call }: Kind,
  subscribers: readonly Subscriber[],
  load: Pick<EventLoad, 'events' | 'producers' | 'perSecond'>,
): Promise<LoadTimes> {
  const { apiUrl } = await world.service().call('listeners', undefined);
  const run = nextRun();
  await world.sink.call('begin', run);
  const times = await world.loadMaker.call(call, { run, first: 0, subscribers, apiUrl, ...load });
  await openDeliveriesReach(
    world.services,
    subscribers.flatMap(({ endpointIds }) => endpointIds),
    0,
  );
  return times;
}

async function figuresOf(context: ScenarioContext, kind: Kind, subscribers: readonly Subscriber[]): Promise<Figures> {
  const { world, options } = context;
  const alone = await make(context, kind, subscribers, {
    events: IDLE_REQUESTS,
    producers: 1,
    perSecond: IDLE_PER_SECOND,
  });
  const events = options.events ?? kind.requests;
  const cpuBefore = world.cpu();
  const before = await world.service().call('traffic', undefined);
  const busy = await make(context, kind, subscribers, { events, producers: options.producers ?? CLIENTS });
  const cpuAfter = world.cpu();
  const after = await world.service().call('traffic', undefined);
  const firstMs = busy.startedMs.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const lastMs = busy.acceptedMs.reduce((a, b) => Math.max(a, b), 0);
  return {
    idleMs: percentiles(durations(alone)),
    busyMs: percentiles(durations(busy)),
    perSecond: (events / (lastMs - firstMs)) * 1_000,
    statements: (after.statements - before.statements) / events,
    roundTrips: (after.roundTrips - before.roundTrips) / events,
    serviceCpu: ((cpuAfter.service - cpuBefore.service) / events) * 1_000,
    postgresCpu: ((cpuAfter.postgres - cpuBefore.postgres) / events) * 1_000,
  };
}

const durations = ({ startedMs, acceptedMs }: LoadTimes): number[] =>
  [...acceptedMs].map((ms, i) => ms - (startedMs[i] ?? 0));

function rowsOf(runs: readonly Figures[]): FigureRow[] {
  const row = (name: string, digits: number, of: (figures: Figures) => number): FigureRow => ({
    name,
    digits,
    values: runs.map(of),
  });
  return [
    row('p50 ms, alone', 2, ({ idleMs }) => idleMs.p50),
    row('p99 ms, alone', 2, ({ idleMs }) => idleMs.p99),
    row('requests/s', 0, ({ perSecond }) => perSecond),
    row('p50 ms', 1, ({ busyMs }) => busyMs.p50),
    row('p99 ms', 1, ({ busyMs }) => busyMs.p99),
    row('statements of a request and its delivery', 1, ({ statements }) => statements),
    row('round trips of a request and its delivery', 1, ({ roundTrips }) => roundTrips),
    row('CPU s per 1,000 requests and deliveries: service', 2, ({ serviceCpu }) => serviceCpu),
    row('  PostgreSQL', 2, ({ postgresCpu }) => postgresCpu),
  ];
}
