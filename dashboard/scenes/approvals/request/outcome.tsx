import { visibleText } from '../../../components/mail/unseen-characters.ts';
import { type State, StateBadge } from '../../../components/shown/badge.tsx';
import { Time } from '../../../components/shown/time.tsx';
import type { Consent } from '../queries.ts';
import { type FieldChange, FieldDifferences } from './differences.tsx';

type Decision = NonNullable<Consent['decision']>;

const SCOPE_WORDS: Readonly<Record<NonNullable<Decision['scope']>, string>> = {
  message: 'this message and answers in its thread',
  address: 'everything to its recipients',
  domain: 'everything to the domains of its recipients',
};

/** The decision in one word. */
export const OutcomeBadge = ({ consent }: { readonly consent: Consent }) => <StateBadge of={outcomeOf(consent)} />;

function outcomeOf({ status, decision }: Consent): State {
  if (status === 'pending') return ['wait', 'Held'];
  if (status === 'approved') return ['ok', (decision?.changes ?? null) === null ? 'Approved' : 'Approved with changes'];
  return decision?.decidedBy.type === 'system' ? ['none', 'Expired'] : ['stop', 'Denied'];
}

/** Who decided. */
const deciderOf = ({ decidedBy }: Decision): string =>
  decidedBy.name ?? decidedBy.email ?? decidedBy.address ?? 'the service';

const FIELDS = ['to', 'cc', 'bcc', 'subject', 'text', 'html'] as const;

function fieldChanges(changes: NonNullable<Decision['changes']>): FieldChange[] {
  return FIELDS.flatMap((field) => {
    const change = changes[field];
    return change === undefined ? [] : [{ field, before: lines(change.before), after: lines(change.after) }];
  });
}

const lines = (value: readonly string[] | string | null): string =>
  typeof value === 'string' ? value : (value ?? []).join('\n');

interface OutcomeProps {
  readonly consent: Consent;
  /** The reader's own decision was refused. */
  readonly refused: boolean;
  /** It was decided while it was shown. */
  readonly meanwhile: boolean;
}

/** What was decided, by whom, and what was changed: in place of the actions. */
export function Outcome({ consent, refused, meanwhile }: OutcomeProps) {
  const { decision } = consent;
  if (decision === null) return null;
  const { changes } = decision;
  return (
    <section aria-label="Decision" className="grid gap-2 rounded-b-lg border-t border-line bg-sunken px-4 py-3">
      {refused ? (
        <p role="alert" className="font-medium">
          Your decision came too late: it was decided already.
        </p>
      ) : null}
      {meanwhile && !refused ? (
        <p role="status" className="font-medium">
          {decision.decidedBy.type === 'system' ? 'This request has ended' : 'This request was decided'} while you were
          reading it. There is nothing to decide any more.
        </p>
      ) : null}
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <OutcomeBadge consent={consent} />
        <span className="min-w-0 break-words">
          by {visibleText(deciderOf(decision))}, <Time value={decision.decidedAt} />
          {decision.scope === null ? null : `, for ${SCOPE_WORDS[decision.scope]}`}
        </span>
      </p>
      {decision.reason === null ? null : <p className="break-words">Reason: {visibleText(decision.reason)}</p>}
      {changes === null ? null : <FieldDifferences changes={fieldChanges(changes)} />}
    </section>
  );
}
