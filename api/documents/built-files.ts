/** Files that were built beforehand, as the service sends them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Context } from 'koa';

/** Made by `dev/build/build-whole.ts`, the smallest first. */
const ENCODINGS = [
  { encoding: 'br', suffix: '.br' },
  { encoding: 'gzip', suffix: '.gz' },
] as const;

export interface BuiltFile {
  /** On disk. */
  readonly name: string;
  /** Relative to the folder, with `/`. */
  readonly path: string;
}

/** The files of a folder, without the compressed forms of others and without hidden ones. */
export function builtFiles(folder: string): BuiltFile[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((file) => {
    const name = path.join(file.parentPath, file.name);
    const relative = path.relative(folder, name).split(path.sep).join('/');
    const isOne = file.isFile() && !/(?:^|\/)\.|\.(?:br|gz)$/.test(relative);
    return isOne ? [{ name, path: relative }] : [];
  });
}

/** Reads a file once. The returned middleware answers with it, compressed by the build if the browser accepts that. */
export function builtFileAnswer(name: string): (context: Context) => void {
  const bytes = readFileSync(name);
  const smaller = ENCODINGS.filter(({ suffix }) => existsSync(`${name}${suffix}`)).map(({ encoding, suffix }) => ({
    encoding,
    body: readFileSync(`${name}${suffix}`),
  }));
  const type = path.extname(name);
  return (context) => {
    context.type = type;
    context.vary('Accept-Encoding');
    // Browsers list encodings without a preference, so the smallest file is tried first.
    const taken = smaller.find(({ encoding }) => context.acceptsEncodings(encoding) === encoding);
    if (taken !== undefined) context.set('Content-Encoding', taken.encoding);
    context.body = taken?.body ?? bytes;
  };
}
