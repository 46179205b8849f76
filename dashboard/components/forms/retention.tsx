import { Field, type Typed } from './form.tsx';
import { budgetOf } from './settings.tsx';

/** Days; null: for ever. */
export interface Retention {
  allMailDays: number | null;
  trashDays: number | null;
  spamDays: number | null;
}
export type RetentionField = keyof Retention;

const FIELDS: readonly (readonly [name: RetentionField, label: string])[] = [
  ['allMailDays', 'All mail, days'],
  ['trashDays', 'Trash, days'],
  ['spamDays', 'Junk, days'],
];

/** The typed days. @returns the field in which there is no number of days */
export function retentionOf(typed: Typed): Retention | RetentionField {
  const retention: Retention = { allMailDays: null, trashDays: null, spamDays: null };
  for (const [name] of FIELDS) {
    const days = budgetOf(typed(name));
    if (days === undefined || days === 0) return name;
    retention[name] = days;
  }
  return retention;
}

interface RetentionFieldsProps {
  readonly retention: Retention | null;
  /** The field in which there is no number of days. */
  readonly wrong: RetentionField | undefined;
  readonly disabled?: boolean;
}

/** After how many days mail is deleted. */
export const RetentionFields = ({ retention, wrong, disabled = false }: RetentionFieldsProps) => (
  <div className="grid gap-3 sm:grid-cols-3">
    {FIELDS.map(([name, label]) => (
      <Field
        key={name}
        label={label}
        name={name}
        inputMode="numeric"
        autoComplete="off"
        placeholder="for ever"
        disabled={disabled}
        defaultValue={retention?.[name] ?? ''}
        error={wrong === name ? 'Enter a number of days, or leave it empty.' : undefined}
      />
    ))}
  </div>
);
