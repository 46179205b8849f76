/** Takes the bytes of DATA: in memory up to 256 KiB, beyond that in a file, so that slow large mail costs no memory. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readFile, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { SMTPServerDataStream } from 'smtp-server';
import { MESSAGE_MEMORY_MAX_BYTES } from '../../domain/mail-limits.ts';

export interface ReceivedData {
  readonly size: number;
  /** The bytes, read from the file where they were spooled. */
  bytes(): Promise<Buffer>;
  /** Removes the file; call it always. */
  discard(): Promise<void>;
}

export type ReceiveOutcome = ReceivedData | 'too-large';

/** A client that goes on sending beyond this many times the limit is cut off. */
const OVERRUN_FACTOR = 2;

/**
 * @param cutOff called when a client ignores the limit by far
 * @throws when the client goes away before the end
 */
export async function receiveData(
  stream: SMTPServerDataStream,
  spoolFolder: string,
  maxBytes: number,
  cutOff: () => void,
): Promise<ReceiveOutcome> {
  const chunks: Buffer[] = [];
  let size = 0;
  let spool: { file: FileHandle; path: string } | undefined;
  const discard = async () => {
    const spooled = spool;
    spool = undefined;
    if (spooled === undefined) return;
    await spooled.file.close().catch(() => {});
    await unlink(spooled.path).catch(() => {});
  };
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) {
        chunks.length = 0; // the rest is read, and dropped, so that the client hears our answer
        await discard();
        if (size > maxBytes * OVERRUN_FACTOR) cutOff();
        continue;
      }
      if (spool === undefined) {
        chunks.push(chunk);
        if (size <= MESSAGE_MEMORY_MAX_BYTES) continue;
        const file = path.join(spoolFolder, `${randomBytes(12).toString('hex')}.eml`);
        spool = { file: await open(file, 'wx+', 0o600), path: file };
        await spool.file.write(Buffer.concat(chunks.splice(0)));
      } else await spool.file.write(chunk);
    }
  } catch (error) {
    await discard();
    throw error;
  }
  if (size > maxBytes) return 'too-large';
  return {
    size,
    bytes: async () => (spool === undefined ? Buffer.concat(chunks, size) : readFile(spool.path)),
    discard,
  };
}
