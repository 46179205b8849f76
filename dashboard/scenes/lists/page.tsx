import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mailboxNameQuery } from '../../api/queries.ts';
import { Field, Form, type Typed } from '../../components/forms/form.tsx';
import { Segments } from '../../components/forms/segments.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Empty, PageHead, ProblemNote } from '../../components/frame/page.tsx';
import { Section } from '../../components/frame/section.tsx';
import { PagedList } from '../../components/lists/steady-list.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { Time } from '../../components/shown/time.tsx';
import { aboutField } from '../../problem.ts';
import {
  type Action,
  type Direction,
  entriesQuery,
  findMailbox,
  type ListEntry,
  useAddEntry,
  useRemoveEntry,
  useTestLists,
  type Verdict,
} from './queries.ts';

const MEANING: Readonly<Record<`${Direction}/${Action}`, string>> = {
  'inbound/allow': 'Senders whose mail is accepted even if a broader entry blocks them.',
  'inbound/block': 'Senders whose mail is refused.',
  'outbound/allow': 'Recipients that agents may write to without an approval.',
  'outbound/block': 'Recipients to whom nothing is sent.',
};

interface ListsPageProps {
  readonly direction: Direction;
  readonly action: Action;
  readonly onChoose: (direction: Direction, action: Action) => void;
}

/** Who may write to the mailboxes and whom they may write to. */
export function ListsPage({ direction, action, onChoose }: ListsPageProps) {
  const list = useInfiniteQuery(entriesQuery(direction, action));
  const remove = useRemoveEntry(direction, action);
  return (
    <>
      <PageHead title="Lists" />
      <div className="mb-3 flex flex-wrap gap-3">
        <Segments
          label="Direction"
          value={direction}
          options={[
            ['inbound', 'Incoming mail'],
            ['outbound', 'Outgoing mail'],
          ]}
          onChange={(next) => onChoose(next, action)}
        />
        <Segments
          label="Action"
          value={action}
          options={[
            ['allow', 'Allow'],
            ['block', 'Block'],
          ]}
          onChange={(next) => onChoose(direction, next)}
        />
      </div>
      <p className="mb-4 max-w-2xl text-muted">
        {MEANING[`${direction}/${action}`]} The nearest entry decides: mailbox before organization, address before
        domain, allow before block.
      </p>
      <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_300px]">
        <div className="grid min-w-0 gap-3">
          <AddEntry key={`${direction} ${action}`} direction={direction} action={action} />
          <ProblemNote error={remove.error} />
          <PagedList
            key={`entries ${direction} ${action}`}
            label="Entries"
            query={list}
            empty={
              <Empty title="This list is empty">
                <p>Add an address such as ada@example.com, or a domain such as example.com.</p>
              </Empty>
            }
          >
            {(entry) => <EntryRow entry={entry} remove={remove} />}
          </PagedList>
        </div>
        <TestAddress key={direction} direction={direction} />
      </div>
    </>
  );
}

interface EntryRowProps {
  readonly entry: ListEntry;
  readonly remove: ReturnType<typeof useRemoveEntry>;
}

function EntryRow({ entry: { id, value, mailboxId, createdAt }, remove }: EntryRowProps) {
  return (
    <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_110px_auto]">
      <span className="min-w-0 font-medium break-all">{value}</span>
      <span className="min-w-0 truncate text-muted">
        {mailboxId === null ? 'all mailboxes' : <MailboxAddress id={mailboxId} />}
      </span>
      <span className="text-muted">
        <Time value={createdAt} />
      </span>
      <Button
        aria-label={`Remove ${value}`}
        busy={remove.isPending && remove.variables === id}
        onClick={() => remove.mutate(id)}
      >
        Remove
      </Button>
    </div>
  );
}

function MailboxAddress({ id }: { readonly id: string }) {
  const mailbox = useQuery(mailboxNameQuery(id));
  return <>only {mailbox.data?.address ?? id}</>;
}

function AddEntry({ direction, action }: { readonly direction: Direction; readonly action: Action }) {
  const add = useAddEntry(direction, action);
  const [noMailbox, setNoMailbox] = useState<string>();
  const [failed, setFailed] = useState<unknown>();
  const submit = async (typed: Typed, form: HTMLFormElement): Promise<void> => {
    const [value, address] = [typed('value').trim(), typed('mailbox').trim()];
    setNoMailbox(undefined);
    setFailed(undefined);
    let mailboxId: string | undefined;
    try {
      mailboxId = address === '' ? undefined : await findMailbox(address);
    } catch (error) {
      setFailed(error);
      return;
    }
    if (address !== '' && mailboxId === undefined) {
      setNoMailbox('No mailbox of this organization has this address.');
      return;
    }
    add.mutate({ value, ...(mailboxId === undefined ? {} : { mailboxId }) }, { onSuccess: () => form.reset() });
  };
  const about = aboutField(add.error, '/value');
  return (
    <Form
      aria-label="Add an entry"
      onSubmit={(typed, form) => void submit(typed, form)}
      className="grid items-start gap-3 rounded-lg border border-line bg-panel p-4 sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto]"
    >
      <Field
        label="Address or domain"
        name="value"
        required
        maxLength={254}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        error={about}
      />
      <Field
        label="Only for the mailbox"
        name="mailbox"
        type="email"
        autoComplete="off"
        placeholder="all mailboxes"
        error={noMailbox}
      />
      <Button type="submit" look="primary" className="sm:mt-6 sm:h-9" busy={add.isPending}>
        Add
      </Button>
      <div className="empty:hidden sm:col-span-3">
        {about === undefined && (add.error !== null || failed !== undefined) ? (
          <ProblemNote error={add.error ?? failed} />
        ) : null}
      </div>
    </Form>
  );
}

/** Asks what the lists say about one address, before mail shows it. */
function TestAddress({ direction }: { readonly direction: Direction }) {
  const test = useTestLists();
  return (
    <Section
      title="Test an address"
      note={direction === 'inbound' ? 'Is mail from it accepted?' : 'May agents write to it without an approval?'}
      className="grid gap-3 rounded-lg border border-line bg-panel p-4"
    >
      <Form className="grid gap-3" onSubmit={(typed) => test.mutate({ direction, address: typed('address').trim() })}>
        <Field label="Address" name="address" type="email" required autoComplete="off" />
        <Button type="submit" busy={test.isPending}>
          Test
        </Button>
      </Form>
      <ProblemNote error={test.error} />
      <div aria-live="polite">
        {test.data === undefined ? null : <Outcome verdict={test.data} direction={direction} />}
      </div>
    </Section>
  );
}

function Outcome({ verdict, direction }: { readonly verdict: Verdict; readonly direction: Direction }) {
  const { action, rule } = verdict;
  if (action === null)
    return (
      <p>
        <Badge meaning="none">No entry</Badge>{' '}
        {direction === 'inbound'
          ? 'No entry matches, so its mail is accepted.'
          : 'No entry matches, so the approval rules of the organization apply.'}
      </p>
    );
  return (
    <p>
      <Badge meaning={action === 'allow' ? 'ok' : 'stop'}>{action === 'allow' ? 'Allowed' : 'Blocked'}</Badge> by the
      entry <span className="font-medium break-all">{rule}</span>.
    </p>
  );
}
