/**
 * What a run leaves out because the machine lacks a program (`test/support/programs.ts`). Most tests name their programs
 * themselves; files that work with one from their first line to their last are left out here, by what they import.
 */
import path from 'node:path';
import { lacks, type ProgramName } from '#test/support/programs.ts';
import type { SkippedTest } from './file-results.ts';

const NEEDED_BY: readonly (readonly [module: string, ...programs: ProgramName[]])[] = [
  ['test/support/browser.ts', 'chromium', 'chromium or its headless shell'],
  ['test/support/time-skipping-server.ts', 'java', 'mvn'],
];

/** @returns the files that this machine can run, and the others with the reason */
export function withoutMissing(
  root: string,
  files: readonly string[],
  modules: (file: string) => ReadonlySet<string>,
): { readonly files: string[]; readonly skipped: SkippedTest[] } {
  const skipped = files.flatMap((file) => {
    const loaded = modules(file);
    const programs = NEEDED_BY.filter(([module]) => loaded.has(path.join(root, module))).flatMap(
      ([, ...names]) => names,
    );
    const reason = lacks(...programs);
    return reason === undefined ? [] : [{ file, skipped: 'the whole file', reason }];
  });
  return { files: files.filter((file) => !skipped.some((each) => each.file === file)), skipped };
}

/**
 * What to print at the end of a run.
 *
 * @returns a line for each missing program with the number of tests and the command that installs it, and for each other
 *   reason; `isLacking`: a program is missing
 */
export function skippedSummary(skipped: readonly SkippedTest[]): {
  readonly lines: string[];
  readonly isLacking: boolean;
} {
  const byReason = Map.groupBy(skipped, ({ reason }) => reason);
  const lines = [...byReason].map(([reason, tests]) => {
    const files = [...new Set(tests.map(({ file }) => file))];
    const shown = files.length > FILES_SHOWN_MAX ? `${files.length} files` : files.join(', ');
    return `  ${tests.length} ${reason} (${shown})`;
  });
  return {
    lines: skipped.length === 0 ? [] : [`⚠ ${skipped.length} skipped (tests, or whole files):`, ...lines.toSorted()],
    isLacking: [...byReason.keys()].some((reason) => reason.startsWith('needs ')),
  };
}
const FILES_SHOWN_MAX = 3;
