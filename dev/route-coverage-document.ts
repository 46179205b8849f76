/** `docs/coverage.md`: each route with the method, the command and the tool that reach it. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { templatePath } from '#api/documents/openapi.ts';
import { routes } from '#api/routes.ts';
import { pythonMethods } from './python-client/methods-in-files.ts';
import type { RouteRow } from './route-coverage.ts';
import { COVERAGE_REASONS, type CoverageReason } from './route-coverage-reasons.ts';

const COLUMNS = ['client', 'python', 'cli', 'mcp'] as const;
type Column = (typeof COLUMNS)[number];

const PROGRAM = fileURLToPath(new URL('route-coverage.ts', import.meta.url));
const OUTPUT_MAX_BYTES = 4 * 1_024 * 1_024;

/** With the methods of the Python package. */
export interface CoverageRow extends RouteRow {
  readonly python: readonly string[];
}

export function withPython(rows: readonly RouteRow[]): CoverageRow[] {
  const methods = pythonMethods();
  return rows.map((row) => ({ ...row, python: methods.get(`${row.method} ${templatePath(row.path)}`) ?? [] }));
}

/** Runs every method, command and tool, in a process of its own. */
export const routeRows = (): RouteRow[] =>
  JSON.parse(
    execFileSync(process.execPath, [PROGRAM], {
      encoding: 'utf8',
      maxBuffer: OUTPUT_MAX_BYTES,
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  ) as RouteRow[];

const tagOf = (operationId: string): string => routes.find((each) => each.operationId === operationId)?.tag ?? '';

/** Why it is missing there; undefined: nobody wrote it down. The Python package has what the TypeScript client has. */
export const reasonFor = (operationId: string, column: Column): CoverageReason | undefined =>
  COVERAGE_REASONS.find(
    ({ columns, operations = [], tags = [] }) =>
      columns.includes(column === 'python' ? 'client' : column) &&
      (operations.includes(operationId) || tags.includes(tagOf(operationId))),
  );

/** Routes that are missing somewhere without a reason, as `operationId: column`. */
export const holes = (rows: readonly CoverageRow[]): string[] =>
  rows.flatMap((row) =>
    COLUMNS.filter((column) => row[column].length === 0 && reasonFor(row.operationId, column) === undefined).map(
      (column) => `${row.operationId}: ${column}`,
    ),
  );

export function coverageDocument(rows: readonly CoverageRow[]): string {
  const reasons = [...COVERAGE_REASONS];
  const cell = (row: CoverageRow, column: Column): string => {
    const names = row[column];
    if (names.length > 0) return names.map((name) => `\`${name}\``).join(', ');
    const reason = reasonFor(row.operationId, column);
    return reason === undefined ? '**missing**' : `[${reasons.indexOf(reason) + 1}](#why-not)`;
  };
  const lines = rows.map(
    (row) => `| ${[`\`${row.method} ${row.path}\``, ...COLUMNS.map((column) => cell(row, column))].join(' | ')} |`,
  );
  return `# Routes, clients, command line, MCP

Which method of the [TypeScript client](../client/README.md) and of the [Python package](../python/README.md), which [command](cli.md) and which [MCP tool](mcp.md) reach a route. Made by \`npm run docs\`: every method, command and tool is run, and the requests it makes are recorded. \`mailbox\` is a \`MailboxClient\`, \`service\` an \`OrganizationClient\`. A number refers to a reason below.

| route | TypeScript | Python | command line | MCP |
|---|---|---|---|---|
${lines.join('\n')}

## Why not

${reasons.map(({ reason }, index) => `${index + 1}. ${reason}`).join('\n')}
`;
}
