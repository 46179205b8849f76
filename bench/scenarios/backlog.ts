import { setTimeout as delay } from 'node:timers/promises';
import { type FigureRow, workflowCount } from '#bench/measure.ts';
import { openDeliveriesReach } from '#bench/open-deliveries.ts';
import { memoryMegabytes } from '#bench/processes.ts';
import { counted, nextRun, producersOf, type Scenario, subscribersOf, warmUp } from '#bench/scenario.ts';
import type { Services } from '#core/platform/process/services.ts';

const DELIVERIES = 100_000;
const POLL_MS = 200;
const RUNNING = `ExecutionStatus = 'Running'`;

/** Waits until every delivery of the endpoint has had its first attempt. @returns how many had more than one */
async function allAttempted({ db }: Services, endpointIds: readonly string[]): Promise<number> {
  for (;;) {
    const [row] = await db.query<{ fresh: number; again: number }>(
      `select count(*) filter (where attempt_count = 0)::int as fresh,
              count(*) filter (where attempt_count > 1)::int as again
         from deliveries where endpoint_id = any($1)`,
      [endpointIds],
    );
    if (row?.fresh === 0) return row.again;
    await delay(POLL_MS);
  }
}

export const backlog: Scenario = {
  name: 'backlog',
  text: '100,000 deliveries (--events) to an endpoint that answers 503: what they hold, and how soon they stop',
  async run(context) {
    const { world, options } = context;
    const { services, temporal } = world;
    const events = options.events ?? DELIVERIES;
    await warmUp(context);
    const memory = () => ({
      service: memoryMegabytes(world.service().pid),
      postgres: memoryMegabytes(world.postgres.pid()),
      temporal: memoryMegabytes(world.temporalServer.pid()),
    });
    const subscribers = await subscribersOf(context, { events, organizations: 1, endpoints: 1, place: () => '/down' });
    const [subscriber] = subscribers;
    const [endpointId] = subscriber?.endpointIds ?? [];
    if (subscriber === undefined || endpointId === undefined) throw new Error('there is no endpoint');
    const run = nextRun();
    await world.sink.call('begin', run);
    const memoryBefore = memory();
    const runningBefore = await workflowCount(temporal, RUNNING);

    const beganMs = performance.now();
    await options.source.make(world, { run, first: 0, events, producers: producersOf(options), subscribers });
    const acceptedSeconds = (performance.now() - beganMs) / 1_000;
    const again = await allAttempted(services, [endpointId]);
    const attemptedSeconds = (performance.now() - beganMs) / 1_000;
    const open = await openDeliveriesReach(services, [endpointId], events);
    const running = (await workflowCount(temporal, RUNNING)) - runningBefore;
    const memoryThen = memory();

    const requestsBefore = await world.sink.call('requests', undefined);
    const stoppedAtMs = performance.now();
    const { apiUrl } = await world.service().call('listeners', undefined);
    const answer = await fetch(`${apiUrl}/api/webhooks/${endpointId}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'x-organization-key': subscriber.apiKey },
      body: JSON.stringify({ active: false }),
    });
    if (!answer.ok) throw new Error(`the API answered ${answer.status}: ${await answer.text()}`);
    const answeredSeconds = (performance.now() - stoppedAtMs) / 1_000;
    const left = await openDeliveriesReach(services, [endpointId], 0);
    const stoppedSeconds = (performance.now() - stoppedAtMs) / 1_000;
    while ((await workflowCount(temporal, RUNNING)) > runningBefore) await delay(POLL_MS);
    const endedSeconds = (performance.now() - stoppedAtMs) / 1_000;
    const requestsAfter = (await world.sink.call('requests', undefined)) - requestsBefore;

    const row = (name: string, value: number, digits = 0): FigureRow => ({ name, digits, values: [value] });
    const rows = [
      row('s until all are accepted', acceptedSeconds, 1),
      row('s until all were attempted once', attemptedSeconds, 1),
      row('of which attempted again meanwhile', again),
      row('deliveries that wait', open),
      row('workflows that wait', running),
      row('MB of the service', memoryThen.service),
      row('  more than before', memoryThen.service - memoryBefore.service),
      row('MB of PostgreSQL', memoryThen.postgres),
      row('  more than before', memoryThen.postgres - memoryBefore.postgres),
      row('MB of Temporal', memoryThen.temporal),
      row('  more than before', memoryThen.temporal - memoryBefore.temporal),
      row('s from deactivation to its answer', answeredSeconds, 2),
      row('s until no delivery is open', stoppedSeconds, 1),
      row('s until no workflow runs', endedSeconds, 1),
      row('requests after the deactivation began', requestsAfter),
      row('deliveries still open', left),
    ];
    return [{ title: `${counted(events, 'event')} to a dead endpoint`, rows }];
  },
};
