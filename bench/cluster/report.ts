/** The tables of a run, for people and for `bench/README.md`. */
import { textTable } from '#bench/report.ts';
import type { Account } from './accounting.ts';
import type { FaultFigures } from './fault-run.ts';

export interface MemoryFigures {
  readonly program: string;
  readonly startMegabytes: number;
  readonly endMegabytes: number;
  readonly restarts: number;
}

export interface ClusterReport {
  readonly machine: readonly string[];
  readonly perSecond: number;
  readonly minutes: number;
  readonly faults: readonly FaultFigures[];
  /** Webhooks acknowledged again, per fault: from its beginning to that of the next. */
  readonly duplicates: readonly number[];
  readonly account: Account;
  readonly memory: readonly MemoryFigures[];
  /** Temporary errors that clients got, with their number. */
  readonly deferrals: ReadonlyMap<string, number>;
  readonly skipped: number;
}

const DUPLICATES_PER_KILL_MAX = 20;
const PROBLEMS_SHOWN = 4;

/** Failures, in words; empty if the run passed. */
export function failures({ account, faults, duplicates }: ClusterReport): string[] {
  return [
    ...account.wrong,
    ...faults.flatMap((figures, n) => {
      const count = duplicates[n] ?? 0;
      return count > DUPLICATES_PER_KILL_MAX ? [`${figures.fault.name}: ${count} duplicates`] : [];
    }),
    ...faults.flatMap(({ fault, missing, readySeconds, deliveredSeconds, openDeliveries, openOperations }) => [
      ...(missing.length > 0 ? [`${fault.name}: not made again: ${missing.join(', ')}`] : []),
      ...(readySeconds === undefined ? [`${fault.name}: not every process got ready again`] : []),
      ...(openOperations.length > 0
        ? [`${fault.name}: ${openOperations.length} not accepted in time, e.g. ${openOperations[0]}`]
        : deliveredSeconds === undefined
          ? [`${fault.name}: ${openDeliveries} not delivered in time`]
          : []),
    ]),
  ];
}

const figure = (value: number | undefined): string => (value === undefined ? '–' : value.toFixed(1));

function readinessText({ readiness }: FaultFigures): string {
  return [...readiness]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .flatMap(([name, { ready, notReady, silent }]) =>
      notReady + silent === 0 ? [] : [`${name} ${ready}/${notReady}/${silent}`],
    )
    .join(', ');
}

function faultTable({ faults, duplicates }: ClusterReport): string {
  const rows = faults.map((each, n) => {
    const lines = each.logs.reduce((sum, log) => sum + log.lines, 0);
    const most = each.logs.reduce((a, b) => Math.max(a, b.lines), 0);
    return [
      each.fault.name,
      figure(each.lastedSeconds),
      figure(each.readySeconds),
      figure(each.acceptedSeconds),
      figure(each.deliveredSeconds),
      String(duplicates[n] ?? 0),
      `${lines} (${most})`,
      [...each.restarts.values()].reduce((a, b) => a + b, 0).toString(),
    ];
  });
  const heads = ['fault', 'lasted s', 'ready s', 'accepted s', 'delivered s', 'duplicates', 'log lines (most)', 'ends'];
  return textTable([heads, ...rows]);
}

function faultDetails({ faults }: ClusterReport): string {
  return faults
    .map((each) => {
      const problems = each.logs
        .flatMap((log) => [...log.problems].map(([text, count]) => ({ process: log.process, text, count })))
        .toSorted((a, b) => b.count - a.count)
        .slice(0, PROBLEMS_SHOWN)
        .map(({ process, text, count }) => `    log: ${process} ${count} × ${text}`);
      const restarts = [...each.restarts].map(([name, count]) => `${name} ${count}`).join(', ');
      const unready = readinessText(each);
      return [
        `  ${each.fault.name}`,
        ...(unready === '' ? [] : [`    ready / not ready / silent: ${unready}`]),
        ...(restarts === '' ? [] : [`    ended and started again: ${restarts}`]),
        ...problems,
      ].join('\n');
    })
    .join('\n');
}

function accountTables({ account }: ClusterReport): string {
  const heads = ['', 'begun', 'accepted', 'lost', 'truncated', 'no event', 'event twice', 'duplicated', 'sent again'];
  const kinds = account.kinds.map((of) =>
    [
      of.kind,
      of.begun,
      of.accepted,
      of.lost,
      of.truncated,
      of.withoutEvent,
      of.eventsTwice,
      of.duplicated,
      of.repeated,
    ].map(String),
  );
  const of = account.deliveries;
  const deliveries: [string, number][] = [
    ['events', of.events],
    ['deliveries owed', of.owed],
    ['rows missing', of.missingRows],
    ['success', of.success],
    ['lost (success without a request)', of.lost],
    ['wrongly exhausted', of.exhausted],
    ['  of them delivered', of.exhaustedDelivered],
    ['open at the end', of.open],
    ['duplicates', of.duplicated],
    ['signatures that do not verify', of.unverified],
    ['webhooks of no delivery', of.unknown],
    ['attempts of one delivery, most', of.attemptsMost],
    ['requests of one delivery, most', of.requestsMost],
    ['tokens nobody saw', account.tokensMissing],
    ['mails never handed to the relay', account.neverRelayed],
    ['mails handed to the relay again', account.relayedTwice],
  ];
  const rows = deliveries.map(([name, count]) => [name, String(count)]);
  return `${textTable([heads, ...kinds])}\n\n${textTable([['', 'count'], ...rows])}`;
}

export function reportText(report: ClusterReport): string {
  const memory = report.memory.map((of) => [
    of.program,
    of.startMegabytes.toFixed(0),
    of.endMegabytes.toFixed(0),
    String(of.restarts),
  ]);
  const failed = failures(report);
  const deferrals = [...report.deferrals].map(([by, count]) => `${by}: ${count}`).join(', ');
  return [
    `${report.perSecond} operations a second for ${report.minutes.toFixed(1)} minutes; ${report.machine.join('; ')}`,
    faultTable(report),
    `per fault\n${faultDetails(report)}`,
    accountTables(report),
    textTable([['memory, MB', 'start', 'end', 'ended'], ...memory]),
    `"try again" answers: ${deferrals === '' ? 'none' : deferrals}; operations not begun: ${report.skipped}`,
    failed.length === 0 ? 'passed' : `FAILED\n${failed.map((each) => `  ✖ ${each}`).join('\n')}`,
  ].join('\n\n');
}
