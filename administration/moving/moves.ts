/**
 * Rows of exports and imports that operators ask for by HTTP. A workflow carries them out; it may be killed, and goes on.
 *
 *   export ──────────────▶ running ──▶ finished ──48 h──▶ deleted
 *                             │ ▲
 *   import ──▶ receiving ──start│──▶ failed (mailbox full, server refuses)
 */
import { randomBytes } from 'node:crypto';
import { recordAudit } from '#core/organizations/audit.ts';
import type { Caller } from '#core/platform/caller.ts';
import { callAfterCommit, startOptions } from '#core/platform/engine/start-workflow.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Database, Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import {
  type ExportFormat,
  MOVE_LIFE_HOURS,
  MOVE_MAILBOX,
  type MoveDirection,
  type MoveState,
  moveKeyPlace,
  moveWorkflowId,
  OPEN_MOVES_MAX,
} from '#domain/mailbox-moves.ts';
import type { ExportState } from './export-state.ts';
import type { FoundMailbox } from './find-mailbox.ts';
import { PART_KEY_BYTES } from './move-parts.ts';

const HOUR_MS = 3_600_000;

export interface MoveRow {
  readonly id: string;
  readonly organizationId: string;
  readonly mailboxId: string;
  readonly direction: MoveDirection;
  readonly format: string | null;
  readonly state: MoveState;
  readonly keySealed: string;
  readonly sizeBytes: number;
  readonly messages: number;
  readonly progress: ExportState | null;
  readonly problem: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  readonly expiresAt: Date;
}

const ROW = `id, organization_id as "organizationId", mailbox_id as "mailboxId", direction, format, state,
  key_sealed as "keySealed", size_bytes as "sizeBytes", messages, progress, problem, created_at as "createdAt",
  finished_at as "finishedAt", expires_at as "expiresAt"`;

/** @throws {CatalogueError} not_found, also of one whose time is over */
export async function requireMove(sql: Sql, id: string, nowMs: number): Promise<MoveRow> {
  const [row] = await sql.query<MoveRow & object>(`select ${ROW} from mailbox_move where id = $1 and expires_at > $2`, [
    id,
    new Date(nowMs),
  ]);
  if (row === undefined)
    throw new CatalogueError('not_found', `There is no export or import ${id}, or its time is over.`);
  return row;
}

/** Newest first; one more than `limit`. */
export const listMoves = (
  sql: Sql,
  page: { readonly limit: number; readonly after: string | null },
  nowMs: number,
): Promise<MoveRow[]> =>
  sql.query<MoveRow & object>(
    `select ${ROW} from mailbox_move where ($1::text is null or id < $1) and expires_at > $3 order by id desc limit $2`,
    [page.after, page.limit + 1, new Date(nowMs)],
  );

/** The file goes with it; what runs ends at its next note. @throws {CatalogueError} not_found */
export async function deleteMove(sql: Sql, id: string): Promise<void> {
  const rows = await sql.query(`delete from mailbox_move where id = $1 returning 1`, [id]);
  if (rows.length === 0) throw new CatalogueError('not_found', `There is no export or import ${id}.`);
}

/** A row like `move`, with a key of its own, in the transaction `sql`. @throws {CatalogueError} conflict */
async function insertMove(
  { secrets, now }: Pick<Services, 'secrets' | 'now'>,
  sql: Sql,
  mailbox: FoundMailbox,
  move: Pick<MoveRow, 'direction' | 'format' | 'state'>,
): Promise<MoveRow> {
  await sql.query(`select pg_advisory_xact_lock(hashtextextended('mailbox_move', 0))`);
  const [open] = await sql.query<{ n: number }>(
    `select count(*)::int as n from mailbox_move where state <> 'finished' and expires_at > $1`,
    [new Date(now())],
  );
  if ((open?.n ?? 0) >= OPEN_MOVES_MAX)
    throw new CatalogueError('conflict', `${OPEN_MOVES_MAX} exports and imports have not ended.`, {
      fix: 'Wait for one, or delete one that is not needed (DELETE /api/operator/moves/:id).',
    });
  const id = newId('move', now());
  const key = secrets.seal(randomBytes(PART_KEY_BYTES).toString('base64'), moveKeyPlace(id));
  const [row] = await sql.query<MoveRow & object>(
    `insert into mailbox_move (id, organization_id, mailbox_id, direction, format, state, key_sealed, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${ROW}`,
    [
      ...[id, mailbox.organizationId, mailbox.mailboxId, move.direction, move.format, move.state, key],
      ...[new Date(now()), new Date(now() + MOVE_LIFE_HOURS * HOUR_MS)],
    ],
  );
  if (row === undefined) throw new Error('an insert without a row');
  return row;
}

/** Begins an export, or answers with the one of this format that is not finished. The organization's log has an entry. */
export async function beginExport(
  services: Pick<Services, 'db' | 'secrets' | 'now'>,
  mailbox: FoundMailbox,
  format: ExportFormat,
  caller: Caller,
): Promise<MoveRow> {
  const { organizationId, mailboxId } = mailbox;
  return services.db.transaction(async (sql) => {
    await sql.query(`select pg_advisory_xact_lock(hashtextextended('mailbox_move ' || $1, 0))`, [mailboxId]);
    const [open] = await sql.query<MoveRow & object>(
      `select ${ROW} from mailbox_move
        where mailbox_id = $1 and direction = 'export' and format = $2 and state <> 'finished' and expires_at > $3`,
      [mailboxId, format, new Date(services.now())],
    );
    if (open !== undefined) return open;
    await recordAudit(sql, caller, {
      ...{ organizationId, action: 'mailbox.exported', targetId: mailboxId, details: { format } },
    });
    return insertMove(services, sql, mailbox, { direction: 'export', format, state: 'running' });
  });
}

/** Starts what waits, goes on with what failed, and what the engine was away for. @throws {CatalogueError} not_found, conflict */
export async function startMove(services: Services, temporal: TemporalClient, id: string): Promise<MoveRow> {
  const move = await requireMove(services.db, id, services.now());
  if (move.state === 'finished')
    throw new CatalogueError('conflict', `${id} has finished.`, { fix: 'Begin another one.' });
  const [row] = await services.db.query<MoveRow & object>(
    `update mailbox_move set state = 'running', problem = null where id = $1 and state <> 'finished' returning ${ROW}`,
    [id],
  );
  if (row === undefined) throw new CatalogueError('not_found');
  await callAfterCommit(
    services,
    temporal,
    () =>
      temporal.client.workflow.start(MOVE_MAILBOX, {
        ...startOptions(temporal, moveWorkflowId(id), row.direction, {
          organizationId: row.organizationId,
          mailboxId: row.mailboxId,
        }),
        args: [id],
      }),
    { moveId: id },
    'an export or import was not started; it starts when it is asked for again',
  );
  return row;
}

/** Makes a run the only one that may write: an earlier one that still lives ends. @returns undefined: it is not to run */
export async function claimMove(db: Database, id: string): Promise<{ row: MoveRow; runner: string } | undefined> {
  const runner = randomBytes(9).toString('base64url');
  const [row] = await db.query<MoveRow & object>(
    `update mailbox_move set runner = $2 where id = $1 and state = 'running' returning ${ROW}`,
    [id, runner],
  );
  return row && { row, runner };
}

/** The row was deleted, or another run goes on with it. */
export class MoveTaken extends Error {}

/** Writes columns of a move, if this run is the one that may. @throws {MoveTaken} */
export async function noteMove(
  sql: Sql,
  { id, runner }: { readonly id: string; readonly runner: string },
  set: string,
  values: readonly unknown[],
): Promise<void> {
  const rows = await sql.query(
    `update mailbox_move set ${set} where id = $1 and runner = $2 and state = 'running' returning 1`,
    [id, runner, ...values],
  );
  if (rows.length === 0) throw new MoveTaken();
}
