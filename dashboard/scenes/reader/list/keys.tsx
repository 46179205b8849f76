import { Dialog } from '../../../components/frame/dialog.tsx';
import { isTaken, useKeys } from '../../../components/frame/keys.ts';

/** The keys of the page and what they do, in the order in which they are explained. */
const KEYS = {
  j: 'Next message',
  k: 'Previous message',
  Enter: 'Go to the text of the message',
  r: 'Reply',
  a: 'Reply to all',
  f: 'Forward',
  u: 'Mark as read or unread',
  s: 'Flag, or remove the flag',
  e: 'Archive',
  '#': 'Delete',
  z: 'Undo the last move',
  c: 'Write a message',
  '/': 'Search',
  '?': 'Show these keys',
} as const;

export type ReaderKey = keyof typeof KEYS;

const isReaderKey = (key: string): key is ReaderKey => Object.hasOwn(KEYS, key);

/** Calls for each key of the page, unless a field has the focus. */
export const useReaderKeys = (onKey: (key: ReaderKey) => void): void =>
  useKeys((event) => {
    const { key, target } = event;
    if (!isReaderKey(key) || isTaken(event)) return;
    if (key === 'Enter' && target instanceof HTMLElement && target.closest('button, a, summary') !== null) return;
    event.preventDefault();
    onKey(key);
  });

export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Keys">
      <dl className="grid grid-cols-[64px_1fr] gap-y-2">
        {Object.entries(KEYS).map(([key, words]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded border border-line-strong bg-sunken px-1.5 font-mono text-[13px]">{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

/** A `ref` that moves the focus to a field when it appears: where a person asked for it, and what had the focus is gone. */
export const focusWhenShown = (field: HTMLElement | null): void => field?.focus();
