/**
 * Failed logins of a source address (IPv6 by /64), and of it for one mailbox: a token bucket each, filled by one a
 * minute. Without a token a login is refused before the credential is read.
 *
 * A source whose login for a mailbox has succeeded before uses the bucket of that pair only: one agent with an invalid
 * token does not lock out the others on its host, and failures elsewhere lock nobody out.
 *
 * Logins in progress hold a token of each bucket, so that concurrent guesses are not free; if all tokens are held, a
 * login waits for the results of those logins. Kept in memory, per process.
 */
import { sourceOf } from '#core/platform/addresses/source-address.ts';
import { limitingPairs, loginPair } from '#domain/access/sign-in-limits.ts';
import { LOGIN_FAILURE_FORGIVEN_MS, LOGIN_FAILURES_MAX } from '#domain/mail/mail-limits.ts';

export type Admission =
  | { readonly kind: 'admitted'; settle(outcome: 'passed' | 'failed' | 'unknown'): void }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number };

export interface LoginThrottle {
  admit(remoteAddress: string, mailbox: string): Promise<Admission>;
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
  /** Logins in progress. */
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
      const pair = loginPair({ source, account: mailbox });
      for (;;) {
        const limiting = limitingPairs({ source, account: mailbox, known: known.has(pair) }).map(bucketOf);
        const empty = limiting.find(({ tokens }) => tokens === 0);
        if (empty !== undefined) {
          const waitMs = empty.filledAtMs + LOGIN_FAILURE_FORGIVEN_MS - now();
          return { kind: 'throttled', retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) };
        }
        const busy = limiting.find(({ tokens, held }) => held >= tokens);
        if (busy !== undefined) {
          await new Promise<void>((resolve) => busy.waiting.push(resolve));
          continue;
        }
        for (const bucket of limiting) bucket.held++;
        return {
          kind: 'admitted',
          settle(outcome) {
            if (outcome === 'passed') {
              forgetOldest(known);
              known.add(pair);
            }
            for (const bucket of limiting) {
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
