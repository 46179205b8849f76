import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ForeignText } from '../../../components/mail/foreign-text.tsx';
import { Time } from '../../../components/shown/time.tsx';
import { shortName } from '../address.ts';
import { type Message, threadQuery } from '../queries.ts';
import type { Summary } from '../rows.ts';

const JUNK_LABELS = new Set(['unauthenticated', 'spam']);

interface ConversationProps {
  readonly message: Message;
  readonly onOpen: (messageId: string) => void;
  /** The open message. */
  readonly children: ReactNode;
}

/** The messages before and after the open one, a line each. Junk has no part in conversations. */
export function Conversation({ message, onOpen, children }: ConversationProps) {
  const isJunk = message.labels.some((label) => JUNK_LABELS.has(label.toLowerCase()));
  const thread = useQuery({ ...threadQuery(message.mailboxId, message.threadId), enabled: !isJunk });
  const messages = thread.data?.messages ?? [];
  const at = messages.findIndex(({ id }) => id === message.id);
  if (at === -1 || messages.length < 2) return children;
  return (
    <div className="grid min-w-0 content-start gap-4">
      <Others label="Before" messages={messages.slice(0, at)} onOpen={onOpen} />
      {children}
      <Others label="After" messages={messages.slice(at + 1)} onOpen={onOpen} />
    </div>
  );
}

interface OthersProps {
  readonly label: string;
  readonly messages: readonly Summary[];
  readonly onOpen: (messageId: string) => void;
}

function Others({ label, messages, onOpen }: OthersProps) {
  if (messages.length === 0) return null;
  return (
    <ul aria-label={`${label} this message`} className="overflow-hidden rounded-lg border border-line">
      {messages.map(({ id, from, preview, receivedAt, seen }) => (
        <li key={id} className="border-line not-first:border-t">
          <button
            type="button"
            onClick={() => onOpen(id)}
            className="flex h-10 w-full min-w-0 items-center gap-3 px-3 text-left -outline-offset-2 hover:bg-sunken max-sm:h-11"
          >
            <span className={`max-w-40 shrink-0 truncate ${seen ? '' : 'font-semibold'}`}>
              <ForeignText text={shortName(from ?? '(no sender)')} max={200} />
            </span>
            <span className="min-w-0 flex-1 truncate text-muted">
              <ForeignText text={preview} max={200} />
            </span>
            <span className="shrink-0 text-xs text-muted">
              <Time value={receivedAt} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
