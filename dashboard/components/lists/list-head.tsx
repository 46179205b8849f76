import { NewsButton } from './news-button.tsx';
import type { SteadyRows } from './steady-rows.ts';

/** The line above a list with its own scrolling: room for what is new, so that its rows do not move. */
export function ListHead({ list, words }: { readonly list: SteadyRows<unknown>; readonly words: string }) {
  return (
    <div className="flex h-10 shrink-0 items-center gap-2 border-b border-line px-3 text-xs text-muted max-sm:h-11">
      <span className="min-w-0 flex-1 truncate">{words}</span>
      <NewsButton list={list} />
    </div>
  );
}
