/**
 * Keeps the requests to one origin from opening a socket each when many begin at once, without letting those that hang
 * hold up the others: many organizations may have endpoints behind the same host.
 *
 *   wait for one of 64 places ──▶ under way ──▶ answered, or a second has passed ──▶ the place is free
 *
 * So at most 64 young requests are under way to an origin. How many old ones there are is bounded by the endpoints' own
 * slots (`activities/endpoint-slots.ts`).
 */
export interface OriginGate {
  /** Waits for a place. @returns gives it back; must be called when the request has ended */
  enter(origin: string): Promise<() => void>;
}

const YOUNG_REQUESTS_MAX = 64;
const YOUNG_MS = 1_000;

interface Origin {
  young: number;
  readonly waiting: (() => void)[];
}

export function originGate(): OriginGate {
  const origins = new Map<string, Origin>();

  function take(name: string, origin: Origin): () => void {
    origin.young++;
    let held = true;
    const giveBack = () => {
      clearTimeout(timer);
      if (!held) return;
      held = false;
      origin.young--;
      const next = origin.waiting.shift();
      if (next !== undefined) next();
      else if (origin.young === 0) origins.delete(name);
    };
    const timer = setTimeout(giveBack, YOUNG_MS);
    return giveBack;
  }

  return {
    async enter(name) {
      const origin = origins.get(name) ?? { young: 0, waiting: [] };
      origins.set(name, origin);
      if (origin.young < YOUNG_REQUESTS_MAX) return take(name, origin);
      return new Promise((resolve) => origin.waiting.push(() => resolve(take(name, origin))));
    },
  };
}
