/**
 * Events with what webhooks sent, and their deliveries and attempts. The tables are partitioned by time and have no index
 * by mailbox, so they are read in the order of their ids, some thousand rows at a time.
 */
import type { Sql } from '#db/database.ts';
import { type Counts, eraseNow, inPortions, isReal, plus, type Run } from './portions.ts';

const ROWS_READ_AT_ONCE = 5_000;

/** Conditions over `events e` and `deliveries d` (with their event `e`, or none) with `$1`…; of which events from which id on. */
export interface DeliveriesScope {
  readonly events: string;
  readonly deliveries: string;
  readonly values: readonly unknown[];
  readonly from?: { readonly event: string; readonly delivery: string };
}

const ATTEMPTS = 'delivery_id = any($1::text[])';

/** Deliveries first: they are found by their events. */
export async function eraseDeliveries(run: Run, { events, deliveries, values, from }: DeliveriesScope): Promise<void> {
  await eachPage(run, 'deliveries', from?.delivery ?? '', async (sql, ids) => {
    const rows = await sql.query<{ id: string; workflow: string | null }>(
      `select d.id, case when d.status in ('pending', 'failed') then d.workflow_id end as workflow
         from deliveries d left join events e on e.id = d.event_id
        where d.id = any($${values.length + 1}::text[]) and (${deliveries})`,
      [...values, ids],
    );
    const found = rows.map(({ id }) => id);
    if (found.length === 0) return { counts: {} };
    if (!isReal(run)) {
      const [attempts] = await sql.query<{ n: number }>(
        `select count(*)::int as n from delivery_attempts where ${ATTEMPTS}`,
        [found],
      );
      return { counts: { deliveries: found.length, delivery_attempts: attempts?.n ?? 0 } };
    }
    const attempts = await eraseNow(sql, 'delivery_attempts', ATTEMPTS, [found]);
    const gone = await eraseNow(sql, 'deliveries', 'id = any($1::text[])', [found]);
    const workflows = [...new Set(rows.flatMap(({ workflow }) => (workflow === null ? [] : [workflow])))];
    return { counts: plus(attempts, gone), workflows };
  });
  await eachPage(run, 'events', from?.event ?? '', async (sql, ids) => {
    const rows = await sql.query<{ id: string }>(
      `select e.id from events e where e.id = any($${values.length + 1}::text[]) and (${events})`,
      [...values, ids],
    );
    const found = rows.map(({ id }) => id);
    if (found.length === 0 || !isReal(run)) return { counts: { events: found.length } };
    return { counts: await eraseNow(sql, 'events', 'id = any($1::text[])', [found]) };
  });
}

interface Page {
  readonly counts: Counts;
  readonly workflows?: readonly string[];
}

async function eachPage(
  run: Run,
  table: string,
  from: string,
  page: (sql: Sql, ids: readonly string[]) => Promise<Page>,
): Promise<void> {
  let after = from;
  const next = async (sql: Sql) => {
    const rows = await sql.query<{ id: string }>(`select id from ${table} where id > $1 order by id limit $2`, [
      after,
      ROWS_READ_AT_ONCE,
    ]);
    const ids = rows.map(({ id }) => id);
    const done = ids.length === 0 ? { counts: {} } : await page(sql, ids);
    return {
      ...done,
      more: ids.length === ROWS_READ_AT_ONCE,
      committed: () => {
        after = ids.at(-1) ?? after;
      },
    };
  };
  if (isReal(run)) return inPortions(run, table, next);
  for (let more = true; more; ) {
    const done = await next(run.db);
    run.counted(done.counts);
    run.onPortion(table);
    done.committed();
    ({ more } = done);
  }
}
