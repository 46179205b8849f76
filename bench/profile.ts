/** Profile of a run: functions and packages of the service's process, statements of PostgreSQL. */

import { writeFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { fileURLToPath } from 'node:url';
import { textTable } from './measure.ts';
import type { World } from './world.ts';

interface RunProfiler {
  /** Profiles the work passed to it; several runs add up. */
  readonly watch: <Result>(work: () => Promise<Result>) => Promise<Result>;
  report(): Promise<string>;
}

const TOP = 40;
const root = fileURLToPath(new URL('..', import.meta.url));

/** @param file the last profile is written there, for `chrome://inspect` or an editor */
export function profiler(world: World, file: string): RunProfiler {
  const selfMs = new Map<string, number>();
  const packageMs = new Map<string, number>();
  let started = false;
  const add = (map: Map<string, number>, key: string, ms: number) => map.set(key, (map.get(key) ?? 0) + ms);

  function count(profile: Profiler.Profile): void {
    const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
    for (const [index, id] of (profile.samples ?? []).entries()) {
      const frame = nodes.get(id);
      if (frame === undefined) continue;
      const ms = (profile.timeDeltas?.[index] ?? 0) / 1_000;
      const place = frame.url.replace('file://', '').replace(root, '');
      add(selfMs, `${frame.functionName || '(anonymous)'} ${place}:${frame.lineNumber + 1}`, ms);
      const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(place) ?? [];
      add(packageMs, name ?? (place.startsWith('node:') ? 'node' : place === '' ? frame.functionName : 'own code'), ms);
    }
  }

  return {
    async watch(work) {
      if (!started) await world.services.db.query('select pg_stat_statements_reset()');
      started = true;
      await world.service().call('startProfile', undefined);
      try {
        return await work();
      } finally {
        const profile = await world.service().call('endProfile', undefined);
        if (profile !== undefined) {
          count(profile);
          writeFileSync(file, JSON.stringify(profile));
        }
      }
    },
    async report() {
      const statements = await world.services.db.query<{
        calls: number;
        total: number;
        mean: number;
        plans: number;
        planned: number;
        text: string;
      }>(
        `select calls, total_exec_time as total, mean_exec_time as mean, plans, total_plan_time as planned,
                regexp_replace(query, '\\s+', ' ', 'g') as text
           from pg_stat_statements order by total_exec_time desc limit 15`,
      );
      return [
        'Service, own time in ms by package',
        textTable(top(packageMs, 25)),
        '\nService, own time in ms by function',
        textTable(top(selfMs, TOP)),
        '\nPostgreSQL, time by statement',
        textTable([
          ['statement', 'calls', 'total ms', 'mean ms', 'plans', 'planning ms'],
          ...statements.map(({ calls, total, mean, plans, planned, text }) => [
            text.slice(0, 110),
            String(calls),
            total.toFixed(0),
            mean.toFixed(3),
            String(plans),
            planned.toFixed(0),
          ]),
        ]),
      ].join('\n');
    },
  };
}

const top = (map: ReadonlyMap<string, number>, count: number): string[][] =>
  [...map]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([name, ms]) => [name, ms.toFixed(0)]);
