import { setTimeout as delay } from 'node:timers/promises';
import { noTimes } from '#bench/event-load.ts';
import { type Figures, figureRows, type Measured } from '#bench/measure.ts';
import {
  burst,
  counted,
  measureShape,
  producersOf,
  type Scenario,
  type ScenarioContext,
  type Shape,
  warmUp,
} from '#bench/scenario.ts';

const REPEATS = 3;
/** Pause between two single events, so that the work of the previous one is done. */
const IDLE_PAUSE_MS = 50;

/** Each event some time after the one before has arrived. */
const oneAfterAnother = (context: ScenarioContext, shape: Shape): Promise<Figures> =>
  measureShape(context, shape, async (load) => {
    const { world, options } = context;
    const times = noTimes(shape.events);
    for (let n = 0; n < shape.events; n++) {
      const one = await options.source.make(world, { ...load, first: n, events: 1, producers: 1 });
      times.startedMs.set(one.startedMs, n);
      times.acceptedMs.set(one.acceptedMs, n);
      await world.sink.call('reach', (n + 1) * shape.endpoints);
      await delay(IDLE_PAUSE_MS);
    }
    return times;
  });

async function repeated(context: ScenarioContext, title: string, one: () => Promise<Figures>): Promise<Measured> {
  const runs: Figures[] = [];
  for (let n = 0; n < (context.options.repeat ?? REPEATS); n++) runs.push(await context.watch(one));
  return { title: `${title}, source ${context.options.source.name}`, rows: figureRows(runs) };
}

function bursts(context: ScenarioContext, shape: Shape): Promise<Measured> {
  const { options } = context;
  const makers = counted(producersOf(options), options.source.producerName);
  const title = `${counted(shape.events, 'event')} of ${counted(shape.organizations, 'organization')}, ${counted(shape.endpoints, 'endpoint')} each, ${makers}`;
  return repeated(context, title, () => burst(context, shape));
}

export const idle: Scenario = {
  name: 'idle',
  text: '100 events one after another, 1 endpoint: how soon a lone event arrives',
  async run(context) {
    const { events = 100, endpoints = 1 } = context.options;
    const shape = { events, organizations: 1, endpoints };
    await warmUp(context);
    await oneAfterAnother(context, { ...shape, events: 20 });
    return [await repeated(context, `${events} events one after another`, () => oneAfterAnother(context, shape))];
  },
};

export const drain: Scenario = {
  name: 'drain',
  text: '3,000 events of 1 KB to 1 endpoint, and 1,000 events to 3 endpoints, as fast as they are accepted',
  async run(context) {
    const { events, endpoints } = context.options;
    const shapes: Shape[] =
      events === undefined && endpoints === undefined
        ? [
            { events: 3_000, organizations: 1, endpoints: 1 },
            { events: 1_000, organizations: 1, endpoints: 3 },
          ]
        : [{ events: events ?? 3_000, organizations: 1, endpoints: endpoints ?? 1 }];
    await warmUp(context);
    const measured: Measured[] = [];
    for (const shape of shapes) measured.push(await bursts(context, shape));
    return measured;
  },
};

export const tenants: Scenario = {
  name: 'tenants',
  text: '1,000 endpoints of 1,000 organizations, 3 events each',
  async run(context) {
    const { endpoints: organizations = 1_000, events = organizations * 3 } = context.options;
    await warmUp(context);
    return [await bursts(context, { events, organizations, endpoints: 1 })];
  },
};
