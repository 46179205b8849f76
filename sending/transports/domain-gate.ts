/**
 * Limits one process towards each domain: concurrent connections, and messages per minute with a burst. A short queue
 * waits here; if it is full, further messages get later times, one after another at the rate, so that a long queue
 * neither uses memory nor returns all at once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Semaphore, semaphore } from '#core/platform/batching/semaphore.ts';
import {
  MX_BURST_MESSAGES,
  MX_CONNECTIONS_PER_DOMAIN_MAX,
  MX_LINE_MAX,
  MX_PATIENCE_MS,
} from '#domain/sending/outbound.ts';

/** A place, to be released by `leave`; or the time after which to try again. */
export type Entry = { readonly leave: () => void } | { readonly comeBackInMs: number };

export interface DomainGate {
  /** Waits for a place. */
  enter(domain: string): Promise<Entry>;
}

interface Domain {
  readonly connections: Semaphore;
  /** For a connection or for the rate. */
  inLine: number;
  /** When the next message would leave if there were no burst. */
  nextAt: number;
  /** When the last deferred message returns. */
  lastTurnAt: number;
}

const newDomain = (): Domain => ({
  connections: semaphore(MX_CONNECTIONS_PER_DOMAIN_MAX),
  inLine: 0,
  nextAt: 0,
  lastTurnAt: 0,
});

export function domainGate(messagesPerMinute: number, patienceMs: number = MX_PATIENCE_MS): DomainGate {
  const intervalMs = 60_000 / messagesPerMinute;
  const domains = new Map<string, Domain>();

  function forgetIdle(now: number): void {
    for (const [name, { connections, inLine, nextAt, lastTurnAt }] of domains)
      if (connections.isIdle && inLine === 0 && nextAt <= now && lastTurnAt <= now) domains.delete(name);
  }

  function laterTurn(domain: Domain): Entry {
    const now = performance.now();
    domain.lastTurnAt = Math.max(domain.lastTurnAt, now + patienceMs) + intervalMs;
    return { comeBackInMs: Math.ceil(domain.lastTurnAt - now) };
  }

  async function place(domain: Domain): Promise<Entry> {
    const leave = await domain.connections.takeWithin({ withinMs: patienceMs });
    if (leave === undefined) return laterTurn(domain);
    const now = performance.now();
    const nextAt = Math.max(domain.nextAt, now);
    const waitMs = nextAt - now - (MX_BURST_MESSAGES - 1) * intervalMs;
    if (waitMs > patienceMs) {
      leave();
      return laterTurn(domain);
    }
    domain.nextAt = nextAt + intervalMs;
    if (waitMs > 0) await delay(waitMs);
    return { leave };
  }

  return {
    async enter(name) {
      forgetIdle(performance.now());
      const domain = domains.get(name) ?? newDomain();
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
