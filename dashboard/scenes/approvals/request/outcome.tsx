import { visibleText } from '../../../components/mail/unseen-characters.ts';
import { type State, StateBadge } from '../../../components/shown/badge.tsx';
import { Time } from '../../../components/shown/time.tsx';
import type { Consent } from '../queries.ts';

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
  if (decision?.returned === true) return ['wait', 'Sent back'];
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
      {decision.reason === null ? null : (
        <p className="break-words">
          {decision.returned ? 'Comment' : 'Reason'}: {visibleText(decision.reason)}
        </p>
      )}
      {changes === null ? null : <FieldDifferences changes={fieldChanges(changes)} />}
    </section>
  );
}

/** A changed field of a message, with its old and new value. */
export interface FieldChange {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

const TITLES: Readonly<Record<string, string>> = {
  subject: 'Subject',
  text: 'Text',
  html: 'HTML',
  to: 'To',
  cc: 'Cc',
  bcc: 'Bcc',
};
const LOOKS = {
  same: 'text-muted',
  removed: 'bg-stop-soft text-stop line-through decoration-stop/50',
  added: 'bg-ok-soft text-ok',
} as const;
const MARKS = { same: ' ', removed: '−', added: '+' } as const;
const SAID = { same: '', removed: 'removed: ', added: 'added: ' } as const;

/** Changed fields line by line: what went, what came. */
export function FieldDifferences({ changes }: { readonly changes: readonly FieldChange[] }) {
  return changes.map(({ field, before, after }) => (
    <section key={field} aria-label={`Change of ${TITLES[field] ?? field}`} className="min-w-0">
      <h3 className="text-xs text-muted">{TITLES[field] ?? field}</h3>
      <div
        tabIndex={0}
        role="group"
        aria-label={`Difference of ${TITLES[field] ?? field}`}
        className="mt-1 max-h-80 overflow-auto rounded-md border border-line py-1"
      >
        {difference(before, after).map(({ kind, text }, i) => (
          <p key={i} className={`grid grid-cols-[20px_minmax(0,1fr)] px-2 ${LOOKS[kind]}`}>
            <span aria-hidden className="no-underline">
              {MARKS[kind]}
            </span>
            <span className="break-words whitespace-pre-wrap">
              {SAID[kind] === '' ? null : <span className="sr-only">{SAID[kind]}</span>}
              {visibleText(text)}
            </span>
          </p>
        ))}
      </div>
    </section>
  ));
}

/** One line of a difference. */
interface DifferenceLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Beyond this many lines on both sides together the old and the new text are shown whole, one after the other. */
const LINES_MAX = 2_000;

/** The lines of two texts, with what was removed before what was added (longest common subsequence). */
function difference(before: string, after: string): readonly DifferenceLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  if (old.length + now.length > LINES_MAX)
    return [
      ...old.map((text) => ({ kind: 'removed', text }) as const),
      ...now.map((text) => ({ kind: 'added', text }) as const),
    ];
  // Length of the common rest from each pair of lines on.
  const width = now.length + 1;
  const common = new Uint16Array((old.length + 1) * width);
  const restFrom = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] =
        old[i] === now[j] ? restFrom(i + 1, j + 1) + 1 : Math.max(restFrom(i + 1, j), restFrom(i, j + 1));
  const lines: DifferenceLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [was, is] = [old[i], now[j]];
    if (was !== undefined && was === is) {
      lines.push({ kind: 'same', text: was });
      i++;
      j++;
    } else if (was !== undefined && (is === undefined || restFrom(i + 1, j) >= restFrom(i, j + 1))) {
      lines.push({ kind: 'removed', text: was });
      i++;
    } else if (is !== undefined) {
      lines.push({ kind: 'added', text: is });
      j++;
    }
  }
  return lines;
}
