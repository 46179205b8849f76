import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Expiration, expiryOf } from '../../components/forms/expiration.tsx';
import { Field, Form, Submit, type Typed } from '../../components/forms/form.tsx';
import { Tick } from '../../components/forms/settings.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Failure, ProblemNote } from '../../components/frame/page.tsx';
import { aboutField } from '../../problem.ts';
import { groupsQuery, type Key, type Scope } from './queries.ts';

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
export function KeyForm({ row, action, busy, error, onSubmit }: KeyFormProps) {
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
export const SCOPES: readonly (readonly [Scope, string])[] = [
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
export const PRESETS: readonly { readonly title: string; readonly scopes: readonly Scope[] }[] = [
  { title: 'Read only', scopes: ['mailbox:read', 'org:read', 'webhook:read'] },
  { title: 'An agent’s server', scopes: ['mailbox:create', 'mailbox:read', 'mailbox:write'] },
  { title: 'Everything', scopes: SCOPES.map(([scope]) => scope) },
];
