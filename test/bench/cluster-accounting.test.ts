/** The counts of `npm run bench:cluster`: each kind of damage must show in its own count, and nothing else may. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duplicatesBySpan } from '#bench/cluster/accounting.ts';
import { MAX_DELIVERY_ATTEMPTS } from '#domain/webhooks/retry-ladder.ts';
import {
  account,
  type DeliveryRow,
  type EventRow,
  type Facts,
  type MadeRow,
  type WebhookReceipt,
} from '#operations/prove/account.ts';
import { newOperation, OPERATION_KINDS, type Operation, type OperationKind } from '#operations/prove/ledger.ts';

const BYTES = 2_000;
const TYPES = ['email_received', 'email_sent', 'mailbox_created'] as const;
const ENDPOINTS = [
  { id: 'whe_all', eventTypes: TYPES },
  { id: 'whe_sent', eventTypes: ['email_sent'] as const },
];
const TYPE_OF = { mailbox: 'mailbox_created', inbound: 'email_received', send: 'email_sent' } as const;

interface MutableFacts extends Facts {
  made: MadeRow[];
  events: EventRow[];
  deliveries: DeliveryRow[];
  receipts: WebhookReceipt[];
  relayed: Map<string, number>;
}

/** One accepted operation of each kind, with everything that follows from it. */
function factsOfCleanRun(): MutableFacts {
  const operations: Operation[] = [];
  const facts: MutableFacts = {
    operations,
    made: [],
    events: [],
    deliveries: [],
    endpoints: ENDPOINTS,
    receipts: [],
    relayed: new Map(),
  };
  for (const kind of OPERATION_KINDS) {
    const mark = `load-${kind}-0-`;
    const operation = newOperation(kind, mark, kind === 'mailbox' ? 0 : BYTES);
    operations.push(operation);
    operation.tries = 1;
    operation.acceptedAtMs = 1_001;
    facts.made.push({ kind, mark, id: `row_${kind}`, bytes: BYTES });
    if (kind === 'send') facts.relayed.set(mark, 1);
    if (kind === 'append') continue;
    const type = TYPE_OF[kind];
    facts.events.push({ id: `evt_${kind}`, type, subjectId: `row_${kind}` });
    for (const endpoint of ENDPOINTS.filter(({ eventTypes }) => eventTypes.some((each) => each === type))) {
      const id = `dlv_${kind}_${endpoint.id}`;
      facts.deliveries.push({ id, eventId: `evt_${kind}`, endpointId: endpoint.id, status: 'success', attempts: 1 });
      facts.receipts.push({ webhookId: id, requests: 1, unverified: 0, acknowledgedAtMs: [1_010] });
    }
  }
  return facts;
}

function operationOf(facts: Facts, kind: OperationKind) {
  const operation = facts.operations.find((each) => each.kind === kind);
  assert.ok(operation);
  return operation;
}

const changeDelivery = (facts: MutableFacts, change: Partial<DeliveryRow>) => {
  facts.deliveries = facts.deliveries.map((row) => (row.id === 'dlv_inbound_whe_all' ? { ...row, ...change } : row));
};
const without = <Row extends { readonly id: string }>(rows: Row[], id: string) => rows.filter((row) => row.id !== id);

test('a run without damage has nothing wrong, and every delivery is owed once', () => {
  const { wrong, counts, kinds } = account(factsOfCleanRun());
  assert.deepEqual(wrong, []);
  assert.equal(counts['deliveries owed'], 4); // three events to the first endpoint, email_sent to the second as well
  assert.equal(counts['deliveries with success'], 4);
  assert.deepEqual(
    Object.values(kinds).map(({ accepted }) => accepted),
    [1, 1, 1, 1],
  );
});

const DAMAGE: readonly { name: string; damage(facts: MutableFacts): void; wrong: readonly string[] }[] = [
  ...OPERATION_KINDS.map((kind) => ({
    name: `an accepted ${kind} without its row`,
    damage: (facts: MutableFacts) => {
      facts.made = facts.made.filter((row) => row.kind !== kind);
    },
    wrong: [`${kind}: lost: 1`],
  })),
  {
    name: 'a message that is shorter than it was sent',
    damage(facts) {
      facts.made = facts.made.map((row) => (row.kind === 'inbound' ? { ...row, bytes: BYTES - 1 } : row));
    },
    wrong: ['inbound: truncated: 1'],
  },
  {
    name: 'a message without its event',
    damage(facts) {
      facts.events = without(facts.events, 'evt_inbound');
    },
    wrong: ['inbound: without event: 1'],
  },
  {
    name: 'a message with its event twice, the second owed as well',
    damage(facts) {
      facts.events.push({ id: 'evt_again', type: 'email_received', subjectId: 'row_inbound' });
    },
    wrong: ['inbound: events twice: 1', 'deliveries: rows missing: 1'],
  },
  {
    name: 'a request with an Idempotency-Key that was carried out twice',
    damage(facts) {
      operationOf(facts, 'mailbox').uncertain = 1;
      facts.made.push({ kind: 'mailbox', mark: 'load-mailbox-0-', id: 'row_again', bytes: 0 });
      facts.events.push({ id: 'evt_again', type: 'mailbox_created', subjectId: 'row_again' });
    },
    wrong: ['mailbox: duplicated: 1', 'deliveries: rows missing: 1'],
  },
  {
    name: 'a mail stored twice although its only try was answered',
    damage: (facts) => facts.made.push({ kind: 'append', mark: 'load-append-0-', id: 'row_again', bytes: BYTES }),
    wrong: ['append: duplicated: 1'],
  },
  {
    name: 'a refusal for good',
    damage(facts) {
      const operation = operationOf(facts, 'append');
      operation.acceptedAtMs = undefined;
      operation.refused = '550 no';
    },
    wrong: ['append: refused: 1'],
  },
  {
    name: 'an operation that was never accepted',
    damage(facts) {
      operationOf(facts, 'append').acceptedAtMs = undefined;
    },
    wrong: ['append: never accepted: 1'],
  },
  {
    name: 'an event without its delivery row',
    damage(facts) {
      facts.deliveries = without(facts.deliveries, 'dlv_inbound_whe_all');
      facts.receipts = facts.receipts.filter(({ webhookId }) => webhookId !== 'dlv_inbound_whe_all');
    },
    wrong: ['deliveries: rows missing: 1'],
  },
  {
    name: 'a delivery that waits',
    damage: (facts) => changeDelivery(facts, { status: 'failed' }),
    wrong: ['deliveries: still open: 1'],
  },
  {
    name: 'a delivery that was given up although it had been acknowledged',
    damage: (facts) => changeDelivery(facts, { status: 'exhausted', attempts: MAX_DELIVERY_ATTEMPTS }),
    wrong: ['deliveries: exhausted: 1'],
  },
  {
    name: 'a delivery recorded as success that the receiver never acknowledged',
    damage(facts) {
      facts.receipts = facts.receipts.filter(({ webhookId }) => webhookId !== 'dlv_inbound_whe_all');
    },
    wrong: ['deliveries: recorded as success, never received: 1'],
  },
  {
    name: 'an attempt too many',
    damage: (facts) => changeDelivery(facts, { attempts: MAX_DELIVERY_ATTEMPTS + 1 }),
    wrong: ['deliveries: more attempts than allowed: 1'],
  },
  {
    name: 'a webhook that no delivery row knows',
    damage: (facts) => facts.receipts.push({ webhookId: 'dlv_x', requests: 1, unverified: 0, acknowledgedAtMs: [1] }),
    wrong: ['webhooks of no delivery: 1'],
  },
  {
    name: 'a signature that does not verify',
    damage(facts) {
      const [receipt] = facts.receipts;
      if (receipt !== undefined) receipt.unverified = 1;
    },
    wrong: ['webhooks whose signature does not verify: 1'],
  },
  {
    name: 'a mailbox whose token nobody saw',
    damage(facts) {
      operationOf(facts, 'mailbox').tokenMissing = true;
    },
    wrong: ['mailboxes whose token nobody saw: 1'],
  },
  {
    name: 'a sent mail that never left',
    damage: (facts) => facts.relayed.clear(),
    wrong: ['mails never handed to the relay: 1'],
  },
];

for (const { name, damage, wrong } of DAMAGE)
  test(`it shows: ${name}`, () => {
    const facts = factsOfCleanRun();
    damage(facts);
    assert.deepEqual(account(facts).wrong, wrong);
  });

test('a mail that its client had to send again is counted apart, and is not wrong', () => {
  const facts = factsOfCleanRun();
  operationOf(facts, 'append').uncertain = 1;
  facts.made.push({ kind: 'append', mark: 'load-append-0-', id: 'row_again', bytes: BYTES });
  const { wrong, kinds } = account(facts);
  assert.deepEqual(wrong, []);
  assert.equal(kinds.append['sent again'], 1);
});

test('a webhook acknowledged again counts for the fault that had begun last, whatever the order of the answers', () => {
  const receipt = { requests: 3, unverified: 0 };
  const receipts = [
    { ...receipt, webhookId: 'dlv_a', acknowledgedAtMs: [250, 90, 110] },
    { ...receipt, webhookId: 'dlv_b', acknowledgedAtMs: [120] },
    { ...receipt, webhookId: 'dlv_c', acknowledgedAtMs: [50, 60] },
  ];
  assert.deepEqual(duplicatesBySpan(receipts, [100, 200, 300]), [1, 1, 0]);
});
