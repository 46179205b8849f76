/** Compares the answers that clients got with the rows of the database and with the requests that the receivers got. */
import { textTable } from '#bench/measure.ts';
import type { Receipt } from '#bench/sink.ts';
import { firstIdAt } from '#domain/ids.ts';
import type { EventType } from '#domain/webhooks/event-types.ts';
import { MAX_DELIVERY_ATTEMPTS } from '#domain/webhooks/retry-ladder.ts';
import { type Cluster, SERVICE_DATABASE } from './cluster.ts';
import type { FaultFigures } from './faults.ts';
import { isOpen, type Load, OPERATION_KINDS, type Operation, type OperationKind } from './load.ts';

export type WebhookReceipt = Pick<Receipt, 'webhookId' | 'requests' | 'unverified' | 'acknowledgedAtMs'>;

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

const MADE = `
  select 'mailbox' as kind, name as mark, id, 0 as bytes from mailboxes where organization_id = $1 and name like 'load-%'
  union all
  select case origin when 'append' then 'append' else 'inbound' end, m.subject, m.id, m.size
    from message m join mailboxes b on b.id = m.mailbox_id
   where b.organization_id = $1 and m.origin in ('smtp', 'append') and m.subject like 'load-%'
  union all
  select 'send', subject, id, size from outbound_message where organization_id = $1 and subject like 'load-%'`;
const EVENTS = `
  select id, type, coalesce(payload::json -> 'data' ->> 'messageId', payload::json -> 'mailbox' ->> 'id') as "subjectId"
    from events where organization_id = $1 and id >= $2 and type = any($3)`;
const DELIVERIES = `
  select id, event_id as "eventId", endpoint_id as "endpointId", status, attempt_count as attempts
    from deliveries where organization_id = $1`;

/** Everything the account needs, from the database and the receivers. */
export async function readFacts({ postgres, customer, sink, relay }: Cluster, load: Load): Promise<Facts> {
  const { organizationId, endpoints } = customer;
  const types = [...new Set(endpoints.flatMap(({ eventTypes }) => eventTypes))];
  const rows = <Row extends object>(text: string, ...values: unknown[]) =>
    postgres.query<Row & Record<string, unknown>>(SERVICE_DATABASE, text, [organizationId, ...values]);
  const relayed = new Map<string, number>();
  for (const { bytes } of relay.received) {
    const [, subject = ''] = /^Subject: *(\S+)/im.exec(bytes.toString('latin1')) ?? [];
    relayed.set(subject, (relayed.get(subject) ?? 0) + 1);
  }
  return {
    operations: load.operations,
    made: await rows<MadeRow>(MADE),
    events: await rows<EventRow>(EVENTS, firstIdAt('event', load.beganMs), types),
    deliveries: await rows<DeliveryRow>(DELIVERIES),
    endpoints,
    receipts: await sink.call('receipts', undefined),
    relayed,
  };
}

/** Of the operations of one kind, by name. */
type KindCounts = Readonly<Record<(typeof KIND_COUNTS)[number], number>>;
const KIND_COUNTS = [
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

export interface ClusterReport {
  readonly machine: readonly string[];
  readonly perSecond: number;
  readonly minutes: number;
  readonly faults: readonly FaultFigures[];
  /** Webhooks acknowledged again, per fault: from its beginning to that of the next. */
  readonly duplicates: readonly number[];
  readonly account: Account;
  readonly memory: readonly { program: string; startMegabytes: number; endMegabytes: number; crashes: number }[];
  /** Temporary errors that clients got, with their number. */
  readonly deferrals: ReadonlyMap<string, number>;
  readonly skipped: number;
}

const DUPLICATES_PER_FAULT_MAX = 20;
const PROBLEMS_SHOWN = 4;

/** In words; empty if the run passed. */
export function failures({ account: { wrong }, faults, duplicates }: ClusterReport): string[] {
  const ofFault = (of: FaultFigures, again: number): string[] => [
    ...(again > DUPLICATES_PER_FAULT_MAX ? [`${again} duplicates`] : []),
    ...(of.missing.length > 0 ? [`not made again: ${of.missing.join(', ')}`] : []),
    ...(of.readySeconds === undefined ? ['not every process got ready again'] : []),
    ...(of.openOperations.length > 0
      ? [`${of.openOperations.length} not accepted in time, e.g. ${of.openOperations[0]}`]
      : of.deliveredSeconds === undefined
        ? [`${of.openDeliveries} not delivered in time`]
        : []),
  ];
  return [
    ...wrong,
    ...faults.flatMap((of, n) => ofFault(of, duplicates[n] ?? 0).map((what) => `${of.fault.name}: ${what}`)),
  ];
}

const figure = (value: number | undefined): string => (value === undefined ? '–' : value.toFixed(1));

function faultDetails({ fault, logs, restarts, readiness }: FaultFigures): string {
  const unready = [...readiness].flatMap(([name, { ready, notReady, silent }]) =>
    notReady + silent === 0 ? [] : [`${name} ${ready}/${notReady}/${silent}`],
  );
  const ended = [...restarts].map(([name, count]) => `${name} ${count}`);
  const problems = logs
    .flatMap(({ process, problems }) => [...problems].map(([text, count]) => ({ process, text, count })))
    .toSorted((a, b) => b.count - a.count)
    .slice(0, PROBLEMS_SHOWN);
  return [
    `  ${fault.name}`,
    ...(unready.length === 0 ? [] : [`    ready / not ready / silent: ${unready.join(', ')}`]),
    ...(ended.length === 0 ? [] : [`    ended and started again: ${ended.join(', ')}`]),
    ...problems.map(({ process, text, count }) => `    log: ${process} ${count} × ${text}`),
  ].join('\n');
}

/** The tables of a run, for people and for `bench/history/cluster.md`. */
export function reportText(report: ClusterReport): string {
  const { faults, duplicates, account: of, memory } = report;
  const failed = failures(report);
  const deferrals = [...report.deferrals].map(([by, count]) => `${by}: ${count}`).join(', ');
  return [
    `${report.perSecond} operations a second for ${report.minutes.toFixed(1)} minutes; ${report.machine.join('; ')}`,
    textTable([
      ['fault', 'lasted s', 'ready s', 'accepted s', 'delivered s', 'duplicates', 'log lines (most)', 'ends'],
      ...faults.map((each, n) => [
        each.fault.name,
        ...[each.lastedSeconds, each.readySeconds, each.acceptedSeconds, each.deliveredSeconds].map(figure),
        String(duplicates[n] ?? 0),
        `${sum(each.logs.map(({ lines }) => lines))} (${most(each.logs.map(({ lines }) => lines))})`,
        String(sum([...each.restarts.values()])),
      ]),
    ]),
    `per fault\n${faults.map(faultDetails).join('\n')}`,
    textTable([
      ['', ...KIND_COUNTS],
      ...OPERATION_KINDS.map((kind) => [kind, ...KIND_COUNTS.map((name) => String(of.kinds[kind][name]))]),
    ]),
    textTable([['', 'count'], ...Object.entries(of.counts).map(([name, count]) => [name, String(count)])]),
    textTable([
      ['memory, MB', 'start', 'end', 'ended'],
      ...memory.map((each) => [
        each.program,
        ...[each.startMegabytes, each.endMegabytes, each.crashes].map((value) => value.toFixed(0)),
      ]),
    ]),
    `"try again" answers: ${deferrals === '' ? 'none' : deferrals}; operations not begun: ${report.skipped}`,
    failed.length === 0 ? 'passed' : `FAILED\n${failed.map((each) => `  ✖ ${each}`).join('\n')}`,
  ].join('\n\n');
}
