import { type ComponentProps, type ReactNode, useId } from 'react';

const CONTROL =
  'w-full rounded-md border border-line-strong bg-panel px-3 text-text placeholder:text-faint aria-invalid:border-stop max-sm:text-base';

interface FieldFrame {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What is wrong with the value, as the service said it. */
  readonly error?: string | undefined;
}

interface FieldIds {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

function Frame({ label, hint, error, children }: FieldFrame & { children: (ids: FieldIds) => ReactNode }) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children({
        id,
        'aria-describedby': note === undefined ? undefined : `${id}-note`,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {note === undefined ? null : (
        <p id={`${id}-note`} className={error === undefined ? 'text-muted' : 'text-stop'}>
          {note}
        </p>
      )}
    </div>
  );
}

/** A line of text with its label. */
export function Field({
  label,
  hint,
  error,
  className = '',
  ...rest
}: FieldFrame & Omit<ComponentProps<'input'>, 'id'>) {
  return (
    <Frame label={label} hint={hint} error={error}>
      {(ids) => <input {...rest} {...ids} className={`${CONTROL} h-9 max-sm:h-11 ${className}`} />}
    </Frame>
  );
}

/** Several lines of text with their label. */
export function LongField({
  label,
  hint,
  error,
  className = '',
  ...rest
}: FieldFrame & Omit<ComponentProps<'textarea'>, 'id'>) {
  return (
    <Frame label={label} hint={hint} error={error}>
      {(ids) => <textarea spellCheck={false} {...rest} {...ids} className={`${CONTROL} py-1.5 ${className}`} />}
    </Frame>
  );
}

/** A choice of one. */
export function Choice({ label, hint, error, children, ...rest }: FieldFrame & Omit<ComponentProps<'select'>, 'id'>) {
  return (
    <Frame label={label} hint={hint} error={error}>
      {(ids) => (
        <select {...rest} {...ids} className={`${CONTROL} h-9 max-sm:h-11`}>
          {children}
        </select>
      )}
    </Frame>
  );
}
