/**
 * Adds the hashes that package-lock.json lacks, and nothing else. npm omits the hash of an optional package of another
 * system that it did not find when the lockfile was written.
 *
 *   npm run lockfile
 *
 * Exit code 1: the registry has no hash for some of them yet; they are listed.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { readLockfile, unverifiedPackages, withHashes } from './lockfile.ts';

const run = promisify(execFile);
const file = path.resolve('package-lock.json');
const say = (line: string) => process.stdout.write(`${line}\n`);
const text = readFileSync(file, 'utf8');
const hashes = new Map<string, string>();
const failed: string[] = [];

for (const { path: entry, name, version } of unverifiedPackages(readLockfile(text))) {
  try {
    const { stdout } = await run('npm', ['view', `${name}@${version}`, 'dist.integrity', '--json']);
    const integrity: unknown = stdout.trim() === '' ? undefined : JSON.parse(stdout);
    if (typeof integrity !== 'string' || !integrity.startsWith('sha512-')) throw new Error('it has no SHA-512 hash');
    hashes.set(entry, integrity);
  } catch (error) {
    // npm writes the code of the error to standard output too, and for a missing version only there.
    const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
    const isMissing = /E404/.test(`${String(error)}${output}`);
    const reason = isMissing ? 'the registry does not have it' : String(error).split('\n')[0];
    failed.push(`${name}@${version}: ${reason}`);
  }
}
if (hashes.size > 0) writeFileSync(file, withHashes(text, hashes));
say(hashes.size > 0 ? `Added ${hashes.size} hashes to package-lock.json.` : 'No hash was added.');
if (failed.length > 0) {
  say(`${failed.length} packages have none:\n${failed.map((line) => `  ${line}`).join('\n')}`);
  process.exitCode = 1;
}
