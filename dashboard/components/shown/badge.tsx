const MEANINGS = {
  ok: 'bg-ok-soft text-ok',
  wait: 'bg-wait-soft text-wait',
  stop: 'bg-stop-soft text-stop',
  info: 'bg-info-soft text-info',
  none: 'bg-sunken text-muted',
} as const;

export type Meaning = keyof typeof MEANINGS;

/** A state in one or two words. The words carry the meaning, the colour repeats it. */
export function Badge({ meaning, children }: { readonly meaning: Meaning; readonly children: string }) {
  return (
    <span
      className={`inline-flex h-5 items-center gap-1.5 whitespace-nowrap rounded-full px-2 text-xs font-medium before:size-1.5 before:rounded-full before:bg-current ${MEANINGS[meaning]}`}
    >
      {children}
    </span>
  );
}

/** What is said of a state: its colour, its words. */
export type State = readonly [meaning: Meaning, words: string, ...more: unknown[]];

/** @param of undefined: a state that these pages do not know, named by the service's word for it */
export function StateBadge({ of, word = '' }: { readonly of: State | undefined; readonly word?: string }) {
  const [meaning, words] = of ?? ['none', word];
  return <Badge meaning={meaning}>{words}</Badge>;
}
