/**
 * Which test files share a process. Loading the service costs a process more than most files need for their tests, so
 * files of one kind run one after another in one process (`files-in-turn.ts`).
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Files that kill processes, measure memory or time, put load on the machine, or start the whole service: each runs in
 * a process of its own, and begins after all others. Those that take longest come first.
 */
const ALONE: readonly string[] = [
  'test/delivery/without-fast-lane.test.ts',
  'test/mail/clients/mbsync.test.ts',
  'test/sending/approval-notice-crash.test.ts',
  'test/sending/crash.test.ts',
  'test/worker/lost-namespace.test.ts',
  'test/dev/image/image.test.ts',
  'test/dev/start.test.ts',
  'test/operations/restore-elsewhere.test.ts',
  'test/operations/backup.test.ts',
  'test/operations/prove.test.ts',
  'test/operations/prove-servers.test.ts',
  'test/operations/moving/round-trips.test.ts',
  'test/upgrade/recorded-installations.test.ts',
  'test/delivery/crash.test.ts',
  'test/delivery/long-run.test.ts',
  'test/delivery/engine-away.test.ts',
  'test/mail/memory.test.ts',
  'test/mime/growth.test.ts',
  'test/operations/moving/mbox.test.ts',
  'test/sending/engine-away.test.ts',
  'test/dev/migrate.test.ts',
  'test/dev/missing-programs.test.ts',
  'test/mail/clients/everything-at-once.test.ts',
  'test/core/outage-lines.test.ts',
  'test/core/own-installation.test.ts',
  'test/core/metrics.test.ts',
  'test/core/traces.test.ts',
  'test/operations/alerts-by-cause.test.ts',
  'test/operations/prober.test.ts',
  'test/delivery/across-processes.test.ts',
  'test/mail/crash.test.ts',
  'test/delivery/real-ladder.test.ts',
  'test/core/process-life.test.ts',
  'test/sending/long-waits.test.ts',
  'test/mailstore/long-run.test.ts',
  'test/dev/child-process.test.ts',
];

/** Kinds of files that share processes, by their folder; those that take longest come first. */
const KINDS: readonly (readonly [kind: string, folders: RegExp])[] = [
  ['dashboard', /^test\/dashboard\//],
  ['sending', /^test\/(?:sending|security)\//],
  ['delivery', /^test\/(?:delivery|worker|workflows)\//],
  ['api', /^test\/(?:api|client)\//],
  ['mail', /^test\/mail\//],
  // They use one `npm start`.
  ['programs', /^test\/(?:cli|mcp)\/|^test\/upgrade\/copy-by-imap/],
  ['rest', /^/],
];
/** More would let one file's crash take many others with it, and leave a processor without work at the end. */
const FILES_PER_PROCESS_MAX = 14;
/** One file of each kind of environment, the quickest that goes through all of it: `npm run test:quick`. */
const QUICK: readonly string[] = [
  'test/api/keys.test.ts',
  'test/delivery/first-attempt.test.ts',
  'test/mail/housekeeping.test.ts',
  'test/mailstore/folders.test.ts',
  'test/sending/wrong-sender.test.ts',
];
/** Files that look at what the others of their process did. */
const LAST = /\/coverage\.test\.ts$/;

/** A process and the files it runs, in order. */
export interface Share {
  readonly kind: string;
  readonly files: readonly string[];
}

export interface Plan {
  /** Needs no server: runs while they start. */
  readonly pure: readonly Share[];
  readonly shared: readonly Share[];
  /** A process each. */
  readonly alone: readonly string[];
}

/** @returns the names in this file that are no test files any more */
export const namesWithoutFile = (all: readonly string[]): string[] =>
  [...ALONE, ...QUICK].filter((name) => !all.includes(name));

/** The pure files and one of each environment. */
export const isQuickFile = (isPure: (file: string) => boolean) => (file: string) =>
  QUICK.includes(file) || (!ALONE.includes(file) && isPure(file));

export function planFiles(files: readonly string[], isPure: (file: string) => boolean): Plan {
  const together = files.filter((file) => !ALONE.includes(file));
  const pure = together.filter(isPure).toSorted((one, other) => Number(LAST.test(one)) - Number(LAST.test(other)));
  const others = together.filter((file) => !pure.includes(file));
  const kindOf = (file: string) => KINDS.find(([, folders]) => folders.test(file))?.[0];
  return {
    pure: pure.length === 0 ? [] : [{ kind: 'pure', files: pure }],
    shared: KINDS.flatMap(([kind]) =>
      inParts(
        kind,
        others.filter((file) => kindOf(file) === kind),
      ),
    ),
    alone: ALONE.filter((file) => files.includes(file)),
  };
}

function inParts(kind: string, files: readonly string[]): Share[] {
  const parts = Math.ceil(files.length / FILES_PER_PROCESS_MAX);
  return Array.from({ length: parts }, (_, part) => ({
    kind: parts === 1 ? kind : `${kind}-${part + 1}`,
    files: files.filter((__, index) => index % parts === part),
  }));
}

/**
 * Writes the test files that node's runner starts, one a process. It starts them in the order of their names.
 *
 * @returns their paths
 */
export function writeShares(folder: string, root: string, shares: readonly Share[]): string[] {
  return shares.map(({ kind, files }, index) => {
    const program = path.join(folder, `${String(index).padStart(2, '0')}-${kind}.test.mjs`);
    const lines = [
      `import { filesInTurn } from ${JSON.stringify(path.join(root, 'test/runner/files-in-turn.ts'))};`,
      `filesInTurn(${JSON.stringify(files, undefined, 2)});`,
    ];
    writeFileSync(program, `${lines.join('\n')}\n`);
    return program;
  });
}
