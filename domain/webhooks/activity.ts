/** The history of a message or event, as people search for it. */

/** Things a search finds at most. */
export const ACTIVITY_HITS_MAX = 50;
/** Mail that did not arrive which a search finds at most. */
export const ACTIVITY_NOT_DELIVERED_MAX = 50;
/** Rows of one kind in a timeline at most. */
export const ACTIVITY_ROWS_MAX = 200;
export const ACTIVITY_QUERY_MAX = 512;

/** How the text of a search is interpreted. */
export const ACTIVITY_KINDS = [
  'message',
  'event',
  'delivery',
  'consent',
  'message_id_header',
  'address',
  'refusal',
  'time',
  'words',
] as const;
export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

export const ACTIVITY_ENTRY_KINDS = [
  'accepted',
  'stored',
  'submitted',
  'scheduled',
  'held',
  'decided',
  'send_attempt',
  'recipient',
  'event',
  'delivery_attempt',
  'delivery_ended',
  'delivery_waiting',
] as const;
export type ActivityEntryKind = (typeof ACTIVITY_ENTRY_KINDS)[number];

export const ACTIVITY_OUTCOMES = ['ok', 'waiting', 'failed', 'none'] as const;
export type ActivityOutcome = (typeof ACTIVITY_OUTCOMES)[number];

/** Of mail that did not arrive: by the answer to its sender, or by screening and the decision about it. */
export const NOT_DELIVERED_OUTCOMES = ['refused', 'deferred', 'held', 'blocked', 'spam'] as const;
export type NotDeliveredOutcome = (typeof NOT_DELIVERED_OUTCOMES)[number];

/** One thing that happened, or that is due. */
export interface ActivityEntry {
  /** Null: it has not happened yet. */
  readonly at: Date | null;
  readonly kind: ActivityEntryKind;
  readonly outcome: ActivityOutcome;
  /** What happened, for people. Parts of it are untrusted. */
  readonly text: string;
  readonly detail: string | null;
  /** When an entry that has not happened yet is due. */
  readonly dueAt: Date | null;
  readonly messageId: string | null;
  readonly consentId: string | null;
  readonly eventId: string | null;
  readonly deliveryId: string | null;
  /** Null also if the endpoint was deleted: it has no page. */
  readonly endpointId: string | null;
  readonly workflowId: string | null;
}

/** Of an entry that says nothing more. */
export const BARE_ENTRY = {
  outcome: 'none',
  detail: null,
  dueAt: null,
  messageId: null,
  consentId: null,
  eventId: null,
  deliveryId: null,
  endpointId: null,
  workflowId: null,
} as const;

const timeOf = ({ at, dueAt }: ActivityEntry): readonly [number, number] => [
  at?.getTime() ?? Number.POSITIVE_INFINITY,
  at === null ? (dueAt?.getTime() ?? 0) : 0,
];

/** By time; entries that have not happened yet are last, by due time. */
export function byTime(a: ActivityEntry, b: ActivityEntry): number {
  const [[atA, dueA], [atB, dueB]] = [timeOf(a), timeOf(b)];
  return atA === atB ? dueA - dueB : atA < atB ? -1 : 1;
}
