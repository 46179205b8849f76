/** The Temporal server that works on PostgreSQL, and its schema tool; built with Go once per user. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '#dev/cache-folder.ts';

/** The version inside the development server of `npm start`. */
export const TEMPORAL_VERSION = '1.29.1';
const MODULE = 'go.temporal.io/server';
const BUILD_WITHIN_MS = 1_800_000;

export interface TemporalPrograms {
  readonly server: string;
  readonly sqlTool: string;
}

/** @throws when they are not in the cache and cannot be built */
export async function temporalPrograms(say: (text: string) => void): Promise<TemporalPrograms> {
  const folder = path.join(cacheFolder(), `temporal-server-${TEMPORAL_VERSION}`);
  const programs = { server: path.join(folder, 'server'), sqlTool: path.join(folder, 'sql') };
  if (existsSync(programs.server) && existsSync(programs.sqlTool)) return programs;
  say('building the Temporal server with Go (3 to 10 minutes, once per user)');
  mkdirSync(folder, { recursive: true });
  // Built in a temporary folder and then renamed, so that an interrupted build is never run.
  const unfinished = mkdtempSync(path.join(folder, 'build-'));
  try {
    const go = existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : 'go';
    const packages = ['server', 'tools/sql'].map((name) => `${MODULE}/cmd/${name}@v${TEMPORAL_VERSION}`);
    await promisify(execFile)('nice', ['-n', '15', go, 'install', ...packages], {
      env: { ...process.env, GOBIN: unfinished, GOFLAGS: '' },
      timeout: BUILD_WITHIN_MS,
      maxBuffer: 64 * 1024 * 1024,
    });
    renameSync(path.join(unfinished, 'server'), programs.server);
    renameSync(path.join(unfinished, 'sql'), programs.sqlTool);
    return programs;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
