import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { Button } from '../../../components/frame/button.tsx';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { Badge, type Meaning } from '../../../components/shown/badge.tsx';
import { ExternalLink } from '../../../components/shown/external-link.tsx';
import { Time } from '../../../components/shown/time.tsx';
import { type Recovery, recoveryQuery, useMoveRecovery } from '../queries.ts';
import { useWebhooksChanged } from './use-webhooks-changed.ts';

const STATES: Readonly<Record<Recovery['state'], readonly [Meaning, string]>> = {
  running: ['info', 'Running'],
  paused: ['wait', 'Paused'],
  completed: ['ok', 'Completed'],
  cancelled: ['none', 'Cancelled'],
  stopped: ['stop', 'Stopped'],
};
const STOPPED = {
  endpoint_inactive: 'the endpoint was set inactive',
  endpoint_deleted: 'the endpoint was deleted',
  plan_downgraded: 'the plan no longer has webhooks',
  mailbox_deleted: 'the mailbox was deleted',
} as const;
/** What ended longer ago is history, not news. */
const SHOWN_MS = 86_400_000;

/** How far the newest recovery is, while it matters. */
export function RecoveryCard({ webhookId }: { readonly webhookId: string }) {
  const { data: recovery } = useQuery(recoveryQuery(webhookId));
  useChangeAtTheEnd(recovery?.finishedAt);
  if (recovery === undefined || recovery === null) return null;
  if (recovery.finishedAt !== null && Date.now() - new Date(recovery.finishedAt).getTime() > SHOWN_MS) return null;
  return <Card key={recovery.id} recovery={recovery} />;
}

/** What the deliveries are now is read again when a recovery has ended. */
function useChangeAtTheEnd(finishedAt: string | null | undefined): void {
  const changed = useWebhooksChanged();
  const before = useRef(finishedAt);
  useEffect(() => {
    if (before.current === null && typeof finishedAt === 'string') changed();
    before.current = finishedAt;
  }, [finishedAt, changed]);
}

function Card({ recovery }: { readonly recovery: Recovery }) {
  const { id, endpointId, state, total, done, succeeded, failed, since, finishedAt, stopReason, temporalUrl } =
    recovery;
  const move = useMoveRecovery(endpointId, id);
  const [meaning, words] = STATES[state];
  const isOpen = finishedAt === null;
  return (
    <section aria-label="Recovery" className="grid gap-2 rounded-lg border border-line bg-panel px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2>Sending again</h2>
        <Badge meaning={meaning}>{words}</Badge>
        <span className="text-muted">
          {isOpen ? (
            <>
              {recovery.status} deliveries from <Time value={since} />
            </>
          ) : (
            <>
              ended <Time value={finishedAt} />
              {stopReason === null ? '' : `: ${STOPPED[stopReason]}`}
            </>
          )}
        </span>
        {temporalUrl === undefined ? null : <ExternalLink href={temporalUrl}>Workflow</ExternalLink>}
        {isOpen ? (
          <span className="ml-auto flex gap-2">
            {state === 'paused' ? (
              <Button busy={move.isPending} onClick={() => move.mutate('resume')}>
                Resume
              </Button>
            ) : (
              <Button busy={move.isPending} onClick={() => move.mutate('pause')}>
                Pause
              </Button>
            )}
            <Button look="stop" busy={move.isPending} onClick={() => move.mutate('cancel')}>
              Cancel
            </Button>
          </span>
        ) : null}
      </div>
      <progress
        aria-label="Sent again"
        className="h-1.5 w-full accent-accent"
        max={Math.max(1, total)}
        value={total === 0 ? 1 : done}
      />
      <p className="text-muted">
        {total === 0
          ? 'There was nothing to send again.'
          : `${done.toLocaleString()} of ${total.toLocaleString()} · ${succeeded.toLocaleString()} acknowledged · ${failed.toLocaleString()} failed`}
      </p>
      <ProblemNote error={move.error} />
    </section>
  );
}
