import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Field } from '../../components/forms/field.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { type Mailbox, useDeleteMailbox, useRotateToken, useUpdateMailbox } from './queries.ts';

export type MailboxAction = 'rotate' | 'suspend' | 'delete';

interface Asked {
  readonly mailbox: Mailbox;
  readonly onClose: () => void;
}

/** Asks before something is done to a mailbox, and names what it means. */
export function MailboxActionDialog({
  action,
  onToken,
  ...asked
}: Asked & { readonly action: MailboxAction | undefined; readonly onToken: (token: string) => void }) {
  switch (action) {
    case undefined:
      return null;
    case 'rotate':
      return <Rotate {...asked} onToken={onToken} />;
    case 'suspend':
      return <Suspend {...asked} />;
    case 'delete':
      return <Delete {...asked} />;
  }
}

function Rotate({ mailbox, onClose, onToken }: Asked & { readonly onToken: (token: string) => void }) {
  const rotate = useRotateToken(mailbox.id);
  return (
    <Dialog
      open
      onClose={onClose}
      title="Rotate the token?"
      description="The first token stops working at once for the API, CLI, MCP, IMAP, POP3 and SMTP, and its connections are closed. Other tokens stay."
    >
      <ProblemNote error={rotate.error} />
      <Button
        look="primary"
        className="justify-self-end"
        busy={rotate.isPending}
        onClick={() =>
          rotate.mutate(undefined, {
            onSuccess: ({ token }) => {
              if (token !== null) onToken(token);
              onClose();
            },
          })
        }
      >
        Rotate token
      </Button>
    </Dialog>
  );
}

function Suspend({ mailbox, onClose }: Asked) {
  const update = useUpdateMailbox(mailbox.id);
  const suspended = mailbox.status === 'suspended';
  return (
    <Dialog
      open
      onClose={onClose}
      title={suspended ? 'Resume the mailbox?' : 'Suspend the mailbox?'}
      description={
        suspended
          ? 'It receives and sends mail again.'
          : 'Mail to it is refused, nothing is sent, and its tokens are refused by the API, CLI, MCP and every mail protocol. Its mail is kept, and people can read it here. Only a person can resume it.'
      }
    >
      <ProblemNote error={update.error} />
      <Button
        look={suspended ? 'primary' : 'stop'}
        className="justify-self-end"
        busy={update.isPending}
        onClick={() => update.mutate({ status: suspended ? 'active' : 'suspended' }, { onSuccess: onClose })}
      >
        {suspended ? 'Resume' : 'Suspend'}
      </Button>
    </Dialog>
  );
}

function Delete({ mailbox, onClose }: Asked) {
  const remove = useDeleteMailbox(mailbox.id);
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  return (
    <Dialog
      open
      onClose={onClose}
      title="Delete the mailbox?"
      description={`Its ${mailbox.quota.messageCount.toLocaleString()} messages, its token and its webhook endpoints are deleted. This cannot be undone, and the address is not given out again for 30 days.`}
    >
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          remove.mutate(undefined, { onSuccess: () => void navigate({ to: '/mailboxes' }) });
        }}
      >
        <ProblemNote error={remove.error} />
        <Field
          label={`Type ${mailbox.address} to confirm`}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Button
          type="submit"
          look="stop"
          className="justify-self-end"
          disabled={typed.trim() !== mailbox.address}
          busy={remove.isPending}
        >
          Delete the mailbox and its mail
        </Button>
      </form>
    </Dialog>
  );
}
