/** Calls by which a measured process profiles its main thread, and the functions of a profile that took most time. */
import { type Profiler, Session } from 'node:inspector/promises';

const SAMPLING_INTERVAL_US = 500;

export function profileCalls() {
  let session: Session | undefined;
  return {
    async startProfile(): Promise<void> {
      session = new Session();
      session.connect();
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL_US });
      await session.post('Profiler.start');
    },
    /** The samples since the start; undefined if none was started. */
    async endProfile(): Promise<Profiler.Profile | undefined> {
      const result = await session?.post('Profiler.stop');
      session?.disconnect();
      session = undefined;
      return result?.profile;
    },
  };
}

const TOP = 20;

/** The functions of a profile that took the most time themselves, in per cent of the time sampled. */
export function ownTimes({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): string[][] {
  const names = new Map(
    nodes.map(({ id, callFrame }) => [
      id,
      `${callFrame.functionName || '(anonymous)'} ${callFrame.url.split('/').slice(-3).join('/')}:${callFrame.lineNumber + 1}`,
    ]),
  );
  const times = new Map<string, number>();
  let sum = 0;
  for (const [i, id] of samples.entries()) {
    const name = names.get(id) ?? '';
    const time = timeDeltas[i] ?? 0;
    times.set(name, (times.get(name) ?? 0) + time);
    sum += time;
  }
  return [...times]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, TOP)
    .map(([name, time]) => [name, `${((time / sum) * 100).toFixed(1)} %`]);
}
