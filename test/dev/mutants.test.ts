/** `npm run mutants`: which changes of the code no test notices. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'mutants-'));
after(() => rmSync(folder, { recursive: true }));

const SOURCE = `export function isBelow(count: number, limit: number): boolean {
  return count < limit;
}
export const unused = (flag: boolean): boolean => !flag;
`;
const source = path.join(folder, 'below.ts');
writeFileSync(source, SOURCE);

/** Runs the command on a folder of one module, tested by these statements. */
function mutants(...statements: string[]) {
  const lines = [
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    "import { isBelow, unused } from './below.ts';",
    ...statements.map((statement, index) => `test('${index}', () => ${statement});`),
  ];
  writeFileSync(path.join(folder, 'below.test.ts'), lines.join('\n'));
  const command = ['test/mutants/run.ts', folder, '--tests', path.join(folder, 'below.test.ts')];
  // Of a runner inside a runner, node says nothing.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: 'utf8', env });
  return { status, stdout, stderr };
}
const FAR = ['assert.equal(isBelow(1, 3), true)', 'assert.equal(isBelow(5, 3), false)'];

test('a change that no test notices is reported with its place, one that a test notices counts as killed', () => {
  const { status, stdout, stderr } = mutants(...FAR);
  assert.equal(status, 1, stderr);
  assert.match(stdout, /^survived .*below\.ts:2 {2}count < limit → count <= limit {2}\(1 test files reach it\)$/m);
  assert.match(stdout, /^survived .*below\.ts:4 {2}!flag → flag {2}\(0 test files reach it\)$/m);
  assert.match(stdout, /^ +1 +2 +0 .*: 33 %$/m);
});

test('with a test of the boundary, and of what nothing ran, all are killed and the files are as they were', () => {
  const { status, stdout, stderr } = mutants(...FAR, 'assert(!isBelow(3, 3))', 'assert(unused(false))');
  assert.equal(status, 0, `${stdout}${stderr}`);
  assert.match(stdout, /^ +3 +0 +0 .*: 100 %$/m);
  assert.equal(readFileSync(source, 'utf8'), SOURCE);
});

test('tests that fail without any mutant say nothing about mutants: the command stops', () => {
  const { status, stderr } = mutants('assert(isBelow(3, 3))');
  assert.notEqual(status, 0);
  assert.match(stderr, /below\.test\.ts fails without any mutant/);
});

/** `a{b,c}d` as `abd` and `acd`: each file that a pattern lists must exist. */
function oneByOne(pattern: string): string[] {
  const [, before, list, after] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(pattern) ?? [];
  return list === undefined ? [pattern] : list.split(',').map((each) => `${before}${each}${after}`);
}

test('the list of tests and of equivalent mutants names what exists', () => {
  const probes = JSON.parse(readFileSync(path.join(root, 'test/mutants/probes.json'), 'utf8')) as {
    tests: Record<string, string[]>;
    equivalent: Record<string, Record<string, string>>;
  };
  const names = [...Object.keys(probes.tests), ...Object.keys(probes.equivalent)];
  assert.deepEqual(
    names.filter((name) => !existsSync(path.join(root, name))),
    [],
  );
  const files = Object.values(probes.tests).flatMap((patterns) => patterns.flatMap((pattern) => oneByOne(pattern)));
  assert.deepEqual(
    files.filter((pattern) => globSync(pattern, { cwd: root }).length === 0),
    [],
  );
});
