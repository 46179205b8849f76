import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button, buttonClass } from '../../components/frame/button.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { heldBecauseWords } from '../../components/mail/held-because.ts';
import { Badge, type Meaning } from '../../components/shown/badge.tsx';
import { Time } from '../../components/shown/time.tsx';
import type { OutboxMessage } from './queries.ts';

const STATES: Readonly<Record<OutboxMessage['state'], readonly [Meaning, string]>> = {
  held: ['wait', 'Held'],
  scheduled: ['info', 'Scheduled'],
  queued: ['info', 'Queued'],
  sending: ['info', 'Sending'],
  sent: ['ok', 'Sent'],
  failed: ['stop', 'Failed'],
  denied: ['stop', 'Denied'],
  withdrawn: ['none', 'Withdrawn'],
};
/** Recipients that are named; a person can open the rest. */
const NAMED_MAX = 3;

/** A message with its state, the reason for it, and what can be done. */
export function OutboxRow({
  message,
  onWithdraw,
}: {
  readonly message: OutboxMessage;
  readonly onWithdraw: () => void;
}) {
  const { id, state, subject, consentId, withdraw, recipients } = message;
  const why = whyOf(message);
  const [meaning, words] = STATES[state];
  const named = recipients.slice(0, NAMED_MAX).map(({ address }) => address);
  const more = recipients.length - named.length;
  return (
    <article className="grid gap-x-4 gap-y-1.5 sm:grid-cols-[100px_minmax(0,1fr)_auto]">
      <div>
        <Badge meaning={meaning}>{words}</Badge>
      </div>
      <div className="grid min-w-0 gap-0.5">
        <h2 className="truncate text-[14px] leading-5 font-medium">
          <ForeignText text={subject === '' ? '(no subject)' : subject} max={300} />
        </h2>
        <p className="truncate text-muted">
          To <ForeignText text={named.join(', ')} max={300} />
          {more > 0 ? ` and ${more} more` : ''}
        </p>
        {why === null ? null : (
          <p className="wrap-anywhere">
            <ForeignText text={why} long />
          </p>
        )}
        <p className="text-xs text-muted">{timesOf(message)}</p>
      </div>
      <div className="flex flex-wrap items-start gap-2 sm:justify-end">
        {state === 'held' && consentId !== null ? (
          <Link to="/approvals" search={{ open: consentId }} className={buttonClass('plain', 'text-text!')}>
            Decide
          </Link>
        ) : (
          <Link to="/activity" search={{ q: id }} className={buttonClass('quiet')}>
            What happened
          </Link>
        )}
        {withdraw === null ? null : (
          <Button look="stop" onClick={onWithdraw}>
            Withdraw
          </Button>
        )}
      </div>
    </article>
  );
}

/** The reason of the service is for agents: it repeats times and says what they should not do. */
function whyOf({ state, reason, heldBecause }: OutboxMessage): string | null {
  if (heldBecause !== null) return heldBecauseWords(heldBecause);
  return state === 'scheduled' || reason === state ? null : reason;
}

function timesOf({ state, submittedAt, sendAt, expiresAt, finishedAt, recipients }: OutboxMessage): ReactNode {
  const next = recipients.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []).sort()[0];
  return (
    <>
      submitted <Time value={submittedAt} />
      {state === 'held' && expiresAt !== null ? (
        <>
          {' · '}denied automatically <Time value={expiresAt} />
        </>
      ) : null}
      {sendAt === null || finishedAt !== null ? null : (
        <>
          {' · '}is sent <Time value={sendAt} /> at the earliest
        </>
      )}
      {finishedAt === null && next !== undefined && state !== 'held' ? (
        <>
          {' · '}next attempt <Time value={next} />
        </>
      ) : null}
      {finishedAt === null ? null : (
        <>
          {' · '}over <Time value={finishedAt} />
        </>
      )}
    </>
  );
}
