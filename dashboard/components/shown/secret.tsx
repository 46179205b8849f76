import { useEffect } from 'react';
import { Copy } from './copy.tsx';

/** A credential that is shown this once. Leaving the page before it was put away asks. */
export function Secret({
  label,
  value,
  note,
}: {
  readonly label: string;
  readonly value: string;
  readonly note: string;
}) {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, []);
  return (
    <div className="grid gap-2">
      <div className="flex items-center gap-2 rounded-lg border border-line-strong bg-sunken py-1 pr-1 pl-3">
        <output aria-label={label} className="min-w-0 flex-1 font-mono text-[13px] break-all select-all">
          {value}
        </output>
        <Copy text={value} what={label} />
      </div>
      <p className="text-muted">{note}</p>
    </div>
  );
}
