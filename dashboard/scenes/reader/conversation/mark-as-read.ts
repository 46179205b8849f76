import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { messageQuery } from '../queries.ts';

/** An opened message that stays open for so long was read. */
const READ_AFTER_MS = 700;

/** Marks a message as read when it stays open. */
export function useMarkAsRead(
  id: string,
  open: string | undefined,
  change: (change: { mid: string; change: { seen: boolean } }) => void,
): void {
  const message = useQuery({ ...messageQuery(id, open ?? ''), enabled: open !== undefined });
  const loaded = message.data?.id;
  // What is marked as unread while it is open stays so: only the opening counts.
  const wasSeen = useRef(false);
  wasSeen.current = message.data?.seen ?? true;
  const latest = useRef(change);
  latest.current = change;
  useEffect(() => {
    if (loaded === undefined || wasSeen.current) return undefined;
    const timer = setTimeout(() => latest.current({ mid: loaded, change: { seen: true } }), READ_AFTER_MS);
    return () => clearTimeout(timer);
  }, [loaded]);
}
