/** Carries out an export or import of its row. Killed at any place, the next run goes on. */
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Services } from '#core/platform/process/services.ts';
import { CatalogueError } from '#domain/errors.ts';
import {
  EXPORT_LIFE_HOURS,
  type ExportFormat,
  IMPORT_FORMATS,
  IMPORT_PROBLEMS_NAMED_MAX,
  moveKeyPlace,
  movePasswordPlace,
} from '#domain/mailbox-moves.ts';
import { openMailNotifier } from '#mailstore/changes/notifier.ts';
import { knownImports } from '#mailstore/delivery/import-messages.ts';
import { exportMailbox } from './export-mailbox.ts';
import { downloadSize, partsTarget } from './export-to-parts.ts';
import { requireMailbox } from './find-mailbox.ts';
import { imapAddress } from './imap-host.ts';
import { readImap } from './imap-reader.ts';
import { importMailbox } from './import-mailbox.ts';
import { type MoveParts, moveParts } from './move-parts.ts';
import type { Source } from './moved-message.ts';
import { claimMove, IMPORTED_FILE, type MoveRow, MoveTaken, noteMove } from './moves.ts';
import { MovingError } from './moving-error.ts';
import { uploadedSource } from './uploaded-source.ts';

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
    await (row.direction === 'export' ? runExport : runImport)(services, row, runner, signal);
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

const NOTED_EVERY_MS = 2_000;

/** Nothing is imported twice, so a run that goes on reads the source from its beginning. */
async function runImport(services: MoveServices, row: MoveRow, runner: string, signal: AbortSignal): Promise<void> {
  const { db, now, log, settings } = services;
  const { mailboxId } = row;
  const account = await requireMailbox(db, mailboxId);
  const run = { id: row.id, runner };
  const taken = new AbortController();
  let imported = 0;
  const noting = setInterval(() => {
    noteMove(db, run, 'messages = $3', [imported]).catch((error: unknown) => {
      if (error instanceof MoveTaken) taken.abort(error);
    });
  }, NOTED_EVERY_MS);
  const notifier = openMailNotifier({ db, log, settings });
  try {
    const source = await sourceOf(services, row);
    const report = await importMailbox({
      ...{ db, notifier, account, source, dryRun: false, signal: AbortSignal.any([signal, taken.signal]) },
      onProgress: (_, count) => {
        imported = count;
      },
    });
    const named = { ...report, problems: report.problems.slice(0, IMPORT_PROBLEMS_NAMED_MAX) };
    const done = [report.imported, JSON.stringify(named)];
    if (report.stopped !== null) {
      await noteMove(db, run, `messages = $3, report = $4, state = 'failed', problem = $5`, [...done, report.stopped]);
      return;
    }
    await partsOf(services, row).cut(IMPORTED_FILE, 0, runner);
    await noteMove(
      db,
      run,
      `messages = $3, report = $4, state = 'finished', finished_at = $5, imap_password_sealed = null`,
      [...done, new Date(now())],
    );
  } catch (error) {
    throw taken.signal.aborted ? taken.signal.reason : error;
  } finally {
    clearInterval(noting);
    await notifier.close();
  }
}

async function sourceOf(services: MoveServices, row: MoveRow): Promise<Source> {
  const { db, secrets, settings } = services;
  const { imapUrl, imapUser, imapPasswordSealed, mailboxId } = row;
  if (imapUrl === null || imapUser === null || imapPasswordSealed === null) {
    const parts = partsOf(services, row);
    return uploadedSource(
      {
        size: row.sizeBytes,
        modifiedAt: row.createdAt,
        read: (at, length) => parts.read(IMPORTED_FILE, at, Math.max(0, Math.min(length, row.sizeBytes - at))),
        close: async () => {},
      },
      IMPORT_FORMATS.find((format) => format === row.format),
    );
  }
  const url = new URL(imapUrl);
  return readImap({
    ...{ url, user: imapUser, insecure: false, address: await imapAddress(url, settings) },
    password: secrets.open(imapPasswordSealed, movePasswordPlace(row.id)),
    known: (digests) => knownImports(db, mailboxId, digests),
  });
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
