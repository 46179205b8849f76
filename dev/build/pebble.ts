/** Pebble, the certificate authority of tests: built once per user by `go install`, in the cache folder (`npm run pebble`). */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '#dev/cache-folder.ts';

const VERSION = '2.10.3';
const PROGRAM = process.platform === 'win32' ? 'pebble.exe' : 'pebble';
const GO = 'go';
const BUILD_MAX_MS = 900_000;

const folder = (): string => path.join(cacheFolder(), `pebble-${VERSION}`);

/** @returns undefined: it was not built yet */
export function pebbleProgram(): string | undefined {
  const file = path.join(folder(), PROGRAM);
  return existsSync(file) ? file : undefined;
}

function build(): void {
  mkdirSync(folder(), { recursive: true });
  // Built under another name and then renamed, so that an interrupted build is never run.
  const unfinished = mkdtempSync(path.join(folder(), 'build-'));
  try {
    execFileSync(GO, ['install', `github.com/letsencrypt/pebble/v2/cmd/pebble@v${VERSION}`], {
      env: { ...process.env, GOBIN: unfinished, GOFLAGS: '' },
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: BUILD_MAX_MS,
    });
    renameSync(path.join(unfinished, PROGRAM), path.join(folder(), PROGRAM));
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (pebbleProgram() === undefined) build();
  process.stdout.write(`${pebbleProgram()}\n`);
}
