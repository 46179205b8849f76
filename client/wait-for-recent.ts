import type { ArrivedMessage, WaitAnswer } from './api-types.ts';
import type { WaitQuery } from './types.ts';

/** Messages that a caller got already. */
export interface HandedOut {
  has(messageId: string): boolean;
  add(messageId: string): void;
}

/** Without `after` and `since`, mail of so long before the call counts as new: a code may be faster than the wait. */
export const RECENT_SECONDS = 120;
/** What one request waits. */
const REQUEST_MAX_SECONDS = 60;

/**
 * Waits for mail in one request or several. Without `after` and `since` also mail of the last two minutes is returned,
 * unless it was handed out before.
 *
 * @param ask `waitForMessages` of a mailbox
 * @param query `timeoutSeconds` may be more than one request takes
 */
export async function waitForRecent(
  ask: (query: WaitQuery) => Promise<WaitAnswer>,
  { timeoutSeconds, ...query }: WaitQuery & { readonly timeoutSeconds: number },
  handedOut: HandedOut,
  now: () => number = Date.now,
): Promise<WaitAnswer> {
  const isRecent = query.after === undefined && query.since === undefined && query.consentId === undefined;
  const endsAt = now() + timeoutSeconds * 1_000;
  let place: Pick<WaitQuery, 'after' | 'since'> = isRecent
    ? { since: new Date(now() - RECENT_SECONDS * 1_000).toISOString() }
    : {};
  for (;;) {
    const leftSeconds = Math.ceil((endsAt - now()) / 1_000);
    const answer = await ask({
      ...query,
      ...place,
      timeoutSeconds: Math.max(1, Math.min(REQUEST_MAX_SECONDS, leftSeconds)),
    });
    const isNew = ({ id }: ArrivedMessage): boolean => !isRecent || !handedOut.has(id);
    const data = answer.data.filter(isNew);
    for (const { id } of data) handedOut.add(id);
    if (data.length > 0 || answer.consent !== null) return { ...answer, data };
    // Everything that came was handed out: nothing came.
    if (now() >= endsAt) return { ...answer, data, timedOut: true };
    // With both, `since` still limits what is found.
    place = { ...place, after: answer.after };
  }
}
