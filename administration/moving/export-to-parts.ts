/**
 * An export into the database, and its file as a download. A Maildir and an archive are one file already; mbox files are
 * packed when they are read: their sizes are known then, so any range can be read without the rest.
 */
import type { MailAccount } from '@agent-mailbox/mail-store';
import type { ExportFormat } from '#domain/mailbox-moves.ts';
import { MOVE_PART_MAX_BYTES } from '#domain/mailbox-moves.ts';
import { ARCHIVE_FILE, TAR_END, TAR_NAME_MAX_BYTES, tarHeader, tarPadding } from './archive-format.ts';
import type { ExportTarget } from './export-mailbox.ts';
import { type ExportState, newState } from './export-state.ts';
import { type Appending, archiveWriter, fileOf, MAILDIR_TAR, maildirTarWriter, mboxWriter } from './export-writers.ts';
import { FOLDERS_FILE, folderFilesText } from './folder-files.ts';
import type { MoveParts } from './move-parts.ts';
import { MoveTaken } from './moves.ts';

/** Of a folder of a Maildir: with the name of its part, `/cur`, it must fit into the prefix of a tar header. */
const MAILDIR_NAME_MAX_BYTES = 150;

export interface PartsTarget {
  readonly parts: MoveParts;
  readonly format: ExportFormat;
  /** Of this run. */
  readonly runner: string;
  readonly account: MailAccount;
  /** Of an interrupted export. */
  readonly progress: ExportState | null;
  /** @throws {MoveTaken} */
  save(state: ExportState): Promise<void>;
}

export function partsTarget({ parts, format, runner, account, progress, save }: PartsTarget): ExportTarget {
  const { mailboxId, address } = account;
  const state = progress ?? newState({ format, mailboxId, address }, new Date());
  const open = async (file: string): Promise<Appending> => {
    await parts.cut(file, state.files[file] ?? 0, runner);
    return appending(parts, file, state, runner);
  };
  const nameMax = format === 'mbox' ? TAR_NAME_MAX_BYTES : MAILDIR_NAME_MAX_BYTES;
  const writers = {
    mbox: () =>
      mboxWriter(open, (folders) => {
        state.listed = folders;
      }),
    maildir: () => maildirTarWriter(open, state),
    archive: () => archiveWriter(open, state),
  };
  return {
    state,
    continued: progress !== null,
    writer: writers[format](),
    fileOf: (folder, taken) => fileOf(format, folder, taken, nameMax),
    save: () => save(state),
  };
}

/** Parts of a MiB; what is left becomes a part when it must be there for good. */
function appending(parts: MoveParts, file: string, state: ExportState, runner: string): Appending {
  let at = state.files[file] ?? 0;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  async function write(all: boolean): Promise<void> {
    if (waitingBytes === 0 || (!all && waitingBytes < MOVE_PART_MAX_BYTES)) return;
    const bytes = Buffer.concat(waiting);
    let from = 0;
    while (bytes.length - from >= MOVE_PART_MAX_BYTES || (all && from < bytes.length)) {
      const part = bytes.subarray(from, from + MOVE_PART_MAX_BYTES);
      if (!(await parts.write(file, at, part, runner))) throw new MoveTaken();
      at += part.length;
      from += part.length;
    }
    waiting = from < bytes.length ? [Buffer.from(bytes.subarray(from))] : [];
    waitingBytes = bytes.length - from;
  }
  return {
    async append(bytes) {
      waiting.push(bytes);
      waitingBytes += bytes.length;
      await write(false);
    },
    async sync() {
      await write(true);
      state.files[file] = at;
    },
    close: async () => {},
  };
}

/** A piece of the download: bytes that are known, or a file of parts. */
type Piece = { readonly bytes: Buffer } | { readonly file: string; readonly size: number };

const sizeOf = (piece: Piece): number => ('bytes' in piece ? piece.bytes.length : piece.size);

/** In the order of the download. @param state of an export that has finished */
function piecesOf(state: ExportState): Piece[] {
  const { format, files } = state;
  if (format !== 'mbox') {
    const file = format === 'archive' ? ARCHIVE_FILE : MAILDIR_TAR;
    return [{ file, size: files[file] ?? 0 }];
  }
  const time = new Date(state.startedAt);
  const list = folderFilesText(state.listed ?? []);
  const packed = state.folders.flatMap(({ file }): Piece[] => {
    const size = files[file] ?? 0;
    return [{ bytes: tarHeader(file, size, time) }, { file, size }, { bytes: tarPadding(size) }];
  });
  return [
    { bytes: Buffer.concat([tarHeader(FOLDERS_FILE, list.length, time), list, tarPadding(list.length)]) },
    ...packed,
    { bytes: TAR_END },
  ];
}

/** Bytes of the download. */
export const downloadSize = (state: ExportState): number =>
  piecesOf(state).reduce((sum, piece) => sum + sizeOf(piece), 0);

/** Name of the downloaded file. */
export const downloadName = ({ format }: Pick<ExportState, 'format'>): string =>
  format === 'archive' ? ARCHIVE_FILE : `${format}.tar`;

/** Bytes `from` up to but not `to` of the download. Holds no connection while a slow client reads. */
export async function* downloadRange(
  state: ExportState,
  parts: MoveParts,
  from: number,
  to: number,
): AsyncGenerator<Buffer> {
  let begin = 0;
  for (const piece of piecesOf(state)) {
    const size = sizeOf(piece);
    const [first, end] = [Math.max(from, begin) - begin, Math.min(to, begin + size) - begin];
    begin += size;
    if (first >= end) continue;
    if ('bytes' in piece) yield piece.bytes.subarray(first, end);
    else
      for (let at = first; at < end; ) {
        const bytes = await parts.read(piece.file, at, Math.min(end - at, MOVE_PART_MAX_BYTES));
        if (bytes.length === 0) throw new Error(`the file ${piece.file} of an export ends at ${at} of ${piece.size}`);
        yield bytes;
        at += bytes.length;
      }
  }
}
