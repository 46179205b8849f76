import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useId } from 'react';
import { Field } from '../../../components/forms/field.tsx';
import { mailboxChoicesQuery } from '../queries.ts';

export interface MailboxChoiceProps {
  /** What is typed: an address once it is chosen. */
  readonly value: string;
  readonly onChange: (address: string, id: string | undefined) => void;
  readonly error?: string | undefined;
}

/** One of many mailboxes, found by the service while its address is typed. */
export function MailboxChoice({ value, onChange, error }: MailboxChoiceProps) {
  const listId = useId();
  const asked = useDeferredValue(value.trim());
  const found = useQuery(mailboxChoicesQuery(asked)).data?.data ?? [];
  const change = (text: string) => {
    const address = text.trim().toLowerCase();
    onChange(text, found.find((each) => each.address.toLowerCase() === address)?.id);
  };
  return (
    <>
      <Field
        label="Mailbox"
        list={listId}
        required
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="Address"
        value={value}
        onChange={(event) => change(event.target.value)}
        // What was found a moment after it was typed.
        onBlur={() => change(value)}
        error={error}
        hint="Only what happens in this mailbox. It cannot be changed later."
      />
      <datalist id={listId}>
        {found.map(({ id, address, name }) => (
          <option key={id} value={address} label={name} />
        ))}
      </datalist>
    </>
  );
}
