/** Reads `docs/coverage.md`: which methods, commands and tools reach a route. */

/** Names by the heading of their column, such as `client` and `command line`. */
export type Reached = Readonly<Record<string, readonly string[]>>;

const cellsOf = (line: string): string[] =>
  line
    .slice(1, line.lastIndexOf('|'))
    .split('|')
    .map((cell) => cell.trim());

const namesIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** @returns by method and path, such as `GET /api/mailboxes/:id` */
export function readCoverage(document: string): ReadonlyMap<string, Reached> {
  const lines = document.split('\n').filter((line) => line.startsWith('|'));
  const [head = '', , ...rows] = lines;
  const [, ...columns] = cellsOf(head);
  return new Map(
    rows.map((line) => {
      const [route = '', ...cells] = cellsOf(line);
      const reached = Object.fromEntries(columns.map((column, index) => [column, namesIn(cells[index] ?? '')]));
      return [namesIn(route)[0] ?? route, reached];
    }),
  );
}
