import { useQuery } from '@tanstack/react-query';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Skeleton } from '../../components/frame/skeleton.tsx';
import { SteadyList } from '../../components/lists/steady-list.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { Time } from '../../components/shown/time.tsx';
import { programName } from './program-name.ts';
import { type SessionOfList, sessionsQuery, useEndOtherSessions, useEndSession } from './queries.ts';

/** Where the person is signed in, and how to end it. */
export function Sessions() {
  const sessions = useQuery(sessionsQuery);
  const end = useEndSession();
  const endOthers = useEndOtherSessions();
  const others = sessions.data?.filter(({ current }) => !current).length ?? 0;
  return (
    <section aria-labelledby="sessions" className="grid gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <h2 id="sessions" className="flex-1">
          Where you are signed in
        </h2>
        {others > 0 ? (
          <Button look="stop" busy={endOthers.isPending} onClick={() => endOthers.mutate(undefined)}>
            Sign out everywhere else
          </Button>
        ) : null}
      </div>
      <ProblemNote error={end.error ?? endOthers.error} />
      {sessions.isPending ? <Skeleton rows={2} /> : null}
      {sessions.isError ? <ProblemNote error={sessions.error} onRetry={() => void sessions.refetch()} /> : null}
      {sessions.data === undefined ? null : (
        <SteadyList label="Sessions" answer={sessions.data} rows={sessions.data} empty={null}>
          {(session) => (
            <SessionRow
              session={session}
              busy={end.isPending && end.variables === session.id}
              onEnd={() => end.mutate(session.id)}
            />
          )}
        </SteadyList>
      )}
    </section>
  );
}

function SessionRow({
  session,
  busy,
  onEnd,
}: {
  readonly session: SessionOfList;
  readonly busy: boolean;
  readonly onEnd: () => void;
}) {
  const { current, createdAt, lastUsedAt, ipAddress, userAgent } = session;
  const name = programName(userAgent);
  return (
    <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_150px_auto]">
      <div className="min-w-0">
        <span className="block truncate font-medium" title={userAgent ?? undefined}>
          {name}
        </span>
        <span className="block text-muted">
          {ipAddress === null ? 'signed in ' : `from ${ipAddress}, signed in `}
          <Time value={createdAt} />
        </span>
      </div>
      <span className="text-muted">
        used <Time value={lastUsedAt} />
      </span>
      {current ? (
        <span>
          <Badge meaning="ok">This browser</Badge>
        </span>
      ) : (
        <Button aria-label={`End the session of ${name}`} busy={busy} onClick={onEnd}>
          End
        </Button>
      )}
    </div>
  );
}
