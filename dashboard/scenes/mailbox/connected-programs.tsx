import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { ForeignText } from '../../components/foreign-text.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { Time } from '../../components/time.tsx';
import { visibleText } from '../../components/visible-text.ts';
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
      {grants.data?.data.length === 0 ? <p className="text-muted">None.</p> : null}
      {grants.data === undefined || grants.data.data.length === 0 ? null : (
        <ul aria-label="Connected programs" className="rounded-lg border border-line">
          {grants.data.data.map((grant) => (
            <li
              key={grant.id}
              className="grid items-center gap-x-4 gap-y-1 border-t border-line px-4 py-2.5 first:border-t-0 sm:grid-cols-[minmax(0,1fr)_auto]"
            >
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
            </li>
          ))}
        </ul>
      )}
      {ending === undefined ? null : (
        <Confirm
          title="End the access of this program?"
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
