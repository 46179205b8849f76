/** What deletes rows finds them by an index: rows that reference a deleted one, and rows that are too old. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { retentionStep } from '#activities/delete-history.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { RETENTION_STEPS } from '#domain/retention.ts';
import { openTestServices } from '#test/support/services.ts';

let services: Services;
before(async () => {
  services = await openTestServices();
});
after(() => services?.close());

/** An index serves if its first columns are those of the key, and it leaves out no row that has the key. */
const FOREIGN_KEYS_WITHOUT_INDEX = /* sql */ `
  select c.conrelid::regclass || ' (' || (
           select string_agg(a.attname, ', ' order by k.place)
             from unnest(c.conkey) with ordinality as k(number, place)
             join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.number) || ')' as key
    from pg_constraint c join pg_class r on r.oid = c.conrelid
   where c.contype = 'f' and not r.relispartition and not exists (
           select 1
             from pg_index i
            where i.indrelid = c.conrelid and i.indisvalid
              and (i.indkey::int2[])[0:cardinality(c.conkey) - 1] @> c.conkey
              and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) = (
                     select '(' || string_agg(a.attname || ' IS NOT NULL', ' AND ') || ')'
                       from pg_attribute a where a.attrelid = c.conrelid and a.attnum = any(c.conkey))))
   order by 1`;

test('every foreign key has an index', async () => {
  const { db } = services;
  assert.deepEqual(await db.query(FOREIGN_KEYS_WITHOUT_INDEX), []);
  // The search finds one without, also when a partial index has its column.
  await db
    .transaction(async (sql) => {
      await sql.query('drop index consent_mailbox_id');
      await sql.query(`create index on consent (mailbox_id) where status = 'pending'`);
      assert.deepEqual(await sql.query(FOREIGN_KEYS_WITHOUT_INDEX), [{ key: 'consent (mailbox_id)' }]);
      throw new Error('roll back');
    })
    .catch((error: Error) => assert.equal(error.message, 'roll back'));
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}
const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

interface Statement {
  readonly step: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Statements of every step of retention, on a database without rows. */
async function statementsOfRetention(): Promise<Statement[]> {
  const statements: Statement[] = [];
  for (const step of RETENTION_STEPS) {
    const recording = <On extends Sql>(on: On): On =>
      new Proxy(on, {
        get(target, name) {
          if (name === 'query')
            return (text: string, values: readonly unknown[] = []) => {
              statements.push({ step, text, values });
              return target.query(text, values);
            };
          const value: unknown = Reflect.get(target, name);
          if (name === 'transaction' && typeof value === 'function')
            return (work: (sql: Sql) => Promise<unknown>, ...more: unknown[]) =>
              value.call(target, (sql: Sql) => work(recording(sql)), ...more);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    await retentionStep(
      { ...services, db: recording(services.db) },
      { step },
      { heartbeat: () => {}, isEnding: () => false },
    );
  }
  return statements;
}

/** A deletion from one table by an age or a time. */
const BY_AGE = /^delete from (\w+) where ctid = any\(array\(\s*select ctid from \1 where \w+ < (?!.*select)/;

test('every step of retention finds the rows that are too old by an index', async () => {
  const statements = (await statementsOfRetention()).filter(({ text }) => /\b(?:delete|update)\b/i.test(text));
  assert.ok(statements.length > 25, `${statements.length} statements`);
  const scans = new Set<string>();
  const used: { readonly step: string; readonly index: string; readonly condition: string }[] = [];
  await services.db.transaction(async (sql) => {
    // Only a table without a suitable index is then read as a whole.
    await sql.query('set local enable_seqscan = off');
    for (const { step, text, values } of statements) {
      const [row] = await sql.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
        `explain (format json) ${text}`,
        [...values],
      );
      for (const { Plan } of row?.['QUERY PLAN'] ?? [])
        for (const node of nodesOf(Plan))
          if (node['Node Type'] === 'Seq Scan') scans.add(`${step}: ${node['Relation Name']}`);
          else if (BY_AGE.test(text) && node['Index Name'] !== undefined)
            used.push({ step, index: node['Index Name'], condition: node['Index Cond'] ?? '' });
    }
    // Without a condition on its first column, an index is read as a whole, too.
    const first = await sql.query<{ index: string; column: string }>(
      `select indexrelid::regclass::text as index, pg_get_indexdef(indexrelid, 1, true) as column
         from pg_index where indexrelid::regclass::text = any($1)`,
      [used.map(({ index }) => index)],
    );
    const columnOf = new Map(first.map(({ index, column }) => [index, column]));
    for (const { step, index, condition } of used)
      if (!condition.includes(columnOf.get(index) ?? '?')) scans.add(`${step}: all of ${index}`);
  });
  assert.deepEqual([...scans], []);
});
