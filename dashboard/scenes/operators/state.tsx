import { useQuery } from '@tanstack/react-query';
import { Empty } from '../../components/frame/page.tsx';
import { Loaded, Section } from '../../components/frame/section.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { byteSize } from '../../components/shown/byte-size.ts';
import { type Fact, Facts } from '../../components/shown/facts.tsx';
import { Time } from '../../components/shown/time.tsx';
import { alertsOf, type Incident, incidentsOf, percent } from './incidents.ts';
import { findingsQuery, type Overview } from './queries.ts';
import { Table } from './table.tsx';

function age(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

const OBJECTIVES = { firstAttempt: 'First attempt within 1 s', approvalNotice: 'Approval notice within 10 s' } as const;

export function OverviewView({ overview }: { readonly overview: Overview }) {
  const alerts = alertsOf(overview, Date.now());
  const facts: Fact[] = [
    ['Organizations', `${overview.organizations.total}, ${overview.organizations.suspended} suspended`],
    ['Database', byteSize(overview.databaseBytes)],
    [
      'Disk of DATA_DIR',
      overview.disk === null
        ? 'unknown'
        : `${byteSize(overview.disk.freeBytes)} of ${byteSize(overview.disk.totalBytes)} free`,
    ],
    ...overview.certificates.map(
      ({ names, expiresAt }): Fact => [
        'Certificate',
        <span key={names}>
          {names}, ends <Time value={expiresAt} />
        </span>,
      ],
    ),
    [
      'Last backup',
      overview.lastBackupAt === null ? 'none known' : <Time key="backup" value={overview.lastBackupAt} />,
    ],
    ['Erasures in progress', String(overview.erasures)],
  ];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
      {alerts.length === 0 ? null : <Incidents label="Alerts" incidents={alerts} />}
      <div className="grid gap-6 sm:grid-cols-[minmax(0,1fr)_260px]">
        <div className="grid content-start gap-6">
          <Section title="What waits">
            <Table
              label="What waits"
              head={['Queue', 'Waiting', 'Oldest', 'Overdue', 'Overdue since']}
              rows={overview.queues.map(({ queue, waiting, oldestSeconds, overdue, overdueSeconds }) => ({
                id: queue,
                cells: [queue, waiting, age(oldestSeconds), overdue, age(overdueSeconds)],
              }))}
            />
          </Section>
          <Section title="Objectives" note="Of the last hour.">
            <Table
              label="Objectives"
              head={['Objective', 'Good', 'Wanted', 'Counted']}
              rows={overview.objectives.map(({ name, target, good, total }) => ({
                id: name,
                cells: [OBJECTIVES[name], total === 0 ? '–' : percent(good / total, 2), percent(target), total],
              }))}
            />
          </Section>
        </div>
        <Facts facts={facts} />
      </div>
    </div>
  );
}

/** Alerts and findings with what to do, and the section of the guide. */
export function IncidentsView({ overview }: { readonly overview: Overview }) {
  const findings = useQuery(findingsQuery);
  const alerts = alertsOf(overview, Date.now());
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
      <Section title="Alerts">
        {alerts.length === 0 ? <p className="text-muted">None.</p> : <Incidents label="Alerts" incidents={alerts} />}
      </Section>
      <Section title="Findings" note="What doctor finds, as the process that answers sees it.">
        <Loaded query={findings}>
          {(data) => {
            const incidents = incidentsOf(data.findings);
            return incidents.length === 0 ? (
              <Empty title="Nothing is wrong">
                <p>{data.findings.length} facts were checked.</p>
              </Empty>
            ) : (
              <Incidents label="Findings" incidents={incidents} />
            );
          }}
        </Loaded>
      </Section>
      <p>
        <a href="/docs/operations/incidents">Incidents: symptom, what to look at, what to do</a>
      </p>
    </div>
  );
}

const Incidents = ({ label, incidents }: { readonly label: string; readonly incidents: readonly Incident[] }) => (
  <ul aria-label={label} className="grid rounded-lg border border-line bg-panel">
    {incidents.map(({ level, what, todo, guide }) => (
      <li key={what} className="grid gap-1 border-t border-line px-4 py-3 first:border-t-0">
        <div className="flex flex-wrap items-center gap-2">
          <Badge meaning={level === 'error' ? 'stop' : 'wait'}>{level === 'error' ? 'Error' : 'Warning'}</Badge>
          <span className="min-w-0 break-words">{what}</span>
        </div>
        <p className="text-muted">
          {todo}{' '}
          <a href={guide} aria-label={`Guide: ${what}`}>
            Guide
          </a>
        </p>
      </li>
    ))}
  </ul>
);
