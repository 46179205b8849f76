import { globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';

const STAMP = '.source-hash';
/** Smaller files cost more to encode than to send. */
const COMPRESS_FROM_BYTES = 1_024;

const builtFrom = (folder: string): string | undefined => {
  try {
    return readFileSync(path.join(folder, STAMP), 'utf8');
  } catch {
    return undefined;
  }
};

/**
 * Writes each file a second and third time, compressed: the service sends these as they are.
 *
 * @param quality of Brotli, up to 11, which takes many times longer than 9 and saves a few percent
 */
export function compressFiles(folder: string, pattern: string, quality: number = zlib.BROTLI_MAX_QUALITY): void {
  for (const name of globSync(pattern, { cwd: folder })) {
    const file = path.join(folder, name);
    if (!statSync(file).isFile()) continue;
    const bytes = readFileSync(file);
    if (bytes.length < COMPRESS_FROM_BYTES) continue;
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: quality } }));
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: zlib.Z_BEST_COMPRESSION }));
  }
}

/**
 * Builds a folder, unless it was built from the same sources before. It is built under another name and then renamed,
 * so that an interrupted build is never served.
 *
 * @param sourceHash of everything that it is made from
 */
export async function buildWhole(
  folder: string,
  sourceHash: string,
  build: (unfinished: string) => Promise<void>,
): Promise<void> {
  if (builtFrom(folder) === sourceHash) return;
  const unfinished = `${folder}-${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    await build(unfinished);
    writeFileSync(path.join(unfinished, STAMP), sourceHash);
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
