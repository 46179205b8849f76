/** Parts of the attempts of a worker, each alone: what they read, write and wait for. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type AttemptContext, attemptDeliveries, ShuttingDown } from '#activities/attempt-deliveries.ts';
import { endpointHealth } from '#activities/endpoint-health.ts';
import { attemptDependencies } from '#activities/index.ts';
import { type AttemptDependencies, attemptMaker, attemptRecorder } from '#activities/make-attempt.ts';
import { recoverSome } from '#activities/recover-deliveries.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import { createWebhookSender, type WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import { reserveAttempts } from '#db/queries/deliveries/attempts.ts';
import { insertRecovery } from '#db/queries/webhooks/recoveries.ts';
import { firstIdAt } from '#domain/ids.ts';
import type { EnvelopeOrganization } from '#domain/webhooks/event-types.ts';
import { rowsOf } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { openTestServices, testLog, testSettings, testTls } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const LADDER_MS = [1_000, 1_000, 1_000, 1_000];

let services: Services;
let receiver: Receiver;
let sender: WebhookSender;
before(async () => {
  [services, receiver] = await Promise.all([openTestServices(), startReceiver()]);
  sender = createWebhookSender({
    policy: destinationPolicy(testSettings()),
    extraCa: [readFileSync(testTls().caFile, 'utf8')],
  });
});
after(async () => {
  await sender?.close();
  await receiver?.close();
  await services?.close();
});

const context: AttemptContext = {
  workflowId: 'delivery/test/fan-out',
  heartbeat() {},
  heartbeatEveryMs: 10_000,
  givenUp: new AbortController().signal,
  repeated: false,
};

/** What a worker has, until the work is over. */
async function withParts<Result>(
  work: (deps: AttemptDependencies, end: () => void) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController();
  const dependencies = { services, sender, draining: ending.signal, onEndpointGone() {}, onDisabled() {} };
  try {
    // Its sender serves all tests of the file.
    return await work(attemptDependencies({ ...dependencies, sender: { ...sender, drain() {} } }), () =>
      ending.abort(),
    );
  } finally {
    ending.abort();
  }
}

/** Deliveries of a new endpoint, one for each event. */
async function waiting(count: number, plan = 'unlimited') {
  const rows = rowsOf(services);
  const organization = await rows.organization(plan);
  const endpoint = await rows.endpoint(organization, { url: receiver.url });
  for (let i = 0; i < count; i++) await rows.happen({ organization });
  return { organization, endpoint, rows, ids: (await rows.deliveries(endpoint.id)).map(({ id }) => id) };
}

test('an endpoint whose fields are old is read again before a request is sent to it', async () => {
  const { endpoint, ids, rows } = await waiting(1);
  const [reserved] = await reserveAttempts(services.db, ids, crypto.randomUUID(), new Date(services.now()));
  assert.ok(reserved);
  await services.db.query(`update webhook_endpoints set url = url || '/changed' where id = $1`, [endpoint.id]);
  await withParts(async (deps) => {
    const run = { kind: 'fan-out', ladderMs: LADDER_MS, workflowId: null, lateness: 0, mayBegin: () => true } as const;
    const end = await attemptMaker(deps, run)(reserved, performance.now() - 60_000);
    assert.equal(end.kind, 'recorded');
  });
  assert.deepEqual(
    receiver.of(reserved.id).map(({ path }) => path),
    ['/hook/changed'],
  );
  assert.equal((await rows.deliveries(endpoint.id))[0]?.status, 'success');
});

test('a worker without connections for steady plans attempts deliveries over those of the services', async () => {
  const { endpoint, ids, rows } = await waiting(1);
  const output = await withParts((deps) =>
    attemptDeliveries(deps, { deliveryIds: ids, ladderMs: LADDER_MS, lane: 'fan-out' }, context),
  );
  assert.deepEqual(output, { waiting: [] });
  assert.equal((await rows.deliveries(endpoint.id))[0]?.status, 'success');
});

/** A recovery of all deliveries of an endpoint, which were given up before. */
async function recovery(of: { organization: EnvelopeOrganization; endpoint: { id: string } }): Promise<string> {
  await services.db.query(
    `update deliveries set status = 'exhausted', reason = 'attempts_exhausted', attempt_count = 5,
            completed_at = now() - interval '1 minute' where endpoint_id = $1`,
    [of.endpoint.id],
  );
  const [since, until] = [new Date(0), new Date(services.now() + 60_000)];
  const row = await insertRecovery(services.db, {
    id: newId('recovery'),
    organizationId: of.organization.id,
    endpointId: of.endpoint.id,
    mailboxId: null,
    status: 'exhausted',
    ...{ since, until, afterId: '', beforeId: firstIdAt('delivery', until.getTime()) },
  });
  assert.ok(row);
  return row.id;
}

/** Of the plan `team`: half of 50 a second. */
const TEAM_RECOVERS_PER_SECOND = 25;

test('a recovery sends no faster than the fair use of its organization lets it', async () => {
  const world = await waiting(11, 'team');
  const recoveryId = await recovery(world);
  const from = receiver.requests.length;
  const progress = await withParts((deps) => recoverSome(deps, { recoveryId, ladderMs: LADDER_MS }, context));
  assert.deepEqual([progress.state, progress.done, progress.succeeded], ['completed', 11, 11]);
  const times = receiver.requests.slice(from).map(({ atMs }) => atMs);
  assert.equal(times.length, 11);
  // Ten were sent before the last one. Timers and clocks may be some milliseconds early.
  const tookMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
  assert.ok(tookMs > (10 / TEAM_RECOVERS_PER_SECOND) * 1_000 - 50, `${tookMs} ms`);
});

test('a recovery whose slots others take shows that it goes on', async () => {
  const world = await waiting(1);
  const recoveryId = await recovery(world);
  await services.db.query(`update recoveries set updated_at = now() - interval '1 hour' where id = $1`, [recoveryId]);
  const isTouched = async () => {
    const [row] = await services.db.query<{ is: boolean }>(
      `select updated_at > now() - interval '30 minutes' as is from recoveries where id = $1`,
      [recoveryId],
    );
    return row?.is === true;
  };
  await withParts(async (deps, end) => {
    // A live delivery takes the last slot between the look and the attempt.
    const slots = { ...deps.slots, acquire: async () => undefined };
    const run = recoverSome({ ...deps, slots }, { recoveryId, ladderMs: LADDER_MS }, context);
    run.catch(() => {});
    await waitUntil('it to be touched', isTouched);
    end();
    await assert.rejects(run, ShuttingDown);
  });
});

test('whether results can be written is tried before the first attempt, once, and again when a caller doubts', async () => {
  let probes = 0;
  const draining = new AbortController();
  const recorder = attemptRecorder({
    sql: services.db,
    probe: async () => void probes++,
    draining: draining.signal,
    log: testLog(),
  });
  const ready = (doubtful?: boolean) => recorder.ready(() => true, doubtful);
  assert.deepEqual([await ready(), await ready(), probes], [true, true, 1]);
  assert.deepEqual([await ready(true), probes], [true, 2]);
  draining.abort();
});

test('an endpoint that stays slow is noted once in a while', async () => {
  const [first, second] = [await waiting(0), await waiting(0)];
  const troubledUntil = async ({ endpoint }: typeof first) => {
    const [row] = await services.db.query<{ at: Date | null }>(
      'select troubled_until as at from webhook_endpoints where id = $1',
      [endpoint.id],
    );
    return row?.at?.getTime();
  };
  await withParts(async ({ db }) => {
    const health = endpointHealth(services, db, { onEndpointGone() {}, onDisabled() {} });
    health.slow(first.endpoint.id);
    const noted = await waitUntil('the note', () => troubledUntil(first));
    health.slow(first.endpoint.id);
    // What is noted meanwhile is written in one statement.
    health.slow(second.endpoint.id);
    await waitUntil('the note of the other', () => troubledUntil(second));
    assert.equal(await troubledUntil(first), noted);
  });
});
