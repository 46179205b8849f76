/**
 * The audit log of the installation: each request with the operator key, and the backups that were made. It has ids only.
 * An entry is written before the request has its effect, so that none is without one.
 */
import { newId } from '#core/platform/new-id.ts';
import type { Sql } from '#db/database.ts';
import { isAnyId } from '#domain/ids.ts';

export interface OperatorUse {
  readonly id: string;
  readonly at: Date;
  /** Name of the operation, or of the command. */
  readonly operation: string;
  readonly via: 'http' | 'command';
  /** Id of what it was about. */
  readonly targetId: string | null;
  /** Status of the answer. Null: it has not ended, or the process did not live to see its end. */
  readonly status: number | null;
  readonly ipAddress: string | null;
  readonly requestId: string | null;
}

/** @param targetId anything else than an id is left out, such as an address or a slug */
export async function beginOperatorUse(
  sql: Sql,
  use: Pick<OperatorUse, 'at' | 'operation' | 'via' | 'ipAddress' | 'requestId'> & {
    readonly targetId?: string | undefined;
  },
): Promise<string> {
  const id = newId('operatorUse', use.at.getTime());
  await sql.query(
    `insert into operator_use (id, at, operation, via, target_id, ip_address, request_id) values ($1, $2, $3, $4, $5, $6, $7)`,
    [id, use.at, use.operation, use.via, idOf(use.targetId), use.ipAddress, use.requestId],
  );
  return id;
}

/** @param targetId that became known meanwhile */
export async function endOperatorUse(sql: Sql, id: string, status: number, targetId?: string): Promise<void> {
  await sql.query(`update operator_use set status = $2, target_id = coalesce(target_id, $3) where id = $1`, [
    id,
    status,
    idOf(targetId),
  ]);
}

const idOf = (text: string | undefined): string | null => (text !== undefined && isAnyId(text) ? text : null);

/** Newest first; one more than `limit`. */
export const listOperatorUses = (
  sql: Sql,
  filter: { readonly operation: string | null; readonly since: Date | null; readonly until: Date | null },
  page: { readonly limit: number; readonly after: string | null },
): Promise<OperatorUse[]> =>
  sql.query<OperatorUse & object>(
    `select id, at, operation, via, target_id as "targetId", status, ip_address as "ipAddress", request_id as "requestId"
       from operator_use
      where ($1::text is null or id < $1) and ($2::text is null or operation = $2)
        and ($3::timestamptz is null or at >= $3) and ($4::timestamptz is null or at < $4)
      order by id desc limit $5`,
    [page.after, filter.operation, filter.since, filter.until, page.limit + 1],
  );
