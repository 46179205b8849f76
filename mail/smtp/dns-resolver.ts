/**
 * DNS for sender authentication: bounded in time, answers remembered for a moment.
 *
 * For one check of one message every name is queried once, with a total time limit. Open queries then fail with a
 * timeout, so a check ends with the answers it has, whatever a name server of the sender does.
 */
import { Resolver } from 'node:dns/promises';
import { countedCache } from '#core/platform/caching/counted-cache.ts';

/** Resolves a name, with the signature that mailauth needs. Rejects with the `code` of node:dns. */
export type DnsLookup = (name: string, type: string) => Promise<string[][] | string[]>;

const QUERY_TIMEOUT_MS = 2_000;
const TRIES = 2;
/** Shorter than most TTLs; a burst from one sender needs one query. */
const REMEMBER_MS = 30_000;
const REMEMBERED_MAX = 10_000;
/** The name is known not to exist, or not to have such records, which is a definite answer. */
const NEGATIVE_CODES = new Set(['ENOTFOUND', 'ENODATA']);

/** @param servers `address` or `address:port`; empty: those of the system */
export function dnsLookup(servers: readonly string[], now: () => number): DnsLookup {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  const remembered = countedCache<{ answer: Promise<string[][] | string[]>; until: number }>('dns', REMEMBERED_MAX);

  return (name, type) => {
    const key = `${type} ${name.toLowerCase()}`;
    const known = remembered.get(key, ({ until }) => until > now());
    if (known !== undefined) return known.answer;
    const answer = query(resolver, name, type);
    remembered.set(key, { answer, until: now() + REMEMBER_MS });
    answer.catch((error: NodeJS.ErrnoException) => {
      if (!NEGATIVE_CODES.has(error.code ?? '')) remembered.delete(key);
    });
    return answer;
  };
}

function query(resolver: Resolver, name: string, type: string): Promise<string[][] | string[]> {
  switch (type.toUpperCase()) {
    case 'A':
      return resolver.resolve4(name);
    case 'AAAA':
      return resolver.resolve6(name);
    case 'TXT':
      return resolver.resolveTxt(name);
    case 'CNAME':
      return resolver.resolveCname(name);
    case 'PTR':
      return resolver.resolvePtr(name);
    case 'MX':
      // mailauth sorts and reads `exchange` itself; its type of the answer does not say so.
      return resolver.resolveMx(name) as unknown as Promise<string[]>;
    default:
      return Promise.reject(Object.assign(new Error(`no lookup of ${type}`), { code: 'ENOTIMP' }));
  }
}

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
