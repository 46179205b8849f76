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
  IMPORT_FILE_MAX_BYTES,
  IMPORT_PORTION_MAX_BYTES,
  type ImportFormat,
  MOVE_LIFE_HOURS,
  MOVE_MAILBOX,
  MOVE_PART_MAX_BYTES,
  type MoveDirection,
  type MoveState,
  moveKeyPlace,
  movePasswordPlace,
  moveWorkflowId,
  OPEN_MOVES_MAX,
} from '#domain/mailbox-moves.ts';
import type { ExportState } from './export-state.ts';
import type { FoundMailbox } from './find-mailbox.ts';
import type { Imported } from './import-mailbox.ts';
import { moveParts, PART_KEY_BYTES } from './move-parts.ts';

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
  /** Of an import by IMAP. */
  readonly imapUrl: string | null;
  readonly imapUser: string | null;
  /** Null: it is not needed any more. */
  readonly imapPasswordSealed: string | null;
  /** What an import did. */
  readonly report: Imported | null;
  readonly problem: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  readonly expiresAt: Date;
}

const ROW = `id, organization_id as "organizationId", mailbox_id as "mailboxId", direction, format, state,
  key_sealed as "keySealed", size_bytes as "sizeBytes", messages, progress, imap_url as "imapUrl", imap_user as "imapUser",
  imap_password_sealed as "imapPasswordSealed", report, problem, created_at as "createdAt",
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

/** The server that an import reads. */
export interface ImapAccount {
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

/** An import that waits for its file, or of a server. The organization's log has an entry. @throws {CatalogueError} conflict */
export async function beginImport(
  services: Pick<Services, 'db' | 'secrets' | 'now'>,
  mailbox: FoundMailbox,
  { format, imap }: { readonly format: ImportFormat | null; readonly imap: ImapAccount | null },
  caller: Caller,
): Promise<MoveRow> {
  const { organizationId, mailboxId } = mailbox;
  return services.db.transaction(async (sql) => {
    await recordAudit(sql, caller, {
      ...{ organizationId, action: 'mailbox.mail_imported', targetId: mailboxId },
      details: { from: imap === null ? 'file' : new URL(imap.url).hostname },
    });
    const row = await insertMove(services, sql, mailbox, { direction: 'import', format, state: 'receiving' });
    if (imap === null) return row;
    const { url, user, password } = imap;
    const sealed = services.secrets.seal(password, movePasswordPlace(row.id));
    await sql.query(`update mailbox_move set imap_url = $2, imap_user = $3, imap_password_sealed = $4 where id = $1`, [
      ...[row.id, url, user, sealed],
    ]);
    return { ...row, imapUrl: url, imapUser: user, imapPasswordSealed: sealed };
  });
}

/** Name of the file of parts that an import reads. */
export const IMPORTED_FILE = 'upload';

/**
 * Adds bytes to the file of an import. What arrived before an interruption stays: go on at `sizeBytes`.
 *
 * @param at where they belong
 * @throws {CatalogueError} not_found, conflict, payload_too_large, and what `bytes` throws
 */
export async function receivePortion(
  services: Pick<Services, 'db' | 'secrets' | 'now'>,
  id: string,
  at: number,
  bytes: AsyncIterable<Uint8Array>,
): Promise<MoveRow> {
  const { db, secrets, now } = services;
  const move = await requireMove(db, id, now());
  const key = Buffer.from(secrets.open(move.keySealed, moveKeyPlace(id)), 'base64');
  if (move.direction !== 'import' || move.state !== 'receiving' || move.imapUrl !== null || move.sizeBytes !== at)
    throw notExpected(move);
  let [end, portion] = [at, 0];
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  const write = async (): Promise<void> => {
    if (waitingBytes === 0) return;
    const part = Buffer.concat(waiting);
    await db.transaction(async (sql) => {
      const mine = await sql.query(
        `update mailbox_move set size_bytes = size_bytes + $3 where id = $1 and size_bytes = $2 and state = 'receiving' returning 1`,
        [id, end, part.length],
      );
      if (mine.length === 0) throw notExpected(await requireMove(sql, id, now()));
      await moveParts(sql, id, key).write(IMPORTED_FILE, end, part, null);
    });
    end += part.length;
    [waiting, waitingBytes] = [[], 0];
  };
  for await (const chunk of bytes) {
    portion += chunk.length;
    if (portion > IMPORT_PORTION_MAX_BYTES || at + portion > IMPORT_FILE_MAX_BYTES)
      throw new CatalogueError(
        'payload_too_large',
        `A portion has at most ${IMPORT_PORTION_MAX_BYTES} bytes, and the file ${IMPORT_FILE_MAX_BYTES}.`,
        { fix: 'Send the file in smaller portions; import a larger file by agent-mailbox-admin import.' },
      );
    for (let from = 0; from < chunk.length; ) {
      const piece = chunk.subarray(from, from + MOVE_PART_MAX_BYTES - waitingBytes);
      waiting.push(piece);
      waitingBytes += piece.length;
      from += piece.length;
      if (waitingBytes === MOVE_PART_MAX_BYTES) await write();
    }
  }
  await write();
  return requireMove(db, id, now());
}

const notExpected = ({ id, direction, state, imapUrl, sizeBytes }: MoveRow): CatalogueError =>
  direction === 'import' && state === 'receiving' && imapUrl === null
    ? new CatalogueError('conflict', `${id} has ${sizeBytes} bytes.`, {
        fix: `Send what follows, with ?at=${sizeBytes}.`,
      })
    : new CatalogueError('conflict', `${id} takes no file.`, {
        fix: 'Begin an import with POST /api/operator/imports.',
      });

/** Starts what waits, goes on with what failed, and what the engine was away for. @throws {CatalogueError} not_found, conflict */
export async function startMove(services: Services, temporal: TemporalClient, id: string): Promise<MoveRow> {
  const move = await requireMove(services.db, id, services.now());
  if (move.state === 'finished')
    throw new CatalogueError('conflict', `${id} has finished.`, { fix: 'Begin another one.' });
  if (move.state === 'receiving' && move.imapUrl === null && move.sizeBytes === 0)
    throw new CatalogueError('conflict', `${id} has no file yet.`, {
      fix: 'Send it with PUT /api/operator/moves/:id/content first.',
    });
  const [row] = await services.db.query<MoveRow & object>(
    `update mailbox_move set state = 'running', problem = null, report = null where id = $1 and state <> 'finished' returning ${ROW}`,
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
