/** A scenario: what it measures, from which source its events come, and what they share. */
import type { EventLoad, LoadTimes } from './event-load.ts';
import { type Figures, type Measured, measure } from './measure.ts';
import { retire } from './open-deliveries.ts';
import { createSubscribers, type Subscriber } from './subscribers.ts';
import type { World } from './world.ts';

/** The sources of events. */
export interface Source {
  readonly name: string;
  readonly text: string;
  /** Default number of concurrent producers. */
  readonly producers: number;
  readonly producerName: string;
  /** Mailboxes of each organization. */
  readonly mailboxesEach: number;
  make(world: World, load: EventLoad): Promise<LoadTimes>;
}

const MESSAGE_BYTES = 1_024;

const RECORD: Source = {
  name: 'record',
  text: 'recorded in the process of the service, which leaves the delivery alone',
  producers: 50,
  producerName: 'producer',
  mailboxesEach: 1,
  make: (world, load) => world.service().call('record', load),
};

export const SOURCES: readonly Source[] = [
  RECORD,
  {
    name: 'api',
    text: 'POST /api/mailboxes → mailbox_created',
    producers: 50,
    producerName: 'client',
    mailboxesEach: 1,
    async make(world, load) {
      const { apiUrl } = await world.service().call('listeners', undefined);
      return world.loadMaker.call('api', { ...load, apiUrl });
    },
  },
  {
    name: 'smtp',
    text: 'mails of 1 KB by SMTP → email_received',
    producers: 20,
    producerName: 'connection',
    mailboxesEach: 20,
    async make(world, load) {
      const { smtp } = await world.service().call('listeners', undefined);
      return world.loadMaker.call('mail', { ...load, ...smtp, messageBytes: MESSAGE_BYTES });
    },
  },
];

/** @throws {Error} when there is none of this name */
export function sourceNamed(name: string | undefined): Source {
  const source = name === undefined ? RECORD : SOURCES.find((each) => each.name === name);
  if (source === undefined)
    throw new Error(`--source takes ${SOURCES.map((each) => each.name).join(', ')}, not "${name}"`);
  return source;
}

/** Options of the command line. Undefined: the scenario's default. */
interface ScenarioOptions {
  readonly source: Source;
  readonly events?: number | undefined;
  readonly endpoints?: number | undefined;
  readonly producers?: number | undefined;
  readonly repeat?: number | undefined;
}

export interface ScenarioContext {
  readonly world: World;
  readonly options: ScenarioOptions;
  /** Wraps the measured part, so that only this part is profiled. */
  readonly watch: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

export interface Scenario {
  readonly name: string;
  readonly text: string;
  run(context: ScenarioContext): Promise<Measured[]>;
}

/** A load and who it is for. */
export interface Shape {
  readonly events: number;
  /** Organizations in which events happen in turn. */
  readonly organizations: number;
  /** Endpoints of each organization. */
  readonly endpoints: number;
  /** Place at the sink of each organization's endpoints, see `sink.ts`. Default: one that acknowledges at once. */
  readonly place?: (organization: number) => string;
}

let lastRun = 0;
/** Marks the events of a run; those of other runs are not counted by the sink. */
export const nextRun = (): number => ++lastRun;

export const subscribersOf = ({ world, options }: ScenarioContext, shape: Shape): Promise<Subscriber[]> =>
  createSubscribers(world.services, {
    organizations: shape.organizations,
    mailboxesEach: options.source.mailboxesEach,
    urls: (organization) =>
      Array.from({ length: shape.endpoints }, (_, n) => world.url(`${shape.place?.(organization) ?? '/ok'}/${n}`)),
  });

/** Measures one load by new organizations, which are set inactive afterwards. */
export async function measureShape(
  context: ScenarioContext,
  shape: Shape,
  make: (load: EventLoad) => Promise<LoadTimes>,
): Promise<Figures> {
  const { world, options } = context;
  const subscribers = await subscribersOf(context, shape);
  const counted = subscribers.filter((_, n) => !shape.place?.(n).startsWith('/hang'));
  const run = nextRun();
  const { events, endpoints, organizations } = shape;
  const figures = await measure(world, {
    run,
    events,
    endpointIds: counted.flatMap(({ endpointIds }) => endpointIds),
    deliveries: (events * endpoints * counted.length) / organizations,
    make: () => make({ run, first: 0, events, producers: producersOf(options), subscribers }),
  });
  await retire(world, subscribers);
  return figures;
}

export const producersOf = ({ producers, source }: ScenarioOptions): number => producers ?? source.producers;

/** All events as fast as the producers go. */
export const burst = (context: ScenarioContext, shape: Shape): Promise<Figures> =>
  measureShape(context, shape, (load) => context.options.source.make(context.world, load));

/** Until the code is compiled, connections are open and caches are filled. */
export const warmUp = (context: ScenarioContext): Promise<Figures> =>
  burst(context, { events: 1_000, organizations: 1, endpoints: 1 });

export const counted = (n: number, word: string): string => `${n.toLocaleString('en-US')} ${word}${n === 1 ? '' : 's'}`;
