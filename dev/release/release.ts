/**
 * Makes a release: a commit with the new version and its section of the changelog, and a tag. Pushing the tag is left to
 * the person, because it publishes (.github/workflows/release.yml).
 *
 *   npm run release -- 0.2.0 [--skip-tests]
 *
 * Nothing is changed unless all checks pass: the working tree is clean, the version is new, something is listed as
 * unreleased, package-lock.json has a hash for each package, and `npm test` is green. The commit also has a record of an
 * installation of this version, which later versions must be able to upgrade.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readLockfile, unverifiedPackages } from '#dev/build/lockfile.ts';
import { releaseChangelog } from './changelog.ts';
import { projectVersion, setProjectVersion } from './project-version.ts';

const CHANGELOG = 'CHANGELOG.md';
const RECORDS = 'test/upgrade/records';
const say = (line: string) => process.stdout.write(`${line}\n`);
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();

function fail(message: string): never {
  process.stderr.write(`release: ${message}\n`);
  process.exit(1);
}

/** Whether a version comes after another one. */
function isLater(version: string, than: string): boolean {
  const [numbers, others] = [version, than].map((each) => each.split('.').map(Number));
  for (const [index, number] of (numbers ?? []).entries()) {
    const difference = number - (others?.[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'skip-tests': { type: 'boolean', default: false } },
});
const [version = ''] = positionals;
if (!/^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/.test(version))
  fail('give the new version as three numbers: npm run release -- 0.2.0 [--skip-tests]');

const tag = `v${version}`;
const branch = git('branch', '--show-current');
if (branch === '') fail('no branch is checked out. Check out the branch that is released.');
if (git('status', '--porcelain') !== '') fail('the working tree has changes. Commit or stash them first.');
if (git('tag', '--list', tag) !== '') fail(`the tag ${tag} exists already.`);
const current = projectVersion('.');
// The first release has the version that the project began with.
if (version !== current && !isLater(version, current)) fail(`${version} does not come after the current ${current}.`);
const unverified = unverifiedPackages(readLockfile(readFileSync('package-lock.json', 'utf8')));
if (unverified.length > 0)
  fail(
    `package-lock.json has no hash for ${unverified.length} packages (${unverified[0]?.name}, …), so nobody could check ` +
      'what they install. Run `npm run lockfile`, and commit.',
  );

let changelog: string;
try {
  changelog = releaseChangelog(readFileSync(CHANGELOG, 'utf8'), version, new Date().toISOString().slice(0, 10));
} catch (error) {
  fail(error instanceof Error ? error.message : String(error));
}

if (values['skip-tests']) say('The tests are skipped.');
else if (spawnSync('npm', ['test'], { stdio: 'inherit' }).status !== 0) fail('the tests failed. Nothing was changed.');
if (git('status', '--porcelain') !== '') fail('the tests changed files of the working tree. Nothing was committed.');

const before = git('rev-parse', 'HEAD');
/** Everything was committed before, so nothing else is lost. */
function undo(): void {
  git('reset', '--quiet', '--hard', before);
  git('clean', '--quiet', '--force', '-d', '--', RECORDS);
}
if (spawnSync('npm', ['run', '--silent', 'record-installation', '--', version], { stdio: 'inherit' }).status !== 0) {
  undo();
  fail('an installation could not be recorded. Nothing was changed.');
}
try {
  writeFileSync(CHANGELOG, changelog);
  git('add', '--', CHANGELOG, RECORDS, ...setProjectVersion('.', version));
  git('commit', '--quiet', '-m', `Release ${version}`);
  git('tag', '-a', tag, '-m', `Agent Mailbox ${version}`);
} catch (error) {
  // A hook, a missing name or a missing signing key.
  undo();
  fail(`git refused, and nothing was changed: ${error instanceof Error ? error.message : error}`);
}
say(`Committed and tagged ${tag}. This publishes it:\n\n  git push --atomic origin ${branch} ${tag}\n`);
