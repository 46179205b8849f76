import { useQuery } from '@tanstack/react-query';
import { ArrowLeft } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../components/frame/button.tsx';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { type Consent, loadAttachment, loadRaw, requestQuery, useApprove, useDeny } from '../queries.ts';
import { HeldRequest } from './held-request.tsx';
import { finishRequest } from './unfinished.ts';

/** On narrow windows, where the list and the request are two pages. */
export function BackToList({ onBack }: { readonly onBack: () => void }) {
  return (
    <Button look="quiet" className="mb-2 -ml-2 lg:hidden" onClick={onBack}>
      <ArrowLeft size={16} aria-hidden /> All requests
    </Button>
  );
}

/** One request, whatever its state is. */
export function OpenRequest({
  id,
  onDecided,
}: {
  readonly id: string;
  readonly onDecided: (consent: Consent) => void;
}) {
  const message = useQuery(requestQuery(id));
  const decided = (consent: Consent) => {
    finishRequest(id);
    onDecided(consent);
  };
  const approve = useApprove(id, decided);
  const deny = useDeny(id, decided);
  const [wasPending, setWasPending] = useState(false);
  if (!wasPending && message.data?.consent.status === 'pending') setWasPending(true);
  if (message.data === undefined)
    return message.isError ? (
      <ProblemNote error={message.error} onRetry={() => void message.refetch()} />
    ) : (
      <div aria-busy className="h-80 rounded-lg border border-line bg-panel" />
    );
  return (
    <HeldRequest
      key={message.data.sha256}
      message={message.data}
      loadAttachment={(aid) => loadAttachment(id, aid)}
      loadRaw={() => loadRaw(id)}
      links
      wasPending={wasPending}
      approve={approve}
      deny={deny}
      keys
    />
  );
}
