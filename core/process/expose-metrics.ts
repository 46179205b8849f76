/**
 * The text of `/metrics`: the metrics of this process, with those that are read when they are asked for.
 *
 *   events        counted where they happen (`core/platform/log/metrics.ts`)
 *   connections   read from the pool each time
 *   queues        counted in the database, by the api processes alone, at most every ten seconds
 *   storage       the same, at most every minute
 *
 * A scrape is answered within seconds in any case: what PostgreSQL does not answer in time is left out.
 */
import { statfs } from 'node:fs/promises';
import { collectDefaultMetrics, register } from '@prometheus-io/client';
import { certificateNames } from '#core/certificates/acme-orders.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import {
  acmeFailingNames,
  blobTableBytes,
  databaseBytes,
  databaseConnections,
  databaseConnectionsMax,
  databaseWaiting,
  dataFolderBytes,
  dataFolderFreeBytes,
  dkimKeyAgeSeconds,
  dkimRotationSeconds,
  METRICS,
  type QUEUES,
  queueLength,
  queueOldestSeconds,
  queueOverdue,
  queueOverdueSeconds,
  storedBlobs,
  storedMailBytes,
  storedMessages,
} from '#core/platform/log/metrics.ts';
import type { ProcessName } from '#core/platform/process/database-connections.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { Database } from '#db/database.ts';
import { type Backlog, bounded, readBacklog } from './diagnosis/store-findings.ts';

const QUEUES_FRESH_MS = 10_000;
const STORAGE_FRESH_MS = 60_000;
/** What takes longer is in the next scrape. */
const SCRAPE_WAITS_MS = 3_000;

/** Metrics of Node and of the process (CPU, memory, event loop), named by the library; once per process. */
let defaultMetricNames: readonly string[] | undefined;

/** @returns their names */
export function collectProcessMetrics(): readonly string[] {
  if (defaultMetricNames !== undefined) return defaultMetricNames;
  const ours = new Set(METRICS.map(({ name }) => name));
  collectDefaultMetrics();
  defaultMetricNames = register
    .getMetricsAsArray()
    .map(({ name }) => name)
    .filter((name) => !ours.has(name));
  return defaultMetricNames;
}

/** The label of a queue, by its name in words. */
const LABELS: Readonly<Record<Backlog['queue'], (typeof QUEUES)[number]>> = {
  webhooks: 'webhooks',
  'outgoing messages': 'outgoing_mail',
  consents: 'consents',
  notices: 'notices',
};

/** They must not show an old value. */
const QUEUE_GAUGES = [queueLength, queueOldestSeconds, queueOverdue, queueOverdueSeconds];

async function readQueues(db: Database): Promise<void> {
  try {
    for (const { queue: found, waiting, oldestSeconds, overdue, overdueSeconds } of await readBacklog(db)) {
      const queue = LABELS[found];
      queueLength.set({ queue }, waiting);
      queueOldestSeconds.set({ queue }, Math.max(0, oldestSeconds ?? 0));
      queueOverdue.set({ queue }, overdue);
      queueOverdueSeconds.set({ queue }, Math.max(0, overdueSeconds ?? 0));
    }
  } catch (error) {
    for (const each of QUEUE_GAUGES) each.reset();
    throw error;
  }
}

/** Sums over a row for each mailbox and domain; the rest is known to PostgreSQL without reading tables. */
const STORAGE = `
  select (select coalesce(sum(bytes_used), 0) from mailbox_counter)::float8 as bytes,
         (select coalesce(sum(messages), 0) from mailbox_counter)::float8 as messages,
         (select greatest(reltuples, 0) from pg_class where oid = 'blob'::regclass)::float8 as blobs,
         pg_total_relation_size('blob')::float8 as "blobBytes",
         pg_database_size(current_database())::float8 as "databaseBytes",
         (select extract(epoch from now() - min(made)) from (
           select created_at as made from dkim_key where domain = $1 union all
           select coalesce(dkim_key_created_at, created_at) from domains where status = 'verified') as k
         )::float8 as "dkimKeySeconds",
         (select extract(epoch from now() - min(created_at)) from dkim_rotation where state = 'next'
         )::float8 as "dkimRotationSeconds",
         (select count(*) from acme_certificate where failures > 0 and name = any($2::text[]))::int as "failingNames"`;

interface Storage {
  readonly bytes: number;
  readonly messages: number;
  readonly blobs: number;
  readonly blobBytes: number;
  readonly databaseBytes: number;
  readonly dkimKeySeconds: number | null;
  readonly dkimRotationSeconds: number | null;
  readonly failingNames: number;
}

async function readStorage(db: Database, settings: Settings): Promise<void> {
  const [found] = await bounded(db, (sql) =>
    sql.query<Storage & object>(STORAGE, [settings.MAIL_DOMAIN.toLowerCase(), certificateNames(settings)]),
  );
  if (found === undefined) return;
  storedMailBytes.set(found.bytes);
  storedMessages.set(found.messages);
  storedBlobs.set(found.blobs);
  blobTableBytes.set(found.blobBytes);
  databaseBytes.set(found.databaseBytes);
  dkimKeyAgeSeconds.set(Math.max(0, found.dkimKeySeconds ?? 0));
  acmeFailingNames.set(found.failingNames);
  dkimRotationSeconds.set(Math.max(0, found.dkimRotationSeconds ?? 0));
}

/** @returns a function that runs `read` unless it ran within `freshMs` or is running */
function atMostEvery(freshMs: number, read: () => Promise<void>): () => Promise<void> {
  let last: { readonly atMs: number; readonly ended: Promise<void> } | undefined;
  let running = false;
  return () => {
    if (last === undefined || (!running && performance.now() - last.atMs >= freshMs)) {
      running = true;
      const ended = read().finally(() => {
        running = false;
      });
      last = { atMs: performance.now(), ended };
    }
    return last.ended;
  };
}

/** The content of an answer. */
export interface ExposedMetrics {
  readonly contentType: string;
  readonly text: string;
}

/** @returns what answers a scrape of this process; it never throws because of PostgreSQL */
export function openMetrics(
  { db, settings, log }: Pick<Services, 'db' | 'settings' | 'log'>,
  process: ProcessName,
): () => Promise<ExposedMetrics> {
  const has = (part: ProcessName) => process === 'all' || process === part;
  const shown = [
    ...METRICS.filter(({ of }) => of.some((part) => part !== 'prober' && has(part))).map(({ name }) => name),
    ...collectProcessMetrics(),
  ];
  const reads = has('api')
    ? [
        atMostEvery(QUEUES_FRESH_MS, () => readQueues(db)),
        atMostEvery(STORAGE_FRESH_MS, () => readStorage(db, settings)),
      ]
    : [];
  if (has('mail'))
    reads.push(async () => {
      const { bavail, blocks, bsize } = await statfs(settings.DATA_DIR);
      dataFolderFreeBytes.set(bavail * bsize);
      dataFolderBytes.set(blocks * bsize);
    });

  return async () => {
    const { pool } = db;
    databaseConnections.set({ state: 'used' }, pool.totalCount - pool.idleCount);
    databaseConnections.set({ state: 'idle' }, pool.idleCount);
    databaseConnectionsMax.set(settings.DATABASE_POOL_MAX);
    databaseWaiting.set(pool.waitingCount);
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, SCRAPE_WAITS_MS);
    const read = reads.map((each) =>
      each().catch((error: unknown) => log.debug({ reason: reasonOf(error) }, 'a metric could not be read')),
    );
    await Promise.race([Promise.all(read), late.promise]);
    clearTimeout(timer);
    const texts = await Promise.all(shown.map((name) => register.getSingleMetricAsString(name)));
    return { contentType: register.contentType, text: `${texts.join('\n')}\n` };
  };
}
