/** Counts connections: those of each source address (an IPv6 source is its /64, which is what one customer gets), and all. */
import { sourceOf } from '#core/platform/addresses/source-address.ts';

export interface ConnectionCounter {
  /** False when the source has as many as it may. */
  enter(connectionId: string, address: string): boolean;
  leave(connectionId: string): void;
}

/** Connections of all listeners of a protocol together. */
export interface ConnectionTotal {
  /** False when there are as many as there may be. */
  enter(): boolean;
  leave(): void;
}

/** The counter shared by some listeners. */
export interface ConnectionLimits {
  readonly total: ConnectionTotal;
  readonly sources: ConnectionCounter;
}

export function connectionCounter(maxPerSource: number): ConnectionCounter {
  const sources = new Map<string, number>();
  const connections = new Map<string, string>();
  return {
    enter(connectionId, address) {
      const source = sourceOf(address);
      const count = sources.get(source) ?? 0;
      if (count >= maxPerSource) return false;
      sources.set(source, count + 1);
      connections.set(connectionId, source);
      return true;
    },
    leave(connectionId) {
      const source = connections.get(connectionId);
      if (source === undefined) return;
      connections.delete(connectionId);
      const count = (sources.get(source) ?? 1) - 1;
      if (count > 0) sources.set(source, count);
      else sources.delete(source);
    },
  };
}

export function connectionTotal(max: number): ConnectionTotal {
  let count = 0;
  return {
    enter() {
      if (count >= max) return false;
      count++;
      return true;
    },
    leave() {
      count--;
    },
  };
}
