import { Badge, type Meaning } from '../shown/badge.tsx';

const STATUS: Readonly<Record<string, readonly [Meaning, string]>> = {
  active: ['ok', 'Active'],
  pending: ['wait', 'Domain not verified'],
  suspended: ['stop', 'Suspended'],
  deleting: ['stop', 'Deleting'],
};
const SENDING: Readonly<Record<string, readonly [Meaning, string]>> = {
  stopped: ['stop', 'Sending stopped'],
  drafts_only: ['wait', 'Drafts only'],
  paused: ['stop', 'Sending paused'],
  flagged: ['wait', 'Sending flagged'],
};
const SYNC: Readonly<Record<string, readonly [Meaning, string]>> = {
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
  const [meaning, words] = trouble ?? STATUS[status] ?? (['none', status] as const);
  return <Badge meaning={meaning}>{words}</Badge>;
}

export function SyncStatus({ status }: { readonly status: string }) {
  const [meaning, words] = SYNC[status] ?? (['none', status] as const);
  return <Badge meaning={meaning}>{words}</Badge>;
}
