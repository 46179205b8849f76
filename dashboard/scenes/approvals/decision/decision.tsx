import type { UseMutationResult } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { Field } from '../../../components/forms/field.tsx';
import { Button } from '../../../components/frame/button.tsx';
import { Dialog } from '../../../components/frame/dialog.tsx';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { Time } from '../../../components/shown/time.tsx';
import type { Approval, Consent } from '../queries.ts';
import { ApproveMenu } from './approve-menu.tsx';
import { isTyping } from './typing.ts';

/** How a decision is made. */
export interface DecideProps {
  readonly approve: UseMutationResult<Consent, Error, Approval>;
  readonly deny: UseMutationResult<Consent, Error, string>;
  /** Whether the keys a, d and e are taken. */
  readonly keys: boolean;
}

interface DecisionProps extends DecideProps {
  readonly consent: Consent;
  /** Hash of the message that is shown. */
  readonly sha256: string;
  /** The message is shown long enough: until then, clicks and keys are not for it. */
  readonly settled: boolean;
  /** Reason of a denial, as far as it is written. */
  readonly reason: string;
  readonly onReason: (reason: string) => void;
  readonly onEdit: () => void;
}

/** The actions under a held message. Keys: a opens the approvals, e the edit, d asks why it is denied. */
export function Decision(props: DecisionProps) {
  const { consent, sha256, settled, approve, deny, keys, onEdit } = props;
  const trigger = useRef<HTMLButtonElement>(null);
  const [denying, setDenying] = useState(false);
  const actions = useRef({ a: () => {}, d: () => {}, e: () => {} });
  actions.current = { a: () => trigger.current?.click(), d: () => setDenying(true), e: onEdit };
  useEffect(() => {
    if (!keys || !settled) return undefined;
    const onKey = (event: KeyboardEvent) => {
      if (event.repeat || isTyping(event) || (event.key !== 'a' && event.key !== 'd' && event.key !== 'e')) return;
      event.preventDefault();
      actions.current[event.key]();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [keys, settled]);
  return (
    <div
      className={`sticky bottom-0 grid gap-3 rounded-b-lg border-t border-line bg-panel px-4 py-3 ${keys ? 'max-sm:bottom-16' : ''}`}
    >
      <ProblemNote error={approve.error} />
      <div className="flex flex-wrap items-center gap-2">
        <ApproveMenu
          label="Approve"
          recipients={consent.recipients}
          busy={approve.isPending}
          disabled={!settled}
          trigger={trigger}
          onApprove={(scope) => approve.mutate({ scope, sha256 })}
        />
        <Button className="max-sm:flex-1" onClick={onEdit} disabled={!settled || approve.isPending}>
          Edit
        </Button>
        <Button
          look="stop"
          className="max-sm:flex-1"
          onClick={() => setDenying(true)}
          disabled={!settled || approve.isPending}
        >
          Deny
        </Button>
        <p className="text-muted sm:ml-auto">
          expires <Time value={consent.expiresAt} />
        </p>
      </div>
      {denying ? (
        <Deny deny={deny} reason={props.reason} onReason={props.onReason} onClose={() => setDenying(false)} />
      ) : null}
    </div>
  );
}

function Deny({
  deny,
  reason,
  onReason,
  onClose,
}: {
  readonly reason: string;
  readonly onReason: (reason: string) => void;
  readonly deny: UseMutationResult<Consent, Error, string>;
  readonly onClose: () => void;
}) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    deny.mutate(reason.trim(), { onSuccess: onClose });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="Deny the message?"
      description="It is not sent. The agent is given your reason."
    >
      <form onSubmit={submit} className="grid gap-4">
        <ProblemNote error={deny.error} />
        <Field
          label="Reason"
          name="reason"
          autoComplete="off"
          hint="Optional."
          value={reason}
          onChange={(event) => onReason(event.target.value)}
        />
        <Button type="submit" look="stop" className="justify-self-end" busy={deny.isPending}>
          Deny
        </Button>
      </form>
    </Dialog>
  );
}
