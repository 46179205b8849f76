import { type State, StateBadge } from '../shown/badge.tsx';
import { byteSize } from '../shown/byte-size.ts';

const STATUS: Readonly<Record<string, State>> = {
  active: ['ok', 'Active'],
  pending: ['wait', 'Domain not verified'],
  suspended: ['stop', 'Suspended'],
  expired: ['stop', 'Expired'],
  deleting: ['stop', 'Deleting'],
};
const SENDING: Readonly<Record<string, State>> = {
  stopped: ['stop', 'Sending stopped'],
  drafts_only: ['wait', 'Drafts only'],
  paused: ['stop', 'Sending paused'],
  flagged: ['wait', 'Sending flagged'],
};
const SYNC: Readonly<Record<string, State>> = {
  synced: ['ok', 'Synced'],
  pending: ['wait', 'Sync pending'],
};

/** What is to be said about the sending of a mailbox first: what a person set, then what bounces did. */
export const sendingStateOf = ({
  sendingMode,
  sending,
}: {
  readonly sendingMode: string;
  readonly sending: { readonly state: string; readonly stoppedBy: string | null };
}): string => {
  if (sending.stoppedBy !== null) return 'stopped';
  return sendingMode === 'normal' ? sending.state : sendingMode;
};

/** @param sending where there is room for one state only: what is wrong with sending wins over `active` */
export function MailboxStatus({ status, sending = 'ok' }: { readonly status: string; readonly sending?: string }) {
  const trouble = status === 'active' ? SENDING[sending] : undefined;
  return <StateBadge of={trouble ?? STATUS[status]} word={status} />;
}

export const SyncStatus = ({ status }: { readonly status: string }) => <StateBadge of={SYNC[status]} word={status} />;

/** From here on the bar warns. */
const NEARLY_FULL = 0.9;

/** How full a mailbox is, in words and as a bar. */
export function StorageBar({ usedBytes, limitBytes }: { readonly usedBytes: number; readonly limitBytes: number }) {
  const text = `${byteSize(usedBytes)} of ${byteSize(limitBytes)}`;
  const share = limitBytes === 0 ? 0 : Math.min(1, usedBytes / limitBytes);
  return (
    <div className="grid gap-1">
      <span>{text}</span>
      <div
        role="meter"
        aria-label="Storage used"
        aria-valuemin={0}
        aria-valuemax={limitBytes}
        aria-valuenow={Math.min(usedBytes, limitBytes)}
        aria-valuetext={text}
        className="h-1.5 overflow-hidden rounded-full bg-line"
      >
        <div
          className={`h-full rounded-full ${share >= NEARLY_FULL ? 'bg-stop' : 'bg-accent'}`}
          style={{ width: `${Math.ceil(share * 100)}%` }}
        />
      </div>
    </div>
  );
}
