import type { Figures } from './measure.ts';

interface Row {
  readonly name: string;
  readonly of: (figures: Figures) => number;
  readonly digits?: number;
}

const cpuTotal = ({ cpu }: Figures): number => cpu.service + cpu.postgres + cpu.temporal;

const ROWS: readonly Row[] = [
  { name: 'accepted/s', of: (figures) => figures.acceptedPerSecond },
  { name: 'delivered/s', of: (figures) => figures.deliveredPerSecond },
  { name: 'p50 ms, call to receiver', of: (figures) => figures.fromCallMs.p50, digits: 1 },
  { name: 'p99 ms, call to receiver', of: (figures) => figures.fromCallMs.p99, digits: 1 },
  { name: 'p50 ms, commit to receiver', of: (figures) => figures.fromCommitMs.p50, digits: 1 },
  { name: 'p99 ms, commit to receiver', of: (figures) => figures.fromCommitMs.p99, digits: 1 },
  { name: 'lost', of: (figures) => figures.lost },
  { name: 'duplicated', of: (figures) => figures.duplicated },
  { name: 'workflows started', of: (figures) => figures.workflows },
  {
    name: 'workflows per 1,000 deliveries',
    of: ({ workflows, deliveries }) => (workflows / deliveries) * 1_000,
    digits: 1,
  },
  { name: 'CPU s per 1,000 deliveries', of: cpuTotal, digits: 2 },
  { name: '  service', of: ({ cpu }) => cpu.service, digits: 2 },
  { name: '  PostgreSQL', of: ({ cpu }) => cpu.postgres, digits: 2 },
  { name: '  Temporal', of: ({ cpu }) => cpu.temporal, digits: 2 },
  { name: '  (sink, not in the sum)', of: ({ cpu }) => cpu.sink, digits: 2 },
];

/** Several runs of the same load as least, median and most of each figure. */
export function figuresTable(title: string, runs: readonly Figures[]): string {
  const several = runs.length > 1;
  const header = ['', ...(several ? ['min', 'median', 'max'] : ['value'])];
  const body = ROWS.map(({ name, of, digits = 0 }) => {
    const sorted = runs.map(of).toSorted((a, b) => a - b);
    const shown = several ? [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)] : sorted;
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
