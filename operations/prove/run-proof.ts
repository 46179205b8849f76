/**
 * A proof: load on a running service while the operator's command kills parts of it, then an account of what every client
 * was promised.
 *
 *   organization ─▶ load ─┬─ kills ─┬─▶ every operation accepted ─▶ every delivery ended ─▶ account, invariants
 *                         └─────────┘
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { Sql } from '#db/database.ts';
import { firstIdAt } from '#domain/ids.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import {
  type Account,
  account,
  DELIVERIES,
  type DeliveryRow,
  EVENTS,
  type EventRow,
  type Facts,
  MADE,
  type MadeRow,
} from './account.ts';
import { openRestClient, openSmtpClient } from './clients.ts';
import { inTurn, loadMessage, type Operation, type OperationKind, startOperations } from './ledger.ts';
import { makeEndpoint, PROOF_EVENT_TYPES, type ProofOrganization } from './proof-organization.ts';
import type { ProofReceiver } from './receiver.ts';

export interface ProofTarget {
  readonly apiUrl: string;
  readonly smtp: { readonly host: string; readonly port: number };
  readonly serverName: string | undefined;
  /** Root certificate of the SMTP listener, PEM; undefined: one that the system trusts. */
  readonly ca: string | undefined;
  /** As the service reaches the receiver. */
  readonly receiverUrl: string;
  readonly perSecond: number;
  readonly seconds: number;
  /** For a shell; undefined: nothing is killed. */
  readonly killCommand: string | undefined;
  readonly killEverySeconds: number;
  /** For what is open after the load. */
  readonly finishSeconds: number;
}

export interface Kill {
  /** Seconds after the begin of the load. */
  readonly atSeconds: number;
  /** Null: it died of a signal. */
  readonly exitCode: number | null;
}

/** Milliseconds. */
export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

export interface ProofReport {
  readonly seconds: number;
  readonly perSecond: number;
  readonly cores: number;
  /** Accepted operations a second, and of each core. */
  readonly acceptedPerSecond: number;
  readonly acceptedPerSecondAndCore: number;
  readonly kills: readonly Kill[];
  /** Accepted, and no row, event, delivery or acknowledged webhook of it. */
  readonly lost: number;
  /** Webhooks that the receiver acknowledged more than once, and rows of one operation beyond the first. */
  readonly duplicated: number;
  /** From the begin of an operation until it was accepted. */
  readonly acceptance: Latency;
  /** From then until the receiver acknowledged its webhook. */
  readonly delivery: Latency;
  readonly account: Account;
  readonly invariants: readonly { readonly rule: string; readonly checked: number; readonly atFault: number }[];
  /** In words; empty: everything was kept. */
  readonly wrong: readonly string[];
}

/** Reserved (RFC 2606): nobody gets a report about its mail. */
const SENDER = 'prover@probe.invalid';
const MIX: readonly OperationKind[] = ['inbound', 'inbound', 'inbound', 'mailbox'];
const POLL_MS = 500;
const LARGE_EVERY = 12;
const LARGE_BYTES = 100_000;

export async function runProof(
  services: Services,
  organization: ProofOrganization,
  receiver: ProofReceiver,
  target: ProofTarget,
  signal: AbortSignal,
  note: (text: string) => void,
): Promise<ProofReport> {
  const endpoint = await makeEndpoint(target.apiUrl, organization.apiKey, target.receiverUrl);
  receiver.setSecret(endpoint.secret);
  const rest = openRestClient(target.apiUrl, organization.apiKey);
  const smtp = openSmtpClient(target.smtp.port, target.ca, target.smtp.host, target.serverName);
  const beganMs = Date.now();
  const ledger = startOperations(MIX, target.perSecond, (kind, n, mark) => {
    if (kind === 'mailbox') return [0, () => rest.createMailbox(mark)];
    const to = inTurn(organization.addresses, n);
    const message = loadMessage(mark, to, n % LARGE_EVERY === 0 ? LARGE_BYTES : undefined, SENDER);
    return [message.length, () => smtp.send(SENDER, to, message)];
  });
  const accepted = () => ledger.operations.filter(({ acceptedAtMs }) => acceptedAtMs !== undefined);
  try {
    const kills = await whileKilling(target, signal, () =>
      note(`${accepted().length} of ${ledger.operations.length} accepted`),
    );
    const loadedSeconds = (Date.now() - beganMs) / 1_000;
    const acceptedDuring = accepted().length;
    note('waiting for what is open');
    await ledger.finish(target.finishSeconds * 1_000);
    ledger.close();
    await deliveriesEnded(services.db, organization.id, target.finishSeconds * 1_000, signal);
    const facts = await patiently(target.finishSeconds * 1_000, () =>
      readFacts(services.db, organization.id, endpoint.id, beganMs, ledger.operations, receiver),
    );
    note('checking invariants');
    const rules = await checkMailStore(services.db, { all: false });
    const cores = os.availableParallelism();
    const of = account(facts);
    return {
      seconds: loadedSeconds,
      perSecond: target.perSecond,
      cores,
      acceptedPerSecond: acceptedDuring / loadedSeconds,
      acceptedPerSecondAndCore: acceptedDuring / loadedSeconds / cores,
      kills,
      lost: lostOf(of),
      duplicated: duplicatedOf(of),
      acceptance: latencyOf(accepted().map(({ beganAtMs, acceptedAtMs = beganAtMs }) => acceptedAtMs - beganAtMs)),
      delivery: latencyOf(deliveryTimes(facts)),
      account: of,
      invariants: rules.map(({ rule, checked, atFault }) => ({ rule: String(rule), checked, atFault })),
      wrong: [
        ...of.wrong,
        ...rules.flatMap(({ rule, text, atFault }) =>
          atFault === 0 ? [] : [`invariant ${rule}, ${text}: ${atFault}`],
        ),
      ],
    };
  } finally {
    ledger.close();
    smtp.close();
    await rest.close();
  }
}

/** Waits for the time of the load, and runs the command in between. */
async function whileKilling(
  { seconds, killCommand, killEverySeconds }: ProofTarget,
  signal: AbortSignal,
  onTick: () => void,
): Promise<Kill[]> {
  const kills: Kill[] = [];
  const beganMs = performance.now();
  const passed = () => (performance.now() - beganMs) / 1_000;
  let next = killEverySeconds;
  while (passed() < seconds) {
    signal.throwIfAborted();
    await delay(POLL_MS);
    onTick();
    if (killCommand === undefined || passed() < next || passed() >= seconds) continue;
    next += killEverySeconds;
    const atSeconds = passed();
    const child = spawn(killCommand, { shell: true, stdio: ['ignore', 2, 2] });
    const [exitCode] = (await once(child, 'close')) as [number | null];
    kills.push({ atSeconds, exitCode });
  }
  return kills;
}

/** Also while the database is killed. @throws the last error when the time is over */
async function patiently<Result>(withinMs: number, read: () => Promise<Result>): Promise<Result> {
  for (const endAtMs = performance.now() + withinMs; ; ) {
    try {
      return await read();
    } catch (error) {
      if (performance.now() >= endAtMs) throw new Error(`the database gave no answer in time: ${reasonOf(error)}`);
      await delay(POLL_MS);
    }
  }
}

/** Those that are open when the time is over are counted as such. */
async function deliveriesEnded(db: Sql, organizationId: string, withinMs: number, signal: AbortSignal): Promise<void> {
  for (const endAtMs = performance.now() + withinMs; performance.now() < endAtMs; await delay(POLL_MS)) {
    signal.throwIfAborted();
    const open = await db
      .query(`select from deliveries where organization_id = $1 and status in ('pending', 'failed') limit 1`, [
        organizationId,
      ])
      .catch(() => undefined);
    if (open?.length === 0) return;
  }
}

async function readFacts(
  db: Sql,
  organizationId: string,
  endpointId: string,
  beganMs: number,
  operations: readonly Operation[],
  receiver: ProofReceiver,
): Promise<Facts> {
  return {
    operations,
    made: await db.query<MadeRow & object>(MADE, [organizationId]),
    events: await db.query<EventRow & object>(EVENTS, [
      organizationId,
      firstIdAt('event', beganMs),
      [...PROOF_EVENT_TYPES],
    ]),
    deliveries: await db.query<DeliveryRow & object>(DELIVERIES, [organizationId]),
    endpoints: [{ id: endpointId, eventTypes: PROOF_EVENT_TYPES }],
    receipts: receiver.receipts(),
    relayed: new Map(),
  };
}

const LOST = ['lost', 'truncated', 'without event'] as const;
const LOST_DELIVERIES = [
  ...(['deliveries: rows missing', 'deliveries: still open', 'deliveries: exhausted'] as const),
  'deliveries: recorded as success, never received',
] as const;

const lostOf = ({ kinds, counts }: Account): number =>
  Object.values(kinds).reduce((all, of) => all + LOST.reduce((sum, name) => sum + of[name], 0), 0) +
  LOST_DELIVERIES.reduce((sum, name) => sum + (counts[name] ?? 0), 0);

const duplicatedOf = ({ kinds, counts }: Account): number =>
  Object.values(kinds).reduce((all, of) => all + of.duplicated + of['sent again'] + of['events twice'], 0) +
  (counts['webhooks acknowledged again'] ?? 0);

function deliveryTimes({ operations, made, events, deliveries, receipts }: Facts): number[] {
  const acceptedAt = new Map(operations.map(({ mark, acceptedAtMs }) => [mark, acceptedAtMs]));
  const markOf = new Map(made.map(({ id, mark }) => [id, mark]));
  const subjectOf = new Map(events.map(({ id, subjectId }) => [id, subjectId]));
  const firstAt = new Map(receipts.map(({ webhookId, acknowledgedAtMs }) => [webhookId, acknowledgedAtMs[0]]));
  return deliveries.flatMap(({ id, eventId }) => {
    const at = firstAt.get(id);
    const from = acceptedAt.get(markOf.get(subjectOf.get(eventId) ?? '') ?? '');
    return at === undefined || from === undefined ? [] : [Math.max(0, at - from)];
  });
}

function latencyOf(times: readonly number[]): Latency {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), max: sorted.at(-1) ?? 0 };
}
