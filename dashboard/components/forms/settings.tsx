/** Parts of forms in which something is set: boxes, passwords, budgets, and the row that saves it. */
import type { ComponentProps, ReactNode } from 'react';
import { Button } from '../frame/button.tsx';
import { Field } from './form.tsx';

interface TickProps extends Omit<ComponentProps<'input'>, 'title' | 'children'> {
  readonly type: 'radio' | 'checkbox';
  readonly children: ReactNode;
}

/** A box or a radio button with its words. */
export const Tick = ({ children, className = 'flex items-start gap-2 max-sm:py-1', ...rest }: TickProps) => (
  <label className={className}>
    <input className="mt-0.5 size-4 shrink-0 accent-accent" {...rest} />
    <span>{children}</span>
  </label>
);

const PASSWORD_MIN_LENGTH = 12;

/** The field of a password that is chosen now. Its name in the form is `password`. */
export const NewPassword = ({ label, error }: { readonly label: string; readonly error: string | undefined }) => (
  <Field
    label={label}
    name="password"
    type="password"
    required
    minLength={PASSWORD_MIN_LENGTH}
    maxLength={256}
    autoComplete="new-password"
    error={error}
    hint={`At least ${PASSWORD_MIN_LENGTH} characters. A few words are fine.`}
  />
);

interface SaveRowProps {
  readonly busy: boolean;
  /** What was done with all that is in the form, such as `Saved`; empty: nothing yet. */
  readonly done: string;
  /** Text of the button. */
  readonly children: ReactNode;
}

/** The end of a form that stays: its button, and whether everything in it is saved. */
export const SaveRow = ({ busy, done, children }: SaveRowProps) => (
  <div className="flex items-center justify-end gap-3">
    <span aria-live="polite" className="text-ok">
      {done}
    </span>
    <Button type="submit" busy={busy}>
      {children}
    </Button>
  </div>
);

/** The typed budget of a day. @returns null for no limit, undefined if it is not a whole number */
export function budgetOf(typed: string): number | null | undefined {
  const text = typed.trim();
  if (text === '') return null;
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
