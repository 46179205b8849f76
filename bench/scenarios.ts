import { setTimeout as delay } from 'node:timers/promises';
import { type Figures, measure } from './measure.ts';
import type { LoadTimes } from './service.ts';
import { createSubscribers, retire, type Subscriber } from './subscribers.ts';
import type { World } from './world.ts';

/** What the command line may change. Undefined: as the scenario has it. */
export interface ScenarioOptions {
  readonly events?: number | undefined;
  readonly endpoints?: number | undefined;
  readonly producers?: number | undefined;
  readonly repeat?: number | undefined;
}

/** Figures of the same load, carried out several times. */
export interface Measured {
  readonly title: string;
  readonly runs: readonly Figures[];
}

export interface ScenarioContext {
  readonly world: World;
  readonly options: ScenarioOptions;
  /** Wraps what is counted, for a profile of it and nothing else. */
  readonly watch: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

export interface Scenario {
  readonly name: string;
  readonly text: string;
  run(context: ScenarioContext): Promise<Measured[]>;
}

interface Shape {
  readonly events: number;
  /** Organizations in which events happen in turn. */
  readonly organizations: number;
  /** Endpoints of each organization. */
  readonly endpoints: number;
}

const DRAIN_REPEATS = 3;
const PRODUCERS = 50;
const WARM_UP: Shape = { events: 1_000, organizations: 1, endpoints: 1 };
/** Between two lone events: what the one before left to do is done by then. */
const IDLE_PAUSE_MS = 50;

let lastRun = 0;

type Make = (run: number, subscribers: readonly Subscriber[]) => Promise<LoadTimes>;

async function measureShape({ world }: ScenarioContext, shape: Shape, make: Make): Promise<Figures> {
  const urls = Array.from({ length: shape.endpoints }, (_, n) => world.url(`/ok/${n}`));
  const subscribers = await createSubscribers(world.services, shape.organizations, urls);
  const run = ++lastRun;
  const { events, endpoints } = shape;
  const figures = await measure(world, {
    run,
    events,
    deliveries: events * endpoints,
    make: () => make(run, subscribers),
  });
  await retire(world.services, subscribers);
  return figures;
}

/** All events as fast as the producers go. */
function burst(context: ScenarioContext, shape: Shape): Promise<Figures> {
  const { world, options } = context;
  const producers = options.producers ?? PRODUCERS;
  return measureShape(context, shape, (run, subscribers) =>
    world.service().call('record', { run, first: 0, events: shape.events, producers, subscribers }),
  );
}

/** Each event some time after the one before has arrived. */
function oneAfterAnother(context: ScenarioContext, shape: Shape): Promise<Figures> {
  const { world } = context;
  return measureShape(context, shape, async (run, subscribers) => {
    const times = { startedMs: new Float64Array(shape.events), acceptedMs: new Float64Array(shape.events) };
    for (let n = 0; n < shape.events; n++) {
      const one = await world.service().call('record', { run, first: n, events: 1, producers: 1, subscribers });
      times.startedMs.set(one.startedMs, n);
      times.acceptedMs.set(one.acceptedMs, n);
      await world.sink.call('reach', (n + 1) * shape.endpoints);
      await delay(IDLE_PAUSE_MS);
    }
    return times;
  });
}

async function bursts(context: ScenarioContext, shape: Shape): Promise<Measured> {
  const runs: Figures[] = [];
  for (let n = 0; n < (context.options.repeat ?? DRAIN_REPEATS); n++)
    runs.push(await context.watch(() => burst(context, shape)));
  const count = (n: number, word: string) => `${n.toLocaleString('en-US')} ${word}${n === 1 ? '' : 's'}`;
  const title = `${count(shape.events, 'event')} of ${count(shape.organizations, 'organization')}, ${count(shape.endpoints, 'endpoint')} each, ${count(context.options.producers ?? PRODUCERS, 'producer')}`;
  return { title, runs };
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'idle',
    text: '100 events one after another, 1 endpoint: how soon a lone event arrives',
    async run(context) {
      await burst(context, WARM_UP);
      const shape = {
        events: context.options.events ?? 100,
        organizations: 1,
        endpoints: context.options.endpoints ?? 1,
      };
      await oneAfterAnother(context, { ...shape, events: 20 });
      const runs: Figures[] = [];
      for (let n = 0; n < (context.options.repeat ?? 1); n++)
        runs.push(await context.watch(() => oneAfterAnother(context, shape)));
      return [{ title: `${shape.events} events one after another`, runs }];
    },
  },
  {
    name: 'drain',
    text: '3,000 events of 1 KB from 50 producers to 1 endpoint, and 1,000 events to 3 endpoints',
    async run(context) {
      const { events, endpoints } = context.options;
      const shapes: Shape[] =
        events === undefined && endpoints === undefined
          ? [
              { events: 3_000, organizations: 1, endpoints: 1 },
              { events: 1_000, organizations: 1, endpoints: 3 },
            ]
          : [{ events: events ?? 3_000, organizations: 1, endpoints: endpoints ?? 1 }];
      await burst(context, WARM_UP);
      const measured: Measured[] = [];
      for (const shape of shapes) measured.push(await bursts(context, shape));
      return measured;
    },
  },
  {
    name: 'tenants',
    text: '1,000 endpoints of 1,000 organizations, 3 events each',
    async run(context) {
      const organizations = context.options.endpoints ?? 1_000;
      const shape = { events: context.options.events ?? organizations * 3, organizations, endpoints: 1 };
      await burst(context, WARM_UP);
      return [await bursts(context, shape)];
    },
  },
];
