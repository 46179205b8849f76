/** `--idle`: how soon a lone event arrives, without faults, and what it costs. */
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '#bench/event-load.ts';
import { percentiles, textTable } from '#bench/measure.ts';
import { cpuSeconds } from '#bench/processes.ts';
import { openRestClient } from '#operations/prove/clients.ts';
import type { Cluster, WantedEndpoint } from './cluster.ts';

const WARM_UP = 100;
/** Between two, so that the work of the previous one is done. */
const PAUSE_MS = 50;

export const IDLE_ENDPOINTS: readonly WantedEndpoint[] = [{ path: '/ok-1', eventTypes: ['mailbox_created'] }];

/** Makes events one after another. @returns the figures as text */
export async function idleReport({ sink, of, customer, programs }: Cluster, events: number): Promise<string> {
  const clients = of('api').map(({ port }) => openRestClient(`http://127.0.0.1:${port('API_PORT')}`, customer.apiKey));
  const [fromCallMs, callMs]: [number[], number[]] = [[], []];
  let made = 0;
  async function make(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const began = monotonicMs();
      const outcome = await clients[n % clients.length]?.createMailbox(`idle ${made}`);
      if (outcome?.kind !== 'accepted') throw new Error(`a mailbox was not made: ${JSON.stringify(outcome)}`);
      callMs.push(monotonicMs() - began);
      fromCallMs.push((await sink.call('arrived', { path: '/ok-1', count: ++made })) - began);
      await delay(PAUSE_MS);
    }
  }
  try {
    await make(WARM_UP);
    const before = programs().map(({ pid }) => cpuSeconds(pid()));
    await make(events);
    const cpu = programs().map(({ name, pid }, n) => {
      const perThousand = ((cpuSeconds(pid()) - (before[n] ?? 0)) / events) * 1_000;
      return { name: `  ${name}`, perThousand };
    });
    const [whole, call] = [percentiles(fromCallMs.slice(WARM_UP)), percentiles(callMs.slice(WARM_UP))];
    return textTable([
      [`${events} events one after another`, ''],
      ['p50 ms, call to receiver', whole.p50.toFixed(1)],
      ['p99 ms, call to receiver', whole.p99.toFixed(1)],
      ['p50 ms, of it the call', call.p50.toFixed(1)],
      ['CPU s per 1,000 events', cpu.reduce((sum, each) => sum + each.perThousand, 0).toFixed(2)],
      ...cpu.map(({ name, perThousand }) => [name, perThousand.toFixed(2)]),
    ]);
  } finally {
    for (const client of clients) await client.close();
  }
}
