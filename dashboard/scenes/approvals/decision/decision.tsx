import { Menu } from '@base-ui/react/menu';
import type { UseMutationResult } from '@tanstack/react-query';
import { ChevronDown } from 'lucide-react';
import { type Ref, useEffect, useRef, useState } from 'react';
import { Confirm } from '../../../components/forms/confirm.tsx';
import { Field } from '../../../components/forms/form.tsx';
import { Button, buttonClass } from '../../../components/frame/button.tsx';
import { isTaken, useKeys } from '../../../components/frame/keys.ts';
import { ProblemNote } from '../../../components/frame/page.tsx';
import { Time } from '../../../components/shown/time.tsx';
import type { Approval, ApprovalScope, Consent, Denial } from '../queries.ts';

/** How a decision is made. */
export interface DecideProps {
  readonly approve: UseMutationResult<Consent, Error, Approval>;
  readonly deny: UseMutationResult<Consent, Error, Denial>;
  /** Its reason is the comment. */
  readonly sendBack: UseMutationResult<Consent, Error, Denial>;
  /** Whether the keys a, d, e and r are taken. */
  readonly keys: boolean;
}

interface DecisionProps extends DecideProps {
  readonly consent: Consent;
  /** Hash of the message that is shown. */
  readonly sha256: string;
  /** The message is shown long enough: until then, clicks and keys are not for it. */
  readonly settled: boolean;
  /** Reason of a denial, or the comment, as far as it is written. */
  readonly reason: string;
  readonly onReason: (reason: string) => void;
  readonly onEdit: () => void;
}

/** The actions under a held message. Keys: a opens the approvals, e the edit, d asks why it is denied, r what should change. */
export function Decision(props: DecisionProps) {
  const { consent, sha256, settled, approve, deny, sendBack, keys, onEdit } = props;
  const trigger = useRef<HTMLButtonElement>(null);
  const [refusing, setRefusing] = useState<'deny' | 'return'>();
  useKeys((event) => {
    const action = {
      a: () => trigger.current?.click(),
      d: () => setRefusing('deny'),
      e: onEdit,
      r: () => setRefusing('return'),
    }[event.key];
    if (action === undefined || event.repeat || isTaken(event)) return;
    event.preventDefault();
    action();
  }, keys && settled);
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
          className="max-sm:flex-1"
          onClick={() => setRefusing('return')}
          disabled={!settled || approve.isPending}
        >
          Send back
        </Button>
        <Button
          look="stop"
          className="max-sm:flex-1"
          onClick={() => setRefusing('deny')}
          disabled={!settled || approve.isPending}
        >
          Deny
        </Button>
        <p className="text-muted sm:ml-auto">
          expires <Time value={consent.expiresAt} />
        </p>
      </div>
      {refusing === undefined ? null : (
        <Refuse
          {...REFUSALS[refusing]}
          change={refusing === 'deny' ? deny : sendBack}
          sha256={sha256}
          reason={props.reason}
          onReason={props.onReason}
          onClose={() => setRefusing(undefined)}
        />
      )}
    </div>
  );
}

interface RefuseProps extends Pick<DecisionProps, 'sha256' | 'reason' | 'onReason'> {
  readonly title: string;
  readonly consequence: string;
  readonly action: string;
  readonly look: 'primary' | 'stop';
  readonly label: string;
  readonly hint: string;
  /** Whether it takes words. */
  readonly required: boolean;
  readonly change: UseMutationResult<Consent, Error, Denial>;
  readonly onClose: () => void;
}

const REFUSALS = {
  deny: {
    title: 'Deny the message?',
    consequence: 'It is not sent. The agent is given your reason.',
    action: 'Deny',
    look: 'stop',
    label: 'Reason',
    hint: 'Optional.',
    required: false,
  },
  return: {
    title: 'Send the message back?',
    consequence: 'It is not sent. The agent is given your comment and may submit a changed message for approval.',
    action: 'Send back',
    look: 'primary',
    label: 'Comment',
    hint: 'What should change.',
    required: true,
  },
} as const;

const Refuse = ({ label, hint, required, change, sha256, reason, onReason, onClose, ...words }: RefuseProps) => (
  <Confirm
    {...words}
    cancel={false}
    change={change}
    onConfirm={() => change.mutate({ reason: reason.trim(), sha256 }, { onSuccess: onClose })}
    onClose={onClose}
  >
    <Field
      label={label}
      name="reason"
      autoComplete="off"
      hint={hint}
      required={required}
      // Not only spaces.
      {...(required ? { pattern: '.*\\S.*' } : {})}
      maxLength={REASON_MAX_CHARACTERS}
      value={reason}
      onChange={(event) => onReason(event.target.value)}
    />
  </Confirm>
);

/** As the service takes it. */
const REASON_MAX_CHARACTERS = 1_000;

interface ApproveMenuProps {
  readonly label: string;
  /** Addresses the approval is about. */
  readonly recipients: readonly string[];
  readonly busy: boolean;
  /** It is not to be pressed yet. */
  readonly disabled: boolean;
  readonly onApprove: (scope: ApprovalScope) => void;
  readonly trigger?: Ref<HTMLButtonElement>;
}

/** What an approval covers, as a menu under one button. */
export function ApproveMenu({ label, recipients, busy, disabled, onApprove, trigger }: ApproveMenuProps) {
  return (
    <Menu.Root>
      <Menu.Trigger
        ref={trigger}
        disabled={busy || disabled}
        aria-busy={busy || undefined}
        className={buttonClass('primary', 'max-sm:flex-1')}
      >
        {label} <ChevronDown size={16} aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner align="start" sideOffset={4} className="z-20">
          <Menu.Popup className="max-w-[min(380px,calc(100vw-24px))] rounded-lg border border-line bg-panel p-1">
            {scopesFor(recipients).map(([scope, title, sentence]) => (
              <Menu.Item
                key={scope}
                onClick={() => onApprove(scope)}
                className="cursor-default rounded-md px-3 py-2 data-[highlighted]:bg-sunken"
              >
                <span className="block font-medium">{title}</span>
                <span className="block text-muted wrap-anywhere">{sentence}</span>
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function scopesFor(recipients: readonly string[]): readonly (readonly [ApprovalScope, string, string])[] {
  const domains = [...new Set(recipients.map((each) => each.slice(each.lastIndexOf('@') + 1)))];
  return [
    ['message', 'This message', 'Only this message and answers in its thread.'],
    [
      'address',
      recipients.length === 1 ? 'This address' : 'These addresses',
      `This message, and everything to ${listed(recipients)} from now on.`,
    ],
    [
      'domain',
      domains.length === 1 ? 'This domain' : 'These domains',
      `This message, and everything to everybody at ${listed(domains)} from now on.`,
    ],
  ];
}

const NAMED_MAX = 3;

const listed = (names: readonly string[]): string =>
  names.length <= NAMED_MAX
    ? names.join(', ')
    : `${names.slice(0, NAMED_MAX - 1).join(', ')} and ${names.length - NAMED_MAX + 1} more`;

/** A decision is not taken within this time after another message was shown: it was meant for the one before. */
const DECISION_GUARD_MS = 700;

/** Whether what is shown has been shown long enough to be decided. @param shown another value: another content */
export function useSettled(shown: string): boolean {
  const [settled, setSettled] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setSettled(shown), DECISION_GUARD_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return settled === shown;
}
