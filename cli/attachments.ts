import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { NewAttachment } from '../client/index.ts';
import { CommandError } from './exit-codes.ts';

/** What mail programs show by themselves; everything else is just bytes to them. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.eml': 'message/rfc822',
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.ics': 'text/calendar',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.xml': 'application/xml',
  '.zip': 'application/zip',
};

/** @throws {CommandError} when it cannot be read */
export function attachmentOf(file: string): NewAttachment {
  try {
    return {
      filename: path.basename(file),
      contentType: CONTENT_TYPES[path.extname(file).toLowerCase()] ?? 'application/octet-stream',
      contentBase64: readFileSync(file).toString('base64'),
    };
  } catch (error) {
    throw new CommandError(
      'attachment_unreadable',
      `${file} cannot be read: ${error instanceof Error ? error.message : error}`,
      'Check the path of --attach.',
    );
  }
}
