/** `docs/operations/metrics.md`, made from the declarations of the metrics. */
import { METRICS } from '#core/platform/log/metrics.ts';

const INTRODUCTION = `# Metrics

<!-- Generated from core/platform/log/metrics.ts by \`npm run generate\`. Change it there. -->

Every process answers \`/metrics\` on METRICS_PORT, on the address API_HOST, in the text format of Prometheus. The process \`all\` (\`npm start\`)
has the metrics of every process. Each process has the usual ones of Node (\`nodejs_…\`) and of a process (\`process_…\`) beside these.

Counters begin at 0 with each process. What concerns the whole installation (queues, storage) is read by each \`api\` process from the database,
queues at most every ten seconds and storage at most every minute, so several of them show the same: take \`max\`, not \`sum\`. If PostgreSQL does
not answer, queues are missing in the answer. Ids and addresses are never labels.

What \`prober\` has is on the port of that command ([commands](commands.md)).

Temporal's SDK has metrics of its own (\`temporal_…\`), which a process with a worker shows on TEMPORAL_METRICS_PORT.

Objectives, rules and alerts: \`deploy/prometheus/\`, and what to do about each alert: [incidents](incidents.md). A Grafana board of these metrics:
\`deploy/grafana/board.json\`; import it and choose the Prometheus and the job.

| metric | type | labels | process | meaning |
|---|---|---|---|---|
`;

/** One cell of a Markdown table. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

export function metricsDocument(): string {
  const rows = METRICS.map(({ name, type, labels, of, help }) => {
    const labelled = Object.entries(labels).map(([label, values]) =>
      values.length === 0 ? `\`${label}\`` : `\`${label}\`: ${values.join(', ')}`,
    );
    return `| \`${name}\` | ${type} | ${cell(labelled.join('; '))} | ${of.join(', ')} | ${cell(help)} |\n`;
  });
  return `${INTRODUCTION}${rows.join('')}`;
}
