import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useMayManage } from '../../api/session.ts';
import { useAddInAddress } from '../../components/forms/add-in-address.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Expiration, Expires, expiryOf, LastUsed } from '../../components/forms/expiration.tsx';
import { Field, Form, Submit, type Typed } from '../../components/forms/form.tsx';
import { DoneButton, Secret } from '../../components/forms/secret-dialog.tsx';
import { Tick } from '../../components/forms/settings.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { Empty, Failure, PageHead, ProblemNote } from '../../components/frame/page.tsx';
import { PagedList } from '../../components/lists/steady-list.tsx';
import { aboutField } from '../../problem.ts';
import {
  groupsQuery,
  type Key,
  keysQuery,
  type NewKey,
  type Scope,
  useCreateKey,
  useRevokeKey,
  useUpdateKey,
} from './queries.ts';

/** Keys by which programs manage the organization. */
export function KeysPage() {
  const mayManage = useMayManage();
  return mayManage ? (
    <Keys />
  ) : (
    <>
      <PageHead title="API keys" />
      <Empty title="Only for admins">
        <p>Only admins and owners can see and create API keys. Ask one of them.</p>
      </Empty>
    </>
  );
}

function Keys() {
  const [creating, setCreating] = useAddInAddress();
  const [editing, setEditing] = useState<Key>();
  const [revoking, setRevoking] = useState<Key>();
  const list = useInfiniteQuery(keysQuery);
  return (
    <>
      <PageHead title="API keys">
        <Button look="primary" onClick={() => setCreating(true)}>
          <Plus size={16} aria-hidden /> Create key
        </Button>
      </PageHead>
      <PagedList
        label="API keys"
        query={list}
        empty={
          <Empty title="No API keys">
            <p>A key lets a program manage mailboxes and webhooks within its scopes.</p>
            <Button look="primary" onClick={() => setCreating(true)}>
              Create the first key
            </Button>
          </Empty>
        }
      >
        {(key) => <KeyRow row={key} onEdit={() => setEditing(key)} onRevoke={() => setRevoking(key)} />}
      </PagedList>
      {creating ? <CreateKey onClose={() => setCreating(false)} /> : null}
      {editing === undefined ? null : <EditKey row={editing} onClose={() => setEditing(undefined)} />}
      {revoking === undefined ? null : <Revoke row={revoking} onClose={() => setRevoking(undefined)} />}
    </>
  );
}

interface KeyRowProps {
  readonly row: Key;
  readonly onEdit: () => void;
  readonly onRevoke: () => void;
}

function KeyRow({ row, onEdit, onRevoke }: KeyRowProps) {
  return (
    <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_minmax(0,1.3fr)_140px_130px_auto]">
      <div className="min-w-0">
        <span className="block truncate font-medium">{row.name}</span>
        <code className="font-mono text-[13px] text-muted">{row.keyHint}…</code>
      </div>
      <div className="min-w-0 text-muted">
        {row.scopes.length === SCOPES.length ? 'every scope' : row.scopes.join(', ')}
        {row.mailboxGroups === null ? null : <span className="block">in {row.mailboxGroups.join(', ')}</span>}
      </div>
      <div className="text-muted">
        <Expires at={row.expiresAt} />
      </div>
      <div className="text-muted">
        <LastUsed at={row.lastUsedAt} />
      </div>
      <div className="flex gap-2">
        <Button aria-label={`Edit ${row.name}`} onClick={onEdit}>
          Edit
        </Button>
        <Button look="stop" aria-label={`Revoke ${row.name}`} onClick={onRevoke}>
          Revoke
        </Button>
      </div>
    </div>
  );
}

function Revoke({ row, onClose }: { readonly row: Key; readonly onClose: () => void }) {
  const revoke = useRevokeKey();
  return (
    <Confirm
      title={`Revoke “${row.name}”?`}
      consequence="Programs that use this key are refused from now on. A revoked key cannot be brought back."
      action="Revoke key"
      change={revoke}
      onConfirm={() => revoke.mutate(row.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

/** Asks for name, scopes and expiration, then shows the key, once. */
function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const create = useCreateKey();
  const [made, setMade] = useState<NewKey>();
  return (
    <Dialog onClose={onClose} keep={made !== undefined} title={made === undefined ? 'Create an API key' : made.name}>
      {made === undefined ? (
        <KeyForm
          action="Create key"
          busy={create.isPending}
          error={create.error}
          onSubmit={(input) =>
            create.mutate({ ...input, expiresAt: input.expiresAt ?? null }, { onSuccess: (key) => setMade(key) })
          }
        />
      ) : (
        <>
          <Secret
            label="API key"
            value={made.key ?? ''}
            note="It is shown this once. Send it as the header x-organization-key."
          />
          <DoneButton onClick={onClose} />
        </>
      )}
    </Dialog>
  );
}

/** Changes what a key is called, may do and how long; the key itself stays. */
function EditKey({ row, onClose }: { readonly row: Key; readonly onClose: () => void }) {
  const update = useUpdateKey(row.id);
  return (
    <Dialog
      onClose={onClose}
      title={`Edit “${row.name}”`}
      description="The key itself stays, and programs that use it keep working. What its scopes allow changes at once."
    >
      <KeyForm
        row={row}
        action="Save"
        busy={update.isPending}
        error={update.error}
        onSubmit={({ name, scopes, mailboxGroups, expiresAt }) =>
          update.mutate(
            { name, scopes, mailboxGroups, ...(expiresAt === undefined ? {} : { expiresAt }) },
            { onSuccess: onClose },
          )
        }
      />
    </Dialog>
  );
}

interface KeyFormProps {
  /** The key that is changed; undefined: a new one. */
  readonly row?: Key;
  readonly action: string;
  readonly busy: boolean;
  readonly error: unknown;
  /** `expiresAt` undefined: as it is. */
  readonly onSubmit: (input: {
    name: string;
    scopes: Scope[];
    mailboxGroups: string[] | null;
    expiresAt: string | null | undefined;
  }) => void;
}

/** Name, scopes and expiration of a key. */
function KeyForm({ row, action, busy, error, onSubmit }: KeyFormProps) {
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set(row?.scopes));
  /** Undefined: every mailbox. */
  const [groups, setGroups] = useState<ReadonlySet<string> | undefined>(
    row?.mailboxGroups ? new Set(row.mailboxGroups) : undefined,
  );
  const submit = (typed: Typed): void =>
    onSubmit({
      name: typed('name').trim(),
      scopes: SCOPES.map(([scope]) => scope).filter((scope) => scopes.has(scope)),
      mailboxGroups: groups === undefined ? null : [...groups].toSorted(),
      expiresAt: expiryOf(typed, Date.now()),
    });
  return (
    <Form onSubmit={submit}>
      <ProblemNote error={error} />
      <Field
        label="Name"
        name="name"
        required
        maxLength={100}
        autoComplete="off"
        defaultValue={row?.name}
        error={aboutField(error, '/name')}
        hint="Say where the key is used, so that you recognize it later."
      />
      <fieldset className="grid gap-2">
        <legend className="mb-1 font-medium">Scopes</legend>
        <div className="flex flex-wrap gap-2">
          {PRESETS.map(({ title, scopes: preset }) => (
            <Button key={title} onClick={() => setScopes(new Set(preset))}>
              {title}
            </Button>
          ))}
        </div>
        {SCOPES.map(([scope, sentence]) => (
          <Tick
            key={scope}
            type="checkbox"
            checked={scopes.has(scope)}
            onChange={() => setScopes(toggled(scopes, scope))}
          >
            <code className="font-mono text-[13px]">{scope}</code> <span className="text-muted">{sentence}</span>
          </Tick>
        ))}
      </fieldset>
      <GroupChoice chosen={groups} onChoose={setGroups} error={aboutField(error, '/mailboxGroups')} />
      <Expiration mayStay={row !== undefined} error={aboutField(error, '/expiresAt')} />
      <Submit busy={busy} disabled={scopes.size === 0 || groups?.size === 0}>
        {action}
      </Submit>
    </Form>
  );
}

interface GroupChoiceProps {
  /** Undefined: every mailbox. */
  readonly chosen: ReadonlySet<string> | undefined;
  readonly onChoose: (groups: ReadonlySet<string> | undefined) => void;
  readonly error: string | undefined;
}

function toggled<Value>(values: ReadonlySet<Value> | undefined, value: Value): ReadonlySet<Value> {
  const next = new Set(values);
  if (!next.delete(value)) next.add(value);
  return next;
}

/** Which mailboxes a key reaches: all of them, or those of some groups. */
function GroupChoice({ chosen, onChoose, error }: GroupChoiceProps) {
  const groups = useQuery(groupsQuery);
  const names = [
    ...new Set([...(groups.data?.data.flatMap(({ name }) => name ?? []) ?? []), ...(chosen ?? [])]),
  ].toSorted();
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1 font-medium">Mailboxes</legend>
      <Tick type="radio" name="reach" checked={chosen === undefined} onChange={() => onChoose(undefined)}>
        All of the organization
      </Tick>
      <Tick type="radio" name="reach" checked={chosen !== undefined} onChange={() => onChoose(chosen ?? new Set())}>
        Groups <span className="text-muted">Nothing about the whole organization, domains, lists or webhooks.</span>
      </Tick>
      {chosen === undefined ? null : (
        <div className="ml-6 grid gap-2">
          <Failure query={groups} />
          {groups.isSuccess && names.length === 0 ? (
            <p className="text-muted">No mailbox is in a group yet. A group is named in the settings of a mailbox.</p>
          ) : null}
          {names.map((name) => (
            <Tick
              key={name}
              type="checkbox"
              checked={chosen.has(name)}
              onChange={() => onChoose(toggled(chosen, name))}
            >
              {name}
            </Tick>
          ))}
        </div>
      )}
      {error === undefined ? null : <p className="text-stop">{error}</p>}
    </fieldset>
  );
}

/** Every scope of an API key with what it allows. */
const SCOPES: readonly (readonly [Scope, string])[] = [
  ['mailbox:create', 'Create mailboxes and see their tokens'],
  ['mailbox:read', 'Read mailboxes and their mail'],
  ['mailbox:write', 'Change mailboxes, rotate tokens, send and change mail'],
  ['mailbox:delete', 'Delete mailboxes with their mail'],
  ['org:read', 'Read the organization, members, usage and the audit log'],
  ['webhook:create', 'Create webhook endpoints'],
  ['webhook:read', 'Read webhook endpoints and deliveries'],
  ['webhook:manage', 'Change, rotate, recover and delete webhook endpoints'],
];

/** Choices that fit most keys. */
const PRESETS: readonly { readonly title: string; readonly scopes: readonly Scope[] }[] = [
  { title: 'Read only', scopes: ['mailbox:read', 'org:read', 'webhook:read'] },
  { title: 'An agent’s server', scopes: ['mailbox:create', 'mailbox:read', 'mailbox:write'] },
  { title: 'Everything', scopes: SCOPES.map(([scope]) => scope) },
];
