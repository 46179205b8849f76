import { lazy, Suspense, useState } from 'react';
import { Skeleton } from '../../../components/frame/page.tsx';
import { Outcome } from '../request/outcome.tsx';
import { Request, type RequestProps } from '../request/request.tsx';
import { type DecideProps, Decision, useSettled } from './decision.tsx';
import { draftOf, useUnfinished } from './draft.ts';

// Few messages are changed: the form is loaded with the first one.
const Edit = lazy(async () => ({ default: (await import('./edit.tsx')).Edit }));
const LostEdit = lazy(async () => ({ default: (await import('./lost-edit.tsx')).LostEdit }));

export interface HeldRequestProps extends Omit<RequestProps, 'children'>, DecideProps {
  /** It was waiting when the reader opened it. */
  readonly wasPending: boolean;
}

/**
 * One request, to be read, changed and decided; or with its decision. A decision is about the message that is shown: it
 * carries its hash. Use `key` with id and hash.
 */
export function HeldRequest({ approve, deny, sendBack, wasPending, keys, ...shown }: HeldRequestProps) {
  const { message } = shown;
  const { consent, sha256 } = message;
  const [work, change] = useUnfinished(consent.id);
  // An edit that is found again does not take the focus: the reader may be passing by.
  const [begun, setBegun] = useState(false);
  const settled = useSettled(`${consent.id} ${sha256}`);
  const { edit } = work;
  const dropEdit = () => change({ edit: undefined });
  const lost =
    edit === undefined || (consent.status === 'pending' && edit.sha256 === sha256) ? null : (
      <Suspense>
        <LostEdit message={message} draft={edit.draft} onDrop={dropEdit} />
      </Suspense>
    );
  if (consent.status !== 'pending')
    return (
      <Request {...shown}>
        <Outcome
          consent={consent}
          refused={approve.isError || deny.isError || sendBack.isError}
          meanwhile={wasPending}
        />
        {lost}
      </Request>
    );
  if (edit !== undefined && lost === null)
    return (
      <Suspense fallback={<Skeleton />}>
        <Edit
          message={message}
          work={edit}
          approve={approve}
          settled={settled}
          focus={begun}
          onChange={(draft, reviewing) => change({ edit: { draft, reviewing, sha256 } })}
          onClose={() => {
            approve.reset();
            dropEdit();
          }}
        />
      </Suspense>
    );
  return (
    <Request {...shown}>
      {lost}
      <Decision
        consent={consent}
        approve={approve}
        sha256={sha256}
        deny={deny}
        sendBack={sendBack}
        settled={settled}
        keys={keys}
        reason={work.reason ?? ''}
        onReason={(reason) => change({ reason })}
        onEdit={() => {
          setBegun(true);
          change({ edit: { draft: draftOf(message), reviewing: false, sha256 } });
        }}
      />
    </Request>
  );
}
