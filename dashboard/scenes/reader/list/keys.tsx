import { useEffect, useRef } from 'react';
import { Dialog } from '../../../components/frame/dialog.tsx';

/** The keys of the page and what they do, in the order in which they are explained. */
export const KEYS = {
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

/** Whether a key belongs to a field, a button or the browser. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  if (event.key === 'Enter' && target.closest('button, a, summary') !== null) return true;
  return target.closest('input, textarea, select, [role="dialog"]') !== null;
}

/** Calls for each key of the page, unless a field has the focus. */
export function useReaderKeys(onKey: (key: ReaderKey) => void): void {
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!isReaderKey(event.key) || isTaken(event)) return;
      event.preventDefault();
      latest.current(event.key);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

export function KeysHelp({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Keys">
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
