/** Notes when a credential was last used. */
import type { Services } from '#core/platform/process/services.ts';

/** `last_used_at` is written when the one in the row is older than this. */
export const LAST_USED_INTERVAL_MS = 60_000;

/** Rows whose use is being written, so that concurrent requests do not write it again. */
const touching = new WeakMap<object, Set<string>>();

/** Writes the last use without delaying the request. If that fails, the next use is written. */
export function touch({ db, log }: Services, text: string, [id, ...values]: readonly [string, ...unknown[]]): void {
  const writing = touching.get(db) ?? new Set();
  touching.set(db, writing);
  if (writing.has(id)) return;
  writing.add(id);
  db.query(text, [id, ...values])
    .catch((error: Error) => log.debug({ error: error.message }, 'lastUsedAt was not written'))
    .finally(() => writing.delete(id));
}
