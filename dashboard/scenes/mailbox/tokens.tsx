import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Expiration, Expires, expiryOf, LastUsed } from '../../components/forms/expiration.tsx';
import { Field, Form, Submit, type Typed } from '../../components/forms/form.tsx';
import { DoneButton, Secret } from '../../components/forms/secret-dialog.tsx';
import { Tick } from '../../components/forms/settings.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { Empty, Failure, ProblemNote, Skeleton } from '../../components/frame/page.tsx';
import { Section } from '../../components/frame/section.tsx';
import { SteadyList } from '../../components/lists/steady-list.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { aboutField } from '../../problem.ts';
import { type Mailbox, type NewToken, type Token, tokensQuery, useCreateToken, useRevokeToken } from './queries.ts';

/** The tokens by which programs open the mailbox. */
export function Tokens({ mailbox }: { readonly mailbox: Mailbox }) {
  const tokens = useQuery(tokensQuery(mailbox.id));
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Token>();
  return (
    <Section
      title="Tokens"
      note="Create one for each program, so that you can revoke it without the others."
      aside={
        <Button look="primary" onClick={() => setCreating(true)}>
          <Plus size={16} aria-hidden /> Create token
        </Button>
      }
    >
      {tokens.isPending ? <Skeleton /> : null}
      <Failure query={tokens} />
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
    </Section>
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

interface RevokeProps {
  readonly mailbox: Mailbox;
  readonly row: Token;
  readonly onClose: () => void;
}

function Revoke({ mailbox, row, onClose }: RevokeProps) {
  const revoke = useRevokeToken(mailbox.id);
  return (
    <Confirm
      title={`Revoke “${row.name}”?`}
      consequence="It stops working at once for the API, CLI, MCP, IMAP, POP3 and SMTP, and its connections are closed. A revoked token cannot be brought back."
      action="Revoke token"
      change={revoke}
      onConfirm={() => revoke.mutate(row.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

/** Asks for name, access and expiration, then shows the token, once. */
function CreateToken({ mailbox, onClose }: { readonly mailbox: Mailbox; readonly onClose: () => void }) {
  const create = useCreateToken(mailbox.id);
  const [made, setMade] = useState<NewToken>();
  const submit = (typed: Typed): void => {
    const access = ACCESSES.find(([each]) => each === typed('access'))?.[0] ?? 'full';
    const body = { name: typed('name').trim(), access, expiresAt: expiryOf(typed, Date.now()) ?? null };
    create.mutate(body, { onSuccess: setMade });
  };
  return (
    <Dialog
      onClose={onClose}
      keep={made !== undefined}
      title={made === undefined ? 'Create a token' : made.name}
      description={made === undefined ? `For another program that opens ${mailbox.address}.` : undefined}
    >
      {made === undefined ? (
        <Form onSubmit={submit}>
          <ProblemNote error={create.error} />
          <Field
            label="Name"
            name="name"
            required
            maxLength={100}
            autoComplete="off"
            error={aboutField(create.error, '/name')}
            hint="Say which program uses it, so that you recognize it later."
          />
          <fieldset className="grid gap-2">
            <legend className="mb-1 font-medium">Access</legend>
            {ACCESSES.map(([access, title, sentence]) => (
              <Tick key={access} type="radio" name="access" value={access} defaultChecked={access === 'full'}>
                {title} <span className="text-muted">{sentence}</span>
              </Tick>
            ))}
          </fieldset>
          <Expiration mayStay={false} error={aboutField(create.error, '/expiresAt')} />
          <Submit busy={create.isPending}>Create token</Submit>
        </Form>
      ) : (
        <>
          <Secret
            label="Mailbox token"
            value={made.token ?? ''}
            note={`It is shown this once. For mail clients it is the password of ${mailbox.address}.`}
          />
          <DoneButton onClick={onClose} />
        </>
      )}
    </Dialog>
  );
}

/** What a token may do, with a sentence each. */
const ACCESSES: readonly (readonly [access: Token['access'], title: string, sentence: string])[] = [
  ['full', 'Everything', 'Can read, change and send mail.'],
  ['read', 'Read only', 'Can read mail, but not change or send anything. Mail clients open folders read-only.'],
  ['send', 'Send only', 'Can send mail, and read the status of sent messages.'],
];

const accessTitle = (access: Token['access']): string => ACCESSES.find(([each]) => each === access)?.[1] ?? access;
