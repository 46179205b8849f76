/** Answers of the API as text for people: lists as tables, one thing as names and values. */
import { facts, print, printUntrusted, styled } from './output.ts';
import type { GlobalOptions } from './session.ts';
import { fit, safeLine } from './terminal-text.ts';

type Fields = Readonly<Record<string, unknown>>;

const COLUMN_MAX = 48;
const GAP = '  ';

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(valueText).join(', ');
  return safeLine(typeof value === 'string' ? value : JSON.stringify(value));
}

/** @param columns names of fields, in their order; `a.b` is a field of a field */
export function tableText(rows: readonly object[], columns: readonly string[], empty: string): string {
  if (rows.length === 0) return empty;
  const cells = rows.map((row) => columns.map((column) => valueText(fieldOf(row, column))));
  const widths = columns.map((column, index) =>
    Math.min(COLUMN_MAX, Math.max(column.length, ...cells.map((each) => each[index]?.length ?? 0))),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, index) => (index === texts.length - 1 ? text : fit(text, widths[index] ?? 0)))
      .join(GAP)
      .trimEnd();
  return [styled('dim', line(columns)), ...cells.map(line)].join('\n');
}

const fieldOf = (row: object, column: string): unknown =>
  column.split('.').reduce<unknown>((value, name) => (isFields(value) ? value[name] : undefined), row);

/** Rows in which others may have written something, or a sentence of its own where there are none. */
export function printRows(
  options: GlobalOptions,
  page: { readonly data: readonly object[] },
  columns: readonly string[],
  empty: string,
): void {
  const printed = page.data.length === 0 ? print : printUntrusted;
  printed(options, page, () => tableText(page.data, columns, empty));
}

/** All fields of a thing, those of the things in it under `a.b`. */
export const recordText = (value: object): string => facts([...rowsOf(value, '')]);

function* rowsOf(value: object, before: string): Generator<readonly [string, string]> {
  for (const [name, inner] of Object.entries(value)) {
    const key = `${before}${name}`;
    if (isFields(inner) && Object.keys(inner).length > 0) yield* rowsOf(inner, `${key}.`);
    else if (Array.isArray(inner) && inner.some(isFields))
      for (const [index, item] of inner.entries())
        if (isFields(item)) yield* rowsOf(item, `${key}.${index + 1}.`);
        else yield [`${key}.${index + 1}`, valueText(item)];
    else yield [key, valueText(inner)];
  }
}
