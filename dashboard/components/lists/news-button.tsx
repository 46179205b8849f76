import { ArrowUp } from 'lucide-react';
import type { SteadyRows } from './steady-rows.ts';

/** What has changed in a list and is not shown yet; shows it when it is pressed. */
export function NewsButton({
  list: { news, gone, reordered, show },
  className = '',
}: {
  readonly list: Pick<SteadyRows<unknown>, 'news' | 'gone' | 'reordered' | 'show'>;
  readonly className?: string;
}) {
  const words = wordsOf(news, gone.size, reordered);
  return (
    <span role="status" className={className}>
      {words === '' ? null : (
        <button
          type="button"
          title="Update the list"
          onClick={show}
          className="inline-flex h-7 items-center gap-1 rounded-full border border-accent bg-accent-soft px-2.5 text-xs font-medium whitespace-nowrap text-text hover:bg-panel max-sm:h-9"
        >
          <ArrowUp size={14} aria-hidden /> {words}
          <span className="sr-only">: update the list</span>
        </button>
      )}
    </span>
  );
}

function wordsOf(news: number, gone: number, reordered: boolean): string {
  const words = [
    ...(news > 0 ? [`${news.toLocaleString()} new`] : []),
    ...(gone > 0 ? [`${gone.toLocaleString()} gone`] : []),
  ];
  return words.length === 0 && reordered ? 'New order' : words.join(', ');
}
