import { setTimeout as delay } from 'node:timers/promises';
import type { Services } from '#core/platform/process/services.ts';
import { signalStop } from '#core/webhooks/endpoints/stop-deliveries.ts';
import type { Subscriber } from './subscribers.ts';
import type { World } from './world.ts';

const POLL_MS = 20;
/** So long without any change means that nothing more will happen. */
const SILENCE_MS = 60_000;

/**
 * Waits until so many deliveries of these endpoints are not final. @returns how many are left; above the limit if there
 * is no progress
 */
export async function openDeliveriesReach(
  { db }: Services,
  endpointIds: readonly string[],
  count: number,
): Promise<number> {
  let [last, changedAtMs] = [Number.NaN, Date.now()];
  for (;;) {
    const [row] = await db.query<{ count: number }>(
      `select count(*)::int as count from deliveries where endpoint_id = any($1) and status in ('pending', 'failed')`,
      [endpointIds],
    );
    const open = row?.count ?? 0;
    if (open !== last) [last, changedAtMs] = [open, Date.now()];
    if (open <= count || Date.now() - changedAtMs > SILENCE_MS) return open;
    await delay(POLL_MS);
  }
}

/**
 * Sets every endpoint inactive, and waits until none of its deliveries is in flight that could disturb the next run.
 */
export async function retire(world: World, subscribers: readonly Subscriber[]): Promise<void> {
  const { services, temporal } = world;
  const endpointIds = subscribers.flatMap((subscriber) => subscriber.endpointIds);
  await services.db.query('update webhook_endpoints set active = false where id = any($1)', [endpointIds]);
  await signalStop(services, temporal, { endpointIds }, 'endpoint_inactive');
  await openDeliveriesReach(services, endpointIds, 0);
}
