import { type FigureRow, type Figures, figureRows, percentiles } from '#bench/measure.ts';
import { burst, type Scenario, warmUp } from '#bench/scenario.ts';

const ORGANIZATIONS = 50;

/** Waits between the first request and the second of deliveries that needed two. */
function retryRows(runs: readonly Figures[]): FigureRow[] {
  const waits = runs.map(({ receipts }) =>
    receipts.filter(({ requests }) => requests === 2).map(({ firstAtMs, atMs }) => (atMs - firstAtMs) / 1_000),
  );
  const row = (name: string, of: (run: readonly number[]) => number, digits: number): FigureRow => ({
    name,
    digits,
    values: waits.map(of),
  });
  return [
    row('deliveries with two requests', (run) => run.length, 0),
    row('least s between them', (run) => run.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY), 2),
    row('p50 s between them', (run) => percentiles(run).p50, 2),
    row('most s between them', (run) => run.reduce((a, b) => Math.max(a, b), 0), 2),
    {
      name: 'requests at all',
      digits: 0,
      values: runs.map((run) => run.receipts.reduce((n, { requests }) => n + requests, 0)),
    },
  ];
}

export const faults: Scenario = {
  name: 'faults',
  text: '3,000 events to 50 endpoints that answer 500 to a fifth of first attempts and take long over a tenth',
  async run(context) {
    const { endpoints: organizations = ORGANIZATIONS, events = 3_000, repeat = 1 } = context.options;
    await warmUp(context);
    const runs: Figures[] = [];
    for (let n = 0; n < repeat; n++)
      runs.push(
        await context.watch(() => burst(context, { events, organizations, endpoints: 1, place: () => '/faulty' })),
      );
    return [
      {
        title: `${events} events to ${organizations} faulty endpoints`,
        rows: [...figureRows(runs), ...retryRows(runs)],
      },
    ];
  },
};
