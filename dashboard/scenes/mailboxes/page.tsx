import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { Problem } from '../../api/client.ts';
import { useAddInAddress } from '../../components/forms/add-in-address.ts';
import { Choice, Field, Form, optionsOf, Submit, type Typed } from '../../components/forms/form.tsx';
import { CreateDialog, type Made } from '../../components/forms/secret-dialog.tsx';
import { Button, buttonClass } from '../../components/frame/button.tsx';
import { Empty, Failure, PageHead, ProblemNote } from '../../components/frame/page.tsx';
import { rowsOf } from '../../components/lists/steady-rows.ts';
import { VirtualRows } from '../../components/lists/virtual-rows.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { MailboxStatus, StorageBar, sendingStateOf } from '../../components/mail/mailbox-state.tsx';
import { Time } from '../../components/shown/time.tsx';
import { isFinal } from '../../problem.ts';
import {
  domainsQuery,
  type Mailbox,
  type MailboxFilter,
  mailboxesQuery,
  type NewMailbox,
  useAddMailbox,
} from './queries.ts';

const COLUMNS = 'sm:grid-cols-[minmax(0,1fr)_150px_150px_130px_110px]';
const ROW_HEIGHT_PX = 57;
const STATES = [
  ['active', 'Active'],
  ['suspended', 'Suspended'],
  ['expired', 'Expired'],
  ['pending', 'Pending'],
] as const;
const CONTROL = 'h-8 rounded-md border border-line-strong bg-panel px-3 max-sm:h-11 max-sm:text-base';

interface MailboxesPageProps {
  readonly filter: MailboxFilter;
  readonly onFilter: (filter: MailboxFilter) => void;
}

export function MailboxesPage({ filter, onFilter }: MailboxesPageProps) {
  const [adding, setAdding] = useAddInAddress();
  const q = useDeferredValue(filter.q.trim());
  const list = useInfiniteQuery(mailboxesQuery({ q, status: filter.status }));
  const mailboxes = rowsOf(list);
  return (
    <>
      <PageHead title="Mailboxes">
        <Button look="primary" onClick={() => setAdding(true)}>
          <Plus size={16} aria-hidden /> Add mailbox
        </Button>
      </PageHead>
      <div className="mb-4 flex flex-wrap gap-2">
        <input
          type="search"
          aria-label="Search by address or name"
          placeholder="Address or name"
          value={filter.q}
          onChange={(event) => onFilter({ ...filter, q: event.target.value })}
          className={`${CONTROL} w-72 placeholder:text-faint max-sm:w-full`}
        />
        <select
          aria-label="State"
          value={filter.status ?? ''}
          onChange={(event) =>
            onFilter({ ...filter, status: STATES.find(([status]) => status === event.target.value)?.[0] })
          }
          className={`${CONTROL} max-sm:w-full`}
        >
          <option value="">All states</option>
          {optionsOf(STATES)}
        </select>
      </div>
      <Failure query={list} />
      {mailboxes.length > 0 ? (
        <div aria-hidden className={`hidden gap-x-4 px-4 pb-1.5 text-xs text-muted sm:grid ${COLUMNS}`}>
          <span>Mailbox</span>
          <span>State</span>
          <span>Storage</span>
          <span>Waiting</span>
          <span className="text-right">Last mail</span>
        </div>
      ) : null}
      <VirtualRows
        key={`${filter.status ?? ''} ${q}`}
        label="Mailboxes"
        query={list}
        keyOf={({ id }) => id}
        rowHeight={ROW_HEIGHT_PX}
        {...(list.hasNextPage ? {} : { total: mailboxes.length })}
        empty={<NoMailboxes filter={filter} onAdd={() => setAdding(true)} />}
      >
        {(mailbox) => <MailboxRow mailbox={mailbox} />}
      </VirtualRows>
      {mailboxes.length > 0 ? (
        <p role="status" className="mt-2 text-muted">
          {list.hasNextPage ? 'More load as you scroll.' : counted(mailboxes.length)}
        </p>
      ) : null}
      {adding ? <AddMailbox onClose={() => setAdding(false)} /> : null}
    </>
  );
}

const counted = (count: number): string => (count === 1 ? 'One mailbox' : `${count.toLocaleString()} mailboxes`);

function MailboxRow({ mailbox }: { readonly mailbox: Mailbox }) {
  const { id, address, name, status, quota, waiting, lastActivityAt } = mailbox;
  return (
    <div className={`grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 px-4 py-2 ${COLUMNS}`}>
      <div className="min-w-0">
        <Link to="/mailboxes/$id" params={{ id }} className="block truncate font-medium">
          {address}
        </Link>
        <span className="block truncate text-muted">{name === '' ? 'No name' : <ForeignText text={name} />}</span>
      </div>
      <div>
        <MailboxStatus status={status} sending={sendingStateOf(mailbox)} />
      </div>
      <StorageBar usedBytes={quota.usedBytes} limitBytes={quota.limitBytes} />
      <Waiting id={id} {...waiting} />
      <div className="self-end text-muted sm:self-center sm:text-right">
        {lastActivityAt === null ? 'no mail yet' : <Time value={lastActivityAt} />}
      </div>
    </div>
  );
}

function Waiting({ id, held, scheduled }: Mailbox['waiting'] & Pick<Mailbox, 'id'>) {
  if (held + scheduled === 0) return <span className="text-faint max-sm:hidden">nothing</span>;
  return (
    <span className="flex flex-wrap gap-x-2 max-sm:order-last max-sm:col-span-2">
      {held > 0 ? (
        <Link to="/approvals" className="font-medium">
          {held} held
        </Link>
      ) : null}
      {scheduled > 0 ? (
        <Link to="/mailboxes/$id/outbox" params={{ id }}>
          {scheduled} scheduled
        </Link>
      ) : null}
    </span>
  );
}

function NoMailboxes({ filter: { q, status }, onAdd }: { readonly filter: MailboxFilter; readonly onAdd: () => void }) {
  if (q.trim() !== '' || status !== undefined)
    return (
      <Empty title="No mailbox found">
        <p>
          {q.trim() === '' ? 'No mailbox' : `No address or name contains “${q.trim()}”`}
          {status === undefined ? '.' : ` in the state ${status}.`}
        </p>
      </Empty>
    );
  return (
    <Empty title="No mailboxes yet">
      <p>A mailbox gives an agent an address, a token, and IMAP, POP3, SMTP and REST access.</p>
      <Button look="primary" onClick={onAdd}>
        Add the first mailbox
      </Button>
    </Empty>
  );
}

/** Asks for an address and a name, then shows the token, once. */
function AddMailbox({ onClose }: { readonly onClose: () => void }) {
  return (
    <CreateDialog onClose={onClose} title="Add a mailbox">
      {(onMade) => <AddForm onMade={(mailbox) => onMade(madeOf(mailbox))} />}
    </CreateDialog>
  );
}

const madeOf = ({ id, address, token }: NewMailbox): Made => ({
  title: address,
  description: 'The mailbox is ready.',
  label: 'Mailbox token',
  secret: token,
  note: 'It is shown this once. It is the password for IMAP, POP3 and SMTP and the token for the API, the CLI and MCP.',
  shownBefore: 'To get a new one, rotate it on the page of the mailbox.',
  next: (close) => (
    <Link
      to="/mailboxes/$id"
      params={{ id }}
      search={{ tab: 'connect' }}
      className={buttonClass('plain', 'text-text!')}
      onClick={close}
    >
      Connect an agent
    </Link>
  ),
});

function AddForm({ onMade }: { readonly onMade: (mailbox: NewMailbox) => void }) {
  const add = useAddMailbox();
  const domains = useQuery(domainsQuery);
  // One key for the dialog: a repeated request after a lost answer gives the same mailbox and its token.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [localPart, setLocalPart] = useState('');
  const [domain, setDomain] = useState('');
  const chosen = domain === '' ? domains.data?.[0] : domain;
  const submit = (typed: Typed) => {
    const name = typed('name').trim();
    add.mutate(
      {
        key,
        ...(localPart.trim() === '' ? {} : { localPart: localPart.trim() }),
        ...(name === '' ? {} : { name }),
        ...(domain === '' ? {} : { domain }),
      },
      {
        onSuccess: onMade,
        onError: (error) => {
          if (isFinal(error)) setKey(crypto.randomUUID());
        },
      },
    );
  };
  const problem = add.error instanceof Problem ? add.error : undefined;
  const aboutLocalPart =
    problem?.about('/localPart') ?? (problem?.code === 'invalid_local_part' ? problem.message : undefined);
  return (
    <Form onSubmit={submit}>
      {aboutLocalPart === undefined ? <ProblemNote error={add.error} /> : null}
      <Field
        label="Address"
        name="localPart"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="made up when left empty, like calm-otter-4821"
        value={localPart}
        onChange={(event) => {
          setLocalPart(event.target.value);
          add.reset();
        }}
        error={aboutLocalPart}
        hint={
          localPart.trim() === '' || chosen === undefined ? 'The part before the @.' : `${localPart.trim()}@${chosen}`
        }
      />
      {(domains.data?.length ?? 0) > 1 ? (
        <Choice
          label="Domain"
          value={domain}
          options={(domains.data ?? []).map((each, i) => [i === 0 ? '' : each, each])}
          onChoose={setDomain}
        />
      ) : null}
      <Field
        label="Display name"
        name="name"
        autoComplete="off"
        hint="Optional. Recipients see it beside the address."
      />
      <Submit busy={add.isPending}>Add mailbox</Submit>
    </Form>
  );
}
