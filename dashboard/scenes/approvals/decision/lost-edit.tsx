import { Button } from '../../../components/frame/button.tsx';
import type { ConsentMessage } from '../queries.ts';
import { FieldDifferences } from '../request/outcome.tsx';
import { type Draft, editOf } from './draft.ts';

interface LostEditProps {
  readonly message: ConsentMessage;
  readonly draft: Draft;
  readonly onDrop: () => void;
}

/** An edit that can no longer be sent: its words are not lost. */
export function LostEdit({ message, draft, onDrop }: LostEditProps) {
  return (
    <details className="border-t border-line px-4 py-3">
      <summary className="cursor-default">You were changing this message; your changes were not sent</summary>
      <div className="mt-2 grid gap-3">
        <FieldDifferences changes={editOf(message, draft).changes} />
        <Button className="justify-self-start" onClick={onDrop}>
          Drop the changes
        </Button>
      </div>
    </details>
  );
}
