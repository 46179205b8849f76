import { Link } from '@tanstack/react-router';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Copy } from '../../components/shown/copy.tsx';
import { type FirstMailbox, useSendTestMail } from './queries.ts';

export function MailStep({ mailbox }: { readonly mailbox: FirstMailbox }) {
  const send = useSendTestMail();
  return (
    <>
      <p className="text-muted">
        Write to <span className="font-medium break-all text-text">{mailbox.address}</span> from anywhere, or have the
        service put a test mail there.
      </p>
      <ProblemNote error={send.error} />
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" busy={send.isPending} onClick={() => send.mutate(mailbox.id)}>
          Send a test mail
        </Button>
        <Copy text={mailbox.address} what="address" />
        <span role="status" className="text-ok">
          {send.isSuccess ? 'It is in the INBOX.' : ''}
        </span>
        {send.isSuccess ? (
          <Link to="/mailboxes/$id" params={{ id: mailbox.id }}>
            Open the mailbox
          </Link>
        ) : null}
      </div>
    </>
  );
}
