/** Runs one load and counts accepted and received events, with times, duplicates and costs. */
import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Services } from '#core/platform/process/services.ts';
import { firstIdAt } from '#domain/ids.ts';
import { ENDPOINT_DELIVERY } from '#domain/webhooks/delivery-workflows.ts';
import type { LoadTimes } from './event-load.ts';
import { openDeliveriesReach } from './open-deliveries.ts';
import type { Receipt } from './sink.ts';
import type { CpuSeconds, World } from './world.ts';

interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

export interface Figures extends Outcome {
  readonly events: number;
  readonly acceptedPerSecond: number;
  /** From the first event's beginning to the last acknowledged receipt. */
  readonly deliveredPerSecond: number;
  /** From the beginning of the call that made the event to the receiver. */
  readonly fromCallMs: Percentiles;
  /** From the event's commit, as seen by its producer, to the receiver. */
  readonly fromCommitMs: Percentiles;
  readonly workflows: number;
  /** Of them, those of endpoints in trouble. */
  readonly endpointWorkflows: number;
  /** Per 1,000 deliveries. */
  readonly cpu: CpuSeconds;
  /** Share of the machine used by other processes and by its host. */
  readonly othersRatio: number;
  readonly receipts: readonly Receipt[];
}

export interface Load {
  readonly run: number;
  readonly events: number;
  /** The endpoints whose deliveries count. */
  readonly endpointIds: readonly string[];
  /** Their total number of deliveries. */
  readonly deliveries: number;
  /** Makes the events. */
  make(): Promise<LoadTimes>;
}

const OF_ENDPOINTS = `WorkflowType = '${ENDPOINT_DELIVERY}'`;
const POLL_MS = 20;
/** After this time without a receipt, nothing more will arrive. */
const SILENCE_MS = 60_000;

export async function measure(world: World, load: Load): Promise<Figures> {
  const { sink, services, temporal } = world;
  await sink.call('begin', load.run);
  const from = firstIdAt('delivery', Date.now());
  const workflowsBefore = await workflowCount(temporal);
  const endpointWorkflowsBefore = await workflowCount(temporal, OF_ENDPOINTS);
  const [cpuBefore, beganMs] = [world.cpu(), performance.now()];

  const times = await load.make();
  await allAcknowledged(world, load.deliveries);
  await openDeliveriesReach(services, load.endpointIds, 0);

  const [cpuAfter, seconds] = [world.cpu(), (performance.now() - beganMs) / 1_000];
  const receipts = await acknowledgedReceipts(world);
  const outcome = await outcomeOf(services, {
    ...load,
    from,
    receipts,
    times,
    everyEvent: load.deliveries >= load.events,
  });
  const startedMs = times.startedMs.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const acceptedMs = times.acceptedMs.reduce((a, b) => Math.max(a, b), 0);
  const lastMs = receipts.reduce((last, { atMs }) => Math.max(last, atMs), 0);
  const since = (clock: Float64Array) => percentiles(receipts.map(({ event, atMs }) => atMs - (clock[event] ?? 0)));
  const cpu = difference(cpuAfter, cpuBefore);
  const othersSeconds = cpu.machine - cpu.service - cpu.postgres - cpu.temporal - cpu.load;
  return {
    ...outcome,
    events: load.events,
    acceptedPerSecond: (load.events / (acceptedMs - startedMs)) * 1_000,
    deliveredPerSecond: (receipts.length / (lastMs - startedMs)) * 1_000,
    fromCallMs: since(times.startedMs),
    fromCommitMs: since(times.acceptedMs),
    workflows: (await workflowCount(temporal)) - workflowsBefore,
    endpointWorkflows: (await workflowCount(temporal, OF_ENDPOINTS)) - endpointWorkflowsBefore,
    cpu: scaled(cpu, 1_000 / outcome.deliveries),
    othersRatio: Math.max(0, othersSeconds / (seconds * os.availableParallelism())),
    receipts,
  };
}

const mapCpu = (of: (key: keyof CpuSeconds) => number): CpuSeconds => ({
  service: of('service'),
  postgres: of('postgres'),
  temporal: of('temporal'),
  load: of('load'),
  machine: of('machine'),
});
const difference = (after: CpuSeconds, before: CpuSeconds): CpuSeconds => mapCpu((key) => after[key] - before[key]);
const scaled = (cpu: CpuSeconds, factor: number): CpuSeconds => mapCpu((key) => cpu[key] * factor);

export const acknowledgedReceipts = async ({ sink }: World): Promise<Receipt[]> =>
  (await sink.call('receipts', undefined)).filter(({ acknowledgedAtMs }) => acknowledgedAtMs.length > 0);

export interface Outcome {
  /** Number of deliveries for the endpoints. */
  readonly deliveries: number;
  /** Deliveries without an acknowledged request, or accepted events without their deliveries. */
  readonly lost: number;
  /** Requests beyond the first that was acknowledged, for the same webhook-id. */
  readonly duplicated: number;
}

export async function outcomeOf(
  { db }: Services,
  run: {
    /** Least id of a delivery of this run. */
    readonly from: string;
    readonly endpointIds: readonly string[];
    readonly receipts: readonly Receipt[];
    readonly times: LoadTimes;
    /** Whether every accepted event has a delivery to one of the endpoints. */
    readonly everyEvent: boolean;
  },
): Promise<Outcome> {
  const { receipts } = run;
  const owed = await db.query<{ id: string }>(`select id from deliveries where id >= $1 and endpoint_id = any($2)`, [
    run.from,
    run.endpointIds,
  ]);
  const arrived = new Set(receipts.map(({ webhookId }) => webhookId));
  const eventsArrived = new Set(receipts.map(({ event }) => event));
  const missing = owed.filter(({ id }) => !arrived.has(id)).length;
  const missingEvents = [...run.times.acceptedMs].filter((ms, event) => ms > 0 && !eventsArrived.has(event)).length;
  return {
    deliveries: owed.length,
    lost: Math.max(missing, run.everyEvent ? missingEvents : 0),
    duplicated: receipts.reduce((sum, { acknowledgedAtMs }) => sum + acknowledgedAtMs.length - 1, 0),
  };
}

/** Waits until the sink has acknowledged so many. */
export async function allAcknowledged({ sink }: World, deliveries: number): Promise<void> {
  let [seen, seenAtMs] = [0, Date.now()];
  while (Date.now() - seenAtMs < SILENCE_MS) {
    const count = await sink.call('acknowledged', undefined);
    if (count >= deliveries) return;
    if (count > seen) [seen, seenAtMs] = [count, Date.now()];
    await delay(POLL_MS);
  }
}

/** Visibility lags a little: counted until the number is stable. */
export async function workflowCount({ client, namespace }: World['temporal'], query = ''): Promise<number> {
  let last = -1;
  for (;;) {
    const { count } = await client.workflowService.countWorkflowExecutions({ namespace, query });
    if (Number(count) === last) return last;
    last = Number(count);
    await delay(100);
  }
}

export function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (ratio: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * ratio))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** One figure of several runs. */
export interface FigureRow {
  readonly name: string;
  readonly digits: number;
  readonly values: readonly number[];
}

/** The results of a scenario. */
export interface Measured {
  readonly title: string;
  /** Heads of the values; without: runs of the same load, shown as least, median and most. */
  readonly columns?: readonly string[];
  readonly rows: readonly FigureRow[];
}

const cpuTotal = ({ cpu }: Figures): number => cpu.service + cpu.postgres + cpu.temporal;

/** The figures of runs of the same load. */
export function figureRows(runs: readonly Figures[]): FigureRow[] {
  const row = (name: string, of: (figures: Figures) => number, digits = 0): FigureRow => ({
    name,
    digits,
    values: runs.map(of),
  });
  return [
    row('accepted/s', (figures) => figures.acceptedPerSecond),
    row('delivered/s', (figures) => figures.deliveredPerSecond),
    row('p50 ms, call to receiver', (figures) => figures.fromCallMs.p50, 1),
    row('p99 ms, call to receiver', (figures) => figures.fromCallMs.p99, 1),
    row('p50 ms, commit to receiver', (figures) => figures.fromCommitMs.p50, 1),
    row('p99 ms, commit to receiver', (figures) => figures.fromCommitMs.p99, 1),
    row('lost', (figures) => figures.lost),
    row('duplicated', (figures) => figures.duplicated),
    row('workflows started', (figures) => figures.workflows),
    row('  of endpoints in trouble', (figures) => figures.endpointWorkflows),
    row('workflows per 1,000 deliveries', ({ workflows, deliveries }) => (workflows / deliveries) * 1_000, 1),
    row('CPU s per 1,000 deliveries', cpuTotal, 2),
    row('  service', ({ cpu }) => cpu.service, 2),
    row('  PostgreSQL', ({ cpu }) => cpu.postgres, 2),
    row('  Temporal', ({ cpu }) => cpu.temporal, 2),
    row('  (load maker and sink, not in the sum)', ({ cpu }) => cpu.load, 2),
    row('machine used by others, %', ({ othersRatio }) => othersRatio * 100),
  ];
}

export function measuredTable({ title, columns, rows }: Measured): string {
  const several = (rows[0]?.values.length ?? 0) > 1;
  const header = ['', ...(columns ?? (several ? ['min', 'median', 'max'] : ['value']))];
  const body = rows.map(({ name, digits, values }) => {
    const sorted = values.toSorted((a, b) => a - b);
    const shown = columns === undefined && several ? [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)] : values;
    return [name, ...shown.map((value) => format(value ?? Number.NaN, digits))];
  });
  return `${title}\n${textTable([header, ...body])}`;
}

const format = (value: number, digits: number): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Columns aligned: the first to the left, the others to the right. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  '),
    )
    .join('\n');
}
