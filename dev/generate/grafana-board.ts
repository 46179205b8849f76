/**
 * `deploy/grafana/board.json`, made by Grafana’s foundation SDK: what an operator looks at, from the objectives down to the
 * machine. Each panel says in a sentence what it shows and when to worry.
 */
import {
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

/** Units of Grafana. */
type Unit = 'short' | 's' | 'bytes' | 'percentunit' | 'ops' | 'dtdurations' | 'bool';

interface Panel {
  readonly title: string;
  readonly unit: Unit;
  /** What it shows, and when to worry. */
  readonly says: string;
  /** Expressions by the legend of their series. */
  readonly series: Readonly<Record<string, string>>;
  /** The value alone, without its course. */
  readonly isStat?: true;
}

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const SPAN = 8;
const HEIGHT = 7;
const HEIGHT_OF_STAT = 4;

/** Only what the chosen installation has: a Prometheus may watch several. */
const of = (metric: string, labels = ''): string =>
  `agent_mailbox_${metric}{job="$job"${labels === '' ? '' : `, ${labels}`}}`;
const rate = (metric: string, labels = ''): string => `rate(${of(metric, labels)}[$__rate_interval])`;
const quantile = (part: number, metric: string): string =>
  `histogram_quantile(${part}, sum by (le) (${rate(`${metric}_bucket`)}))`;
const halfAndMost = (metric: string): Readonly<Record<string, string>> => ({
  'half of them': quantile(0.5, metric),
  '99 of 100': quantile(0.99, metric),
});
const objective = (name: string): string => `1 - agent_mailbox:objective_errors:ratio_rate1h{objective="${name}"}`;

const ROWS: Readonly<Record<string, readonly Panel[]>> = {
  Objectives: [
    {
      title: 'Mail accepted',
      unit: 'percentunit',
      says: 'Share of mail from other hosts, of the last hour, that was not put off because of a fault here; the objective is 99.9 % over 30 days.',
      series: { accepted: objective('mail_accepted') },
      isStat: true,
    },
    {
      title: 'First attempt within a second',
      unit: 'percentunit',
      says: 'Share of webhook deliveries, of the last hour, whose first attempt began within a second; the objective is 99 % over 30 days.',
      series: { 'in time': objective('first_attempt') },
      isStat: true,
    },
    {
      title: 'Approval notice within ten seconds',
      unit: 'percentunit',
      says: 'Share of notices about held mail, of the last hour, that were sent within ten seconds; the objective is 99 % over 30 days.',
      series: { 'in time': objective('approval_notice') },
      isStat: true,
    },
    {
      title: 'How fast the budgets are used',
      unit: 'short',
      says: 'At 1 the budget of errors lasts 30 days, at 14.4 two days, which is the alert for a person on call.',
      series: {
        '{{objective}}':
          'agent_mailbox:objective_errors:ratio_rate1h / on (objective) agent_mailbox:objective_budget:ratio',
      },
    },
    {
      title: 'Processes that are ready',
      unit: 'short',
      says: 'Number of processes that run, and of those that can do their work; both should be what you have started.',
      series: { ready: `sum(${of('ready')})`, running: 'sum(up{job="$job"})' },
    },
    {
      title: 'Checks that fail',
      unit: 'bool',
      says: 'Checks of /readyz that are not ok, by process; empty is right, and what each means is in the answer of /readyz.',
      series: { '{{check}} {{instance}}': `${of('readiness_check')} == 0` },
    },
  ],
  'Seen from outside': [
    {
      title: 'Probes',
      unit: 'bool',
      says: 'Whether each leg of the prober works; all are 1, and the line of the prober has the reason of a 0. Empty without a prober.',
      series: { '{{leg}}': 'agent_mailbox_probe_success' },
    },
    {
      title: 'Time of probes',
      unit: 's',
      says: 'How long a mail, its reading, its webhook and a decision take for a user; the usual value of each is what to compare with.',
      series: { '{{leg}}': 'agent_mailbox_probe_duration_seconds' },
    },
    {
      title: 'Since a leg last worked',
      unit: 's',
      says: 'Time since each leg last worked; a minute or two are usual, for decisions a quarter of an hour.',
      series: { '{{leg}}': 'time() - agent_mailbox_probe_last_success_timestamp_seconds' },
    },
  ],
  'What waits': [
    {
      title: 'Overdue',
      unit: 'short',
      says: 'Work whose time has come and that nobody has taken up, by queue; near 0 is right, and what grows lacks workers or a server.',
      series: { '{{queue}}': `max by (queue) (${of('queue_overdue')})` },
    },
    {
      title: 'Overdue for',
      unit: 's',
      says: 'Age of the oldest overdue work by queue; five minutes are the alert, for requests of consent an hour.',
      series: { '{{queue}}': `max by (queue) (${of('queue_overdue_age_seconds')})` },
    },
    {
      title: 'Length',
      unit: 'short',
      says: 'All that waits by queue, also for its time: scheduled mail, retries, decisions of people. Only a steady growth is a sign.',
      series: { '{{queue}}': `max by (queue) (${of('queue_length')})` },
    },
  ],
  'Mail in': [
    {
      title: 'Answers to other hosts',
      unit: 'ops',
      says: 'Answers of the listener by outcome; refused and deferred are rules and limits, failed is a fault here and should be 0.',
      series: { '{{outcome}}': `sum by (outcome) (${rate('smtp_answers_total')})` },
    },
    {
      title: 'Sessions',
      unit: 'short',
      says: 'Open connections of the mail listeners; each listener has a limit in the settings, above which it refuses.',
      series: { '{{listener}}': `sum by (listener) (${of('mail_sessions')})` },
    },
    {
      title: 'Logins that fail',
      unit: 'ops',
      says: 'Logins that did not succeed, by protocol and outcome; a high steady rate is somebody who guesses, and the mail log has the addresses.',
      series: {
        '{{protocol}} {{outcome}}': `sum by (protocol, outcome) (${rate('logins_total', 'outcome!="passed"')})`,
      },
    },
  ],
  'Mail out': [
    {
      title: 'Attempts to send',
      unit: 'ops',
      says: 'Results of attempts to send mail by outcome; mostly deferred means that the relay or many hosts do not take our mail.',
      series: { '{{outcome}}': `sum by (outcome) (${rate('mail_attempts_total')})` },
    },
    {
      title: 'Bounces and complaints',
      unit: 'ops',
      says: 'Recipients that were not reached, and recipients that call our mail unwanted; look for the sender above 5 % and 0.1 % of what is sent.',
      series: {
        'bounces ({{source}})': `sum by (source) (${rate('mail_bounces_total')})`,
        complaints: `sum(${rate('mail_complaints_total')})`,
      },
    },
    {
      title: 'Approval notices',
      unit: 's',
      says: 'Time from a held message to the notice of the person who decides; ten seconds are the objective.',
      series: halfAndMost('approval_notice_delay_seconds'),
    },
    {
      title: 'Notices',
      unit: 'ops',
      says: 'Results of attempts to send notices to people, by mail and chat; failed ones are in the list of notices of their organization.',
      series: { '{{outcome}}': `sum by (outcome) (${rate('notices_total')})` },
    },
  ],
  Webhooks: [
    {
      title: 'Attempts',
      unit: 'ops',
      says: 'Attempts by outcome; failures to connect or resolve for many endpoints are our network, answers of one endpoint are its own.',
      series: { '{{outcome}}': `sum by (outcome) (${rate('webhook_attempts_total')})` },
    },
    {
      title: 'From event to first attempt',
      unit: 's',
      says: 'What the service itself is responsible for; above a second a worker is missing or its CPU is used up.',
      series: halfAndMost('webhook_first_attempt_delay_seconds'),
    },
    {
      title: 'From event to outcome',
      unit: 's',
      says: 'What a customer waits for, with the time of the endpoint; compare it with the panel beside it.',
      series: halfAndMost('webhook_first_attempt_outcome_seconds'),
    },
    {
      title: 'Given up',
      unit: 'ops',
      says: 'Deliveries given up by reason; customers can have them sent again.',
      series: { '{{reason}}': `sum by (reason) (${rate('webhook_deliveries_exhausted_total')})` },
    },
    {
      title: 'In flight',
      unit: 'short',
      says: 'First attempts that workers are making now; a plateau at its limit means that endpoints answer slowly or workers are missing.',
      series: { '{{instance}}': of('webhook_fast_lane_in_flight') },
    },
    {
      title: 'Time of attempts',
      unit: 's',
      says: 'Time from the start of an attempt to its outcome, which is mostly that of the endpoint; 15 s is the limit.',
      series: halfAndMost('webhook_attempt_duration_seconds'),
    },
  ],
  API: [
    {
      title: 'Requests',
      unit: 'ops',
      says: 'Requests by class of status; 5xx is a fault here, and the log has the id of each.',
      series: { '{{status}}': `sum by (status) (${rate('api_request_duration_seconds_count')})` },
    },
    {
      title: 'Time of requests',
      unit: 's',
      says: 'Time of requests without streams; a rise without more requests is mostly PostgreSQL.',
      series: halfAndMost('api_request_duration_seconds'),
    },
  ],
  'Machines and storage': [
    {
      title: 'Connections to PostgreSQL',
      unit: 'percentunit',
      says: 'Share of the pool of each process that is in use; at 100 % statements wait.',
      series: {
        '{{instance}}': `${of('database_connections', 'state="used"')} / ignoring (state) ${of('database_connections_max')}`,
      },
    },
    {
      title: 'Statements that wait for a connection',
      unit: 'short',
      says: 'Should be 0; otherwise look for a statement that blocks others before raising DATABASE_POOL_MAX.',
      series: { '{{instance}}': of('database_connection_requests_waiting') },
    },
    {
      title: 'Sizes',
      unit: 'bytes',
      says: 'Mail as it came, the table that contains it, and the whole database; the database must not grow much faster than the mail.',
      series: {
        'stored mail': `max(${of('stored_mail_bytes')})`,
        'table of contents': `max(${of('blob_table_size_bytes')})`,
        database: `max(${of('database_size_bytes')})`,
      },
    },
    {
      title: 'Disk of DATA_DIR',
      unit: 'percentunit',
      says: 'Free share of the disk where mail is kept until it is stored; below 10 % is the alert, and without room for a message mail is put off.',
      series: { '{{instance}}': `${of('data_folder_free_bytes')} / ${of('data_folder_size_bytes')}` },
    },
    {
      title: 'CPU of the processes',
      unit: 'percentunit',
      says: 'Share of one core; above 70 % for long add a process of that kind.',
      series: { '{{instance}}': 'rate(process_cpu_seconds_total{job="$job"}[$__rate_interval])' },
    },
    {
      title: 'Memory of the processes',
      unit: 'bytes',
      says: 'Resident memory; a steady rise over days under the same load is a defect to report.',
      series: { '{{instance}}': 'process_resident_memory_bytes{job="$job"}' },
    },
    {
      title: 'Certificate of the mail listeners',
      unit: 'dtdurations',
      says: 'Time until it ends; below 14 days its renewal has failed.',
      series: { left: `min(${of('tls_certificate_expiry_timestamp_seconds')}) - time()` },
      isStat: true,
    },
  ],
};

function panelOf(panel: Panel): TimeseriesBuilder | StatBuilder {
  const builder = panel.isStat === true ? new StatBuilder() : new TimeseriesBuilder();
  builder
    .title(panel.title)
    .description(panel.says)
    .unit(panel.unit)
    .datasource(DATASOURCE)
    .span(SPAN)
    .height(panel.isStat === true ? HEIGHT_OF_STAT : HEIGHT);
  if (panel.unit !== 'dtdurations') builder.min(0);
  for (const [legend, expression] of Object.entries(panel.series))
    builder.withTarget(new DataqueryBuilder().expr(expression).legendFormat(legend).datasource(DATASOURCE));
  return builder;
}

/** As the file is written. */
export function boardFile(): string {
  const board = new DashboardBuilder('Agent Mailbox')
    .uid('agent-mailbox')
    .description('Objectives, queues, mail, webhooks, API and machines of an installation of Agent Mailbox.')
    .tags(['agent-mailbox'])
    .editable()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .timezone('browser')
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'))
    .withVariable(
      new QueryVariableBuilder('job')
        .label('Job')
        .datasource(DATASOURCE)
        .query('label_values(agent_mailbox_ready, job)')
        .refresh(VariableRefresh.OnDashboardLoad),
    );
  for (const [title, panels] of Object.entries(ROWS)) {
    board.withRow(new RowBuilder(title));
    for (const panel of panels) board.withPanel(panelOf(panel));
  }
  return `${JSON.stringify(board.build(), null, 2)}\n`;
}
