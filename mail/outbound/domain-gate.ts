/**
 * Keeps one process polite towards each domain: so many connections at once, so many messages in a minute, with a burst
 * ahead of it. A short line waits here; who finds it full is given a turn later, one after the other at the rate, so that
 * a long queue neither stands in memory nor comes back all at once.
 */
import {
  MX_BURST_MESSAGES,
  MX_CONNECTIONS_PER_DOMAIN_MAX,
  MX_LINE_MAX,
  MX_PATIENCE_MS,
} from '../../domain/outbound.ts';

/** A place, to be given back by `leave`; or the time after which to ask again. */
export type Entry = { readonly leave: () => void } | { readonly comeBackInMs: number };

export interface DomainGate {
  /** Waits for a place. */
  enter(domain: string): Promise<Entry>;
}

interface Domain {
  connections: number;
  /** For a connection. */
  readonly waiting: Set<() => void>;
  /** For a connection or for the rate. */
  inLine: number;
  /** When the next message would leave if there were no burst. */
  nextAt: number;
  /** When the last of those that were sent away comes back. */
  lastTurnAt: number;
}

export function domainGate(messagesPerMinute: number, patienceMs: number = MX_PATIENCE_MS): DomainGate {
  const intervalMs = 60_000 / messagesPerMinute;
  const domains = new Map<string, Domain>();

  function forgetIdle(now: number): void {
    for (const [name, { connections, inLine, nextAt, lastTurnAt }] of domains)
      if (connections === 0 && inLine === 0 && nextAt <= now && lastTurnAt <= now) domains.delete(name);
  }

  function laterTurn(domain: Domain): Entry {
    const now = performance.now();
    domain.lastTurnAt = Math.max(domain.lastTurnAt, now + patienceMs) + intervalMs;
    return { comeBackInMs: Math.ceil(domain.lastTurnAt - now) };
  }

  /** A place among the connections, which its owner then holds. */
  function connection(domain: Domain): Promise<boolean> {
    if (domain.connections < MX_CONNECTIONS_PER_DOMAIN_MAX) {
      domain.connections++;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const granted = () => {
        clearTimeout(timer);
        resolve(true); // the place goes from hand to hand, so the count stays
      };
      const timer = setTimeout(() => {
        domain.waiting.delete(granted);
        resolve(false);
      }, patienceMs);
      domain.waiting.add(granted);
    });
  }

  function leave(domain: Domain): void {
    const [next] = domain.waiting;
    if (next === undefined) {
      domain.connections--;
      return;
    }
    domain.waiting.delete(next);
    next();
  }

  async function place(domain: Domain): Promise<Entry> {
    if (!(await connection(domain))) return laterTurn(domain);
    const now = performance.now();
    const nextAt = Math.max(domain.nextAt, now);
    const waitMs = nextAt - now - (MX_BURST_MESSAGES - 1) * intervalMs;
    if (waitMs > patienceMs) {
      leave(domain);
      return laterTurn(domain);
    }
    domain.nextAt = nextAt + intervalMs;
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    let held = true;
    return {
      leave() {
        if (held) leave(domain);
        held = false;
      },
    };
  }

  return {
    async enter(name) {
      forgetIdle(performance.now());
      const domain = domains.get(name) ?? { connections: 0, waiting: new Set(), inLine: 0, nextAt: 0, lastTurnAt: 0 };
      domains.set(name, domain);
      if (domain.inLine >= MX_LINE_MAX) return laterTurn(domain);
      domain.inLine++;
      try {
        return await place(domain);
      } finally {
        domain.inLine--;
      }
    },
  };
}
