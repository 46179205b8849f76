import { Field } from '../../components/forms/form.tsx';

interface ReasonFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Why messages are denied: their agents are given it. */
export const ReasonField = ({ value, onChange }: ReasonFieldProps) => (
  <Field
    label="Reason"
    name="reason"
    autoComplete="off"
    hint="Optional."
    maxLength={1_000}
    value={value}
    onChange={(event) => onChange(event.target.value)}
  />
);
