/** A machine that lacks the programs of some tests: they are skipped, counted and listed, and the run passes. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  accessSync,
  constants,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder } from '#dev/cache-folder.ts';
import { PROGRAM_NAMES } from '#test/support/programs.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'missing-programs-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** What tests call beyond what every machine with Node has. */
const MISSING =
  /^(?:bash|chromium.*|google-chrome.*|curl|dovecot|git|go|java|localedef|mbsync|msmtp|mvn|openssl|pg_lsclusters|pgbouncer|prlimit|promtool|psql|mount|python.*|systemd-analyze|swaks|bun|deno|n8n)$/;
const EMPTY = {
  HOME: path.join(folder, 'home'),
  PYENV_ROOT: path.join(folder, 'home'),
  XDG_CACHE_HOME: path.dirname(cacheFolder()),
};
const RUN_WITHIN_MS = 240_000;

/** A folder with the programs of PATH, without those. */
function pathWithout(): string {
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  mkdirSync(EMPTY.HOME);
  const seen = new Set<string>();
  for (const each of (process.env['PATH'] ?? '').split(path.delimiter)) {
    for (const name of namesIn(each)) {
      if (seen.has(name) || MISSING.test(name)) continue;
      try {
        accessSync(path.join(each, name), constants.X_OK);
        symlinkSync(path.resolve(each, name), path.join(bin, name));
        seen.add(name);
      } catch {
        // Not a program.
      }
    }
  }
  return bin;
}
const namesIn = (each: string): string[] => {
  try {
    return readdirSync(each);
  } catch {
    return [];
  }
};
const PATH = pathWithout();

/** Runs test files as `npm test -- …` on that machine. @returns what it wrote, and its exit code */
async function runWithout(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const { NODE_TEST_CONTEXT: _, CI: __, ...inherited } = process.env;
  const env = { ...inherited, ...EMPTY, PATH, ...environment };
  const options = { cwd: root, env, timeout: RUN_WITHIN_MS, maxBuffer: 64 * 1024 * 1024 };
  return run(process.execPath, ['test/run.ts', ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: { code?: number; stdout?: string; stderr?: string }) => ({
      code: error.code ?? -1,
      output: `${error.stdout}${error.stderr}`,
    }),
  );
}

/** Test files by what they name in `needs(…)`, and the beginnings of these tests' names. */
function needing(): { readonly files: string[]; readonly names: string[] } {
  const files = globSync('test/**/*.test.ts', { cwd: root }).filter(
    (file) => file !== 'test/dev/missing-programs.test.ts',
  );
  const found = files.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    const names = [
      ...text.matchAll(/(?:test|it|describe)\(\s*(['`])([^'`]+)\1,\s*(?:\{[^}]*\.\.\.)?(?:needs\(|DISK)/g),
    ].map(
      // What is inside of a template is not known here.
      ([, , name = '']) => name.split(/\$\{[^}]*\}/).toSorted((one, other) => other.length - one.length)[0] ?? '',
    );
    return names.length === 0 ? [] : [{ file, names }];
  });
  return { files: found.map(({ file }) => file), names: found.flatMap(({ names }) => names) };
}

test('tests whose programs are missing are skipped and listed with what installs them, and the run passes', async () => {
  const { files, names } = needing();
  assert.ok(files.length > 10, 'files with tests that need programs');
  const pattern = names.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '.')).join('|');
  const { code, output } = await runWithout([...files, `--test-name-pattern=${pattern}`]);
  assert.equal(code, 0, output);
  const [, listed = ''] = /⚠ \d+ skipped[^\n]*\n([^]*)$/.exec(output) ?? [];
  // The cache folder, which has some of them, is that of this machine.
  const elsewhere = ['chromium', 'java', 'mvn', 'helm', 'pebble', 'versitygw'];
  for (const name of PROGRAM_NAMES.filter((each) => !elsewhere.some((other) => each.startsWith(other))))
    assert.match(listed, new RegExp(`needs [^:]*${name}[^:]*: `), name);
  assert.match(listed, /needs msmtp: (?:apt-get|brew) install msmtp/);
});

test('whole files are left out without their browser or Java, and with CI=true that fails the run', async () => {
  const files = ['test/dashboard/live.test.ts', 'test/delivery/real-ladder.test.ts'];
  const { code, output } = await runWithout(files);
  assert.equal(code, 0, output);
  assert.match(output, /1 needs chromium, [^\n]*\(test\/dashboard\/live\.test\.ts\)/);
  assert.match(output, /1 needs java, mvn: [^\n]*\(test\/delivery\/real-ladder\.test\.ts\)/);
  const inCi = await runWithout(files, { CI: 'true' });
  assert.equal(inCi.code, 1, inCi.output);
  assert.match(inCi.output, /CI is "true"/);
});
