import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Confirm } from '../../../components/forms/confirm.tsx';
import { Choice, Field } from '../../../components/forms/form.tsx';
import { Button } from '../../../components/frame/button.tsx';
import { ProblemNote } from '../../../components/frame/page.tsx';
import { type State, StateBadge } from '../../../components/shown/badge.tsx';
import { ExternalLink } from '../../../components/shown/facts.tsx';
import { Time } from '../../../components/shown/time.tsx';
import { type Recovery, recoveryQuery, useMoveRecovery, useRecover } from '../queries.ts';

const STATES: Readonly<Record<Recovery['state'], State>> = {
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
  organization_suspended: 'the organization was suspended',
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
  const queries = useQueryClient();
  const before = useRef(finishedAt);
  useEffect(() => {
    if (before.current === null && typeof finishedAt === 'string')
      void queries.invalidateQueries({ queryKey: ['webhooks'] });
    before.current = finishedAt;
  }, [finishedAt, queries]);
}

function Card({ recovery }: { readonly recovery: Recovery }) {
  const { id, endpointId, state, total, done, succeeded, failed, since, finishedAt, stopReason, temporalUrl } =
    recovery;
  const move = useMoveRecovery(endpointId, id);
  const isOpen = finishedAt === null;
  return (
    <section aria-label="Recovery" className="grid gap-2 rounded-lg border border-line bg-panel px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2>Sending again</h2>
        <StateBadge of={STATES[state]} />
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
            <Button busy={move.isPending} onClick={() => move.mutate(state === 'paused' ? 'resume' : 'pause')}>
              {state === 'paused' ? 'Resume' : 'Pause'}
            </Button>
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

const MINUTE_MS = 60_000;

const WHICH = [
  ['exhausted', 'Those that were given up (exhausted)'],
  ['failed', 'Those that wait for a retry (failed)'],
] as const;

interface RecoverDialogProps {
  readonly id: string;
  /** ISO 8601: from when on, to begin with. */
  readonly since: string;
  readonly onClose: () => void;
}

/** Asks which given-up deliveries are sent again. */
export function RecoverDialog({ id, since: first, onClose }: RecoverDialogProps) {
  const recover = useRecover(id);
  const [since, setSince] = useState(localInput(first));
  const [until, setUntil] = useState('');
  const [status, setStatus] = useState<Recovery['status']>('exhausted');
  const submit = () => {
    // The field knows minutes: one that was not touched means the moment itself.
    const from = since === localInput(first) ? first : new Date(since).toISOString();
    recover.mutate(
      {
        since: from,
        status,
        // Up to the end of the minute that was named.
        ...(until === '' ? {} : { until: new Date(new Date(until).getTime() + MINUTE_MS).toISOString() }),
      },
      { onSuccess: onClose },
    );
  };
  return (
    <Confirm
      title="Send deliveries again"
      consequence="Each gets one more attempt under its webhook-id, oldest first. Live deliveries are not held up."
      action="Send again"
      look="primary"
      cancel={false}
      change={recover}
      onConfirm={submit}
      onClose={onClose}
    >
      <Choice label="Which" value={status} options={WHICH} onChoose={setStatus} />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Made from"
          type="datetime-local"
          required
          value={since}
          onChange={(event) => setSince(event.target.value)}
        />
        <Field
          label="Until"
          type="datetime-local"
          value={until}
          onChange={(event) => setUntil(event.target.value)}
          hint="Empty: now."
        />
      </div>
    </Confirm>
  );
}

/** A moment as a field of the type `datetime-local` wants it: the reader's zone, to the minute. */
export function localInput(moment: string): string {
  const time = new Date(moment);
  return new Date(time.getTime() - time.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}
