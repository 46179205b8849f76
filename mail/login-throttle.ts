/**
 * Failed logins of a source address (IPv6 by /64), and of it for one mailbox: a bucket of tokens each, filled by one a
 * minute. Who has none left is turned away before the credential is read.
 *
 * A source whose login for a mailbox has succeeded before is judged by the bucket of that pair alone: one agent with a
 * dead token does not lock out the others on its host, and nobody's failures elsewhere lock anybody out.
 *
 * Logins under way hold a token of each bucket, so that guesses sent at once are not free; one that finds all tokens
 * held waits until it is known how those logins ended. Kept in memory, per process.
 */
import { LOGIN_FAILURE_FORGIVEN_MS, LOGIN_FAILURES_MAX } from '../domain/mail-limits.ts';
import { sourceOf } from './connection-counter.ts';

export type Admission =
  | { readonly kind: 'admitted'; settle(outcome: 'passed' | 'failed' | 'unknown'): void }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number };

export interface LoginThrottle {
  admit(remoteAddress: string, mailbox: string): Promise<Admission>;
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
  /** Logins under way. */
  held: number;
  waiting: (() => void)[];
}

/** Of each kind; the oldest are forgotten first. */
const REMEMBERED_MAX = 100_000;

export function loginThrottle(now: () => number): LoginThrottle {
  const buckets = new Map<string, Bucket>();
  /** Source and mailbox of logins that succeeded. */
  const known = new Set<string>();

  function bucketOf(key: string): Bucket {
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: LOGIN_FAILURES_MAX, filledAtMs: now(), held: 0, waiting: [] };
      forgetOldest(buckets);
      buckets.set(key, bucket);
    }
    const filled = Math.floor((now() - bucket.filledAtMs) / LOGIN_FAILURE_FORGIVEN_MS);
    if (filled > 0) {
      bucket.tokens = Math.min(LOGIN_FAILURES_MAX, bucket.tokens + filled);
      bucket.filledAtMs += filled * LOGIN_FAILURE_FORGIVEN_MS;
    }
    return bucket;
  }

  return {
    async admit(remoteAddress, mailbox) {
      const source = sourceOf(remoteAddress);
      const pair = `${source} ${mailbox}`;
      for (;;) {
        const judges = (known.has(pair) ? [pair] : [source, pair]).map(bucketOf);
        const empty = judges.find(({ tokens }) => tokens === 0);
        if (empty !== undefined) {
          const waitMs = empty.filledAtMs + LOGIN_FAILURE_FORGIVEN_MS - now();
          return { kind: 'throttled', retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) };
        }
        const busy = judges.find(({ tokens, held }) => held >= tokens);
        if (busy !== undefined) {
          await new Promise<void>((resolve) => busy.waiting.push(resolve));
          continue;
        }
        for (const bucket of judges) bucket.held++;
        return {
          kind: 'admitted',
          settle(outcome) {
            if (outcome === 'passed') {
              forgetOldest(known);
              known.add(pair);
            }
            for (const bucket of judges) {
              bucket.held--;
              if (outcome === 'failed') bucket.tokens--;
              for (const wake of bucket.waiting.splice(0)) wake();
            }
          },
        };
      }
    },
  };
}

function forgetOldest(kept: Map<string, unknown> | Set<string>): void {
  if (kept.size < REMEMBERED_MAX) return;
  for (const [key] of kept.entries()) {
    kept.delete(key);
    return;
  }
}
