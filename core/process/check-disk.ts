import { randomBytes } from 'node:crypto';
import { mkdir, open, unlink } from 'node:fs/promises';
import path from 'node:path';

const PROBE_BYTES = 256 * 1024;

/** `full`: no room for another message; `unwritable`: no right to write, read-only, or broken. */
export type DiskState = 'ok' | 'full' | 'unwritable';

/** Writes and removes a file of 256 KiB where messages are spooled. Never throws. */
export async function checkDisk(folder: string): Promise<{ readonly state: DiskState; readonly error?: unknown }> {
  const file = path.join(folder, `readiness-${randomBytes(6).toString('hex')}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const handle = await open(file, 'wx', 0o600);
    try {
      const filling = Buffer.alloc(PROBE_BYTES);
      for (let at = 0; at < filling.length; ) at += (await handle.write(filling, at)).bytesWritten;
    } finally {
      await handle.close();
    }
    return { state: 'ok' };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return { state: code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG' ? 'full' : 'unwritable', error };
  } finally {
    await unlink(file).catch(() => {});
  }
}
