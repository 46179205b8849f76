/** Compares the answers that clients got with the rows of the database and with the requests that the receivers got. */
import type { EventType } from '#domain/webhooks/event-types.ts';
import { MAX_DELIVERY_ATTEMPTS } from '#domain/webhooks/retry-ladder.ts';
import { isOpen, OPERATION_KINDS, type Operation, type OperationKind } from './ledger.ts';

/** What a receiver got of one delivery. Times are Unix times. */
export interface WebhookReceipt {
  readonly webhookId: string;
  readonly requests: number;
  /** Requests whose signature did not verify. */
  unverified: number;
  readonly acknowledgedAtMs: readonly number[];
}

/** A thing an operation made: a mailbox, a stored message or a message to send. */
export interface MadeRow {
  readonly kind: OperationKind;
  readonly mark: string;
  /** By which its event names it: the id of the mailbox or the message. */
  readonly id: string;
  /** Of the stored message; 0 for a mailbox. */
  readonly bytes: number;
}

export interface EventRow {
  readonly id: string;
  readonly type: EventType;
  /** The mailbox or message of the event. */
  readonly subjectId: string;
}

export interface DeliveryRow {
  readonly id: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly status: 'pending' | 'success' | 'failed' | 'exhausted';
  readonly attempts: number;
}

export interface Facts {
  readonly operations: readonly Operation[];
  readonly made: readonly MadeRow[];
  readonly events: readonly EventRow[];
  readonly deliveries: readonly DeliveryRow[];
  readonly endpoints: readonly { readonly id: string; readonly eventTypes: readonly EventType[] }[];
  readonly receipts: readonly WebhookReceipt[];
  /** How often the relay accepted a mail with each mark. */
  readonly relayed: ReadonlyMap<string, number>;
}

/** What operations with the marks `load-…` made in an organization. */
export const MADE = `
  select 'mailbox' as kind, name as mark, id, 0 as bytes from mailboxes where organization_id = $1 and name like 'load-%'
  union all
  select case origin when 'append' then 'append' else 'inbound' end, m.subject, m.id, m.size
    from message m join mailboxes b on b.id = m.mailbox_id
   where b.organization_id = $1 and m.origin in ('smtp', 'append') and m.subject like 'load-%'
  union all
  select 'send', subject, id, size from outbound_message where organization_id = $1 and subject like 'load-%'`;
export const EVENTS = `
  select id, type, coalesce(payload::json -> 'data' ->> 'messageId', payload::json -> 'mailbox' ->> 'id') as "subjectId"
    from events where organization_id = $1 and id >= $2 and type = any($3)`;
export const DELIVERIES = `
  select id, event_id as "eventId", endpoint_id as "endpointId", status, attempt_count as attempts
    from deliveries where organization_id = $1`;

/** Of the operations of one kind, by name. */
type KindCounts = Readonly<Record<(typeof KIND_COUNTS)[number], number>>;
export const KIND_COUNTS = [
  ...(['begun', 'accepted', 'never accepted', 'refused', 'lost', 'truncated'] as const),
  ...(['without event', 'events twice', 'duplicated', 'sent again'] as const),
] as const;
const MAY_BE_ANY: readonly string[] = ['begun', 'accepted', 'sent again'];

export interface Account {
  readonly kinds: Readonly<Record<OperationKind, KindCounts>>;
  /** Of deliveries, mails and tokens, by name. */
  readonly counts: Readonly<Record<string, number>>;
  /** Counts that must be 0 and are not, in words; empty if the run passed. */
  readonly wrong: readonly string[];
}

const EVENT_OF: Readonly<Record<OperationKind, EventType | undefined>> = {
  mailbox: 'mailbox_created',
  inbound: 'email_received',
  send: 'email_sent',
  append: undefined,
};
const HAS_IDEMPOTENCY_KEY: ReadonlySet<OperationKind> = new Set(['mailbox', 'send']);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const most = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b), 0);

function countsOf(kind: OperationKind, facts: Facts): KindCounts {
  const operations = facts.operations.filter((operation) => operation.kind === kind);
  const made = facts.made.filter((row) => row.kind === kind);
  const rowsOf = Map.groupBy(made, ({ mark }) => mark);
  const accepted = operations.filter(({ acceptedAtMs }) => acceptedAtMs !== undefined);
  const extraOf = ({ mark }: Operation) => Math.max(0, (rowsOf.get(mark)?.length ?? 0) - 1);
  const mayRepeat = ({ uncertain }: Operation) => uncertain > 0 && !HAS_IDEMPOTENCY_KEY.has(kind);
  const type = EVENT_OF[kind];
  const eventsOf = Map.groupBy(
    facts.events.filter((event) => event.type === type),
    ({ subjectId }) => subjectId,
  );
  const eventCounts = type === undefined ? [] : made.map(({ id }) => eventsOf.get(id)?.length ?? 0);
  return {
    begun: operations.length,
    accepted: accepted.length,
    'never accepted': operations.filter(isOpen).length,
    refused: operations.filter(({ refused }) => refused !== undefined).length,
    // Accepted, and there is no row.
    lost: accepted.filter(({ mark }) => !rowsOf.has(mark)).length,
    // Stored with fewer bytes than were sent.
    truncated: sum(
      operations.map(({ mark, bytes }) => (rowsOf.get(mark) ?? []).filter((row) => row.bytes < bytes).length),
    ),
    'without event': eventCounts.filter((count) => count === 0).length,
    'events twice': sum(eventCounts.map((count) => Math.max(0, count - 1))),
    // Further rows although every try had an answer, or the request had an Idempotency-Key.
    duplicated: sum(operations.filter((operation) => !mayRepeat(operation)).map(extraOf)),
    // Further rows after a try without an answer.
    'sent again': sum(operations.filter(mayRepeat).map(extraOf)),
  };
}

export function account(facts: Facts): Account {
  const { operations, events, deliveries, endpoints, receipts, relayed } = facts;
  const rows = new Set(deliveries.map(({ eventId, endpointId }) => `${eventId} ${endpointId}`));
  const owed = events.flatMap(({ id, type }) =>
    endpoints.filter(({ eventTypes }) => eventTypes.includes(type)).map((endpoint) => `${id} ${endpoint.id}`),
  );
  const acknowledged = new Set(
    receipts.filter(({ acknowledgedAtMs }) => acknowledgedAtMs.length > 0).map(({ webhookId }) => webhookId),
  );
  const known = new Set(deliveries.map(({ id }) => id));
  const withStatus = (...statuses: DeliveryRow['status'][]) =>
    deliveries.filter(({ status }) => statuses.includes(status));
  const sends = operations.filter(({ kind, acceptedAtMs }) => kind === 'send' && acceptedAtMs !== undefined);
  const any = {
    events: events.length,
    'deliveries owed': owed.length,
    'deliveries with success': withStatus('success').length,
    'exhausted although acknowledged': withStatus('exhausted').filter(({ id }) => acknowledged.has(id)).length,
    'webhooks acknowledged again': sum(
      receipts.map(({ acknowledgedAtMs }) => Math.max(0, acknowledgedAtMs.length - 1)),
    ),
    'attempts of one delivery, most': most(deliveries.map(({ attempts }) => attempts)),
    'requests of one delivery, most': most(receipts.map(({ requests }) => requests)),
    // SMTP can only guarantee at least once.
    'mails handed to the relay again': sum([...relayed.values()].map((count) => count - 1)),
  };
  const mustBeZero = {
    'deliveries: rows missing': owed.filter((key) => !rows.has(key)).length,
    'deliveries: still open': withStatus('pending', 'failed').length,
    // No endpoint of the run fails often enough.
    'deliveries: exhausted': withStatus('exhausted').length,
    'deliveries: recorded as success, never received': withStatus('success').filter(({ id }) => !acknowledged.has(id))
      .length,
    'deliveries: more attempts than allowed': deliveries.filter(({ attempts }) => attempts > MAX_DELIVERY_ATTEMPTS)
      .length,
    'webhooks of no delivery': receipts.filter(({ webhookId }) => !known.has(webhookId)).length,
    'webhooks whose signature does not verify': sum(receipts.map(({ unverified }) => unverified)),
    'mailboxes whose token nobody saw': operations.filter(({ tokenMissing }) => tokenMissing).length,
    'mails never handed to the relay': sends.filter(({ mark }) => !relayed.has(mark)).length,
  };
  const ofKind = (kind: OperationKind): [OperationKind, KindCounts] => [kind, countsOf(kind, facts)];
  const kinds = Object.fromEntries(OPERATION_KINDS.map(ofKind)) as Account['kinds']; // has every kind
  const wrong = [
    ...OPERATION_KINDS.flatMap((kind) =>
      Object.entries(kinds[kind])
        .filter(([name]) => !MAY_BE_ANY.includes(name))
        .map(([name, count]) => [`${kind}: ${name}`, count] as const),
    ),
    ...Object.entries(mustBeZero),
  ].flatMap(([what, count]) => (count === 0 ? [] : [`${what}: ${count}`]));
  return { kinds, counts: { ...any, ...mustBeZero }, wrong };
}
