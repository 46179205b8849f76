import { useCallback, useEffect, useRef, useState } from 'react';
import { type Draft, type DraftChanges, saveDraft } from '../queries.ts';

/** A draft is saved when nothing was typed for so long. */
const SAVE_AFTER_MS = 2_000;

export type SaveState =
  | { readonly kind: 'clean' }
  | { readonly kind: 'dirty' }
  | { readonly kind: 'saving' }
  | { readonly kind: 'saved'; readonly at: string }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface DraftSaver {
  readonly state: SaveState;
  /** The draft as it was saved last. */
  readonly saved: () => Draft;
  /** Notes what was changed; it is saved soon. */
  change(change: DraftChanges): void;
  /** Saves what was changed. @throws what the service refused */
  flush(): Promise<void>;
  /** Saves nothing any more: the draft is sent or deleted. */
  stop(): void;
}

/** Saves a draft while it is written, one save after another: two at once would be a conflict. */
export function useDraftSaver(mailboxId: string, draft: Draft): DraftSaver {
  const [state, setState] = useState<SaveState>({ kind: 'clean' });
  const latest = useRef(draft);
  const changes = useRef<DraftChanges>({});
  const queue = useRef<Promise<void>>(Promise.resolve());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const stopped = useRef(false);

  const save = useCallback(async () => {
    const body = changes.current;
    if (stopped.current || Object.keys(body).length === 0) return;
    changes.current = {};
    setState({ kind: 'saving' });
    try {
      latest.current = await saveDraft(mailboxId, draft.id, body);
      setState(
        Object.keys(changes.current).length === 0 ? { kind: 'saved', at: latest.current.updatedAt } : { kind: 'dirty' },
      );
    } catch (error) {
      // What was typed meanwhile is newer.
      changes.current = { ...body, ...changes.current };
      setState({ kind: 'failed', error });
      throw error;
    }
  }, [mailboxId, draft.id]);

  const flush = useCallback(() => {
    clearTimeout(timer.current);
    queue.current = queue.current.catch(() => {}).then(save);
    return queue.current;
  }, [save]);

  const change = useCallback(
    (more: DraftChanges) => {
      changes.current = { ...changes.current, ...more };
      setState({ kind: 'dirty' });
      clearTimeout(timer.current);
      timer.current = setTimeout(() => void flush().catch(() => {}), SAVE_AFTER_MS);
    },
    [flush],
  );

  // Leaving the form, or the tab, loses nothing.
  useEffect(() => {
    const save = () => void flush().catch(() => {});
    addEventListener('pagehide', save);
    return () => {
      removeEventListener('pagehide', save);
      save();
    };
  }, [flush]);

  return {
    state,
    saved: () => latest.current,
    change,
    flush,
    stop() {
      stopped.current = true;
      clearTimeout(timer.current);
    },
  };
}
