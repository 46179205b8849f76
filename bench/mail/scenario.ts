/** Figures of repeated measurements. */
import type { MailBenchWorld } from './world.ts';

/** Rows of cells, the head first. */
export interface Table {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
}

export interface MailScenario {
  readonly name: string;
  readonly text: string;
  run(world: MailBenchWorld, options: { readonly messages: number }): Promise<Table>;
}

export interface Summary {
  readonly least: number;
  readonly median: number;
  readonly p99: number;
  readonly most: number;
}

export function summaryOf(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { least: at(0), median: at(0.5), p99: at(0.99), most: at(1) };
}

export async function repeated(times: number, measure: () => Promise<number>): Promise<Summary> {
  const values: number[] = [];
  for (let i = 0; i < times; i++) values.push(await measure());
  return summaryOf(values);
}

export const figure = (value: number, digits = 0): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** `least–most`, the median before it. */
export const spread = ({ least, median, most }: Summary, digits = 0): string =>
  `${figure(median, digits)} (${figure(least, digits)}–${figure(most, digits)})`;
