import { useState } from 'react';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Problem } from '../../problem.ts';
import { useAddFirstMailbox } from './queries.ts';

/** @param onToken the token of the new mailbox, which the next step shows */
export function MailboxStep({ onToken }: { readonly onToken: (token: string) => void }) {
  const add = useAddFirstMailbox(onToken);
  // A repeated request after a lost answer gives the same mailbox and its token.
  const [key, setKey] = useState(() => crypto.randomUUID());
  return (
    <>
      <p className="text-muted">
        An address for one agent, with its token. You can choose the address yourself with “Add mailbox”.
      </p>
      <ProblemNote error={add.error} />
      <div>
        <Button
          look="primary"
          busy={add.isPending}
          onClick={() =>
            add.mutate(key, {
              onError: (error) => {
                if (error instanceof Problem && error.status >= 400 && error.status < 500) setKey(crypto.randomUUID());
              },
            })
          }
        >
          Make a mailbox
        </Button>
      </div>
    </>
  );
}
