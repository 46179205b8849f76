import { Link } from '@tanstack/react-router';
import { ArrowDownLeft, ArrowUpRight, Minus } from 'lucide-react';
import { SteadyList } from '../../components/lists/steady-list.tsx';
import { ForeignText } from '../../components/mail/foreign-text.tsx';
import { Badge, type Meaning } from '../../components/shown/badge.tsx';
import { Time } from '../../components/shown/time.tsx';
import type { ActivityMessage } from './queries.ts';

type Status = NonNullable<ActivityMessage['status']>;

const STATUSES: Readonly<Record<Status, readonly [Meaning, string]>> = {
  consent_pending: ['wait', 'Held'],
  scheduled: ['info', 'Scheduled'],
  queued: ['info', 'Queued'],
  sending: ['info', 'Sending'],
  sent: ['ok', 'Sent'],
  captured: ['ok', 'Captured'],
  bounced: ['stop', 'Bounced'],
  suppressed: ['stop', 'Suppressed'],
  denied: ['stop', 'Denied'],
};

const DIRECTIONS = {
  inbound: [ArrowDownLeft, 'received'],
  outbound: [ArrowUpRight, 'sent'],
  stored: [Minus, 'stored'],
} as const;

/** How far a submitted message is. */
export function MessageStatus({ status }: { readonly status: ActivityMessage['status'] }) {
  if (status === null) return null;
  const [meaning, words] = STATUSES[status];
  return <Badge meaning={meaning}>{words}</Badge>;
}

/** Messages that were found; each opens its timeline. */
export function Hits({ hits, more }: { readonly hits: readonly ActivityMessage[]; readonly more: boolean }) {
  return (
    <>
      <p className="mb-2 text-muted">
        {more ? `The newest ${hits.length} messages. Add a word to find older ones.` : `${hits.length} messages`}
      </p>
      <SteadyList label="Messages" answer={hits} rows={hits} empty={null} rowClass="">
        {(message) => {
          const [Icon, words] = DIRECTIONS[message.direction];
          const other = message.direction === 'inbound' ? message.from : message.to.join(', ');
          return (
            <Link
              to="/activity"
              search={{ q: message.id }}
              className="grid grid-cols-[minmax(0,1fr)] items-center gap-x-4 gap-y-0.5 px-4 py-2.5 text-text! no-underline hover:bg-sunken sm:grid-cols-[16px_minmax(0,1.2fr)_minmax(0,2fr)_100px_120px]"
            >
              <span className="text-muted max-sm:hidden">
                <Icon size={16} aria-hidden />
                <span className="sr-only">{words}</span>
              </span>
              <span className="truncate">
                <ForeignText text={other === null || other === '' ? message.mailboxAddress : other} />
              </span>
              <span className="truncate font-medium">
                <ForeignText text={message.subject === '' ? '(no subject)' : message.subject} />
              </span>
              <span>
                <MessageStatus status={message.status} />
              </span>
              <span className="text-muted sm:text-right">
                <Time value={message.at} />
              </span>
            </Link>
          );
        }}
      </SteadyList>
    </>
  );
}
