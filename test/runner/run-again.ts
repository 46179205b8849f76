/**
 * What happens to the few files of a whole run that failed: they run once more, each in a process of its own, when
 * nothing else runs. A machine that stalls for a minute fails a test of time without a defect; what fails twice has one.
 */
import type { FileResult } from './file-results.ts';

export interface Run {
  /** Exit code, 0 when everything passed. */
  readonly code: number;
  readonly results: readonly FileResult[];
}

/** With more failures than this the code is broken, not the machine: nothing is run again. */
const RUN_AGAIN_MAX_FILES = 15;

const hasPassed = ({ end }: FileResult): boolean => end === 'passed';

/** @returns the files that failed or did not end; none, if running them again could not make the run pass */
export function filesToRunAgain({ results }: Run): string[] {
  const failed = results.filter((result) => !hasPassed(result));
  const isHopeless = failed.length > RUN_AGAIN_MAX_FILES || failed.some(({ isShare }) => isShare === true);
  return isHopeless ? [] : failed.map(({ file }) => file);
}

/**
 * Both runs as one.
 *
 * @param files what was run again
 * @returns with the files that passed only then
 */
export function joinRuns(first: Run, again: Run, files: readonly string[]): { run: Run; unsteady: string[] } {
  const unsteady = files.filter((file) => again.results.some((result) => result.file === file && hasPassed(result)));
  return {
    run: {
      code: unsteady.length === files.length ? again.code : 1,
      // A file that did not get as far as a result keeps its first one.
      results: [...new Map([...first.results, ...again.results].map((result) => [result.file, result])).values()],
    },
    unsteady,
  };
}
