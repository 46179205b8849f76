import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import { Decision } from './decision.tsx';
import { Edit } from './edit.tsx';
import { Outcome } from './outcome.tsx';
import type { Approval, Consent } from './queries.ts';
import { Request, type RequestProps } from './request.tsx';

export interface HeldRequestProps extends Omit<RequestProps, 'children'> {
  readonly approve: UseMutationResult<Consent, Error, Approval>;
  readonly deny: UseMutationResult<Consent, Error, string>;
  /** Whether the keys a, d and e are taken. */
  readonly keys: boolean;
}

/** One request, to be read, changed and decided; or with its decision. Use `key` for another one. */
export function HeldRequest({ approve, deny, keys, ...shown }: HeldRequestProps) {
  const [editing, setEditing] = useState(false);
  const { consent } = shown.message;
  if (consent.status !== 'pending')
    return (
      <Request {...shown}>
        <Outcome consent={consent} refused={approve.isError || deny.isError} />
      </Request>
    );
  if (editing)
    return (
      <Edit
        message={shown.message}
        approve={approve}
        onClose={() => {
          approve.reset();
          setEditing(false);
        }}
      />
    );
  return (
    <Request {...shown}>
      <Decision consent={consent} approve={approve} deny={deny} keys={keys} onEdit={() => setEditing(true)} />
    </Request>
  );
}
