import { setTimeout as delay } from 'node:timers/promises';

/** Further tries of a transaction that PostgreSQL rolled back because of another one. */
const CONFLICT_RETRIES = 3;
/** Wait before the first of them, in milliseconds; doubled for each further one, and up to twice as long by chance. */
const CONFLICT_DELAY_MS = 10;

/** SQLSTATEs after which PostgreSQL's manual (13.5) asks to repeat the transaction: serialization_failure, deadlock_detected. */
const CONFLICTS = new Set(['40001', '40P01']);

/** Whether PostgreSQL rolled a transaction back because it met another one: nothing was done, and it may be repeated. */
export function isConflict(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if ('code' in each && typeof each.code === 'string' && CONFLICTS.has(each.code)) return true;
  return false;
}

/** Runs a transaction, and repeats it after a conflict. @throws the conflict, if it persists */
export async function retryConflicts<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let retry = 0; ; retry++)
    try {
      return await transaction();
    } catch (error) {
      if (retry >= CONFLICT_RETRIES || !isConflict(error)) throw error;
      await delay(CONFLICT_DELAY_MS * 2 ** retry * (1 + Math.random()));
    }
}
