import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Field } from '../../components/forms/field.tsx';
import { textOfField } from '../../components/forms/form-text.ts';
import { Segments } from '../../components/forms/segments.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Empty } from '../../components/frame/empty.tsx';
import { PageHead } from '../../components/frame/page-head.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { PagedList } from '../../components/lists/paged-list.tsx';
import { Time } from '../../components/shown/time.tsx';
import { aboutField } from '../../problem.ts';
import {
  type Action,
  type Direction,
  entriesQuery,
  findMailbox,
  type ListEntry,
  mailboxAddressQuery,
  useAddEntry,
  useRemoveEntry,
} from './queries.ts';
import { TestAddress } from './test-address.tsx';

const MEANING: Readonly<Record<`${Direction}/${Action}`, string>> = {
  'inbound/allow': 'Senders whose mail is accepted even if a broader entry blocks them.',
  'inbound/block': 'Senders whose mail is refused.',
  'outbound/allow': 'Recipients that agents may write to without an approval.',
  'outbound/block': 'Recipients to whom nothing is sent.',
};

export interface ListsPageProps {
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
            {(entry) => (
              <EntryRow
                entry={entry}
                busy={remove.isPending && remove.variables === entry.id}
                onRemove={() => remove.mutate(entry.id)}
              />
            )}
          </PagedList>
        </div>
        <TestAddress key={direction} direction={direction} />
      </div>
    </>
  );
}

function EntryRow({
  entry,
  busy,
  onRemove,
}: {
  readonly entry: ListEntry;
  readonly busy: boolean;
  readonly onRemove: () => void;
}) {
  return (
    <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_110px_auto]">
      <span className="min-w-0 font-medium break-all">{entry.value}</span>
      <span className="min-w-0 truncate text-muted">
        {entry.mailboxId === null ? 'all mailboxes' : <MailboxAddress id={entry.mailboxId} />}
      </span>
      <span className="text-muted">
        <Time value={entry.createdAt} />
      </span>
      <Button aria-label={`Remove ${entry.value}`} busy={busy} onClick={onRemove}>
        Remove
      </Button>
    </div>
  );
}

function MailboxAddress({ id }: { readonly id: string }) {
  const mailbox = useQuery(mailboxAddressQuery(id));
  return <>only {mailbox.data?.address ?? id}</>;
}

function AddEntry({ direction, action }: { readonly direction: Direction; readonly action: Action }) {
  const add = useAddEntry(direction, action);
  const [noMailbox, setNoMailbox] = useState<string>();
  const [failed, setFailed] = useState<unknown>();
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const data = new FormData(form);
    const [value, address] = [textOfField(data, 'value').trim(), textOfField(data, 'mailbox').trim()];
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
    <form
      aria-label="Add an entry"
      onSubmit={(event) => void submit(event)}
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
    </form>
  );
}
