import { TriangleAlert } from 'lucide-react';
import { ForeignText } from './foreign-text.tsx';

export interface Signal {
  readonly kind: string;
  readonly place: string;
  readonly count: number;
  readonly details: readonly string[];
}

const SENTENCES: Readonly<Record<string, (count: number) => string>> = {
  hidden_text: (count) => `The HTML has ${count} characters of text that you do not see`,
  invisible_characters: (count) => `${count} characters without a form`,
  text_differs: () => 'Its text and its HTML say different things',
  lookalike_domain: () => 'A domain that looks like another one',
  lookalike_name: () => 'The name of the sender is misleading',
  reply_to_elsewhere: () => 'Replies go to another domain',
  forged_boundary: () => 'Lines that look like the end of a message, or a mark of a chat model',
  encoded_block: (count) => (count === 1 ? 'An encoded block of text' : `${count} encoded blocks of text`),
  commands_assistant: () => 'Sentences that command an assistant',
  risky_attachment: (count) => (count === 1 ? 'An attachment that may harm' : `${count} attachments that may harm`),
};
const PLACES: Readonly<Record<string, string>> = { hidden: ' in hidden text', encoded: ' in encoded text' };

/** What about a message its reader cannot see or may misread. */
export function Signals({ signals }: { readonly signals: readonly Signal[] }) {
  return (
    <ul aria-label="Signals" className="grid gap-1 rounded-md border border-line bg-sunken px-3 py-2">
      {signals.map(({ kind, place, count, details }) => (
        <li key={`${kind} ${place}`} className="flex min-w-0 items-baseline gap-2">
          <TriangleAlert size={14} aria-hidden className="shrink-0 translate-y-0.5 text-wait" />
          <span className="min-w-0 [overflow-wrap:anywhere]">
            {SENTENCES[kind]?.(count) ?? kind}
            {kind === 'commands_assistant' ? PLACES[place] : ''}
            {details.length === 0 ? null : (
              <span className="text-muted">
                : <ForeignText text={details.join(', ')} max={600} />
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
