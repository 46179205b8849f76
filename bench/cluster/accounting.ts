/** Compares the answers that clients got with the rows of the database and with the requests that the receivers got. */
import { textTable } from '#bench/measure.ts';
import { firstIdAt } from '#domain/ids.ts';
import {
  type Account,
  DELIVERIES,
  type DeliveryRow,
  EVENTS,
  type EventRow,
  type Facts,
  KIND_COUNTS,
  MADE,
  type MadeRow,
  type WebhookReceipt,
} from '#operations/prove/account.ts';
import { OPERATION_KINDS } from '#operations/prove/ledger.ts';
import { type Cluster, SERVICE_DATABASE } from './cluster.ts';
import type { FaultFigures } from './faults.ts';
import type { Load } from './load.ts';

/** Everything the account needs, from the database and the receivers. */
export async function readFacts({ postgres, customer, sink, relay }: Cluster, load: Load): Promise<Facts> {
  const { organizationId, endpoints } = customer;
  const types = [...new Set(endpoints.flatMap(({ eventTypes }) => eventTypes))];
  const rows = <Row extends object>(text: string, ...values: unknown[]) =>
    postgres.query<Row & Record<string, unknown>>(SERVICE_DATABASE, text, [organizationId, ...values]);
  const relayed = new Map<string, number>();
  for (const { bytes } of relay.received) {
    const [, subject = ''] = /^Subject: *(\S+)/im.exec(bytes.toString('latin1')) ?? [];
    relayed.set(subject, (relayed.get(subject) ?? 0) + 1);
  }
  return {
    operations: load.operations,
    made: await rows<MadeRow>(MADE),
    events: await rows<EventRow>(EVENTS, firstIdAt('event', load.beganMs), types),
    deliveries: await rows<DeliveryRow>(DELIVERIES),
    endpoints,
    receipts: await sink.call('receipts', undefined),
    relayed,
  };
}

/** How many webhooks were acknowledged again in each span of time; spans follow one another. */
export function duplicatesBySpan(receipts: readonly WebhookReceipt[], spanStartsMs: readonly number[]): number[] {
  const counts = spanStartsMs.map(() => 0);
  for (const { acknowledgedAtMs } of receipts)
    for (const atMs of acknowledgedAtMs.toSorted((a, b) => a - b).slice(1)) {
      const span = spanStartsMs.findLastIndex((startMs) => startMs <= atMs);
      if (span >= 0) counts[span] = (counts[span] ?? 0) + 1;
    }
  return counts;
}

export interface ClusterReport {
  readonly machine: readonly string[];
  readonly perSecond: number;
  readonly minutes: number;
  readonly faults: readonly FaultFigures[];
  /** Webhooks acknowledged again, per fault: from its beginning to that of the next. */
  readonly duplicates: readonly number[];
  readonly account: Account;
  readonly memory: readonly { program: string; startMegabytes: number; endMegabytes: number; crashes: number }[];
  /** Temporary errors that clients got, with their number. */
  readonly deferrals: ReadonlyMap<string, number>;
  readonly skipped: number;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const most = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b), 0);

const DUPLICATES_PER_FAULT_MAX = 20;
const PROBLEMS_SHOWN = 4;

/** In words; empty if the run passed. */
export function failures({ account: { wrong }, faults, duplicates }: ClusterReport): string[] {
  const ofFault = (of: FaultFigures, again: number): string[] => [
    ...(again > DUPLICATES_PER_FAULT_MAX ? [`${again} duplicates`] : []),
    ...(of.missing.length > 0 ? [`not made again: ${of.missing.join(', ')}`] : []),
    ...(of.readySeconds === undefined ? ['not every process got ready again'] : []),
    ...(of.openOperations.length > 0
      ? [`${of.openOperations.length} not accepted in time, e.g. ${of.openOperations[0]}`]
      : of.deliveredSeconds === undefined
        ? [`${of.openDeliveries} not delivered in time`]
        : []),
  ];
  return [
    ...wrong,
    ...faults.flatMap((of, n) => ofFault(of, duplicates[n] ?? 0).map((what) => `${of.fault.name}: ${what}`)),
  ];
}

const figure = (value: number | undefined): string => (value === undefined ? '–' : value.toFixed(1));

function faultDetails({ fault, logs, restarts, readiness }: FaultFigures): string {
  const unready = [...readiness].flatMap(([name, { ready, notReady, silent }]) =>
    notReady + silent === 0 ? [] : [`${name} ${ready}/${notReady}/${silent}`],
  );
  const ended = [...restarts].map(([name, count]) => `${name} ${count}`);
  const problems = logs
    .flatMap(({ process, problems }) => [...problems].map(([text, count]) => ({ process, text, count })))
    .toSorted((a, b) => b.count - a.count)
    .slice(0, PROBLEMS_SHOWN);
  return [
    `  ${fault.name}`,
    ...(unready.length === 0 ? [] : [`    ready / not ready / silent: ${unready.join(', ')}`]),
    ...(ended.length === 0 ? [] : [`    ended and started again: ${ended.join(', ')}`]),
    ...problems.map(({ process, text, count }) => `    log: ${process} ${count} × ${text}`),
  ].join('\n');
}

/** The tables of a run, for people and for `bench/history/cluster.md`. */
export function reportText(report: ClusterReport): string {
  const { faults, duplicates, account: of, memory } = report;
  const failed = failures(report);
  const deferrals = [...report.deferrals].map(([by, count]) => `${by}: ${count}`).join(', ');
  return [
    `${report.perSecond} operations a second for ${report.minutes.toFixed(1)} minutes; ${report.machine.join('; ')}`,
    textTable([
      ['fault', 'lasted s', 'ready s', 'accepted s', 'delivered s', 'duplicates', 'log lines (most)', 'ends'],
      ...faults.map((each, n) => [
        each.fault.name,
        ...[each.lastedSeconds, each.readySeconds, each.acceptedSeconds, each.deliveredSeconds].map(figure),
        String(duplicates[n] ?? 0),
        `${sum(each.logs.map(({ lines }) => lines))} (${most(each.logs.map(({ lines }) => lines))})`,
        String(sum([...each.restarts.values()])),
      ]),
    ]),
    `per fault\n${faults.map(faultDetails).join('\n')}`,
    textTable([
      ['', ...KIND_COUNTS],
      ...OPERATION_KINDS.map((kind) => [kind, ...KIND_COUNTS.map((name) => String(of.kinds[kind][name]))]),
    ]),
    textTable([['', 'count'], ...Object.entries(of.counts).map(([name, count]) => [name, String(count)])]),
    textTable([
      ['memory, MB', 'start', 'end', 'ended'],
      ...memory.map((each) => [
        each.program,
        ...[each.startMegabytes, each.endMegabytes, each.crashes].map((value) => value.toFixed(0)),
      ]),
    ]),
    `"try again" answers: ${deferrals === '' ? 'none' : deferrals}; operations not begun: ${report.skipped}`,
    failed.length === 0 ? 'passed' : `FAILED\n${failed.map((each) => `  ✖ ${each}`).join('\n')}`,
  ].join('\n\n');
}
