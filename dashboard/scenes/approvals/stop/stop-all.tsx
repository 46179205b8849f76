import { useQuery } from '@tanstack/react-query';
import { OctagonPause } from 'lucide-react';
import { useState } from 'react';
import { useMayManage } from '../../../api/session.ts';
import { Button } from '../../../components/frame/button.tsx';
import { Dialog } from '../../../components/frame/dialog.tsx';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { movesContent } from '../../../components/frame/shift-guard.ts';
import { sendingQuery, useStopSending } from './sending-queries.ts';

/** The brake of the whole organization: a button while mail leaves. Owners and admins only. */
export function StopAll() {
  const mayManage = useMayManage();
  const sending = useQuery(sendingQuery);
  const [asking, setAsking] = useState(false);
  const stop = useStopSending();
  if (!mayManage || sending.data === undefined || sending.data.stopped) return null;
  return (
    <>
      <Button onClick={() => setAsking(true)}>
        <OctagonPause size={16} aria-hidden /> Stop all sending
      </Button>
      {asking ? (
        <Dialog
          open
          onClose={() => setAsking(false)}
          title="Stop all sending?"
          description="No mailbox sends anything until somebody resumes sending, not even approved or queued mail. Agents get an explanation. Mail is still received, and nothing is lost."
        >
          <ProblemNote error={stop.error} />
          <Button
            look="stop"
            className="justify-self-end"
            busy={stop.isPending}
            onClick={() => stop.mutate(true, { onSuccess: () => setAsking(false) })}
          >
            Stop all sending
          </Button>
        </Dialog>
      ) : null}
    </>
  );
}

/** Says that nothing leaves, and ends that. */
export function StoppedNote() {
  const mayManage = useMayManage();
  const sending = useQuery(sendingQuery);
  const go = useStopSending();
  if (sending.data?.stopped !== true) return null;
  const { messagesStopped } = sending.data;
  return (
    <section
      ref={movesContent}
      aria-label="Sending is stopped"
      className="mb-4 flex flex-wrap items-center gap-3 rounded-lg border border-stop/40 bg-stop-soft px-4 py-3"
    >
      <OctagonPause size={20} aria-hidden className="text-stop" />
      <div className="min-w-0 flex-1 basis-64">
        <p className="font-medium text-stop">All sending is stopped</p>
        <p>
          Nothing leaves any mailbox.{' '}
          {messagesStopped === 0
            ? 'No message is waiting for the end of the stop.'
            : `${messagesStopped.toLocaleString()} ${messagesStopped === 1 ? 'message waits' : 'messages wait'} for its end.`}
        </p>
        <ProblemNote error={go.error} />
      </div>
      {mayManage ? (
        <Button busy={go.isPending} onClick={() => go.mutate(false)}>
          Let sending go on
        </Button>
      ) : (
        <p className="text-muted">An owner or admin can resume it.</p>
      )}
    </section>
  );
}
