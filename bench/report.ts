import type { Figures } from './measure.ts';

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
