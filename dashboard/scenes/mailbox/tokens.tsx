import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Expires } from '../../components/forms/expiration.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Empty } from '../../components/frame/empty.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { Skeleton } from '../../components/frame/skeleton.tsx';
import { SteadyList } from '../../components/lists/steady-list.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { LastUsed } from '../../components/shown/last-used.tsx';
import { CreateToken } from './create-token.tsx';
import { type Mailbox, type Token, tokensQuery, useRevokeToken } from './queries.ts';
import { accessTitle } from './token-access.ts';

/** The tokens by which programs open the mailbox. */
export function Tokens({ mailbox }: { readonly mailbox: Mailbox }) {
  const tokens = useQuery(tokensQuery(mailbox.id));
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Token>();
  return (
    <section aria-labelledby="tokens" className="grid gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <div className="min-w-0 flex-1 basis-64">
          <h2 id="tokens">Tokens</h2>
          <p className="text-muted">Create one for each program, so that you can revoke it without the others.</p>
        </div>
        <Button look="primary" onClick={() => setCreating(true)}>
          <Plus size={16} aria-hidden /> Create token
        </Button>
      </div>
      {tokens.isPending ? <Skeleton /> : null}
      {tokens.isError ? <ProblemNote error={tokens.error} onRetry={() => void tokens.refetch()} /> : null}
      <SteadyList
        label="Tokens"
        answer={tokens.data}
        rows={tokens.data?.data ?? []}
        empty={
          <Empty title="No tokens">
            <p>All tokens are revoked: no program can open this mailbox.</p>
          </Empty>
        }
      >
        {(row) => <TokenRow row={row} onRevoke={() => setRevoking(row)} />}
      </SteadyList>
      {creating ? <CreateToken mailbox={mailbox} onClose={() => setCreating(false)} /> : null}
      {revoking === undefined ? null : (
        <Revoke mailbox={mailbox} row={revoking} onClose={() => setRevoking(undefined)} />
      )}
    </section>
  );
}

function TokenRow({ row, onRevoke }: { readonly row: Token; readonly onRevoke: () => void }) {
  return (
    <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_140px_140px_130px_auto]">
      <div className="min-w-0">
        <span className="block truncate font-medium">
          <ForeignText text={row.name} />
        </span>
        {row.tokenHint === null ? (
          <span className="text-muted">made with the mailbox or by the last rotation</span>
        ) : (
          <code className="font-mono text-[13px] text-muted">{row.tokenHint}…</code>
        )}
      </div>
      <div>
        <Badge meaning={row.access === 'full' ? 'none' : 'info'}>{accessTitle(row.access)}</Badge>
      </div>
      <div className="text-muted">
        <Expires at={row.expiresAt} />
      </div>
      <div className="text-muted">
        <LastUsed at={row.lastUsedAt} />
      </div>
      <Button look="stop" className="max-sm:justify-self-start" aria-label={`Revoke ${row.name}`} onClick={onRevoke}>
        Revoke
      </Button>
    </div>
  );
}

function Revoke({
  mailbox,
  row,
  onClose,
}: {
  readonly mailbox: Mailbox;
  readonly row: Token;
  readonly onClose: () => void;
}) {
  const revoke = useRevokeToken(mailbox.id);
  return (
    <Confirm
      title={`Revoke “${row.name}”?`}
      consequence="It stops working at once for the API, CLI, MCP, IMAP, POP3 and SMTP, and its connections are closed. A revoked token cannot be brought back."
      action="Revoke token"
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate(row.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}
