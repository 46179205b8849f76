import type { Profiler } from 'node:inspector';

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
