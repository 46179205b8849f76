/** What `npm test` makes of files that fail: which run once more, and what counts in the end. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { FileResult } from '#test/runner/file-results.ts';
import { filesToRunAgain, joinRuns, type Run } from '#test/runner/run-again.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const result = (name: string, end: FileResult['end']): FileResult => ({
  file: `test/${name}.test.ts`,
  end,
  ms: 1,
  tests: 1,
});
const runOf = (code: number, results: readonly FileResult[]): Run => ({ code, results });
const failures = (count: number) => Array.from({ length: count }, (_, n) => result(`failed-${n}`, 'failed'));

describe('the files that run again', () => {
  test('are those that failed or did not end, when they are at most fifteen', () => {
    const few = runOf(1, [result('good', 'passed'), result('bad', 'failed'), result('lost', 'started')]);
    assert.deepEqual(filesToRunAgain(few), ['test/bad.test.ts', 'test/lost.test.ts']);
    assert.equal(filesToRunAgain(runOf(1, failures(15))).length, 15);
    assert.deepEqual(filesToRunAgain(runOf(1, failures(16))), []);
  });

  test('are none when all passed, and none when a process failed beside its files', () => {
    assert.deepEqual(filesToRunAgain(runOf(0, [result('good', 'passed')])), []);
    const share: FileResult = { file: '/tmp/00-api.test.mjs', end: 'failed', ms: 1, tests: 0, isShare: true };
    assert.deepEqual(filesToRunAgain(runOf(1, [result('bad', 'failed'), share])), []);
  });
});

describe('both runs together', () => {
  const first = runOf(1, [result('good', 'passed'), result('one', 'failed'), result('two', 'failed')]);
  const files = filesToRunAgain(first);

  test('pass when each file passed in one of them, and name the unsteady ones', () => {
    const { run, unsteady } = joinRuns(first, runOf(0, [result('one', 'passed'), result('two', 'passed')]), files);
    assert.equal(run.code, 0);
    assert.deepEqual(unsteady, files);
    assert.deepEqual(
      run.results.map(({ end }) => end),
      ['passed', 'passed', 'passed'],
    );
  });

  test('fail when a file fails twice, or does not end, whatever passed beside it', () => {
    for (const again of [
      runOf(1, [result('one', 'passed'), result('two', 'failed')]),
      runOf(0, [result('one', 'passed'), result('two', 'started')]),
      runOf(0, [result('one', 'passed')]),
    ]) {
      const { run, unsteady } = joinRuns(first, again, files);
      assert.equal(run.code, 1);
      assert.deepEqual(unsteady, ['test/one.test.ts']);
      assert.notEqual(run.results.find(({ file }) => file === 'test/two.test.ts')?.end, 'passed');
    }
  });

  test('fail when the second run fails although its files passed', () => {
    const again = runOf(1, [result('one', 'passed'), result('two', 'passed')]);
    assert.equal(joinRuns(first, again, files).run.code, 1);
  });
});

/** Results of a process that several files share. @param program behind an import of `test` */
function resultsOf(program: string): Map<string, FileResult> {
  const folder = mkdtempSync(path.join(tmpdir(), 'file-results-'));
  try {
    const share = path.join(folder, '00-kind.test.mjs');
    const resultsFile = path.join(folder, 'results.jsonl');
    writeFileSync(share, `import { test } from 'node:test';\n${program}\n`);
    // A runner that finds this variable takes itself for a file of another runner.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== 'NODE_TEST_CONTEXT'));
    const args = ['--test', '--test-reporter=./test/runner/file-results.ts'];
    spawnSync(process.execPath, [...args, `--test-reporter-destination=${resultsFile}`, share], {
      cwd: root,
      env,
    });
    const lines = readFileSync(resultsFile, 'utf8').trim().split('\n');
    const results = lines.map((line) => JSON.parse(line) as FileResult);
    return new Map(results.map((each) => [path.basename(each.file), each]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('the results of a process that several files share', () => {
  const file = (name: string, body: string) =>
    `test('test/${name}.test.ts', async (context) => { await context.test('it', () => { ${body} }); });`;

  test('are those of its files', () => {
    const results = resultsOf(`${file('good', '')} ${file('bad', "throw new Error('bad');")}`);
    assert.equal(results.get('good.test.ts')?.end, 'passed');
    assert.equal(results.get('bad.test.ts')?.end, 'failed');
    assert.equal(results.get('00-kind.test.mjs'), undefined);
  });

  test('never say that a file passed at which it died', () => {
    const results = resultsOf(`${file('good', '')} ${file('deadly', 'process.exit(3);')}`);
    assert.ok(results.size > 0);
    assert.notEqual(results.get('deadly.test.ts')?.end, 'passed');
  });

  test('say that it failed although its files passed', () => {
    const results = resultsOf(`${file('good', '')} process.on('exit', () => { process.exitCode = 1; });`);
    assert.equal(results.get('good.test.ts')?.end, 'passed');
    assert.deepEqual(
      [results.get('00-kind.test.mjs')?.end, results.get('00-kind.test.mjs')?.isShare],
      ['failed', true],
    );
  });
});
