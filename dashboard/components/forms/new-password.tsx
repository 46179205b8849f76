import { Field } from './field.tsx';

export const PASSWORD_MIN_LENGTH = 12;

/** The field of a password that is chosen now. Its name in the form is `password`. */
export function NewPassword({ label, error }: { readonly label: string; readonly error?: string | undefined }) {
  return (
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
}
