import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { followMailbox } from '../../api/mailbox-stream.ts';
import { applyChange } from './cache.ts';

/** Keeps the shown mail of a mailbox up to date while the page is open. */
export function useLiveMailbox(id: string): void {
  const queries = useQueryClient();
  useEffect(() => {
    const end = new AbortController();
    void followMailbox(id, (change) => applyChange(queries, id, change), end.signal);
    return () => end.abort();
  }, [id, queries]);
}
