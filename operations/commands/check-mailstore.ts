/** `check-mailstore`: checks the invariants of the mail store, running or stopped. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '#db/database.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { command } from '#operations/command.ts';
import type { Progress } from '#operations/progress.ts';

const WATCH_INTERVAL_MS = 100;
const POOL_MAX = 2;

interface WatchResult {
  /** Folders that had a message. */
  readonly folders: number;
  /** A UID at or below this one, which was seen as the highest, appeared in this folder. */
  readonly violation: { readonly folderId: number; readonly uid: number } | null;
}

/** Each folder's highest UID only rises, and no UID appears below one that was already seen. */
async function watch(db: Database, progress: Progress, signal: AbortSignal): Promise<WatchResult> {
  const seen = new Map<number, { highest: number; count: number }>();
  progress.say('Watching; Ctrl-C ends.');
  while (!signal.aborted) {
    const folders = await db.query<{ folder_id: number; highest: number }>(
      `select folder_id, max(uid) as highest from placement group by folder_id`,
    );
    for (const { folder_id: id, highest } of folders) {
      const before = seen.get(id);
      if (before !== undefined) {
        const [row] = await db.query<{ count: number }>(
          `select count(*) as count from placement where folder_id = $1 and uid <= $2`,
          [id, before.highest],
        );
        if ((row?.count ?? 0) > before.count) {
          return { folders: seen.size, violation: { folderId: id, uid: before.highest } };
        }
      }
      const [row] = await db.query<{ count: number }>(
        `select count(*) as count from placement where folder_id = $1 and uid <= $2`,
        [id, highest],
      );
      seen.set(id, { highest, count: row?.count ?? 0 });
    }
    await delay(WATCH_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
  return { folders: seen.size, violation: null };
}

export const checkMailstoreCommand = command({
  name: 'check-mailstore',
  summary: 'check the invariants of the mail store',
  description:
    'Reads a running or stopped mail store in one snapshot and checks its invariants: counters, UIDs and texts of all mailboxes against their messages. Changes nothing. Findings: a rule that is violated.',
  arguments: {},
  options: {
    all: { text: 'hash and index every message instead of a sample' },
    watch: { text: 'poll during load until Ctrl-C instead, and stop if a UID appears below one that was seen before' },
  },
  async run(context) {
    const db = await context.database(POOL_MAX);
    if (context.options.watch) {
      const result = await watch(db, context.progress, context.signal);
      const { violation } = result;
      context.output(
        result,
        violation === null
          ? `✔ UIDs of ${result.folders} folders only rose`
          : `✖ folder ${violation.folderId}: a UID appeared at or below ${violation.uid}`,
      );
      return violation === null ? 'done' : 'findings';
    }
    const rules = await context.progress.step('Mail store', () => checkMailStore(db, { all: context.options.all }));
    context.output(
      { rules },
      rules
        .flatMap(({ rule, text, checked, atFault, examples }) => [
          `${atFault === 0 ? '✔' : '✖'} ${rule.padStart(2)}  ${text}: ${checked} checked, ${atFault} at fault`,
          ...examples.map((example) => `        ${example}`),
        ])
        .join('\n'),
    );
    return rules.every(({ atFault }) => atFault === 0) ? 'done' : 'findings';
  },
});
