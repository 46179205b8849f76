/** Carries out an export or import of its row. Killed at any place, the next run goes on. */
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Services } from '#core/platform/process/services.ts';
import { CatalogueError } from '#domain/errors.ts';
import { EXPORT_LIFE_HOURS, type ExportFormat, moveKeyPlace } from '#domain/mailbox-moves.ts';
import { exportMailbox } from './export-mailbox.ts';
import { downloadSize, partsTarget } from './export-to-parts.ts';
import { requireMailbox } from './find-mailbox.ts';
import { type MoveParts, moveParts } from './move-parts.ts';
import { claimMove, type MoveRow, MoveTaken, noteMove } from './moves.ts';
import { MovingError } from './moving-error.ts';

const HOUR_MS = 3_600_000;

export type MoveServices = Pick<Services, 'db' | 'secrets' | 'now' | 'settings' | 'log'>;

export const partsOf = (
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  { id, keySealed }: Pick<MoveRow, 'id' | 'keySealed'>,
): MoveParts => moveParts(db, id, Buffer.from(secrets.open(keySealed, moveKeyPlace(id)), 'base64'));

/** @param signal aborted: it stops at the next safe place, and throws its reason */
export async function runMove(services: MoveServices, id: string, signal: AbortSignal): Promise<void> {
  const claimed = await claimMove(services.db, id);
  if (claimed === undefined) return;
  const { row, runner } = claimed;
  try {
    await runExport(services, row, runner, signal);
  } catch (error) {
    if (error instanceof MoveTaken) return;
    if (signal.aborted) throw signal.reason;
    // What only somebody can mend; anything else is tried again.
    if (!(error instanceof MovingError || error instanceof CatalogueError)) throw error;
    await noteMove(services.db, { id, runner }, `state = 'failed', problem = $3`, [reasonOf(error)]).catch(
      (other: unknown) => {
        if (!(other instanceof MoveTaken)) throw other;
      },
    );
  }
}

async function runExport(services: MoveServices, row: MoveRow, runner: string, signal: AbortSignal): Promise<void> {
  const { db, now } = services;
  const account = await requireMailbox(db, row.mailboxId);
  const run = { id: row.id, runner };
  const target = partsTarget({
    ...{ parts: partsOf(services, row), runner, account, progress: row.progress },
    format: row.format as ExportFormat, // of the column, which a constraint of the request wrote
    save: (state) =>
      noteMove(db, run, `progress = $3, messages = $4, size_bytes = $5`, [
        JSON.stringify(state),
        state.folders.reduce((sum, { messages }) => sum + messages, 0),
        Object.values(state.files).reduce((sum, size) => sum + size, 0),
      ]),
  });
  if (target.state.completedAt === null) await exportMailbox({ db, account, target, signal, onProgress() {} });
  const finishedAt = new Date(now());
  await noteMove(db, run, `state = 'finished', size_bytes = $3, finished_at = $4, expires_at = $5`, [
    downloadSize(target.state),
    finishedAt,
    new Date(finishedAt.getTime() + EXPORT_LIFE_HOURS * HOUR_MS),
  ]);
}
