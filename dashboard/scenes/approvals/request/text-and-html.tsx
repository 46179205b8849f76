import { TriangleAlert } from 'lucide-react';
import { visibleText } from '../../../components/mail/visible-text.ts';
import type { ConsentMessage } from '../queries.ts';

type Difference = NonNullable<ConsentMessage['textAndHtml']>;

const PARTS = [
  ['onlyInHtml', 'Words only as sent'],
  ['onlyInText', 'Words only in the text'],
  ['linksOnlyInHtml', 'Links only as sent'],
  ['linksOnlyInText', 'Links only in the text'],
] as const;

const isDifferent = (found: Difference): boolean => !found.complete || PARTS.some(([part]) => found[part].length > 0);

/** Says where the two forms of a message differ: a recipient sees one of them, a person here should know of both. */
export function TextAndHtml({ difference }: { readonly difference: Difference | null }) {
  if (difference === null) return null;
  if (!isDifferent(difference)) return <p className="mt-2 text-muted">Text and HTML have the same words and links.</p>;
  return (
    <div role="note" className="mt-3 grid gap-2 rounded-md bg-wait-soft px-3 py-2">
      <p className="flex gap-2 font-medium text-wait">
        <TriangleAlert size={16} aria-hidden className="mt-0.5 shrink-0" />
        {PARTS.some(([part]) => difference[part].length > 0)
          ? 'The text says something else than what most people see under “As sent”.'
          : 'Text and HTML are too long to be compared whole.'}
      </p>
      <dl className="grid gap-x-3 gap-y-1 sm:grid-cols-[max-content_minmax(0,1fr)]">
        {PARTS.map(([part, title]) =>
          difference[part].length === 0 ? null : (
            <div key={part} className="contents">
              <dt className="text-muted">{title}</dt>
              <dd className="max-h-32 min-w-0 overflow-auto wrap-anywhere">
                {difference[part].map((piece, i) => (
                  <bdi key={i} className="block">
                    {visibleText(piece)}
                  </bdi>
                ))}
              </dd>
            </div>
          ),
        )}
      </dl>
      {difference.complete ? null : <p className="text-muted">There may be more: only a part was compared.</p>}
    </div>
  );
}
