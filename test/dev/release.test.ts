/** `npm run release` in a repository of its own, made from the files of this one. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readLockfile, unverifiedPackages, withHashes } from '#dev/build/lockfile.ts';
import { needs } from '#test/support/programs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const parent = mkdtempSync(path.join(tmpdir(), 'release-'));
const environment = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'A Maintainer',
  GIT_AUTHOR_EMAIL: 'maintainer@example.org',
  GIT_COMMITTER_NAME: 'A Maintainer',
  GIT_COMMITTER_EMAIL: 'maintainer@example.org',
};
interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** Of a lockfile. */
  readonly packages?: Readonly<Record<string, { readonly version?: string; integrity?: string }>>;
}

const CHANGELOG = `# Changelog

All notable changes.

## [Unreleased]

### Fixed

- A second thing.

### Added

- A first thing.

## [0.1.0] - 2026-01-02

### Added

- Everything.
`;
const PYTHON_FILES = ['python/pyproject.toml', 'python/src/agent_mailbox/__init__.py'];
const CHART = 'deploy/helm/agent-mailbox/Chart.yaml';
let folder = '';
let number = 0;

const file = (name: string) => path.join(folder, name);
const read = (name: string) => readFileSync(file(name), 'utf8');
const json = (name: string) => JSON.parse(read(name)) as Manifest;
const git = (...args: string[]) =>
  execFileSync('git', args, {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
const commit = () => {
  git('add', '--all');
  git('commit', '--quiet', '-m', 'Change something');
};
const state = () => [git('rev-parse', 'HEAD'), git('tag', '--list'), git('status', '--porcelain')];

function release(...args: string[]): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['dev/release/release.ts', ...args], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
  });
  return { code: status, output: stdout + stderr };
}

function assertRefused(args: readonly string[], reason: RegExp): void {
  const before = state();
  const { code, output } = release(...args);
  assert.equal(code, 1, output);
  assert.match(output, reason);
  assert.deepEqual(state(), before);
}

/** In place of the real one, which starts the service. */
const RECORD = `node -e "fs.mkdirSync('test/upgrade/records/'+process.argv[1],{recursive:true});fs.writeFileSync('test/upgrade/records/'+process.argv[1]+'/manifest.json','{}')"`;

/**
 * @param test what `npm test` runs
 * @param record what `npm run record-installation` runs
 */
function makeRepository(test: string, record = RECORD): void {
  folder = path.join(parent, String(++number));
  mkdirSync(file('dashboard'), { recursive: true });
  for (const name of ['dev', 'dashboard/package.json', 'package-lock.json', 'server.json', CHART, ...PYTHON_FILES])
    cpSync(path.join(root, name), file(name), { recursive: true });
  const lock = read('package-lock.json');
  const hash = `sha512-${'A'.repeat(86)}==`;
  const missing = unverifiedPackages(readLockfile(lock)).map((each) => [each.path, hash] as const);
  writeFileSync(file('package-lock.json'), withHashes(lock, new Map(missing)));
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest;
  mkdirSync(file('parts/one'), { recursive: true });
  const version = '0.1.0';
  const packages = {
    'package.json': {
      ...manifest,
      version,
      workspaces: ['dashboard', 'parts/*'],
      scripts: { test, 'record-installation': record },
    },
    'dashboard/package.json': { ...json('dashboard/package.json'), version },
    'parts/one/package.json': {
      name: '@agent-mailbox/one',
      version,
      dependencies: { '@agent-mailbox/dashboard': version, ajv: '0.1.0' },
    },
  };
  for (const [name, content] of Object.entries(packages))
    writeFileSync(file(name), `${JSON.stringify(content, null, 2)}\n`);
  writeFileSync(file('CHANGELOG.md'), CHANGELOG);
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', folder], { env: environment });
  commit();
}

after(() => rmSync(parent, { recursive: true, force: true }));

describe('a release', needs('git'), () => {
  beforeEach(() => makeRepository('exit 0'));
  test('is one commit with all versions and the changelog, and an annotated tag', () => {
    const { code, output } = release('0.2.0');
    assert.equal(code, 0, output);
    assert.match(output, /git push --atomic origin main v0\.2\.0/);
    assert.equal(git('status', '--porcelain'), '');
    assert.deepEqual(git('log', '--format=%s').split('\n'), ['Release 0.2.0', 'Change something']);
    assert.equal(git('cat-file', '-t', 'v0.2.0'), 'tag');
    assert.equal(git('rev-parse', 'v0.2.0^{commit}'), git('rev-parse', 'HEAD'));
    assert.deepEqual(git('show', '--name-only', '--format=', 'HEAD').split('\n').toSorted(), [
      'CHANGELOG.md',
      'dashboard/package.json',
      CHART,
      'package-lock.json',
      'package.json',
      'parts/one/package.json',
      ...PYTHON_FILES,
      'server.json',
      'test/upgrade/records/0.2.0/manifest.json',
    ]);
    for (const name of ['package.json', 'dashboard/package.json', 'parts/one/package.json', 'package-lock.json'])
      assert.equal(json(name).version, '0.2.0', name);
    assert.match(read('python/pyproject.toml'), /^\[project\]\nname = "agent-mailbox"\nversion = "0\.2\.0"$/m);
    assert.match(read('python/src/agent_mailbox/__init__.py'), /^__version__ = "0\.2\.0"$/m);
    assert.match(read(CHART), /^version: 0\.2\.0\nappVersion: "0\.2\.0"$/m);
    const pythonLines = git('diff', '--unified=0', 'HEAD^', '--', 'python').split('\n');
    assert.deepEqual(
      pythonLines.filter((line) => /^[-+](?![-+])/.test(line)),
      ['-version = "0.1.0"', '+version = "0.2.0"', '-__version__ = "0.1.0"', '+__version__ = "0.2.0"'],
    );
    assert.equal(json('server.json').version, '0.2.0');
    for (const entry of ['', 'dashboard'])
      assert.equal(json('package-lock.json').packages?.[entry]?.version, '0.2.0', entry);
    assert.deepEqual(json('parts/one/package.json').dependencies, {
      '@agent-mailbox/dashboard': '0.2.0',
      ajv: '0.1.0',
    });
    const changelog = read('CHANGELOG.md').replace(/(?<=\[0\.2\.0\] - )\d{4}-\d{2}-\d{2}/, 'TODAY');
    assert.equal(
      changelog,
      CHANGELOG.replace(
        /## \[Unreleased\][^]*?(?=## \[0\.1\.0\])/,
        '## [Unreleased]\n\n## [0.2.0] - TODAY\n\n### Added\n\n- A first thing.\n\n### Fixed\n\n- A second thing.\n\n',
      ),
    );
  });

  test('changes nothing but versions in package-lock.json', () => {
    assert.equal(release('0.2.0').code, 0);
    const lines = git('diff', '--unified=0', 'HEAD^', '--', 'package-lock.json')
      .split('\n')
      .filter((line) => /^[-+] /.test(line));
    assert.ok(lines.length > 0);
    for (const line of lines) assert.match(line, /^[-+] +"(?:version|@agent-mailbox\/[a-z0-9-]+)": "0\.[12]\.0",?$/);
  });

  test('may be the first one, of the version that the project began with', () => {
    writeFileSync(
      file('CHANGELOG.md'),
      '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A late thing.\n\n## [0.1.0] - unreleased\n\n### Added\n\n- Everything.\n',
    );
    commit();
    assertRefused(['0.2.0'], /0\.1\.0 has no date/);
    const { code, output } = release('0.1.0');
    assert.equal(code, 0, output);
    assert.match(
      read('CHANGELOG.md'),
      /^# Changelog\n\n## \[Unreleased\]\n\n## \[0\.1\.0\] - \d{4}-\d{2}-\d{2}\n\n### Added\n\n- Everything\.\n- A late thing\.\n$/,
    );
  });

  test('can be followed by another one, and its notes be printed', () => {
    assert.equal(release('0.2.0', '--skip-tests').code, 0);
    assertRefused(['0.2.1'], /nothing is listed under "Unreleased"/);
    const notes = spawnSync(process.execPath, ['dev/release/release-notes.ts', '0.2.0'], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.equal(notes.stdout, '### Added\n\n- A first thing.\n\n### Fixed\n\n- A second thing.\n');
  });
});

describe('a release is refused, and nothing is changed,', needs('git'), () => {
  beforeEach(() => makeRepository('exit 0'));
  test('while the tests fail, unless they are skipped', () => {
    makeRepository('exit 3');
    assertRefused(['0.2.0'], /the tests failed/);
    assert.equal(release('0.2.0', '--skip-tests').code, 0);
  });

  test('when an installation of it cannot be recorded', () => {
    makeRepository('exit 0', `${RECORD} && exit 1; echo`);
    assertRefused(['0.2.0'], /an installation could not be recorded/);
  });

  test('when the tests leave changes behind', () => {
    makeRepository('echo left > left.txt');
    const { code, output } = release('0.2.0');
    assert.equal(code, 1);
    assert.match(output, /the tests changed files/);
    assert.deepEqual([git('tag', '--list'), git('log', '--format=%s')], ['', 'Change something']);
  });

  test('with uncommitted and untracked files', () => {
    writeFileSync(file('new.txt'), '');
    assertRefused(['0.2.0'], /the working tree has changes/);
  });

  test('with a version that is not one, not new, or tagged', () => {
    for (const wrong of [[], ['v0.2.0'], ['0.2'], ['0.2.0-rc.1'], ['00.2.0']]) assertRefused(wrong, /three numbers/);
    assertRefused(['0.0.9'], /does not come after the current 0\.1\.0/);
    git('tag', 'v0.2.0');
    assertRefused(['0.2.0'], /the tag v0\.2\.0 exists already/);
  });

  test('without a branch', () => {
    git('checkout', '--quiet', '--detach');
    assertRefused(['0.2.0'], /no branch is checked out/);
  });

  test('while a package has no hash to check its download against', () => {
    const lock = json('package-lock.json');
    delete lock.packages?.['node_modules/ajv']?.integrity;
    writeFileSync(file('package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
    commit();
    assertRefused(['0.2.0'], /no hash for 1 packages \(ajv, …\)/);
  });

  test('when the Python package does not say its version', () => {
    writeFileSync(file('python/pyproject.toml'), '[project]\nname = "agent-mailbox"\n');
    commit();
    assertRefused(['0.2.0'], /python\/pyproject\.toml must have one line with its version/);
  });

  test('when git refuses the commit', () => {
    mkdirSync(file('.git/hooks'), { recursive: true });
    writeFileSync(file('.git/hooks/pre-commit'), '#!/bin/sh\necho no >&2\nexit 1\n', { mode: 0o755 });
    assertRefused(['0.2.0'], /git refused, and nothing was changed/);
  });
});

test('what is tagged is published: every package that is not private, and the Python package', () => {
  const workflow = readFileSync(path.join(root, '.github/workflows/release.yml'), 'utf8');
  const { workspaces = [] } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    workspaces?: string[];
  };
  const published = globSync(
    workspaces.map((each) => `${each}/package.json`),
    { cwd: root },
  )
    .filter((name) => !/"private": true/.test(readFileSync(path.join(root, name), 'utf8')))
    // Its built folder has the name of the package, as n8n's rules ask for it.
    .map((name) => path.basename(path.dirname(name)).replace(/^n8n$/, 'n8n-nodes-agent-mailbox'));
  assert.ok(published.length >= 6);
  const [, list = ''] = /for folder in ([^;]+); do\s+npm publish/.exec(workflow) ?? [];
  const folders = list
    .trim()
    .split(/\s+/)
    .flatMap((each) => {
      const [, before = '', names] = /^(.*)\{(.*)\}$/.exec(each) ?? [];
      return names === undefined ? [each] : names.split(',').map((name) => before + name);
    });
  assert.deepEqual(folders.map((each) => path.basename(each)).toSorted(), [...published, 'package'].toSorted());
  for (const built of ['build:package', 'build:client', 'build:tools', 'build:packages', 'build:python'])
    assert.ok(new RegExp(`npm run ${built}(?!\\w)`).test(workflow), built);
  assert.match(workflow, /bin\/uv" publish dist\/python/);
});
