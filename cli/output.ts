/** What a command prints: its answer (lists as tables, one thing as names and values), or an error. */
import { styleText } from 'node:util';
import { ApiError, type Submitted } from '#client/index.ts';
import { fencedText } from '#client/model-text.ts';
import { CommandError, EXIT, exitCodeOf } from './exit-codes.ts';
import type { GlobalOptions } from './session.ts';
import { fit, safeJson, safeLine } from './terminal-text.ts';

type Style = Parameters<typeof styleText>[0];

/** Styled only if standard output is a terminal that supports it; respects NO_COLOR. */
export const styled = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });
const styledError = (style: Style, text: string): string => styleText(style, text, { stream: process.stderr });

/** Writes the answer of a command: JSON with `--json`, else its text. The text must already be safe for a terminal. */
export function print({ json }: GlobalOptions, value: unknown, text: () => string): void {
  process.stdout.write(`${json === true ? safeJson(value) : text()}\n`);
}

/**
 * The same for text in which others may have written something: subjects, names, texts, answers of other hosts. Where no
 * person reads it on a terminal, it is between markers, as the tools of MCP return it, because an agent may.
 */
export function printUntrusted(options: GlobalOptions, value: unknown, text: () => string): void {
  print(options, value, () => (process.stdout.isTTY ? text() : fencedText(text())));
}

/** A remark in addition to the answer. */
export const remark = (text: string): void => void process.stderr.write(`${text}\n`);

/** Name and value in two columns. */
export function facts(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, value]) => `${styled('dim', name.padEnd(width))}${value}`).join('\n');
}

/** The outcome of a message: sent; or, with the service's sentence, held or submitted before. None is a failure. */
export function printSubmitted(options: GlobalOptions, submitted: Submitted): void {
  const { id, status } = submitted;
  if (submitted.held || submitted.repeated) {
    const { message } = submitted;
    const before = submitted.held ? [] : [['Status', status] as const];
    const after = submitted.held ? [['Consent', submitted.consentId] as const] : [];
    return print(options, submitted, () =>
      [safeLine(message), facts([...before, ['Message', id], ...after])].join('\n'),
    );
  }
  const people = (list: readonly string[]): string => list.map(safeLine).join(', ');
  printUntrusted(options, submitted, () =>
    facts([
      ['Status', submitted.status],
      ...(submitted.sendAt === null ? [] : [['Goes at', submitted.sendAt] as const]),
      ['Message', submitted.id],
      ['To', people(submitted.to)],
      ...(submitted.cc.length > 0 ? [['Cc', people(submitted.cc)] as const] : []),
      ...(submitted.bcc.length > 0 ? [['Bcc', people(submitted.bcc)] as const] : []),
      ['Subject', safeLine(submitted.subject)],
      ...(submitted.omitted.length > 0 ? [['Not sent to', people(submitted.omitted)] as const] : []),
    ]),
  );
}

/** Prints an error on standard error: code, message, what to do. @returns the exit code */
export function printError(error: unknown, json: boolean): number {
  const known = error instanceof ApiError || error instanceof CommandError ? error : undefined;
  const code = known?.code ?? 'failed';
  const message = error instanceof ApiError ? error.sentence : error instanceof Error ? error.message : String(error);
  const fix =
    code === 'unreachable'
      ? 'Check the address (login --url=…, or AGENT_MAILBOX_URL), and that the service is running.'
      : (known?.fix ?? '');
  const { requestId = null, details = [], request = null } = error instanceof ApiError ? error : {};
  if (json) remark(safeJson({ error: { code, message, fix, request, requestId, details } }));
  else {
    remark(`${styledError('red', `error ${code}:`)} ${safeLine(message)}`);
    for (const detail of details) remark(`  ${safeLine(detail.path)}: ${safeLine(detail.message)}`);
    if (fix !== '') remark(`${styledError('dim', 'fix:')} ${safeLine(fix)}`);
    if (request !== null) remark(`${styledError('dim', 'asked:')} ${safeLine(request)}`);
    if (requestId !== null) remark(`${styledError('dim', 'request:')} ${safeLine(requestId)}`);
  }
  if (error instanceof CommandError) return error.exitCode;
  return error instanceof ApiError ? exitCodeOf(error) : EXIT.failed;
}

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
