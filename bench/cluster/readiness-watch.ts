/** Polls `/readyz` of every process once a second. */
import type { ServiceProcess } from './service-processes.ts';

const EVERY_MS = 1_000;
const ANSWER_WITHIN_MS = 3_000;

/** How often a process answered so. */
export interface ReadinessCounts {
  ready: number;
  notReady: number;
  /** No answer: it has ended, is paused, or did not answer in time. */
  silent: number;
}

export interface ReadinessWatch {
  /** Resets the counts. */
  reset(): void;
  counts(): ReadonlyMap<string, Readonly<ReadinessCounts>>;
  /** Whether every process, asked after this time, said it is ready. */
  allReadySince(ms: number): boolean;
  stop(): void;
}

type Answer = keyof ReadinessCounts;

async function ask({ healthUrl }: ServiceProcess): Promise<Answer> {
  try {
    const response = await fetch(`${healthUrl}/readyz`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    await response.body?.cancel();
    return response.ok ? 'ready' : 'notReady';
  } catch {
    return 'silent';
  }
}

export function watchReadiness(processes: readonly ServiceProcess[]): ReadinessWatch {
  const last = new Map<string, { askedAtMs: number; answer: Answer }>();
  let counts = new Map<string, ReadinessCounts>();
  const timer = setInterval(() => {
    const askedAtMs = Date.now();
    for (const process of processes)
      void ask(process).then((answer) => {
        last.set(process.name, { askedAtMs, answer });
        const of = counts.get(process.name) ?? { ready: 0, notReady: 0, silent: 0 };
        of[answer]++;
        counts.set(process.name, of);
      });
  }, EVERY_MS);
  return {
    reset() {
      counts = new Map();
    },
    counts: () => counts,
    allReadySince: (ms) =>
      processes.every(({ name }) => {
        const of = last.get(name);
        return of !== undefined && of.askedAtMs > ms && of.answer === 'ready';
      }),
    stop: () => clearInterval(timer),
  };
}
