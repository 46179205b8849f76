/**
 * DNS for one check of one message: every name is queried once, with a total time limit. Open queries then fail with a
 * timeout, so a check ends with the answers it has, whatever a name server of the sender does.
 */
import type { DnsLookup } from './dns-resolver.ts';

export interface BoundedLookup {
  readonly lookup: DnsLookup;
  /** Queries already made, answered or not. */
  asked(name: string, type: string): ReturnType<DnsLookup> | undefined;
  /** Call it when the check is done. */
  end(): void;
}

const keyOf = (name: string, type: string): string => `${type.toUpperCase()} ${name.toLowerCase()}`;

/** The code of node:dns for a query without an answer in time. */
const timeout = (): Error => Object.assign(new Error('the time for DNS is over'), { code: 'ETIMEOUT' });

/** @param budgetMs from now on */
export function boundedLookup(lookup: DnsLookup, budgetMs: number): BoundedLookup {
  const answers = new Map<string, ReturnType<DnsLookup>>();
  /** Rejects an open question. */
  const open = new Set<(error: Error) => void>();
  const beganAt = performance.now();
  let isOver = false;
  let hasEnded = false;
  let timer: NodeJS.Timeout | undefined;

  function over(): void {
    isOver = true;
    for (const reject of open) reject(timeout());
    open.clear();
  }

  /** Most checks make no query: the clock is read at the first query. */
  function watch(): void {
    if (timer !== undefined || isOver || hasEnded) return;
    const leftMs = budgetMs - (performance.now() - beganAt);
    if (leftMs <= 0) over();
    else timer = setTimeout(over, leftMs);
  }

  const ask = (name: string, type: string): ReturnType<DnsLookup> =>
    new Promise((resolve, reject) => {
      open.add(reject);
      lookup(name, type).then(
        (answer) => {
          open.delete(reject);
          resolve(answer);
        },
        (error: Error) => {
          open.delete(reject);
          reject(error);
        },
      );
    });

  return {
    lookup(name, type) {
      const key = keyOf(name, type);
      const known = answers.get(key);
      if (known !== undefined) return known;
      watch();
      const answer = isOver ? Promise.reject(timeout()) : ask(name, type);
      answer.catch(() => {});
      answers.set(key, answer);
      return answer;
    },
    asked: (name, type) => answers.get(keyOf(name, type)),
    end() {
      hasEnded = true;
      clearTimeout(timer);
    },
  };
}
