import assert from 'node:assert/strict';
import { test } from 'node:test';

/**
 * One test over a table: it counts and prints as one, goes through all rows in any case, and names each that fails.
 *
 * @param nameOf what a failure says of its row
 */
export function everyRow<Row>(
  name: string,
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  check: (row: Row) => void | Promise<void>,
): void {
  test(name, async () => {
    assert.notEqual(rows.length, 0, 'the table has rows');
    const failures: string[] = [];
    for (const row of rows)
      try {
        await check(row);
      } catch (error) {
        failures.push(`${nameOf(row)}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      }
    if (failures.length > 0) assert.fail(`${failures.length} of ${rows.length} rows fail:\n${failures.join('\n')}`);
  });
}
