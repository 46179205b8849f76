import { visibleText } from '../../../components/mail/visible-text.ts';
import { difference } from './difference.ts';

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
