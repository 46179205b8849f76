import { type FormEvent, useState } from 'react';
import { Expiration, expiryOf } from '../../components/forms/expiration.tsx';
import { Field } from '../../components/forms/field.tsx';
import { textOfField } from '../../components/forms/form-text.ts';
import { Button } from '../../components/frame/button.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { aboutField } from '../../problem.ts';
import { GroupChoice } from './group-choice.tsx';
import type { Key, Scope } from './queries.ts';
import { PRESETS, SCOPES } from './scopes.ts';

export interface KeyFormProps {
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
  const toggle = (scope: Scope): void => {
    const next = new Set(scopes);
    if (!next.delete(scope)) next.add(scope);
    setScopes(next);
  };
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    onSubmit({
      name: textOfField(form, 'name').trim(),
      scopes: SCOPES.map(([scope]) => scope).filter((scope) => scopes.has(scope)),
      mailboxGroups: groups === undefined ? null : [...groups].toSorted(),
      expiresAt: expiryOf(form, Date.now()),
    });
  };
  return (
    <form onSubmit={submit} className="grid gap-4">
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
          <label key={scope} className="flex items-start gap-2 max-sm:py-1">
            <input
              type="checkbox"
              checked={scopes.has(scope)}
              onChange={() => toggle(scope)}
              className="mt-0.5 size-4 accent-(--accent)"
            />
            <span>
              <code className="font-mono text-[13px]">{scope}</code> <span className="text-muted">{sentence}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <GroupChoice chosen={groups} onChoose={setGroups} error={aboutField(error, '/mailboxGroups')} />
      <Expiration mayStay={row !== undefined} error={aboutField(error, '/expiresAt')} />
      <Button
        type="submit"
        look="primary"
        className="justify-self-end"
        busy={busy}
        disabled={scopes.size === 0 || groups?.size === 0}
      >
        {action}
      </Button>
    </form>
  );
}
