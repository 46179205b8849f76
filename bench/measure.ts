/** Carries out one load and counts: what was accepted, what arrived, when, how often, and what it cost. */
import { setTimeout as delay } from 'node:timers/promises';
import { firstIdAt } from '../domain/ids.ts';
import type { LoadTimes } from './service.ts';
import type { CpuSeconds, World } from './world.ts';

export interface Figures {
  readonly events: number;
  readonly deliveries: number;
  readonly acceptedPerSecond: number;
  /** From the first event's beginning to the last acknowledged receipt. */
  readonly deliveredPerSecond: number;
  /** From the beginning of the call that made the event to the receiver. */
  readonly fromCallMs: { readonly p50: number; readonly p99: number };
  /** From the event's commit, as its maker learns of it, to the receiver. */
  readonly fromCommitMs: { readonly p50: number; readonly p99: number };
  readonly lost: number;
  /** Requests beyond the first that was acknowledged, for the same webhook-id. */
  readonly duplicated: number;
  readonly workflows: number;
  /** Per 1,000 deliveries. */
  readonly cpu: CpuSeconds;
}

export interface Load {
  readonly run: number;
  readonly events: number;
  readonly deliveries: number;
  /** Makes the events. */
  make(): Promise<LoadTimes>;
}

const POLL_MS = 20;
/** So long without any receipt means that nothing more will come. */
const SILENCE_MS = 60_000;

export async function measure(world: World, load: Load): Promise<Figures> {
  const { sink, services, temporal } = world;
  await sink.call('begin', load.run);
  const from = firstIdAt('delivery', Date.now());
  const workflowsBefore = await workflowCount(temporal);
  const cpuBefore = world.cpu();

  const times = await load.make();
  await allAcknowledged(world, load.deliveries);
  await allSettled(world, from);

  const cpuAfter = world.cpu();
  const receipts = (await sink.call('receipts', undefined)).filter(({ acknowledged }) => acknowledged > 0);
  const startedMs = times.startedMs.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const acceptedMs = times.acceptedMs.reduce((a, b) => Math.max(a, b), 0);
  const lastMs = receipts.reduce((last, { atMs }) => Math.max(last, atMs), 0);
  const since = (clock: Float64Array) => percentiles(receipts.map(({ event, atMs }) => atMs - (clock[event] ?? 0)));
  const [owed] = await services.db.query<{ count: number }>(`select count(*) from deliveries where id >= $1`, [from]);
  const deliveries = owed?.count ?? 0;
  const perThousand = (key: keyof CpuSeconds) => ((cpuAfter[key] - cpuBefore[key]) / deliveries) * 1_000;
  return {
    events: load.events,
    deliveries,
    acceptedPerSecond: (load.events / (acceptedMs - startedMs)) * 1_000,
    deliveredPerSecond: (receipts.length / (lastMs - startedMs)) * 1_000,
    fromCallMs: since(times.startedMs),
    fromCommitMs: since(times.acceptedMs),
    lost: deliveries - receipts.length,
    duplicated: receipts.reduce((sum, { acknowledged }) => sum + acknowledged - 1, 0),
    workflows: (await workflowCount(temporal)) - workflowsBefore,
    cpu: {
      service: perThousand('service'),
      postgres: perThousand('postgres'),
      temporal: perThousand('temporal'),
      sink: perThousand('sink'),
    },
  };
}

async function allAcknowledged({ sink }: World, deliveries: number): Promise<void> {
  let [seen, seenAtMs] = [0, Date.now()];
  while (Date.now() - seenAtMs < SILENCE_MS) {
    const count = await sink.call('acknowledged', undefined);
    if (count >= deliveries) return;
    if (count > seen) [seen, seenAtMs] = [count, Date.now()];
    await delay(POLL_MS);
  }
}

/** Waits until the results of all attempts are recorded, which is part of the cost. */
async function allSettled({ services }: World, from: string): Promise<void> {
  const deadlineMs = Date.now() + SILENCE_MS;
  while (Date.now() < deadlineMs) {
    const open = await services.db.query(
      `select 1 from deliveries where id >= $1 and status in ('pending', 'failed') limit 1`,
      [from],
    );
    if (open.length === 0) return;
    await delay(POLL_MS);
  }
}

/** Visibility lags a little: counted until it stays the same. */
async function workflowCount({ client, namespace }: World['temporal']): Promise<number> {
  let last = -1;
  for (;;) {
    const { count } = await client.workflowService.countWorkflowExecutions({ namespace });
    if (Number(count) === last) return last;
    last = Number(count);
    await delay(100);
  }
}

function percentiles(values: number[]): { p50: number; p99: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (ratio: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * ratio))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
