/**
 * Faults of PostgreSQL, raised by PostgreSQL itself: writes to a table fail with an SQLSTATE until they are mended.
 *
 * A row switches the trigger on and off. Dropping it needs the table for itself and conflicts with running statements:
 * one of the two would end as a deadlock.
 */
import { createHash } from 'node:crypto';
import type { Sql } from '#db/database.ts';
import { retryConflicts } from '#db/infrastructure-error.ts';

export interface DatabaseFault {
  /**
   * Lets writes fail, and ends what failed before.
   *
   * @param when a condition over `old` and `new`; left out: all
   */
  begin(on: 'insert' | 'update' | 'delete', table: string, sqlState: string, when?: string): Promise<void>;
  /** Statements that have failed since it began. */
  hits(): Promise<number>;
  /** Does nothing when it has ended. */
  end(): Promise<void>;
}

/** SQLSTATEs that are faults of the infrastructure, not of a statement. */
export const INFRASTRUCTURE_SQLSTATES = ['53100', '53200', '57P01', '57P03', '25006', '40001', '40P01'] as const;

export function databaseFault(sql: Sql): DatabaseFault {
  const fault: DatabaseFault = {
    async begin(on, table, sqlState, when = 'true') {
      const name = `fault_${createHash('sha256').update(`${on} ${table} ${when}`).digest('hex').slice(0, 16)}`;
      await sql.query(`create table if not exists fault_under_way (name text not null, sql_state text not null)`);
      // A sequence counts what is rolled back, too.
      await sql.query(`create sequence if not exists fault_hits`);
      await fault.end();
      const [there] = await sql.query(`select 1 from pg_trigger where tgname = $1 and tgparentid = 0`, [name]);
      if (there === undefined) {
        await sql.query(RAISE_FAULT);
        await retryConflicts(() =>
          sql.query(
            `create trigger ${name} before ${on} on ${table} for each row when (${when}) execute function raise_fault()`,
          ),
        );
      }
      await sql.query(`select setval('fault_hits', 1, false)`);
      await sql.query(`insert into fault_under_way values ($1, $2)`, [name, sqlState]);
    },
    async hits() {
      const [row] = await sql.query<{ hits: number }>(
        `select case when is_called then last_value else 0 end as hits from fault_hits`,
      );
      return Number(row?.hits ?? 0);
    },
    async end() {
      await sql.query(`delete from fault_under_way`);
    },
  };
  return fault;
}

const RAISE_FAULT = `
  create or replace function raise_fault() returns trigger language plpgsql as $$
  declare
    fault text := (select sql_state from fault_under_way where name = tg_name);
  begin
    if fault is not null then
      perform nextval('fault_hits');
      raise exception 'fault of the test' using errcode = fault;
    end if;
    if tg_op = 'DELETE' then
      return old;
    end if;
    return new;
  end $$`;
