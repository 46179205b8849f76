import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { SteadyList } from '../../components/lists/steady-list.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { visibleText } from '../../components/mail/visible-text.ts';
import { Time } from '../../components/shown/time.tsx';
import { type Grant, grantsQuery, useEndGrant } from './queries.ts';

const ACCESSES = { full: 'reads, sends and changes', read: 'only reads', send: 'only sends' } as const;

/** Programs with access by OAuth, and how to end it. */
export function ConnectedPrograms({ id }: { readonly id: string }) {
  const grants = useQuery(grantsQuery(id));
  const end = useEndGrant(id);
  const [ending, setEnding] = useState<Grant>();
  return (
    <section
      aria-labelledby="programs"
      className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3 border-t border-line pt-4"
    >
      <div>
        <h3 id="programs" className="font-medium">
          Connected programs
        </h3>
        <p className="text-muted">
          Programs to which a member granted access in the browser. They have no mailbox token, and each can be ended
          separately.
        </p>
      </div>
      {grants.isError ? <ProblemNote error={grants.error} onRetry={() => void grants.refetch()} /> : null}
      <SteadyList
        label="Connected programs"
        answer={grants.data}
        rows={grants.data?.data ?? []}
        empty={<p className="text-muted">None.</p>}
      >
        {(grant) => (
          <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_auto]">
            <div className="min-w-0">
              <span className="block font-medium break-words">
                <ForeignText text={grant.clientName} />{' '}
                {grant.clientHost === null ? (
                  <span className="font-normal text-muted">(name not confirmed)</span>
                ) : (
                  <span className="font-mono text-[13px] font-normal text-muted">{grant.clientHost}</span>
                )}
              </span>
              <span className="block text-muted">
                {ACCESSES[grant.access]}, granted by <ForeignText text={grant.createdBy} />{' '}
                <Time value={grant.createdAt} />,{' '}
                {grant.lastUsedAt === null ? (
                  'not used yet'
                ) : (
                  <>
                    used <Time value={grant.lastUsedAt} />
                  </>
                )}
              </span>
            </div>
            <Button
              look="stop"
              aria-label={`End the access of ${visibleText(grant.clientName)}`}
              onClick={() => setEnding(grant)}
            >
              End
            </Button>
          </div>
        )}
      </SteadyList>
      {ending === undefined ? null : (
        <Confirm
          title={`End the access of “${visibleText(ending.clientName)}”?`}
          consequence="Its tokens become invalid at once. The program can ask again, and a member decides."
          action="End the access"
          busy={end.isPending}
          error={end.error}
          onConfirm={() => end.mutate(ending.id, { onSuccess: () => setEnding(undefined) })}
          onClose={() => setEnding(undefined)}
        />
      )}
    </section>
  );
}
