import { Field } from '../../../components/forms/field.tsx';

export interface AuthHeader {
  readonly name: string;
  readonly value: string;
}

/** A header that is sent along with each delivery. Both empty: none. */
export function HeaderFields({
  header,
  onChange,
  error,
}: {
  readonly header: AuthHeader;
  readonly onChange: (header: AuthHeader) => void;
  readonly error?: string | undefined;
}) {
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2">
      <Field
        label="Header name"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="X-Hook-Token"
        value={header.name}
        onChange={(event) => onChange({ ...header, name: event.target.value })}
        error={error}
        hint="Optional. By it your server knows the sender."
      />
      <Field
        label="Header value"
        type="password"
        autoComplete="off"
        value={header.value}
        onChange={(event) => onChange({ ...header, value: event.target.value })}
        hint="Kept encrypted and never shown again."
      />
    </div>
  );
}
