/**
 * A reporter of node's test runner: lines of JSON about each test file, wherever it runs, of which the last one counts,
 * and about each skipped test.
 * `test/run.ts` compares them with the files it wanted to run: the runner itself does not know the files of a process
 * that died.
 */
import path from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** How far a file got. `started`: its process ended before it. */
export interface FileResult {
  readonly file: string;
  readonly end: 'passed' | 'failed' | 'started';
  readonly ms: number;
  readonly tests: number;
  /** Of processors, in the process that ran the file, if others shared it. */
  readonly processorMs?: number;
  /** Of a process that several files share, which failed though they passed: it held something, or died at its end. */
  readonly isShare?: true;
}

/** A test that was not run. */
export interface SkippedTest {
  readonly file: string;
  readonly skipped: string;
  readonly reason: string;
}

const SHARE = /\.test\.mjs$/;
const TEST_FILE = /^(?:test|packages)\/.*\.test\.ts$/;

export default async function* fileResults(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const line = (result: FileResult | SkippedTest) => `${JSON.stringify(result)}\n`;
  const failed = new Set<string>();
  const ended = new Map<string, FileResult>();
  let tests = 0;
  for await (const event of source) {
    if (event.type === 'test:summary' && event.data.file !== undefined && !SHARE.test(event.data.file)) {
      const file = path.relative(process.cwd(), event.data.file);
      const { counts, success, duration_ms: ms } = event.data;
      // A file whose process died after its last test has failed, though its summary does not say so.
      yield line({ file, end: success && !failed.has(file) ? 'passed' : 'failed', ms, tests: counts.tests });
    }
    if (event.type === 'test:dequeue' && event.data.nesting === 0 && TEST_FILE.test(event.data.name))
      yield line({ file: event.data.name, end: 'started', ms: 0, tests: 0 });
    if (event.type === 'test:diagnostic') {
      const [, ms, file = ''] = /^processors (\d+) ms (\S+)$/.exec(event.data.message) ?? [];
      const last = ended.get(file);
      if (last !== undefined) yield line({ ...last, processorMs: Number(ms) });
    }
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const { name, nesting, details, skip, file } = event.data;
    if (typeof skip === 'string' && file !== undefined)
      yield line({ file: path.relative(process.cwd(), file), skipped: name, reason: skip });
    if (event.type === 'test:fail' && nesting === 0 && SHARE.test(name)) {
      yield line({ file: name, end: 'failed', ms: details.duration_ms, tests: 0, isShare: true });
      continue;
    }
    if (nesting > 0 || !TEST_FILE.test(name)) {
      if (details.type !== 'suite') tests++;
      continue;
    }
    if (event.type === 'test:fail') failed.add(name);
    const result: FileResult = {
      file: name,
      end: event.type === 'test:pass' ? 'passed' : 'failed',
      ms: details.duration_ms,
      tests,
    };
    ended.set(name, result);
    yield line(result);
    tests = 0;
  }
}
