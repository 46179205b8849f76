/** How soon a lone event arrives, and what it costs, where every part is a process of its own. */
import { setTimeout as delay } from 'node:timers/promises';
import { cpuSeconds } from '#bench/cpu-time.ts';
import { type Percentiles, percentiles } from '#bench/measure.ts';
import { textTable } from '#bench/report.ts';
import type { Cluster } from './cluster.ts';
import { openRestClient } from './rest-client.ts';
import type { WantedEndpoint } from './subscriber.ts';
import type { Supervised } from './supervised.ts';

export const IDLE_ENDPOINTS: readonly WantedEndpoint[] = [{ path: '/ok-1', eventTypes: ['mailbox_created'] }];

const WARM_UP_EVENTS = 100;
/** Pause between two events, so that the work of the previous one is done. */
const PAUSE_MS = 50;

interface IdleFigures {
  /** From the beginning of the call that made the event to the receiver. */
  readonly fromCallMs: Percentiles;
  /** Of the call itself. */
  readonly callMs: Percentiles;
  readonly cpu: readonly { readonly program: string; readonly secondsPerThousand: number }[];
}

async function measure(cluster: Cluster, events: number): Promise<IdleFigures> {
  const { receiver, service, subscriber, postgres, enginePostgres, temporal } = cluster;
  const clients = service
    .of('api')
    .map(({ ports }) => openRestClient(`http://127.0.0.1:${ports['API_PORT']}`, subscriber));
  const startedMs: number[] = [];
  const callMs: number[] = [];
  let made = 0;
  async function make(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const began = Date.now();
      const outcome = await clients[n % clients.length]?.createMailbox(`idle ${made}`);
      if (outcome?.kind !== 'accepted') throw new Error(`a mailbox was not made: ${JSON.stringify(outcome)}`);
      startedMs.push(began);
      callMs.push(Date.now() - began);
      await receiver.call('reach', ++made);
      await delay(PAUSE_MS);
    }
  }
  try {
    await make(WARM_UP_EVENTS);
    const programs: readonly Supervised[] = [...service.all, postgres, enginePostgres, temporal.program()];
    const before = programs.map((program) => cpuSeconds(program.pid()));
    await make(events);
    const cpu = programs.map((program, n) => ({
      program: program.name,
      secondsPerThousand: ((cpuSeconds(program.pid()) - (before[n] ?? 0)) / events) * 1_000,
    }));
    // In the order of their first request, which is that of the events.
    const receipts = await receiver.call('receipts', undefined);
    const waits = receipts.map(({ acknowledgedAtMs }, n) => (acknowledgedAtMs[0] ?? 0) - (startedMs[n] ?? 0));
    return {
      fromCallMs: percentiles(waits.slice(WARM_UP_EVENTS)),
      callMs: percentiles(callMs.slice(WARM_UP_EVENTS)),
      cpu,
    };
  } finally {
    for (const client of clients) await client.close();
  }
}

/** Makes events one after another. @returns the figures as text */
export async function idleReport(cluster: Cluster, events: number): Promise<string> {
  const { fromCallMs, callMs, cpu } = await measure(cluster, events);
  const seconds = (value: number) => value.toFixed(2);
  return textTable([
    [`${events} events one after another`, ''],
    ['p50 ms, call to receiver', String(fromCallMs.p50)],
    ['p99 ms, call to receiver', String(fromCallMs.p99)],
    ['p50 ms, of it the call', String(callMs.p50)],
    ['CPU s per 1,000 events', seconds(cpu.reduce((sum, { secondsPerThousand }) => sum + secondsPerThousand, 0))],
    ...cpu.map(({ program, secondsPerThousand }) => [`  ${program}`, seconds(secondsPerThousand)]),
  ]);
}
