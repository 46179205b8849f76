import { fork } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

const STAMP = '.source-hash';
const BUILD_INTO = '--build-into';
/** Smaller files cost more to encode than to send. */
const COMPRESS_FROM_BYTES = 1_024;
/** As many as Node compresses at the same time. */
const FILES_AT_ONCE = 4;

/** Says what is being done, with a count: `compressing files: 12 of 60`. */
export type OnBuildProgress = (text: string) => void;

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
export async function compressFiles(
  folder: string,
  pattern: string,
  onProgress: OnBuildProgress,
  quality: number = zlib.BROTLI_MAX_QUALITY,
): Promise<void> {
  const files = globSync(pattern, { cwd: folder })
    .map((name) => path.join(folder, name))
    .filter((file) => statSync(file).isFile());
  const waiting = files.values();
  let done = 0;
  async function compressNext(): Promise<void> {
    for (const file of waiting) {
      const bytes = await readFile(file);
      if (bytes.length >= COMPRESS_FROM_BYTES) {
        await writeFile(`${file}.br`, await brotli(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: quality } }));
        await writeFile(`${file}.gz`, await gzipped(bytes, { level: zlib.Z_BEST_COMPRESSION }));
      }
      onProgress(`compressing files: ${++done} of ${files.length}`);
    }
  }
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, compressNext));
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
    await writeFile(path.join(unfinished, STAMP), sourceHash);
    // What another process has built meanwhile may be in use.
    if (builtFrom(folder) === sourceHash) return;
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/**
 * Lets a program build in a process of its own: compilers keep half a gigabyte, which `npm start` would keep as long as
 * it runs.
 *
 * @param program a file that calls `buildAsAsked`
 * @throws with what the program wrote
 */
export async function buildInOwnProcess(
  program: string,
  unfinished: string,
  onProgress: OnBuildProgress,
): Promise<void> {
  const child = fork(program, [BUILD_INTO, unfinished], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.on('message', (text) => onProgress(text as string));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new Error(`${path.basename(program)} ended with ${signal ?? code}:\n${output.trimEnd()}`);
}

/**
 * For a program that builds a folder: in a process of its own it builds; started by a person it makes sure that
 * everything is built.
 *
 * @param program its own file; nothing happens where it is only imported
 */
export async function buildAsAsked(
  program: string,
  build: (unfinished: string, onProgress: OnBuildProgress) => Promise<void>,
  makeSure: () => Promise<void>,
): Promise<void> {
  if (process.argv[1] !== program) return;
  const [, , asked, unfinished] = process.argv;
  if (asked !== BUILD_INTO || unfinished === undefined) return makeSure();
  // Ctrl-C is for the process that waits for this one; without it nobody needs the result.
  process.on('SIGINT', () => {});
  process.once('disconnect', () => process.exit(1));
  const failed = await build(unfinished, (text) => process.send?.(text)).then(
    () => false,
    (error: unknown) => {
      console.error(error);
      return true;
    },
  );
  process.exit(failed ? 1 : 0);
}
