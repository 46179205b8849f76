/**
 * Keeps one process polite towards each domain: so many connections at once, so many messages in a minute, with a burst
 * ahead of it.
 */
import { MX_BURST_MESSAGES, MX_CONNECTIONS_PER_DOMAIN_MAX, MX_PATIENCE_MS } from '../../domain/outbound.ts';

export interface DomainGate {
  /** Waits for a place. @returns gives it back, to be called at the end; undefined when the wait is too long */
  enter(domain: string): Promise<(() => void) | undefined>;
}

interface Domain {
  connections: number;
  readonly waiting: Set<() => void>;
  /** When the next message would leave if there were no burst. */
  nextAt: number;
}

export function domainGate(messagesPerMinute: number, patienceMs: number = MX_PATIENCE_MS): DomainGate {
  const intervalMs = 60_000 / messagesPerMinute;
  const domains = new Map<string, Domain>();

  function forgetIdle(now: number): void {
    for (const [name, { connections, waiting, nextAt }] of domains)
      if (connections === 0 && waiting.size === 0 && nextAt <= now) domains.delete(name);
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

  return {
    async enter(name) {
      forgetIdle(performance.now());
      const domain = domains.get(name) ?? { connections: 0, waiting: new Set(), nextAt: 0 };
      domains.set(name, domain);
      if (!(await connection(domain))) return undefined;
      const now = performance.now();
      const nextAt = Math.max(domain.nextAt, now);
      const waitMs = nextAt - now - (MX_BURST_MESSAGES - 1) * intervalMs;
      if (waitMs > patienceMs) {
        leave(domain);
        return undefined;
      }
      domain.nextAt = nextAt + intervalMs;
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      let held = true;
      return () => {
        if (held) leave(domain);
        held = false;
      };
    },
  };
}
