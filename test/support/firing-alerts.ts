/** Evaluates the rules of `deploy/prometheus/` by promtool, on what `/metrics` of processes say. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { programFile } from './programs.ts';

const RULES = fileURLToPath(new URL('../../deploy/prometheus/rules.yml', import.meta.url));
/** Longer than the alerts that are asserted must hold. */
const MINUTES = 75;
// Objectives about time depend on how busy the machine of the tests is.
const FIRING = 'count by (alertname) (ALERTS{alertstate="firing",objective!~"first_attempt|approval_notice"}) > bool 0';

interface Sample {
  readonly value: number;
  /** It is of a counter. */
  readonly counts: boolean;
}

/** What Prometheus has after a scrape. */
export interface Scrape {
  /** By instance: whether it answered. */
  readonly up: ReadonlyMap<string, boolean>;
  /** By series, with its instance as the last label. */
  readonly samples: ReadonlyMap<string, Sample>;
}

/** Nothing was scraped yet. */
export const NO_SCRAPE: Scrape = { up: new Map(), samples: new Map() };

/** @param answers of `/metrics`, by instance; undefined: it did not answer */
export function readScrape(answers: ReadonlyMap<string, string | undefined>): Scrape {
  const samples = new Map<string, Sample>();
  for (const [instance, text = ''] of answers) {
    const counters = new Set<string>();
    for (const line of text.split('\n')) {
      const [, counter] = /^# TYPE (\S+) (?:counter|histogram)$/.exec(line) ?? [];
      if (counter !== undefined) counters.add(counter);
      const [, name = '', labels = '', value] = /^(agent_mailbox_\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      if (name === '') continue;
      const counts = counters.has(name) || counters.has(name.replace(/_(?:bucket|count|sum)$/, ''));
      // The clock of promtool begins at 0.
      const at = name.endsWith('_timestamp_seconds') ? Number(value) - Date.now() / 1_000 : Number(value);
      samples.set(`${name}{${labels === '' ? '' : `${labels},`}instance="${instance}"}`, { value: at, counts });
    }
  }
  return { up: new Map([...answers].map(([instance, text]) => [instance, text !== undefined])), samples };
}

/**
 * Fails unless exactly these alerts fire, if it goes on as between two scrapes: gauges keep their value, and counters grow by
 * the same every minute.
 *
 * @param alerts their names without `AgentMailbox`
 */
export async function expectAlerts(name: string, from: Scrape, to: Scrape, alerts: readonly string[]): Promise<void> {
  const series = [
    ...[...to.up].map(([instance, isUp]) => [
      `up{job="agent-mailbox",instance="${instance}"}`,
      `${isUp ? 1 : 0}x${MINUTES}`,
    ]),
    ...[...to.samples].map(([of, { value, counts }]) => {
      const first = from.samples.get(of)?.value ?? 0;
      return [of, counts ? `${first}+${Math.max(0, value - first)}x${MINUTES}` : `${value}x${MINUTES}`];
    }),
  ];
  const evaluation = {
    expr: FIRING,
    eval_time: `${MINUTES}m`,
    exp_samples: alerts.map((alert) => ({ labels: `{alertname="AgentMailbox${alert}"}`, value: 1 })),
  };
  const folder = mkdtempSync(path.join(tmpdir(), 'firing-alerts-'));
  try {
    const file = path.join(folder, 'alerts.test.yml');
    // JSON is YAML.
    writeFileSync(
      file,
      JSON.stringify({
        rule_files: [RULES],
        evaluation_interval: '1m',
        tests: [
          {
            name,
            interval: '1m',
            input_series: series.map(([of, values]) => ({ series: of, values })),
            promql_expr_test: [evaluation],
          },
        ],
      }),
    );
    await promisify(execFile)(programFile('promtool'), ['test', 'rules', file]).catch(
      (error: { stdout?: string; stderr?: string }) => assert.fail(`${name}: ${error.stdout}${error.stderr}`),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
