import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { AUDIT_ACTIONS } from '../../../domain/organizations/audit-actions.ts';
import { Choice, Field } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Empty, PageHead, ProblemNote } from '../../components/frame/page.tsx';
import { PagedList } from '../../components/lists/steady-list.tsx';
import { saveFile } from '../../components/shown/save-file.ts';
import { Time } from '../../components/shown/time.tsx';
import { csvOf } from './csv.ts';
import { type AuditEntry, type AuditFilter, allEntries, auditQuery, peopleQuery } from './queries.ts';

interface AuditPageProps {
  readonly filter: AuditFilter;
  readonly onFilter: (filter: AuditFilter) => void;
}

/** Who did what, when and from where. */
export function AuditPage({ filter, onFilter }: AuditPageProps) {
  const list = useInfiniteQuery(auditQuery(filter));
  const isFiltered = Object.values(filter).some((value) => value !== undefined && value !== '');
  return (
    <>
      <PageHead title="Audit">
        <DownloadButton filter={filter} />
      </PageHead>
      <Filters filter={filter} onFilter={onFilter} />
      <PagedList
        key={JSON.stringify(filter)}
        label="Audit entries"
        query={list}
        empty={
          <Empty title={isFiltered ? 'No entry found' : 'Nothing happened yet'}>
            <p>
              {isFiltered
                ? 'No entry fits all of these filters.'
                : 'What people, keys and agents change is listed here.'}
            </p>
            {isFiltered ? <Button onClick={() => onFilter({})}>Clear the filters</Button> : null}
          </Empty>
        }
      >
        {(entry) => <EntryRow entry={entry} />}
      </PagedList>
    </>
  );
}

function Filters({ filter, onFilter }: AuditPageProps) {
  const people = useQuery(peopleQuery);
  const members = people.data?.map(({ userId, name }) => [userId, name] as const) ?? [];
  // Somebody who is no member any more, or no person.
  const isOther = people.data?.every(({ userId }) => userId !== filter.actor);
  const others = filter.actor && isOther ? [[filter.actor, filter.actor] as const] : [];
  const set = (change: AuditFilter): void => onFilter({ ...filter, ...change });
  return (
    <form
      aria-label="Filters"
      onSubmit={(event) => event.preventDefault()}
      className="mb-4 grid gap-3 sm:grid-cols-3 lg:grid-cols-[1.3fr_1fr_1.3fr_150px_150px]"
    >
      <Choice
        label="Action"
        value={filter.action ?? ''}
        options={[['', 'Every action'], ...AUDIT_ACTIONS.map((action) => [action, actionWords(action)] as const)]}
        onChoose={(action) => set({ action })}
      />
      <Choice
        label="Who"
        value={filter.actor ?? ''}
        options={[['', 'Everybody'], ...members, ...others]}
        onChoose={(actor) => set({ actor })}
      />
      <Field
        label="What it happened to"
        value={filter.target ?? ''}
        maxLength={64}
        placeholder="Id, such as mbx_…"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => set({ target: event.target.value.trim() })}
      />
      <Field
        label="From"
        type="date"
        value={filter.from ?? ''}
        onChange={(event) => set({ from: event.target.value })}
      />
      <Field
        label="To"
        type="date"
        value={filter.until ?? ''}
        onChange={(event) => set({ until: event.target.value })}
      />
    </form>
  );
}

const whoIs = ({ actor }: AuditEntry): string => actor.name ?? actor.address ?? actor.email ?? actor.type;

function EntryRow({ entry }: { readonly entry: AuditEntry }) {
  const details = Object.entries(entry.details);
  return (
    <details>
      <summary className="grid cursor-pointer items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)_minmax(0,1fr)_110px]">
        <span className="min-w-0 truncate font-medium">{actionWords(entry.action)}</span>
        <span className="min-w-0 truncate">{whoIs(entry)}</span>
        <span className="min-w-0 truncate font-mono text-[13px] text-muted">{entry.targetId}</span>
        <span className="text-muted sm:text-right">
          <Time value={entry.createdAt} />
        </span>
      </summary>
      <dl className="mt-3 grid grid-cols-[110px_minmax(0,1fr)] gap-x-4 gap-y-1 rounded-lg bg-sunken p-3 break-words">
        <dt className="text-muted">Time (UTC)</dt>
        <dd className="font-mono text-[13px]">{entry.createdAt}</dd>
        <dt className="text-muted">Who</dt>
        <dd>
          {entry.actor.type.replaceAll('_', ' ')} {entry.actor.email ?? entry.actor.address ?? ''}{' '}
          <code className="font-mono text-[13px]">{entry.actor.id}</code>
        </dd>
        <dt className="text-muted">From</dt>
        <dd className="font-mono text-[13px]">{entry.ipAddress ?? 'the service itself'}</dd>
        {entry.requestId === null ? null : (
          <>
            <dt className="text-muted">Request</dt>
            <dd className="font-mono text-[13px]">{entry.requestId}</dd>
          </>
        )}
        {details.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="font-mono text-[13px]">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

const COLUMNS = [
  'time',
  'action',
  'actor type',
  'actor',
  'actor id',
  'target',
  'address',
  'request',
  'details',
] as const;

function DownloadButton({ filter }: { readonly filter: AuditFilter }) {
  const [state, setState] = useState<{ readonly busy: boolean; readonly error?: unknown }>({ busy: false });
  const save = async (): Promise<void> => {
    setState({ busy: true });
    try {
      const rows = (await allEntries(filter)).map((entry) => [
        entry.createdAt,
        entry.action,
        entry.actor.type,
        whoIs(entry),
        entry.actor.id ?? '',
        entry.targetId ?? '',
        entry.ipAddress ?? '',
        entry.requestId ?? '',
        JSON.stringify(entry.details),
      ]);
      saveFile(new Blob([csvOf([COLUMNS, ...rows])]), 'audit.csv');
      setState({ busy: false });
    } catch (error) {
      setState({ busy: false, error });
    }
  };
  return (
    <>
      <Button busy={state.busy} onClick={() => void save()}>
        <Download size={16} aria-hidden /> CSV
      </Button>
      {state.error === undefined ? null : (
        <div className="w-full">
          <ProblemNote error={state.error} onRetry={() => void save()} />
        </div>
      )}
    </>
  );
}

/** `mailbox.token_rotated` as words. */
const actionWords = (action: string): string => action.replace('.', ': ').replaceAll('_', ' ');
