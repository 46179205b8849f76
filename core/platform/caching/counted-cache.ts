/**
 * A bounded cache of this process whose hits, misses and size are metrics. When it is full, the entry that was set the
 * longest ago is dropped.
 */
import { type CacheName, cacheEntries, cacheLookupsTotal } from '#core/platform/log/metrics.ts';

export interface CountedCache<Value> {
  /** Counted: a hit is an entry that is valid. An entry that is not stays. */
  get(key: string, isValid?: (value: Value) => boolean): Value | undefined;
  /** Not counted. */
  peek(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

/** @param max entries */
export function countedCache<Value>(cache: CacheName, max: number): CountedCache<Value> {
  const entries = new Map<string, { readonly value: Value }>();
  const showSize = () => cacheEntries.set({ cache }, entries.size);
  showSize();
  return {
    get(key, isValid = () => true) {
      const entry = entries.get(key);
      const isHit = entry !== undefined && isValid(entry.value);
      cacheLookupsTotal.inc({ cache, outcome: isHit ? 'hit' : 'miss' });
      return isHit ? entry.value : undefined;
    },
    peek: (key) => entries.get(key)?.value,
    set(key, value) {
      entries.delete(key);
      entries.set(key, { value });
      const [oldest] = entries.size > max ? entries.keys() : [];
      if (oldest !== undefined) entries.delete(oldest);
      showSize();
    },
    delete(key) {
      if (entries.delete(key)) showSize();
    },
  };
}
