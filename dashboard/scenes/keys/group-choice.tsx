import { useQuery } from '@tanstack/react-query';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { groupsQuery } from './queries.ts';

export interface GroupChoiceProps {
  /** Undefined: every mailbox. */
  readonly chosen: ReadonlySet<string> | undefined;
  readonly onChoose: (groups: ReadonlySet<string> | undefined) => void;
  readonly error: string | undefined;
}

/** Which mailboxes a key reaches: all of them, or those of some groups. */
export function GroupChoice({ chosen, onChoose, error }: GroupChoiceProps) {
  const groups = useQuery(groupsQuery);
  const names = [
    ...new Set([...(groups.data?.data.flatMap(({ name }) => name ?? []) ?? []), ...(chosen ?? [])]),
  ].toSorted();
  const toggle = (name: string): void => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    onChoose(next);
  };
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1 font-medium">Mailboxes</legend>
      <label className="flex items-start gap-2 max-sm:py-1">
        <input
          type="radio"
          name="reach"
          checked={chosen === undefined}
          onChange={() => onChoose(undefined)}
          className="mt-0.5 size-4 accent-(--accent)"
        />
        All of the organization
      </label>
      <label className="flex items-start gap-2 max-sm:py-1">
        <input
          type="radio"
          name="reach"
          checked={chosen !== undefined}
          onChange={() => onChoose(chosen ?? new Set())}
          className="mt-0.5 size-4 accent-(--accent)"
        />
        <span>
          Groups <span className="text-muted">Nothing about the whole organization, domains, lists or webhooks.</span>
        </span>
      </label>
      {chosen === undefined ? null : (
        <div className="ml-6 grid gap-2">
          {groups.isError ? <ProblemNote error={groups.error} onRetry={() => void groups.refetch()} /> : null}
          {groups.isSuccess && names.length === 0 ? (
            <p className="text-muted">No mailbox is in a group yet. A group is named in the settings of a mailbox.</p>
          ) : null}
          {names.map((name) => (
            <label key={name} className="flex items-center gap-2 max-sm:py-1">
              <input
                type="checkbox"
                checked={chosen.has(name)}
                onChange={() => toggle(name)}
                className="size-4 accent-(--accent)"
              />
              {name}
            </label>
          ))}
        </div>
      )}
      {error === undefined ? null : <p className="text-stop">{error}</p>}
    </fieldset>
  );
}
