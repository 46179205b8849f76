import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Choice, Field, Form, LongField, Submit, type Typed } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { Empty, Failure, ProblemNote, Skeleton } from '../../components/frame/page.tsx';
import { Section } from '../../components/frame/section.tsx';
import { SteadyList } from '../../components/lists/steady-list.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { Badge } from '../../components/shown/badge.tsx';
import { Copy } from '../../components/shown/copy.tsx';
import { aboutField } from '../../problem.ts';
import { type Alias, aliasesQuery, type Mailbox, useChangeAlias, useCreateAlias, useDropAlias } from './queries.ts';

const OTHERWISE = [
  ['refuse', 'Is refused'],
  ['hold', 'Waits for a person'],
] as const;

const ENABLED = [
  ['yes', 'Yes'],
  ['no', 'No: mail to it is refused'],
] as const;

/** Further addresses of the mailbox: the newest hundred. */
export function Aliases({ mailbox }: { readonly mailbox: Mailbox }) {
  const aliases = useQuery(aliasesQuery(mailbox.id));
  const [creating, setCreating] = useState(false);
  const [changing, setChanging] = useState<Alias>();
  const [dropping, setDropping] = useState<Alias>();
  return (
    <Section
      title="Aliases"
      note="Further addresses, one for each service that the agent signs up with."
      aside={
        <Button onClick={() => setCreating(true)}>
          <Plus size={16} aria-hidden /> Create alias
        </Button>
      }
    >
      {aliases.isPending ? <Skeleton /> : null}
      <Failure query={aliases} />
      <SteadyList
        label="Aliases"
        answer={aliases.data}
        rows={aliases.data?.data ?? []}
        empty={
          <Empty title="No aliases">
            <p>Mail reaches the mailbox by its own address only.</p>
          </Empty>
        }
      >
        {(row) => <AliasRow row={row} onChange={() => setChanging(row)} onDrop={() => setDropping(row)} />}
      </SteadyList>
      {creating ? <CreateAlias mailbox={mailbox} onClose={() => setCreating(false)} /> : null}
      {changing === undefined ? null : (
        <ChangeAlias mailbox={mailbox} row={changing} onClose={() => setChanging(undefined)} />
      )}
      {dropping === undefined ? null : <Drop mailbox={mailbox} row={dropping} onClose={() => setDropping(undefined)} />}
    </Section>
  );
}

interface RowProps {
  readonly row: Alias;
  readonly onChange: () => void;
  readonly onDrop: () => void;
}

function AliasRow({ row, onChange, onDrop }: RowProps) {
  const from =
    row.senders.length > 0 ? row.senders.join(', ') : row.lockToFirst ? 'the first author who is proven' : 'everybody';
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <div className="min-w-0 flex-1 basis-64">
        <span className="block truncate font-medium">{row.address}</span>
        <span className="text-muted">
          {row.note === '' ? null : (
            <>
              <ForeignText text={row.note} />,{' '}
            </>
          )}
          mail of <ForeignText text={from} />
        </span>
      </div>
      {row.enabled ? null : <Badge meaning="wait">disabled</Badge>}
      {row.byToken ? <Badge meaning="info">by the agent</Badge> : null}
      <Copy text={row.address} what="alias" />
      <Button aria-label={`Change ${row.address}`} onClick={onChange}>
        Change
      </Button>
      <Button look="stop" aria-label={`Drop ${row.address}`} onClick={onDrop}>
        Drop
      </Button>
    </div>
  );
}

interface Asked {
  readonly mailbox: Mailbox;
  readonly onClose: () => void;
}

function Drop({ mailbox, row, onClose }: Asked & { readonly row: Alias }) {
  const drop = useDropAlias(mailbox.id);
  return (
    <Confirm
      title={`Drop ${row.address}?`}
      consequence="Mail to it is refused at once. Nobody else gets the address for 30 days; this mailbox can make it again."
      action="Drop the alias"
      change={drop}
      onConfirm={() => drop.mutate(row.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

/** What both forms ask for. */
const typedRules = (typed: Typed) => ({
  note: typed('note').trim(),
  senders: typed('senders')
    .split(/[\s,]+/)
    .filter((each) => each !== ''),
  otherwise: OTHERWISE.find(([each]) => each === typed('otherwise'))?.[0] ?? 'refuse',
});

interface RuleFieldsProps {
  readonly error: unknown;
  readonly row?: Alias;
}

function RuleFields({ error, row }: RuleFieldsProps) {
  return (
    <>
      <LongField
        label="Senders"
        name="senders"
        rows={2}
        defaultValue={row?.senders.join('\n')}
        error={aboutField(error, '/senders')}
        hint="Addresses and domains whose mail it takes. Empty: everybody."
      />
      <Choice label="Mail of others" name="otherwise" defaultValue={row?.otherwise ?? 'refuse'} options={OTHERWISE} />
    </>
  );
}

const NoteField = ({ row }: { readonly row?: Alias }) => (
  <Field
    label="What it is for"
    name="note"
    maxLength={200}
    autoComplete="off"
    defaultValue={row?.note}
    hint="Like: for shop.example"
  />
);

function CreateAlias({ mailbox, onClose }: Asked) {
  const create = useCreateAlias(mailbox.id);
  const submit = (typed: Typed): void => {
    const localPart = typed('localPart').trim();
    create.mutate({ ...typedRules(typed), ...(localPart === '' ? {} : { localPart }) }, { onSuccess: onClose });
  };
  return (
    <Dialog onClose={onClose} title="Create an alias" description={`Mail to it reaches ${mailbox.address}.`}>
      <Form onSubmit={submit}>
        <ProblemNote error={create.error} />
        <NoteField />
        <Field
          label="Part before the @"
          name="localPart"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          placeholder="random"
          error={aboutField(create.error, '/localPart')}
          hint="Empty: a random one that nobody can guess."
        />
        <RuleFields error={create.error} />
        <Submit busy={create.isPending}>Create alias</Submit>
      </Form>
    </Dialog>
  );
}

function ChangeAlias({ mailbox, row, onClose }: Asked & { readonly row: Alias }) {
  const change = useChangeAlias(mailbox.id, row.id);
  return (
    <Dialog onClose={onClose} title={`Change ${row.address}`}>
      <Form
        onSubmit={(typed) =>
          change.mutate({ ...typedRules(typed), enabled: typed('enabled') === 'yes' }, { onSuccess: onClose })
        }
      >
        <ProblemNote error={change.error} />
        <NoteField row={row} />
        <RuleFields error={change.error} row={row} />
        <Choice label="Takes mail" name="enabled" defaultValue={row.enabled ? 'yes' : 'no'} options={ENABLED} />
        <Submit busy={change.isPending}>Save</Submit>
      </Form>
    </Dialog>
  );
}
