/**
 * Compares the answers that clients got with the rows of the database and with the requests that the receivers got.
 * Pure.
 */
import type { EventType } from '#domain/webhooks/event-types.ts';
import { MAX_DELIVERY_ATTEMPTS } from '#domain/webhooks/retry-ladder.ts';
import type { Operation, OperationKind } from './ledger.ts';
import { OPERATION_KINDS } from './ledger.ts';
import type { WebhookReceipt } from './webhook-receiver.ts';

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

export interface KindAccount {
  readonly kind: OperationKind;
  readonly begun: number;
  readonly accepted: number;
  /** Neither accepted nor refused when the run ended. */
  readonly open: number;
  readonly refused: number;
  /** Accepted, and there is no row. */
  readonly lost: number;
  /** Stored with fewer bytes than were sent. */
  readonly truncated: number;
  /** Additional rows of one operation after a try without an answer: the client sent it again. */
  readonly repeated: number;
  /** Rows beyond the first although every try had an answer, or the request had an Idempotency-Key. */
  readonly duplicated: number;
  /** Rows without the event they must have. */
  readonly withoutEvent: number;
  /** Events beyond the first of one row. */
  readonly eventsTwice: number;
}

export interface DeliveryAccount {
  readonly events: number;
  readonly owed: number;
  /** Events without a row for an endpoint that they must reach. */
  readonly missingRows: number;
  readonly open: number;
  readonly success: number;
  /** No endpoint of the run fails often enough: each is wrong. */
  readonly exhausted: number;
  /** Exhausted although the receiver had acknowledged it. */
  readonly exhaustedDelivered: number;
  /** Success, and the receiver never acknowledged it. */
  readonly lost: number;
  /** Acknowledged requests beyond the first of one webhook-id. */
  readonly duplicated: number;
  /** Requests with a webhook-id that no row has. */
  readonly unknown: number;
  readonly unverified: number;
  readonly attemptsMost: number;
  readonly requestsMost: number;
  /** Rows with more attempts than the interface allows. */
  readonly tooManyAttempts: number;
}

export interface Account {
  readonly kinds: readonly KindAccount[];
  readonly deliveries: DeliveryAccount;
  /** Mailboxes whose token no client has seen. */
  readonly tokensMissing: number;
  readonly neverRelayed: number;
  /** Mails that the relay accepted more than once: SMTP can only guarantee at least once. */
  readonly relayedTwice: number;
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

function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}

function accountOfKind(kind: OperationKind, facts: Facts): KindAccount {
  const operations = facts.operations.filter((operation) => operation.kind === kind);
  const made = facts.made.filter((row) => row.kind === kind);
  const rowsOf = grouped(made, ({ mark }) => mark);
  const accepted = operations.filter(({ acceptedAtMs }) => acceptedAtMs !== undefined);
  const extraOf = ({ mark }: Operation) => Math.max(0, (rowsOf.get(mark)?.length ?? 0) - 1);
  const mayRepeat = ({ uncertain }: Operation) => uncertain > 0 && !HAS_IDEMPOTENCY_KEY.has(kind);
  const type = EVENT_OF[kind];
  const eventsOf = grouped(
    facts.events.filter((event) => event.type === type),
    ({ subjectId }) => subjectId,
  );
  const eventCounts = type === undefined ? [] : made.map(({ id }) => eventsOf.get(id)?.length ?? 0);
  return {
    kind,
    begun: operations.length,
    accepted: accepted.length,
    open: operations.filter(({ acceptedAtMs, refused }) => acceptedAtMs === undefined && refused === undefined).length,
    refused: operations.filter(({ refused }) => refused !== undefined).length,
    lost: accepted.filter(({ mark }) => !rowsOf.has(mark)).length,
    truncated: sum(
      operations.map(({ mark, bytes }) => (rowsOf.get(mark) ?? []).filter((row) => row.bytes < bytes).length),
    ),
    repeated: sum(operations.filter(mayRepeat).map(extraOf)),
    duplicated: sum(operations.filter((operation) => !mayRepeat(operation)).map(extraOf)),
    withoutEvent: eventCounts.filter((count) => count === 0).length,
    eventsTwice: sum(eventCounts.map((count) => Math.max(0, count - 1))),
  };
}

function accountOfDeliveries({ events, deliveries, endpoints, receipts }: Facts): DeliveryAccount {
  const rows = new Map(deliveries.map((row) => [`${row.eventId} ${row.endpointId}`, row]));
  const owed = events.flatMap(({ id, type }) =>
    endpoints.filter(({ eventTypes }) => eventTypes.includes(type)).map((endpoint) => `${id} ${endpoint.id}`),
  );
  const receiptOf = new Map(receipts.map((receipt) => [receipt.webhookId, receipt]));
  const wasAcknowledged = ({ id }: DeliveryRow) => (receiptOf.get(id)?.acknowledgedAtMs.length ?? 0) > 0;
  const known = new Set(deliveries.map(({ id }) => id));
  const withStatus = (...statuses: DeliveryRow['status'][]) =>
    deliveries.filter(({ status }) => statuses.includes(status));
  return {
    events: events.length,
    owed: owed.length,
    missingRows: owed.filter((key) => !rows.has(key)).length,
    open: withStatus('pending', 'failed').length,
    success: withStatus('success').length,
    exhausted: withStatus('exhausted').length,
    exhaustedDelivered: withStatus('exhausted').filter(wasAcknowledged).length,
    lost: withStatus('success').filter((row) => !wasAcknowledged(row)).length,
    duplicated: sum(receipts.map(({ acknowledgedAtMs }) => Math.max(0, acknowledgedAtMs.length - 1))),
    unknown: receipts.filter(({ webhookId }) => !known.has(webhookId)).length,
    unverified: sum(receipts.map(({ unverified }) => unverified)),
    attemptsMost: most(deliveries.map(({ attempts }) => attempts)),
    requestsMost: most(receipts.map(({ requests }) => requests)),
    tooManyAttempts: deliveries.filter(({ attempts }) => attempts > MAX_DELIVERY_ATTEMPTS).length,
  };
}

export function account(facts: Facts): Account {
  const kinds = OPERATION_KINDS.map((kind) => accountOfKind(kind, facts));
  const deliveries = accountOfDeliveries(facts);
  const sends = facts.operations.filter(({ kind, acceptedAtMs }) => kind === 'send' && acceptedAtMs !== undefined);
  const rest = {
    tokensMissing: facts.operations.filter(({ tokenMissing }) => tokenMissing).length,
    neverRelayed: sends.filter(({ mark }) => !facts.relayed.has(mark)).length,
    relayedTwice: sum([...facts.relayed.values()].map((count) => count - 1)),
  };
  const mustBeZero: [string, number][] = [
    ...kinds.flatMap((of): [string, number][] => [
      [`${of.kind}: lost`, of.lost],
      [`${of.kind}: truncated`, of.truncated],
      [`${of.kind}: duplicated`, of.duplicated],
      [`${of.kind}: refused`, of.refused],
      [`${of.kind}: never accepted`, of.open],
      [`${of.kind}: without event`, of.withoutEvent],
      [`${of.kind}: events twice`, of.eventsTwice],
    ]),
    ['deliveries: rows missing', deliveries.missingRows],
    ['deliveries: still open', deliveries.open],
    ['deliveries: exhausted', deliveries.exhausted],
    ['deliveries: recorded as success, never received', deliveries.lost],
    ['deliveries: more attempts than allowed', deliveries.tooManyAttempts],
    ['webhooks of no delivery', deliveries.unknown],
    ['webhooks whose signature does not verify', deliveries.unverified],
    ['mailboxes whose token nobody saw', rest.tokensMissing],
    ['mails never handed to the relay', rest.neverRelayed],
  ];
  const wrong = mustBeZero.flatMap(([what, count]) => (count === 0 ? [] : [`${what}: ${count}`]));
  return { kinds, deliveries, ...rest, wrong };
}

/** How many webhooks were acknowledged again in each span of time; spans follow one another. */
export function duplicatesBySpan(receipts: readonly WebhookReceipt[], spanStartsMs: readonly number[]): number[] {
  const counts = spanStartsMs.map(() => 0);
  for (const { acknowledgedAtMs } of receipts)
    for (const atMs of acknowledgedAtMs.toSorted((a, b) => a - b).slice(1)) {
      const span = spanStartsMs.findLastIndex((startMs) => startMs <= atMs);
      if (span >= 0) counts[span] = (counts[span] ?? 0) + 1;
    }
  return counts;
}
