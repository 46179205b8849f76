/**
 * Every metric of the service, each declared once: `/metrics` shows those of its process, `npm run generate` writes
 * `docs/operations/metrics.md`, and a test compares rules and alerts of `deploy/prometheus/` with them.
 *
 * Names have the prefix `agent_mailbox_` and end with their unit; counters end with `_total`. Labels have few values, and
 * ids are never among them. A counter shows 0 for each of its labels' values from the start, since a rate needs the value
 * before the first increment.
 */
import { Counter, Gauge, Histogram } from '@prometheus-io/client';
import { ATTEMPT_ERRORS, EXHAUSTED_REASONS } from '#domain/webhooks/delivery-status.ts';

/** A process that has a metric; the process `all` has every one but those of the prober, which is a command. */
export type MetricProcess = 'api' | 'worker' | 'mail' | 'prober';

interface Declaration<Label extends string> {
  /** Processes that set it. */
  readonly of: readonly MetricProcess[];
  /** One sentence. */
  readonly help: string;
  /** Labels with their values. No values: they are said in the sentence. */
  readonly labels?: Readonly<Record<Label, readonly string[]>>;
}

export interface DeclaredMetric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly of: readonly MetricProcess[];
  readonly help: string;
  readonly labels: Readonly<Record<string, readonly string[]>>;
}

const PREFIX = 'agent_mailbox_';
const declared: DeclaredMetric[] = [];
/** All metrics, in the order of this file. */
export const METRICS: readonly DeclaredMetric[] = declared;

function declare<Label extends string, Made>(
  type: DeclaredMetric['type'],
  name: string,
  { of, help, labels }: Declaration<Label>,
  make: (config: { name: string; help: string; labelNames: Label[] }) => Made,
): Made {
  const known: Partial<Record<Label, readonly string[]>> = labels ?? {};
  const labelNames = Object.keys(known) as Label[]; // the keys of a Record<Label, …>
  declared.push({ name: `${PREFIX}${name}`, type, of, help, labels: { ...labels } });
  return make({ name: `${PREFIX}${name}`, help, labelNames });
}

/** Each combination of the values of labels. */
const combinations = (labels: readonly (readonly string[])[]): string[][] =>
  labels.reduce<string[][]>((sofar, values) => sofar.flatMap((each) => values.map((value) => [...each, value])), [[]]);

function counter<Label extends string = never>(name: string, declaration: Declaration<Label>): Counter<Label> {
  const made = declare('counter', name, declaration, (config) => new Counter<Label>(config));
  const values = Object.values<readonly string[]>(declaration.labels ?? {});
  for (const each of values.length === 0 ? [] : combinations(values)) made.labels(...each).inc(0);
  return made;
}

const gauge = <Label extends string = never>(name: string, declaration: Declaration<Label>): Gauge<Label> =>
  declare('gauge', name, declaration, (config) => new Gauge<Label>(config));

const histogram = <Label extends string = never>(
  name: string,
  { buckets, ...declaration }: Declaration<Label> & { readonly buckets: readonly number[] },
): Histogram<Label> =>
  declare('histogram', name, declaration, (config) => new Histogram<Label>({ ...config, buckets: [...buckets] }));

// Webhooks

export const attemptsTotal = counter('webhook_attempts_total', {
  of: ['worker'],
  help: 'Attempts of webhook deliveries by outcome: delivered, or the error of the attempt.',
  labels: { outcome: ['delivered', ...ATTEMPT_ERRORS] },
});

export const attemptSeconds = histogram('webhook_attempt_duration_seconds', {
  of: ['worker'],
  help: 'Time from the start of an attempt of a webhook delivery to its outcome.',
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
});

/** What the service itself is responsible for: the time of the endpoint is not in it. */
export const firstAttemptDelaySeconds = histogram('webhook_first_attempt_delay_seconds', {
  of: ['worker'],
  help: 'Time from the recording of an event to the start of the first attempt of its delivery.',
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300],
});

/** What a customer waits for. */
export const firstOutcomeSeconds = histogram('webhook_first_attempt_outcome_seconds', {
  of: ['worker'],
  help: 'Time from the recording of an event to the outcome of the first attempt of its delivery.',
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300],
});

export const exhaustedTotal = counter('webhook_deliveries_exhausted_total', {
  of: ['worker'],
  help: 'Webhook deliveries given up after an attempt, by reason.',
  labels: { reason: EXHAUSTED_REASONS },
});

export const fanOutsTotal = counter('webhook_fan_outs_total', {
  of: ['api'],
  help: 'Workflows started by the dispatcher of this process, each for deliveries of one endpoint.',
});

export const inFlightDeliveries = gauge('webhook_deliveries_in_flight', {
  of: ['api'],
  help: 'Deliveries claimed by the dispatcher of this process whose first attempt has not ended.',
});

export const laneDeliveries = gauge('webhook_fast_lane_in_flight', {
  of: ['worker'],
  help: 'First attempts of the fast lane of this process that are in flight.',
});

// Mail

export const smtpAnswersTotal = counter('smtp_answers_total', {
  of: ['mail'],
  help: 'Answers of the listener for mail from other hosts: accepted, refused (5xx), deferred (4xx by a rule or a limit), or failed (4xx because of a fault here).',
  labels: { command: ['rcpt', 'data'], outcome: ['accepted', 'refused', 'deferred', 'failed'] },
});

export const mailAttemptsTotal = counter('mail_attempts_total', {
  of: ['worker'],
  help: 'Results of attempts to send mail, one for each recipient: sent, captured (kept here by OUTBOUND_TRANSPORT), deferred, or failed.',
  labels: { outcome: ['sent', 'captured', 'deferred', 'failed'] },
});

export const bouncesTotal = counter('mail_bounces_total', {
  of: ['worker', 'mail'],
  help: 'Recipients that sent mail did not reach, known by the attempt or by a later report of another host.',
  labels: { source: ['attempt', 'report'] },
});

export const complaintsTotal = counter('mail_complaints_total', {
  of: ['worker', 'mail'],
  help: 'Recipients that called sent mail unwanted, by reports of other hosts.',
});

export const noticesTotal = counter('notices_total', {
  of: ['worker'],
  help: 'Results of attempts to send a notice to a person: sent, captured, deferred, or failed.',
  labels: { outcome: ['sent', 'captured', 'deferred', 'failed'] },
});

export const approvalNoticeSeconds = histogram('approval_notice_delay_seconds', {
  of: ['worker'],
  help: 'Time from the moment at which a notice about a held message is due to the moment at which it was sent.',
  buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600],
});

// Logins and sessions

export const loginsTotal = counter('logins_total', {
  of: ['api', 'mail'],
  help: 'Logins of mail clients with a token, and sign-ins of people with a password (web), by outcome.',
  labels: {
    protocol: ['imap', 'pop3', 'smtp', 'web'],
    outcome: ['passed', 'failed', 'throttled', 'not_permitted', 'too_many_connections', 'unavailable'],
  },
});

export const mailSessions = gauge('mail_sessions', {
  of: ['mail'],
  help: 'Open sessions of the mail listeners.',
  labels: { listener: ['smtp', 'submissions', 'submission', 'imaps', 'imap', 'pop3s', 'pop3'] },
});

export const apiRequestSeconds = histogram('api_request_duration_seconds', {
  of: ['api'],
  help: 'Duration of API requests by method and class of status (2xx).',
  labels: { method: [], status: [] },
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
});

// What waits, and what is stored: of the whole installation, read by `core/process/expose-metrics.ts`

/** Values of the label `queue`. Consents are messages that wait for a person's approval. */
export const QUEUES = ['webhooks', 'outgoing_mail', 'consents', 'notices'] as const;

export const queueLength = gauge('queue_length', {
  of: ['api'],
  help: 'What waits in the whole installation: deliveries, outgoing messages, consents (held messages), notices.',
  labels: { queue: QUEUES },
});

export const queueOldestSeconds = gauge('queue_oldest_age_seconds', {
  of: ['api'],
  help: 'Time since the oldest of a queue began to wait; 0 if none waits.',
  labels: { queue: QUEUES },
});

export const queueOverdue = gauge('queue_overdue', {
  of: ['api'],
  help: 'Those of a queue whose next attempt should have begun; for consents, that should have expired.',
  labels: { queue: QUEUES },
});

export const queueOverdueSeconds = gauge('queue_overdue_age_seconds', {
  of: ['api'],
  help: 'Time since the first of a queue should have gone on; 0 if none is overdue.',
  labels: { queue: QUEUES },
});

export const storedMailBytes = gauge('stored_mail_bytes', {
  of: ['api'],
  help: 'Size of the messages in all mailboxes, as their quotas count it.',
});

export const storedMessages = gauge('stored_messages', {
  of: ['api'],
  help: 'Messages in all mailboxes.',
});

export const storedBlobs = gauge('stored_blobs', {
  of: ['api'],
  help: 'Different contents of messages, as PostgreSQL estimates it; equal messages share one.',
});

export const blobTableBytes = gauge('blob_table_size_bytes', {
  of: ['api'],
  help: 'Disk space of the table with the contents of messages, with its indexes.',
});

export const blobRequestsTotal = counter('blob_requests_total', {
  of: ['api', 'worker', 'mail'],
  help: 'Requests to the object storage of contents (S3_ENDPOINT), by operation and outcome; each attempt counts.',
  labels: { operation: ['put', 'get', 'remove'], outcome: ['ok', 'failed'] },
});

export const databaseBytes = gauge('database_size_bytes', {
  of: ['api'],
  help: 'Disk space of the database.',
});

export const dkimKeyAgeSeconds = gauge('dkim_signing_key_age_seconds', {
  of: ['api'],
  help: 'Age of the oldest DKIM key that signs, of all domains.',
});

export const dkimRotationSeconds = gauge('dkim_rotation_waiting_seconds', {
  of: ['api'],
  help: 'Time since the oldest rotation of a DKIM key waits for its record in DNS; 0 if none waits.',
});

export const acmeOrdersTotal = counter('acme_orders_total', {
  of: ['api'],
  help: 'Orders of certificates by ACME, by outcome.',
  labels: { outcome: ['issued', 'failed'] },
});

export const acmeFailingNames = gauge('acme_failing_names', {
  of: ['api'],
  help: 'Names whose last order of a certificate failed.',
});

// This process

export const databaseConnections = gauge('database_connections', {
  of: ['api', 'worker', 'mail'],
  help: 'Connections of the pool to PostgreSQL by state.',
  labels: { state: ['used', 'idle'] },
});

export const databaseConnectionsMax = gauge('database_connections_max', {
  of: ['api', 'worker', 'mail'],
  help: 'Connections that the pool to PostgreSQL may open (DATABASE_POOL_MAX).',
});

export const databaseWaiting = gauge('database_connection_requests_waiting', {
  of: ['api', 'worker', 'mail'],
  help: 'Statements and transactions that wait for a connection of the pool.',
});

/** What a process keeps in memory so that it need not be read again. */
const CACHES = ['recipients', 'dns', 'mta_sts', 'recent_claims'] as const;
export type CacheName = (typeof CACHES)[number];

export const cacheLookupsTotal = counter('cache_lookups_total', {
  of: ['worker', 'mail'],
  help: 'Lookups in a cache of this process: recipients (mailboxes by address), dns (answers for the checks of senders), mta_sts (policies of other domains), recent_claims (folders without new messages for IMAP).',
  labels: { cache: CACHES, outcome: ['hit', 'miss'] },
});

export const cacheEntries = gauge('cache_entries', {
  of: ['worker', 'mail'],
  help: 'Entries of a cache of this process; when it is full, the oldest is dropped.',
  labels: { cache: CACHES },
});

export const dataFolderFreeBytes = gauge('data_folder_free_bytes', {
  of: ['mail'],
  help: 'Free space of the disk of DATA_DIR, where mail is kept until it is stored.',
});

export const dataFolderBytes = gauge('data_folder_size_bytes', {
  of: ['mail'],
  help: 'Size of the disk of DATA_DIR.',
});

/** The checks of `/readyz`, by name (`core/process/readiness.ts`). */
export const readinessCheck = gauge('readiness_check', {
  of: ['api', 'worker', 'mail'],
  help: 'Whether a check of /readyz is ok (1) or not (0); the label has its name there.',
  labels: { check: [] },
});

export const readyGauge = gauge('ready', {
  of: ['api', 'worker', 'mail'],
  help: 'Whether the process is ready (1) or not (0).',
});

export const certificateExpiry = gauge('tls_certificate_expiry_timestamp_seconds', {
  of: ['mail'],
  help: 'End of validity of the certificate of the mail listeners, in seconds since 1970.',
});

// The prober

export const PROBE_LEGS = ['smtp', 'imap', 'webhook', 'approval'] as const;

export const probeSuccess = gauge('probe_success', {
  of: ['prober'],
  help: 'Whether a leg of the last probe from outside worked (1) or not (0): mail in, reading by IMAP, its webhook, a decision about held mail.',
  labels: { leg: PROBE_LEGS },
});

export const probeDuration = gauge('probe_duration_seconds', {
  of: ['prober'],
  help: 'Time that a leg of the last probe took.',
  labels: { leg: PROBE_LEGS },
});

export const probeLastSuccess = gauge('probe_last_success_timestamp_seconds', {
  of: ['prober'],
  help: 'When a leg of a probe last worked, in seconds since 1970.',
  labels: { leg: PROBE_LEGS },
});
