import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Problem } from '../../../api/client.ts';
import { Field } from '../../../components/forms/field.tsx';
import { urlCheckQuery } from '../queries.ts';

const SETTLED_MS = 350;
/** Until it looks like one, it is being typed. */
const LOOKS_WHOLE = /^[a-z][a-z0-9+.-]*:\/\/[^/]/i;

export interface UrlFieldProps {
  readonly value: string;
  readonly onChange: (url: string) => void;
  /** What the service said about it when the form was sent. */
  readonly error?: string | undefined;
  /** The address there is already: it needs no check. */
  readonly known?: string;
}

/** The address of an endpoint, checked by the service while it is typed: what it says now, creating would say. */
export function UrlField({ value, onChange, error, known }: UrlFieldProps) {
  const url = value.trim();
  const settled = useSettled(url);
  const asks = settled !== known && LOOKS_WHOLE.test(settled);
  const check = useQuery({ ...urlCheckQuery(settled), enabled: asks });
  const isAbout = asks && settled === url;
  const refused = isAbout && check.error instanceof Problem ? check.error : undefined;
  return (
    <div aria-live="polite">
      <Field
        label="URL"
        name="url"
        type="url"
        inputMode="url"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        required
        placeholder="https://"
        value={value}
        onChange={(event) => onChange(event.target.value)}
        error={error ?? (refused === undefined ? undefined : (refused.about('/url') ?? refused.message))}
        hint={hintOf(isAbout, check.isFetching, check.data?.url)}
      />
    </div>
  );
}

function hintOf(isAbout: boolean, checking: boolean, url: string | undefined) {
  if (isAbout && url !== undefined)
    return <span className="text-ok">It resolves to public addresses: {new URL(url).host}</span>;
  if (isAbout && checking) return 'Checking the address…';
  return 'It must be https and publicly reachable.';
}

/** The value once it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
