import { ApiError, type MailboxClient, type NewAttachment } from '#client/index.ts';
import { openFile } from '#mcp/local-file.ts';
import { CommandError } from './exit-codes.ts';

/** Uploads files that are to be attached, streamed from disk. @throws {CommandError} when one cannot be read */
export async function uploadAttachments(client: MailboxClient, files: readonly string[]): Promise<NewAttachment[]> {
  // All are opened before the first is uploaded.
  const opened = await Promise.all(files.map((file) => openFile(file))).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    throw new CommandError('attachment_unreadable', error.message, 'Check the path of --attach.');
  });
  const attachments: NewAttachment[] = [];
  for (const file of opened) attachments.push({ fileId: (await client.files.upload(file)).id });
  return attachments;
}
