import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { Button, buttonClass } from '../../components/frame/button.tsx';
import { movesContent } from '../../components/frame/page.tsx';
import { messageQuery, type Sent } from './queries.ts';

/** What was just done. */
export type Notice =
  | { readonly kind: 'words'; readonly words: string }
  | { readonly kind: 'moved'; readonly words: string; readonly undo: (() => void) | undefined }
  | { readonly kind: 'sent'; readonly sent: Sent };

/** Says what was done until something else is done, and takes it back where that is possible. */
export function NoticeBar({ notice, onClose }: { readonly notice: Notice | undefined; readonly onClose: () => void }) {
  return (
    <div role="status">
      {notice === undefined ? null : (
        <div
          ref={movesContent}
          className="mb-3 flex flex-wrap items-center gap-2 rounded-lg border border-line bg-sunken py-1 pr-1 pl-4"
        >
          <div className="min-w-0 flex-1">
            {notice.kind === 'sent' ? <SentWords sent={notice.sent} /> : notice.words}
          </div>
          {notice.kind === 'moved' && notice.undo !== undefined ? <Button onClick={notice.undo}>Undo</Button> : null}
          <Button look="quiet" aria-label="Close" onClick={onClose}>
            <X size={16} aria-hidden />
          </Button>
        </div>
      )}
    </div>
  );
}

function SentWords({ sent }: { readonly sent: Sent }): ReactNode {
  if (sent.status === 'consent_pending' && 'consentId' in sent && sent.consentId !== null)
    return (
      <p>
        <strong className="font-medium">Held for approval.</strong> This mailbox has not written to all of these
        recipients before, so a person decides first. Nothing has been sent yet.{' '}
        <Link to="/approvals" search={{ open: sent.consentId }} className={buttonClass('quiet', 'px-1')}>
          Decide now
        </Link>
      </p>
    );
  if (sent.status === 'scheduled') return <p>Scheduled. It can be withdrawn in the outbox until its time.</p>;
  return <p>Sent to {[sent.to, sent.cc, sent.bcc].flatMap((each) => each ?? []).join(', ')}.</p>;
}

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
