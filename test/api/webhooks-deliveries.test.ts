import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { getEndpoint } from '../../core/endpoint-queries.ts';
import type { Sql } from '../../db/database.ts';
import { countDeliveries, findDelivery, listAttempts, listDeliveries } from '../../db/queries/list-deliveries.ts';
import type { EnvelopeOrganization } from '../../domain/event-envelope.ts';
import type { EventType } from '../../domain/event-types.ts';
import type { DeliveryState } from '../support/delivery-world.ts';
import { verified } from '../support/receiver.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Answer, type Call, errorOf, idOf, nextPage, type WebhookWorld, webhookWorld } from './webhook-world.ts';

/** Long enough that a retry never comes by itself within a test. */
const LONG_LADDER_MS = '600000,600000,600000,600000';
const TEMPORAL_UI_URL = 'https://temporal.example.com/';

let world: WebhookWorld;
before(async () => {
  world = await webhookWorld({ WEBHOOK_RETRY_DELAYS_MS: LONG_LADDER_MS, TEMPORAL_UI_URL });
});
after(() => world?.close());

interface Shown {
  readonly id: string;
  readonly eventType: EventType;
  readonly status: string;
  readonly workflowId: string | null;
}

interface Setting {
  readonly organization: EnvelopeOrganization;
  readonly call: Call;
  /** Path of the endpoint. */
  readonly path: string;
  readonly id: string;
  readonly secret: string;
}

async function setUp(body: object = {}, plan?: string): Promise<Setting> {
  world.receiver.answer(200);
  const organization = await world.organization(plan);
  const call = await world.client(organization);
  const created = await call('POST', '/api/webhooks', {
    url: world.receiver.url,
    eventTypes: ['email_received', 'email_sent'],
    ...body,
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const id = idOf(created);
  return { organization, call, id, path: `/api/webhooks/${id}`, secret: String(created.body['secret']) };
}

const shownIn = (answer: Answer): Shown[] => {
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body['data'] as Shown[];
};
const isSuccess = ({ status }: { status: string }) => status === 'success';
const isFailed = ({ status }: { status: string }) => status === 'failed';

/** The one delivery of an endpoint once its workflow waits for the retry: the row names it a moment before it begins. */
async function waitingDelivery({ id }: Setting): Promise<DeliveryState> {
  const delivery = await world.delivery(id, isFailed);
  const handle = world.temporal.client.workflow.getHandle(String(delivery.workflowId));
  await waitUntil(`${delivery.workflowId} to run`, () =>
    handle.describe().then(
      () => true,
      () => false,
    ),
  );
  return delivery;
}

/** `count` deliveries that are through, oldest first. */
async function deliver({ organization, id }: Setting, count: number, type: EventType = 'email_received') {
  for (let i = 0; i < count; i++) await world.happen({ organization, type, data: { number: i } });
  return waitUntil('all deliveries to be through', async () => {
    const deliveries = await world.deliveries(id);
    return deliveries.every(isSuccess) && deliveries;
  });
}

test('a delivery shows its fields, its payload as sent, and its attempts', async () => {
  const setting = await setUp();
  world.receiver.answer((response) => response.writeHead(503, { 'x-reason': 'busy' }).end('come back later'), 200);
  const mailbox = await world.mailbox(setting.organization);
  await world.happen({ organization: setting.organization, mailbox, data: { subject: 'Grüße' } });
  const row = await world.delivery(setting.id, isFailed);
  const [request] = world.receiver.of(row.id);
  assert.ok(request);

  const answer = await setting.call('GET', `${setting.path}/deliveries/${row.id}`);
  const { attempts, ...delivery } = answer.body;
  assert.deepEqual(delivery, {
    id: row.id,
    eventId: row.eventId,
    eventType: 'email_received',
    endpointId: setting.id,
    mailboxId: mailbox.id,
    status: 'failed',
    reason: null,
    attemptCount: 1,
    maxAttempts: 5,
    lastError: row.lastError,
    responseCode: 503,
    nextAttemptAt: row.nextAttemptAt?.toISOString(),
    createdAt: delivery['createdAt'],
    completedAt: null,
    workflowId: row.workflowId,
    temporalUrl: `https://temporal.example.com/namespaces/default/workflows/${encodeURIComponent(String(row.workflowId))}`,
    payload: JSON.parse(request.body),
  });
  assert.match(String(row.workflowId), new RegExp(`^delivery/${setting.id}/`));
  const [attempt, ...more] = attempts as Record<string, unknown>[];
  assert.equal(more.length, 0);
  assert.deepEqual(
    { ...attempt, startedAt: 0, durationMs: 0, responseHeaders: 0 },
    {
      number: 1,
      trigger: 'automatic',
      startedAt: 0,
      durationMs: 0,
      responseCode: 503,
      error: 'http_status',
      responseHeaders: 0,
      responseBody: 'come back later',
      remoteAddress: attempt?.['remoteAddress'],
    },
  );
  assert.ok(attempt);
  assert.equal((attempt['responseHeaders'] as Record<string, string>)['x-reason'], 'busy');
  assert.match(String(attempt['remoteAddress']), /^(127\.0\.0\.1|::1)$/);

  const list = await setting.call('GET', `${setting.path}/deliveries`);
  assert.deepEqual(list.body, { data: [delivery], total: 1, limit: 50, offset: 0, nextCursor: null });
  const stats = (await setting.call('GET', setting.path)).body['stats'];
  assert.deepEqual(stats, { last24h: { pending: 0, success: 0, failed: 1, exhausted: 0 } });
});

test('deliveries are filtered by status and event type', async () => {
  const setting = await setUp();
  await deliver(setting, 3, 'email_received');
  await deliver(setting, 2, 'email_sent');
  world.receiver.answer(500);
  await world.happen({ organization: setting.organization, type: 'email_sent' });
  const list = async (query: string) => {
    const answer = await setting.call('GET', `${setting.path}/deliveries${query}`);
    return { types: shownIn(answer).map(({ eventType }) => eventType), total: answer.body['total'] };
  };
  await waitUntil('the last attempt', async () => (await list('?status=failed')).total === 1);
  assert.equal((await list('')).total, 6);
  assert.deepEqual(await list('?status=failed'), { types: ['email_sent'], total: 1 });
  assert.deepEqual(await list('?status=success&eventType=email_sent'), {
    types: ['email_sent', 'email_sent'],
    total: 2,
  });
  assert.deepEqual(await list('?eventType=mailbox_created'), { types: [], total: 0 });
  for (const query of ['?status=done', '?eventType=x', '?limit=0', '?limit=201', '?offset=-1', '?cursor=x', '?page=2'])
    assert.equal((await setting.call('GET', `${setting.path}/deliveries${query}`)).status, 400, query);
});

test('pages by cursor neither repeat nor skip while deliveries arrive; offset counts from the newest', async () => {
  const setting = await setUp();
  const before = (await deliver(setting, 7)).map(({ id }) => id).reverse();
  const seen: string[] = [];
  let cursor = '';
  do {
    const answer = await setting.call('GET', `${setting.path}/deliveries?limit=3${cursor}`);
    seen.push(...shownIn(answer).map(({ id }) => id));
    cursor = nextPage(answer);
    await deliver(setting, 1);
  } while (cursor !== '');
  assert.deepEqual(seen, before);

  const all = shownIn(await setting.call('GET', `${setting.path}/deliveries?limit=200`)).map(({ id }) => id);
  const page = await setting.call('GET', `${setting.path}/deliveries?limit=3&offset=2`);
  assert.deepEqual(
    shownIn(page).map(({ id }) => id),
    all.slice(2, 5),
  );
  assert.deepEqual([page.body['total'], page.body['limit'], page.body['offset']], [all.length, 3, 2]);
  assert.deepEqual(shownIn(await setting.call('GET', `${setting.path}/deliveries?offset=100`)), []);
});

test('deliveries are read through their own endpoint and organization only', async () => {
  const setting = await setUp();
  const [delivery] = await deliver(setting, 1);
  assert.ok(delivery);
  const second = await setting.call('POST', '/api/webhooks', { url: world.receiver.url, eventTypes: ['email_sent'] });
  const stranger = await world.client(await world.organization());
  const paths: [Call, string][] = [
    [setting.call, `/api/webhooks/${idOf(second)}/deliveries/${delivery.id}`],
    [stranger, `${setting.path}/deliveries/${delivery.id}`],
    [setting.call, `${setting.path}/deliveries/dlv_01k8e8f2c0e4x9w2v7a3r5t6y8`],
    [setting.call, `${setting.path}/deliveries/nonsense`],
  ];
  for (const [call, path] of paths) {
    assert.equal(errorOf(await call('GET', path)).code, 'not_found', path);
    assert.equal(errorOf(await call('POST', `${path}/resend`)).code, 'not_found', path);
  }
  assert.equal(world.receiver.of(delivery.id).length, 1);
});

test('a resend of a waiting delivery attempts it now, in the workflow that holds it', async () => {
  const setting = await setUp();
  world.receiver.answer(500, 200);
  await world.happen({ organization: setting.organization });
  const waiting = await world.delivery(setting.id, isFailed);
  const answer = await setting.call('POST', `${setting.path}/deliveries/${waiting.id}/resend`);
  assert.equal(answer.status, 202, JSON.stringify(answer.body));
  const done = await world.delivery(setting.id, isSuccess);
  assert.equal(done.workflowId, waiting.workflowId);
  assert.deepEqual(
    (await world.attempts(done.id)).map(({ number, trigger }) => [number, trigger]),
    [
      [1, 'automatic'],
      [2, 'manual'],
    ],
  );
  for (const request of world.receiver.of(done.id)) verified(request, setting.secret);
  const audit = await world.sql(`select target_id from audit_entries where action = 'webhook.delivery_resent'`);
  assert.ok(audit.some((entry) => entry['target_id'] === done.id));
});

test('a resend of a waiting delivery whose workflow is gone starts one of its own', async () => {
  const setting = await setUp();
  world.receiver.answer(500, 500, 200);
  await world.happen({ organization: setting.organization });
  const waiting = await waitingDelivery(setting);
  await world.temporal.client.workflow.getHandle(String(waiting.workflowId)).terminate('forgotten');
  const resend = () => setting.call('POST', `${setting.path}/deliveries/${waiting.id}/resend`);
  const answer = await resend();
  const workflowId = `delivery/${setting.id}/resend/${waiting.id}/2`;
  assert.equal(answer.body['workflowId'], workflowId);
  // It fails once more, and the same workflow goes on waiting for the next rung.
  const again = await world.delivery(
    setting.id,
    ({ attemptCount, status }) => attemptCount === 2 && isFailed({ status }),
  );
  assert.equal(again.workflowId, workflowId);
  assert.equal((await resend()).body['workflowId'], workflowId);
  const done = await world.delivery(setting.id, isSuccess);
  assert.equal(done.attemptCount, 3);
});

test('a resend while the rest of the batch still hangs does not run beside it', async () => {
  const setting = await setUp();
  const slow = await setting.call('POST', '/api/webhooks', {
    url: `${world.receiver.url}/slow`,
    eventTypes: ['email_received'],
  });
  let answers = 0;
  const held: (() => void)[] = [];
  world.receiver.answer((response, { path }) => {
    if (path.endsWith('/slow')) held.push(() => response.end());
    else response.writeHead(answers++ === 0 ? 500 : 200).end();
  });
  await world.happen({ organization: setting.organization });
  const waiting = await world.delivery(setting.id, isFailed);
  const answer = await setting.call('POST', `${setting.path}/deliveries/${waiting.id}/resend`);
  assert.equal(answer.status, 202);
  assert.equal(world.receiver.of(waiting.id).length, 1);
  for (const end of held) end();
  const done = await world.delivery(setting.id, isSuccess);
  assert.equal(done.workflowId, waiting.workflowId);
  assert.equal(done.attemptCount, 2);
  await world.delivery(idOf(slow), isSuccess);
});

test('a resend of a final delivery makes one more attempt, marked manual, whatever comes of it', async () => {
  const setting = await setUp();
  world.receiver.answer(500);
  await world.happen({ organization: setting.organization });
  const waiting = await waitingDelivery(setting);
  await setting.call('PATCH', setting.path, { active: false });
  const exhausted = await world.delivery(setting.id, ({ status }) => status === 'exhausted');
  const resend = () => setting.call('POST', `${setting.path}/deliveries/${exhausted.id}/resend`);
  assert.deepEqual(errorOf(await resend()).code, 'conflict');
  await setting.call('PATCH', setting.path, { active: true });

  const failing = await resend();
  assert.equal(failing.status, 202);
  assert.equal(failing.body['workflowId'], `delivery/${setting.id}/resend/${waiting.id}/2`);
  const still = await world.delivery(
    setting.id,
    ({ attemptCount, lastError }) => attemptCount === 2 && lastError !== null,
  );
  await world.temporal.client.workflow.getHandle(String(failing.body['workflowId'])).result();
  assert.equal((await world.delivery(setting.id, () => true)).status, 'exhausted');
  assert.equal(still.nextAttemptAt, null);

  world.receiver.answer(200);
  await resend();
  const done = await world.delivery(setting.id, isSuccess);
  assert.equal(done.reason, null);
  // A delivered one too: the customer lost it, say.
  const answer = await resend();
  await world.temporal.client.workflow.getHandle(String(answer.body['workflowId'])).result();
  assert.deepEqual(
    (await world.attempts(done.id)).map(({ number, trigger, responseCode }) => [number, trigger, responseCode]),
    [
      [1, 'automatic', 500],
      [2, 'manual', 500],
      [3, 'manual', 200],
      [4, 'manual', 200],
    ],
  );
  assert.equal(world.receiver.of(done.id).length, 4);
  const { workflowExecutionInfo } = await world.temporal.client.workflow
    .getHandle(String(answer.body['workflowId']))
    .describe()
    .then(({ raw }) => raw);
  const found = Object.keys(workflowExecutionInfo?.searchAttributes?.indexedFields ?? {});
  assert.deepEqual(found.filter((name) => name !== 'BuildIds').sort(), [
    'DeliveryIds',
    'EndpointId',
    'EventIds',
    'EventType',
    'OrganizationId',
  ]);
});

test('two resends at once of a final delivery make one attempt', async () => {
  const setting = await setUp();
  const [delivery] = await deliver(setting, 1);
  assert.ok(delivery);
  const path = `${setting.path}/deliveries/${delivery.id}/resend`;
  const answers = await Promise.all([setting.call('POST', path), setting.call('POST', path)]);
  const ids = new Set(answers.map(({ body }) => body['workflowId']));
  for (const id of ids) await world.temporal.client.workflow.getHandle(String(id)).result();
  assert.equal(world.receiver.of(delivery.id).length, 1 + ids.size);
});

test('nothing is sent by hand on a plan without webhooks', async () => {
  const setting = await setUp({}, 'team');
  const [delivery] = await deliver(setting, 1);
  assert.ok(delivery);
  await world.sql(`update organizations set plan = 'free' where id = $1`, [setting.organization.id]);
  for (const path of [`/deliveries/${delivery.id}/resend`, '/test'])
    assert.equal(errorOf(await setting.call('POST', `${setting.path}${path}`)).code, 'plan_required');
  assert.equal((await setting.call('GET', `${setting.path}/deliveries`)).body['total'], 1);
});

test('a test delivery reaches this endpoint alone, signed, with the header, and says that it is a test', async () => {
  const setting = await setUp({ authHeader: { name: 'X-Hook-Token', value: 'abc' } });
  const other = await setting.call('POST', '/api/webhooks', {
    url: world.receiver.url,
    eventTypes: ['email_received'],
  });
  const answer = await setting.call('POST', `${setting.path}/test`);
  assert.equal(answer.status, 202, JSON.stringify(answer.body));
  assert.equal(answer.body['eventType'], 'email_received');
  const delivery = await world.delivery(setting.id, isSuccess);
  assert.equal(delivery.id, idOf(answer));
  const [request] = world.receiver.of(delivery.id);
  assert.ok(request);
  assert.equal(request.headers['x-hook-token'], 'abc');
  const envelope = verified(request, setting.secret) as { organization: object; data: { test: boolean } };
  assert.deepEqual(envelope.organization, setting.organization);
  assert.equal(envelope.data.test, true);
  assert.deepEqual(answer.body['payload'], envelope);
  assert.deepEqual(await world.deliveries(idOf(other)), []);

  const chosen = await setting.call('POST', `${setting.path}/test`, { eventType: 'outbound_consent_denied' });
  assert.equal(chosen.body['eventType'], 'outbound_consent_denied');
  assert.equal((await setting.call('POST', `${setting.path}/test`, { eventType: 'x' })).status, 400);
  await setting.call('PATCH', setting.path, { active: false });
  assert.equal(errorOf(await setting.call('POST', `${setting.path}/test`)).code, 'conflict');
});

test('a test delivery of a mailbox endpoint is about its mailbox and within its scope', async () => {
  const organization = await world.organization();
  const mailbox = await world.mailbox(organization);
  const call = await world.client(organization);
  const body = { url: world.receiver.url, eventTypes: ['email_sent'], mailboxId: mailbox.id };
  const path = `/api/webhooks/${idOf(await call('POST', '/api/webhooks', body))}/test`;
  const answer = await call('POST', path);
  assert.deepEqual((answer.body['payload'] as { mailbox: object }).mailbox, mailbox);
  assert.equal(answer.body['mailboxId'], mailbox.id);
  assert.equal(
    errorOf(await call('POST', path, { eventType: 'mailbox_created' })).code,
    'event_type_not_allowed_for_mailbox',
  );
});

test('deleting or deactivating an endpoint by the API ends the waits of its deliveries', async () => {
  for (const [method, body, reason] of [
    ['DELETE', undefined, 'endpoint_deleted'],
    ['PATCH', { active: false }, 'endpoint_inactive'],
  ] as const) {
    const setting = await setUp();
    world.receiver.answer(500);
    await world.happen({ organization: setting.organization });
    await waitingDelivery(setting);
    await setting.call(method, setting.path, body);
    const ended = await world.delivery(setting.id, ({ status }) => status === 'exhausted');
    assert.equal(ended.reason, reason);
    assert.equal(world.receiver.of(ended.id).length, 1);
  }
});

test('attempts carry the header as it is at that moment: kept, replaced and removed by PATCH', async () => {
  const setting = await setUp({ authHeader: { name: 'X-One', value: 'first' } });
  const sent: unknown[] = [];
  for (const change of [
    { description: 'kept' },
    { authHeader: { name: 'X-Two', value: 'second' } },
    { authHeader: { name: 'X-Two', value: 'third' } },
    { authHeader: null },
  ]) {
    assert.equal((await setting.call('PATCH', setting.path, change)).status, 200);
    const [delivery] = (await deliver(setting, 1)).toReversed();
    assert.ok(delivery);
    const [request] = world.receiver.of(delivery.id);
    sent.push([request?.headers['x-one'], request?.headers['x-two']]);
  }
  assert.deepEqual(sent, [
    ['first', undefined],
    [undefined, 'second'],
    [undefined, 'third'],
    [undefined, undefined],
  ]);
});

test('a rotated secret signs at once; during the overlap the old one signs too', async () => {
  const setting = await setUp();
  const rotate = async (body: object) => {
    const answer = await setting.call('POST', `${setting.path}/rotate-secret`, body);
    return String(answer.body['secret']);
  };
  const newest = async () => {
    const [delivery] = (await deliver(setting, 1)).toReversed();
    const [request] = world.receiver.of(delivery?.id ?? '');
    assert.ok(request);
    return request;
  };
  const second = await rotate({ overlapSeconds: 60 });
  const both = await newest();
  assert.equal(String(both.headers['webhook-signature']).split(' ').length, 2);
  for (const secret of [setting.secret, second]) verified(both, secret);

  await world.sql(`update webhook_endpoints set previous_secret_expires_at = now() where id = $1`, [setting.id]);
  const after = await newest();
  verified(after, second);
  assert.throws(() => verified(after, setting.secret));

  const third = await rotate({});
  const last = await newest();
  verified(last, third);
  assert.throws(() => verified(last, second));
});

test('reading deliveries leaves the partitions of other days alone', async () => {
  const setting = await setUp();
  const [delivery] = await deliver(setting, 1);
  assert.ok(delivery);
  const of = { organizationId: setting.organization.id, endpointId: setting.id };
  const planned: string[] = [];
  const explaining: Sql = {
    async query(text, values) {
      const plan = await world.sql(`explain ${text}`, values);
      planned.push(...plan.map((line) => String(line['QUERY PLAN'])));
      return world.services.db.query(text, values);
    },
  };
  const page = { limit: 50, offset: 0, after: null };
  assert.equal((await listDeliveries(explaining, of, {}, page, Date.now())).length, 1);
  assert.equal(await countDeliveries(explaining, of, {}, Date.now()), 1);
  await findDelivery(explaining, of, delivery.id);
  await listAttempts(explaining, delivery.id);
  await getEndpoint(explaining, of.organizationId, of.endpointId, Date.now());
  const days = planned.flatMap((line) => [...line.matchAll(/ on \w+_(\d{8}|default) /g)].map(([, day]) => String(day)));
  const dayAt = (fromNow: number) =>
    new Date(Date.now() + fromNow * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
  assert.ok(days.includes(dayAt(0)), planned.join('\n'));
  assert.deepEqual(new Set(days).difference(new Set([dayAt(-1), dayAt(0), dayAt(1)])), new Set());
});
