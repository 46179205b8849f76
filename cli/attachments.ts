import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { ApiError, type FileToUpload, type MailboxClient, type NewAttachment } from '#client/index.ts';
import { FILE_MAX_BYTES, namedFile } from '#mcp/local-file.ts';
import { privatePlaces } from './configuration.ts';
import { CommandError } from './exit-codes.ts';

/**
 * Uploads files that are to be attached. A person names them, or an agent that a mail may have misled: so neither what
 * this program stores nor any file with a credential of the service is sent, and nothing but regular files.
 *
 * @throws {CommandError} when one cannot be read or may not be sent
 */
export async function uploadAttachments(client: MailboxClient, files: readonly string[]): Promise<NewAttachment[]> {
  // All are read before the first is uploaded.
  const read: FileToUpload[] = [];
  let bytes = 0;
  for (const file of files) {
    const each = await namedFile(file, privatePlaces()).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'file_refused') throw new CommandError('attachment_refused', error.message, error.fix);
      throw new CommandError('attachment_unreadable', error.message, 'Check the path of --attach.');
    });
    bytes += each.content instanceof Blob ? each.content.size : each.content.length;
    if (bytes > FILE_MAX_BYTES)
      throw new CommandError('attachments_too_large', 'The files are larger than 30 MiB.', 'Attach less.');
    read.push(each);
  }
  const attachments: NewAttachment[] = [];
  for (const file of read) attachments.push({ fileId: (await client.files.upload(file)).id });
  return attachments;
}

/** Real places of folders that an MCP server may attach files of. @throws {CommandError} when one is no folder */
export const sharedFolders = (given: readonly string[]): string[] =>
  given.map((folder) => {
    try {
      if (statSync(folder).isDirectory()) return realpathSync(path.resolve(folder));
    } catch {
      // Reported below.
    }
    throw new CommandError('no_folder', `${folder} is not a folder.`, 'Give folders that exist: --files <folder>');
  });
