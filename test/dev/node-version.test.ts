/** That everything that names a version of Node names the same one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const { engines, optionalDependencies } = JSON.parse(read('package.json')) as {
  readonly engines: { readonly node: string };
  readonly optionalDependencies: Readonly<Record<string, string>>;
};
const oldest = engines.node.replace('>=', '');
const [major = 0, minor = 0] = oldest.split('.').map(Number);

test('documents and .ci/run name the oldest Node that package.json allows', () => {
  for (const file of ['README.md', 'CONTRIBUTING.md', '.ci/run']) {
    const named = [...read(file).matchAll(/\b(\d+\.\d+) or later\b/g)].map(([, version]) => version);
    assert.deepEqual([...new Set(named)], [oldest], file);
  }
});

test('the Node that npm installs into the project is new enough, and the same for each system', () => {
  const versions = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('node-'));
  assert.equal(versions.length, 3);
  assert.equal(new Set(versions.map(([, version]) => version)).size, 1);
  const [installedMajor = 0, installedMinor = 0] = versions[0]?.[1].split('.').map(Number) ?? [];
  assert.equal(installedMajor, major);
  assert.ok(installedMinor >= minor);
});

test('.nvmrc, the images and the workflows use that major version', () => {
  assert.equal(read('.nvmrc').trim(), String(major));
  for (const file of ['Dockerfile', '.devcontainer/Dockerfile'])
    for (const [, version] of read(file).matchAll(/\bnode:(\d+)-/g)) assert.equal(Number(version), major, file);
  const macOs = read('.github/workflows/ci.yml').matchAll(/os: macos-\S+, node: '([\d.]+)'/g);
  // The next even major is the next one with long-term support.
  assert.deepEqual(
    [...macOs].map(([, version]) => version),
    [oldest, String(major), String(major + 2)],
  );
});

test('workflows pin each action to a commit', () => {
  const uses = ['ci', 'release'].flatMap((name) => read(`.github/workflows/${name}.yml`).match(/uses: .*/g) ?? []);
  assert.ok(uses.length > 5);
  for (const line of uses) assert.match(line, /^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
