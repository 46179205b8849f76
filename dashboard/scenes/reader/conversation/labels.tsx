import { Plus, X } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { textOfField } from '../../../components/forms/form-text.ts';
import { focusWhenShown } from '../../../components/frame/focus-when-shown.ts';
import { ProblemNote } from '../../../components/frame/problem-note.tsx';
import { ForeignText } from '../../../components/mail/foreign-text.tsx';
import { type Message, useChangeMessage } from '../queries.ts';

/** The labels of a message: each leads to all mail with it, and can be taken away. */
export function Labels({ message, onShow }: { readonly message: Message; readonly onShow: (label: string) => void }) {
  const change = useChangeMessage(message.mailboxId);
  const [adding, setAdding] = useState(false);
  const save = (labels: readonly string[]) => change.mutate({ mid: message.id, change: { labels: [...labels] } });

  function add(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const label = textOfField(new FormData(event.currentTarget), 'label').trim();
    setAdding(false);
    if (label !== '') save([...message.labels, label]);
  }

  return (
    <div className="grid gap-2">
      <ul aria-label="Labels" className="flex flex-wrap items-center gap-1">
        {message.labels.map((label) => (
          <li key={label} className="flex max-w-full min-w-0 items-center rounded bg-sunken text-xs">
            <button
              type="button"
              onClick={() => onShow(label)}
              className="h-6 min-w-0 truncate rounded-l px-2 hover:underline max-sm:h-9"
            >
              <ForeignText text={label} />
            </button>
            <button
              type="button"
              aria-label="Remove label"
              disabled={change.isPending}
              onClick={() => save(message.labels.filter((each) => each !== label))}
              className="grid h-6 w-6 place-items-center rounded-r text-muted hover:text-text max-sm:h-9 max-sm:w-9"
            >
              <X size={12} aria-hidden />
            </button>
          </li>
        ))}
        <li>
          {adding ? (
            <form onSubmit={add}>
              <input
                name="label"
                aria-label="New label"
                ref={focusWhenShown}
                maxLength={64}
                onBlur={() => setAdding(false)}
                onKeyDown={({ key }) => {
                  if (key === 'Escape') setAdding(false);
                }}
                className="h-6 w-32 rounded border border-line-strong bg-panel px-2 text-xs max-sm:h-9 max-sm:text-base"
              />
            </form>
          ) : (
            <button
              type="button"
              onClick={() => setAdding(true)}
              className="inline-flex h-6 items-center gap-1 rounded px-1.5 text-xs text-muted hover:bg-sunken hover:text-text max-sm:h-9"
            >
              <Plus size={12} aria-hidden /> Label
            </button>
          )}
        </li>
      </ul>
      <ProblemNote error={change.error} />
    </div>
  );
}
