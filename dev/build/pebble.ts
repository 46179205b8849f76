/** Pebble, the certificate authority of tests: built once per user with Go, in the cache folder (`npm run pebble`). */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '#dev/cache-folder.ts';
import { buildWithGo } from './made-folder.ts';

const VERSION = '2.10.3';
const PROGRAM = process.platform === 'win32' ? 'pebble.exe' : 'pebble';

const folder = (): string => path.join(cacheFolder(), `pebble-${VERSION}`);

/** @returns undefined: it was not built yet */
export function pebbleProgram(): string | undefined {
  const file = path.join(folder(), PROGRAM);
  return existsSync(file) ? file : undefined;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (pebbleProgram() === undefined) buildWithGo(folder(), [`github.com/letsencrypt/pebble/v2/cmd/pebble@v${VERSION}`]);
  process.stdout.write(`${pebbleProgram()}\n`);
}
