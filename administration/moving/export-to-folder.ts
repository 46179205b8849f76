/** An export into a folder of this machine. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { MailAccount } from '@agent-mailbox/mail-store';
import type { ExportFormat } from '#domain/mailbox-moves.ts';
import type { ExportTarget } from './export-mailbox.ts';
import { type ExportState, openState, saveState } from './export-state.ts';
import {
  type Appending,
  archiveWriter,
  type ExportWriter,
  fileOf,
  maildirWriter,
  mboxWriter,
} from './export-writers.ts';
import { writeFolderFiles } from './folder-files.ts';

/** @throws {MovingError} if the folder has something else, or a whole export */
export function folderTarget(target: string, format: ExportFormat, account: MailAccount): ExportTarget {
  const { mailboxId, address } = account;
  const { state, continued } = openState(target, { format, mailboxId, address }, new Date());
  return {
    state,
    continued,
    writer: writerInto(target, state),
    fileOf: (folder, taken) => fileOf(format, folder, taken),
    save: async () => saveState(target, state),
  };
}

function writerInto(target: string, state: ExportState): ExportWriter {
  const openAppending = (file: string) => openFile(target, file, state);
  if (state.format === 'maildir') return maildirWriter(target);
  return state.format === 'mbox'
    ? mboxWriter(openAppending, (folders) => writeFolderFiles(target, folders))
    : archiveWriter(openAppending, state);
}

async function openFile(target: string, file: string, state: ExportState): Promise<Appending> {
  const handle = await open(
    path.join(target, file),
    constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW,
    0o600,
  );
  let at = state.files[file] ?? 0;
  await handle.truncate(at);
  return {
    async append(bytes) {
      for (let from = 0; from < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, from, bytes.length - from, at);
        from += bytesWritten;
        at += bytesWritten;
      }
    },
    async sync() {
      await handle.datasync();
      state.files[file] = at;
    },
    close: () => handle.close(),
  };
}
