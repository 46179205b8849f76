/**
 * What an operator looks at first: what waits and how long, whether the objectives of the last hour are met, the disk,
 * certificates, the last backup. All of it is bounded, and nothing of it is content.
 */
import { X509Certificate } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import type { Services } from '#core/platform/process/services.ts';
import { productVersion } from '#core/platform/product-version.ts';
import { certificateFiles } from '#core/platform/settings/settings.ts';
import { type Backlog, bounded, readBacklog } from '#core/process/diagnosis/store-findings.ts';
import type { Sql } from '#db/database.ts';
import { firstIdAt } from '#domain/ids.ts';
import { OBJECTIVE_WINDOW_MINUTES, OBJECTIVES, type ObjectiveName } from '#domain/objectives.ts';

export interface Objective {
  readonly name: ObjectiveName;
  /** Share that must be good, 0 to 1. */
  readonly target: number;
  readonly good: number;
  readonly total: number;
}

export interface Overview {
  readonly version: string;
  readonly queues: readonly Backlog[];
  /** Of the last hour. */
  readonly objectives: readonly Objective[];
  /** Of DATA_DIR in the process that answers; null: it cannot be read. */
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number } | null;
  readonly databaseBytes: number;
  readonly organizations: { readonly total: number; readonly suspended: number };
  /** That have not ended. */
  readonly erasures: number;
  /** Of mail and of the API, with the names in them; of this process. */
  readonly certificates: readonly { readonly names: string; readonly expiresAt: Date }[];
  /** The last backup that a command of this installation finished; null: none is known. */
  readonly lastBackupAt: Date | null;
}

const HOUR_MS = 3_600_000;

/** @throws after some seconds, if the database is that slow */
export async function readOverview({
  db,
  settings,
  now,
}: Pick<Services, 'db' | 'settings' | 'now'>): Promise<Overview> {
  const [queues, objectives, facts, disk, certificates] = await Promise.all([
    readBacklog(db),
    bounded(db, (sql) => readObjectives(sql, now())),
    bounded(db, readFacts),
    readDisk(settings.DATA_DIR),
    readCertificates(settings),
  ]);
  const { databaseBytes, total, suspended, erasures, lastBackupAt } = facts;
  return {
    version: productVersion(),
    queues,
    objectives,
    disk,
    databaseBytes,
    organizations: { total, suspended },
    erasures,
    certificates,
    lastBackupAt,
  };
}

interface Facts {
  readonly databaseBytes: number;
  readonly total: number;
  readonly suspended: number;
  readonly erasures: number;
  readonly lastBackupAt: Date | null;
}

async function readFacts(sql: Sql): Promise<Facts> {
  const [facts] = await sql.query<Facts & object>(`
    select pg_database_size(current_database())::float8 as "databaseBytes",
           (select count(*)::int from organizations) as total,
           (select count(*)::int from organizations where suspended_at is not null) as suspended,
           (select count(*)::int from erasure where finished_at is null) as erasures,
           (select max(at) from operator_use where operation = 'backup' and status = 200) as "lastBackupAt"`);
  if (facts === undefined) throw new Error('a select without a row');
  return facts;
}

/** Those that rows show; that of accepted mail is in the metrics alone. */
async function readObjectives(sql: Sql, nowMs: number): Promise<Objective[]> {
  const since = nowMs - HOUR_MS * (OBJECTIVE_WINDOW_MINUTES / 60);
  const { firstAttempt, approvalNotice } = OBJECTIVES;
  const [first] = await sql.query<{ good: number; total: number }>(
    `select count(*)::int as total,
            count(*) filter (where a.started_at <= d.created_at + make_interval(secs => $2))::int as good
       from deliveries d
       left join delivery_attempts a on a.delivery_id = d.id and a.number = 1
      where d.id >= $1 and (a.started_at is not null or d.created_at + make_interval(secs => $2) < $3)`,
    [firstIdAt('delivery', since), firstAttempt.withinSeconds, new Date(nowMs)],
  );
  const [notice] = await sql.query<{ good: number; total: number }>(
    `select count(*)::int as total,
            count(*) filter (where finished_at <= created_at + make_interval(secs => $2))::int as good
       from member_notices
      where id >= $1 and kind = 'approval_request'
        and (finished_at is not null or created_at + make_interval(secs => $2) < $3)`,
    [firstIdAt('notice', since), approvalNotice.withinSeconds, new Date(nowMs)],
  );
  return [
    { name: 'firstAttempt', target: firstAttempt.target, good: first?.good ?? 0, total: first?.total ?? 0 },
    { name: 'approvalNotice', target: approvalNotice.target, good: notice?.good ?? 0, total: notice?.total ?? 0 },
  ];
}

async function readDisk(folder: string): Promise<Overview['disk']> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return null;
  }
}

/** Of one that cannot be read, `findings` say why. */
async function readCertificates(settings: Services['settings']): Promise<Overview['certificates']> {
  try {
    const certificate = new X509Certificate(await readFile(certificateFiles(settings).certFile));
    const names = (certificate.subjectAltName ?? certificate.subject).replaceAll(/(?:DNS|IP Address):/g, '');
    return [{ names, expiresAt: certificate.validToDate }];
  } catch {
    return [];
  }
}
