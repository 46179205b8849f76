/**
 * Messages that `wait_for_message` returned in the last minutes to each program, in this process: over HTTP there is a
 * server for each request. Another process may return a message once more; none is missed. What one program has got,
 * another program of the same mailbox gets all the same.
 */
import { type HandedOut, RECENT_SECONDS } from '#client/index.ts';

const KEPT_MS = 2 * RECENT_SECONDS * 1_000;
const MESSAGES_MAX = 10_000;

/** When each was returned to whom, oldest first. */
const returned = new Map<string, number>();

function forgetOld(now: number): void {
  for (const [key, at] of returned) {
    if (now - at < KEPT_MS && returned.size <= MESSAGES_MAX) return;
    returned.delete(key);
  }
}

/** @param reader the credential, in a form that opens nothing */
export function handedOutTo(reader: string): HandedOut {
  const keyOf = (messageId: string): string => `${reader} ${messageId}`;
  return {
    has: (messageId) => returned.has(keyOf(messageId)),
    add(messageId) {
      const now = Date.now();
      returned.set(keyOf(messageId), now);
      forgetOld(now);
    },
  };
}
