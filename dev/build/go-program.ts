/** A program of tests that is built once per user with Go, in the cache folder. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder } from '#dev/cache-folder.ts';
import { buildWithGo } from './made-folder.ts';

interface GoProgram {
  /** @returns undefined: it was not built yet */
  find(): string | undefined;
  /** Does nothing if it is there. */
  build(): void;
}

/** @param source package path @param version without the `v` */
export function goProgram(name: string, source: string, version: string): GoProgram {
  const program = process.platform === 'win32' ? `${name}.exe` : name;
  const folder = (): string => path.join(cacheFolder(), `${name}-${version}`);
  function find(): string | undefined {
    const file = path.join(folder(), program);
    return existsSync(file) ? file : undefined;
  }
  return {
    find,
    build() {
      if (find() === undefined) buildWithGo(folder(), [`${source}@v${version}`]);
    },
  };
}
