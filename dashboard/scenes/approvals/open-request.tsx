import { useQuery } from '@tanstack/react-query';
import { ArrowLeft } from 'lucide-react';
import { Button } from '../../components/button.tsx';
import { ProblemNote } from '../../components/problem-note.tsx';
import { HeldRequest } from './held-request.tsx';
import { type Consent, loadAttachment, loadRaw, requestQuery, useApprove, useDeny } from './queries.ts';

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
  const approve = useApprove(id, onDecided);
  const deny = useDeny(id, onDecided);
  if (message.data === undefined)
    return message.isError ? (
      <ProblemNote error={message.error} onRetry={() => void message.refetch()} />
    ) : (
      <div aria-busy className="h-80 rounded-lg border border-line bg-panel" />
    );
  return (
    <HeldRequest
      message={message.data}
      loadAttachment={(aid) => loadAttachment(id, aid)}
      loadRaw={() => loadRaw(id)}
      links
      approve={approve}
      deny={deny}
      keys
    />
  );
}
