import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';
import { mailboxChoicesQuery, mailboxNameQuery, pagedQuery, useChange } from '../../api/queries.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Choice, Field, Form, LongField, Submit } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { Empty, Failure, ProblemNote } from '../../components/frame/page.tsx';
import { PagedList } from '../../components/lists/steady-list.tsx';
import { visibleText } from '../../components/mail/unseen-characters.ts';
import { type State, StateBadge } from '../../components/shown/badge.tsx';
import { Time } from '../../components/shown/time.tsx';

type Approval = Schemas['StandingApproval'];

const standingQuery = pagedQuery(['standing-approvals'], (from) =>
  bodyOf(service.GET('/api/standing-approvals', { params: { query: from } })),
);

const STATES: Readonly<Record<Approval['state'], State>> = {
  active: ['ok', 'Active'],
  used_up: ['none', 'Used up'],
  ended: ['none', 'Ended'],
  revoked: ['stop', 'Revoked'],
};

/** Approvals given in advance, which end. */
export function Standing() {
  const list = useInfiniteQuery(standingQuery);
  const [adding, setAdding] = useState(false);
  const [revoking, setRevoking] = useState<Approval>();
  const revoke = useChange(
    (id: string) => done(service.DELETE('/api/standing-approvals/{id}', { params: { path: { id } } })),
    ['standing-approvals'],
  );
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 basis-72 text-muted">
          A mailbox may write to these without being asked, until a time and for a number of messages.
        </p>
        <Button look="primary" onClick={() => setAdding(true)}>
          <Plus size={16} aria-hidden /> Approve in advance
        </Button>
      </div>
      <PagedList
        label="Standing approvals"
        query={list}
        empty={
          <Empty title="Nothing is approved in advance">
            <p>For a campaign or an errand, approve some addresses or a domain until a day, instead of each message.</p>
          </Empty>
        }
      >
        {(approval) => <Row approval={approval} onRevoke={() => setRevoking(approval)} />}
      </PagedList>
      {adding ? <AddStanding onClose={() => setAdding(false)} /> : null}
      {revoking === undefined ? null : (
        <Confirm
          title="Revoke this approval?"
          consequence={`From now on messages to ${revoking.recipients.join(', ')} wait for a person again. What was submitted is sent.`}
          action="Revoke"
          change={revoke}
          onConfirm={() => revoke.mutate(revoking.id, { onSuccess: () => setRevoking(undefined) })}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </>
  );
}

function Row({ approval, onRevoke }: { readonly approval: Approval; readonly onRevoke: () => void }) {
  const { mailboxId, recipients, endsAt, messagesMax, messagesUsed, state, createdBy } = approval;
  const mailbox = useQuery(mailboxNameQuery(mailboxId));
  return (
    <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_150px_auto]">
      <div className="min-w-0">
        <span className="block font-medium break-all">{recipients.map(visibleText).join(', ')}</span>
        <span className="block break-all text-muted">
          from {mailbox.data?.address ?? ''}, by {visibleText(createdBy.name ?? createdBy.email ?? 'a key')}
        </span>
        <span className="block text-muted">
          {messagesUsed.toLocaleString()} of {messagesMax.toLocaleString()} used, until <Time value={endsAt} />
        </span>
      </div>
      <span>
        <StateBadge of={STATES[state]} />
      </span>
      {state === 'active' ? <Button onClick={onRevoke}>Revoke</Button> : <span />}
    </div>
  );
}

const ENDS = [
  [1, 'For a day'],
  [7, 'For a week'],
  [30, 'For 30 days'],
  [90, 'For 90 days'],
] as const;
const DAY_MS = 86_400_000;

function AddStanding({ onClose }: { readonly onClose: () => void }) {
  const mailboxes = useQuery(mailboxChoicesQuery);
  const [mailboxId, setMailboxId] = useState<string>();
  const [days, setDays] = useState<(typeof ENDS)[number][0]>(7);
  const add = useChange(
    (body: Schemas['NewStandingApproval']) => bodyOf(service.POST('/api/standing-approvals', { body })),
    ['standing-approvals'],
  );
  const options = mailboxes.data?.data.map(({ id, address }) => [id, address] as const) ?? [];
  const chosen = mailboxId ?? options[0]?.[0];
  return (
    <Dialog onClose={onClose} title="Approve in advance">
      <Form
        onSubmit={(typed) => {
          if (chosen === undefined) return;
          add.mutate(
            {
              mailboxId: chosen,
              recipients: typed('recipients')
                .split(/[\s,]+/)
                .filter((each) => each !== ''),
              endsAt: new Date(Date.now() + days * DAY_MS).toISOString(),
              messagesMax: Number(typed('messagesMax')),
            },
            { onSuccess: onClose },
          );
        }}
      >
        <ProblemNote error={add.error} />
        {mailboxes.isError ? <Failure query={mailboxes} /> : null}
        <Choice
          label="Mailbox"
          options={options}
          {...(chosen === undefined ? {} : { value: chosen })}
          onChoose={setMailboxId}
        />
        <LongField
          label="Recipients"
          name="recipients"
          required
          rows={3}
          hint="Addresses or domains, one per line. A domain does not include its subdomains."
        />
        <Choice label="Until" options={ENDS} value={days} onChoose={setDays} />
        <Field
          label="Messages"
          name="messagesMax"
          type="number"
          required
          min={1}
          max={10_000}
          defaultValue="50"
          hint="At most so many."
        />
        <Submit busy={add.isPending}>Approve</Submit>
      </Form>
    </Dialog>
  );
}
