import type { ReactNode } from 'react';
import { Button } from '../../../components/frame/button.tsx';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { Time } from '../../../components/shown/time.tsx';
import { useChangeWebhook, type Webhook } from '../queries.ts';

export interface WebhookNotesProps {
  readonly webhook: Webhook;
  /** Asks whether what was given up since then is to be sent again. */
  readonly onRecover: (since: string) => void;
}

/** What somebody has to know before anything else: why nothing is sent, what fails, which secret still signs. */
export function WebhookNotes({ webhook, onRecover }: WebhookNotesProps) {
  return (
    <>
      {webhook.active ? null : <Inactive webhook={webhook} onRecover={onRecover} />}
      {webhook.active && webhook.failingSince !== null ? (
        <Note tone="wait" title="It acknowledges nothing">
          <p>
            Every delivery has failed for some time, since <Time value={webhook.failingSince} />. Each is tried five
            times within an hour. After five days the endpoint is set inactive, and its owners are notified.
          </p>
        </Note>
      ) : null}
      {webhook.previousSecretExpiresAt === null ? null : (
        <Note tone="info" title="Two secrets sign">
          <p>
            The secret before this one ends <Time value={webhook.previousSecretExpiresAt} />. Until then move your
            server to the new one, which begins with{' '}
            <code className="font-mono text-[13px]">{webhook.secretPrefix}</code>.
          </p>
        </Note>
      )}
    </>
  );
}

const WHY = {
  gone: 'All attempts of a delivery were answered with 410 Gone, so the service set it inactive.',
  failing: 'It acknowledged nothing for five days, so the service set it inactive.',
  suspended: 'The operator of this service suspended it. Ask the operator to lift the suspension.',
} as const;

function Inactive({ webhook, onRecover }: WebhookNotesProps) {
  const change = useChangeWebhook(webhook.id);
  const { disabledReason } = webhook;
  // A promise, not a callback of the mutation: this note is gone as soon as the endpoint is active.
  const resume = () =>
    change.mutateAsync({ active: true }).then(
      ({ recover }) => {
        if (recover !== undefined && recover.deliveries > 0) onRecover(recover.since);
      },
      () => {
        // Shown as the error of the change.
      },
    );
  return (
    <Note tone="stop" title={disabledReason === 'suspended' ? 'Suspended' : 'Inactive: nothing is sent'}>
      <p>
        {disabledReason === null ? 'Somebody set it inactive.' : WHY[disabledReason]} Events that happen meanwhile are
        not recorded for it.
      </p>
      <ProblemNote error={change.error} />
      {disabledReason === 'suspended' ? null : (
        <>
          <p>
            {disabledReason === null
              ? ''
              : 'Make sure that the address answers with a status from 200 to 299 again, or change it. '}
            What was given up before can then be sent again.
          </p>
          <Button look="primary" className="justify-self-start" busy={change.isPending} onClick={() => void resume()}>
            Set active
          </Button>
        </>
      )}
    </Note>
  );
}

const TONES = {
  stop: 'border-stop/40 bg-stop-soft',
  wait: 'border-wait/40 bg-wait-soft',
  info: 'border-info/40 bg-info-soft',
} as const;

function Note({
  tone,
  title,
  children,
}: {
  readonly tone: keyof typeof TONES;
  readonly title: string;
  readonly children: ReactNode;
}) {
  return (
    <section aria-label={title} className={`grid gap-2 rounded-lg border px-4 py-3 ${TONES[tone]}`}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
