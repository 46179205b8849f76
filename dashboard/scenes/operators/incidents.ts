/** What somebody must look at, from the overview and the findings, each with its section of the guide. */
import type { Finding, Overview } from './queries.ts';

export interface Incident {
  readonly level: 'warning' | 'error';
  readonly what: string;
  readonly todo: string;
  /** Address of the guide. */
  readonly guide: string;
}

const GUIDE = '/docs/operations/incidents';
const DAY_MS = 86_400_000;
const CERTIFICATE_DAYS = 14;
/** As `doctor` counts it: by then somebody should have taken it. */
const OVERDUE_SECONDS = 300;
const BACKUP_DAYS = 2;
const DISK_FREE_PART = 0.1;

const SECTIONS: Readonly<Partial<Record<Finding['check'], string>>> = {
  postgresql: 'postgresql-cannot-be-used',
  connections: 'connections-to-postgresql-run-out',
  temporal: 'temporal-is-unreachable',
  backlog: 'a-queue-is-overdue',
  disk: 'a-disk-is-almost-full',
  certificate: 'the-certificate-expires',
  dkim: 'a-dkim-key-is-not-rotated',
};

const guideOf = (section: string | undefined): string => (section === undefined ? GUIDE : `${GUIDE}#${section}`);

const OBJECTIVES = {
  firstAttempt: 'First attempts of webhooks within a second',
  approvalNotice: 'Notices about held messages within ten seconds',
} as const;

export const percent = (part: number, digits = 1): string => `${(part * 100).toFixed(digits)} %`;

/** @param nowMs Unix time */
export function alertsOf(overview: Overview, nowMs: number): Incident[] {
  const alerts: Incident[] = [];
  const alert = (section: string, what: string, todo: string, level: Incident['level'] = 'warning') =>
    alerts.push({ level, what, todo, guide: guideOf(section) });
  for (const { name, target, good, total } of overview.objectives)
    if (total > 0 && good / total < target)
      alert(
        'an-objective-is-missed',
        `${OBJECTIVES[name]}: ${percent(good / total)} of ${total} in the last hour, ${percent(target)} wanted.`,
        'Look for the queue that grows and for slow receivers.',
      );
  for (const { queue, overdue, overdueSeconds } of overview.queues)
    if (overdue > 0 && (overdueSeconds ?? 0) >= OVERDUE_SECONDS)
      alert(
        'a-queue-is-overdue',
        `${overdue} ${queue} are overdue, the oldest since ${Math.round((overdueSeconds ?? 0) / 60)} min.`,
        'Look whether workers run and what their log says.',
      );
  if (overview.disk !== null && overview.disk.freeBytes < overview.disk.totalBytes * DISK_FREE_PART)
    alert(
      'a-disk-is-almost-full',
      `The disk of DATA_DIR has ${percent(overview.disk.freeBytes / overview.disk.totalBytes)} free.`,
      'Free some space, or give it more.',
    );
  for (const { names, expiresAt } of overview.certificates) {
    const days = Math.floor((Date.parse(expiresAt) - nowMs) / DAY_MS);
    if (days < CERTIFICATE_DAYS)
      alert('the-certificate-expires', `The certificate for ${names} ends in ${days} days.`, 'Look at its renewal.');
  }
  if (overview.lastBackupAt === null || nowMs - Date.parse(overview.lastBackupAt) > BACKUP_DAYS * DAY_MS)
    alert(
      'a-backup-fails',
      overview.lastBackupAt === null ? 'No backup is known.' : `The last backup is older than ${BACKUP_DAYS} days.`,
      'Run `agent-mailbox-admin backup`, and look why it did not run by itself.',
    );
  return alerts;
}

export const incidentsOf = (findings: readonly Finding[]): Incident[] =>
  findings.flatMap(({ check, level, what, todo }) =>
    level === 'warning' || level === 'error' ? [{ level, what, todo, guide: guideOf(SECTIONS[check]) }] : [],
  );
