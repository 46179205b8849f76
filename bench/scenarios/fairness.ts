import { type Figures, figureRows } from '#bench/measure.ts';
import { retire } from '#bench/open-deliveries.ts';
import {
  counted,
  measureShape,
  nextRun,
  producersOf,
  type Scenario,
  type ScenarioContext,
  subscribersOf,
  warmUp,
} from '#bench/scenario.ts';

const EVENTS_PER_SECOND = 100;
const SECONDS = 20;
const ORGANIZATIONS = 50;
const HANGING = [0, 5, 20];
const BURST_EVENTS = 5_000;

/** A steady load of which some endpoints never answer. Only the others count. */
function steady(context: ScenarioContext, hanging: number): Promise<Figures> {
  const { world, options } = context;
  const { endpoints: organizations = ORGANIZATIONS, events = EVENTS_PER_SECOND * SECONDS } = options;
  const shape = { events, organizations, endpoints: 1, place: (n: number) => (n < hanging ? '/hang' : '/ok') };
  return measureShape(context, shape, (load) => options.source.make(world, { ...load, perSecond: EVENTS_PER_SECOND }));
}

/** The steady load during a burst of another organization, which is not counted. */
async function besideBurst(context: ScenarioContext): Promise<Figures> {
  const { world, options } = context;
  const subscribers = await subscribersOf(context, { events: BURST_EVENTS, organizations: 1, endpoints: 1 });
  const producers = producersOf(options);
  const run = nextRun();
  const [figures] = await Promise.all([
    steady(context, 0),
    options.source.make(world, { run, first: 0, events: BURST_EVENTS, producers, subscribers }),
  ]);
  await retire(world, subscribers);
  return figures;
}

export const fairness: Scenario = {
  name: 'fairness',
  text: '100 events/s for 20 s to 50 endpoints, of which some hang; and beside the burst of another organization',
  async run(context) {
    await warmUp(context);
    const runs: Figures[] = [];
    for (const hanging of HANGING) runs.push(await context.watch(() => steady(context, hanging)));
    runs.push(await context.watch(() => besideBurst(context)));
    const columns = [...HANGING.map((n) => `${n} hang`), `${counted(BURST_EVENTS, 'event')} beside`];
    return [{ title: 'what arrives at the healthy endpoints', columns, rows: figureRows(runs) }];
  },
};
