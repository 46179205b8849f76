import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { getEndpoint } from '#core/webhooks/endpoints/endpoint-queries.ts';
import type { Sql } from '#db/database.ts';
import { countDeliveries, findDelivery, listAttempts, listDeliveries } from '#db/queries/deliveries/list-deliveries.ts';
import type { EventType } from '#domain/webhooks/event-types.ts';
import { verified } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import {
  type Answer,
  type Call,
  errorOf,
  idOf,
  isFailed,
  LONG_LADDER_MS,
  nextPage,
  type WebhookWorld,
  webhookWorld,
} from './webhook-world.ts';

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

const shownIn = (answer: Answer): Shown[] => {
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body['data'] as Shown[];
};

test('a delivery shows its fields, its payload as sent, and its attempts', async () => {
  const setting = await world.setUp();
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
  const setting = await world.setUp();
  await world.deliver(setting, 3, 'email_received');
  await world.deliver(setting, 2, 'email_sent');
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
  const setting = await world.setUp();
  const before = (await world.deliver(setting, 7)).map(({ id }) => id).reverse();
  const seen: string[] = [];
  let cursor = '';
  do {
    const answer = await setting.call('GET', `${setting.path}/deliveries?limit=3${cursor}`);
    seen.push(...shownIn(answer).map(({ id }) => id));
    cursor = nextPage(answer);
    await world.deliver(setting, 1);
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
  const setting = await world.setUp();
  const [delivery] = await world.deliver(setting, 1);
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

test('deleting or deactivating an endpoint by the API ends the waits of its deliveries', async () => {
  for (const [method, body, reason] of [
    ['DELETE', undefined, 'endpoint_deleted'],
    ['PATCH', { active: false }, 'endpoint_inactive'],
  ] as const) {
    const setting = await world.setUp();
    world.receiver.answer(500);
    await world.happen({ organization: setting.organization });
    await world.waitingDelivery(setting);
    await setting.call(method, setting.path, body);
    const ended = await world.delivery(setting.id, ({ status }) => status === 'exhausted');
    assert.equal(ended.reason, reason);
    assert.equal(world.receiver.of(ended.id).length, 1);
  }
});

test('attempts carry the header as it is at that moment: kept, replaced and removed by PATCH', async () => {
  const setting = await world.setUp({ authHeader: { name: 'X-One', value: 'first' } });
  const sent: unknown[] = [];
  for (const change of [
    { description: 'kept' },
    { authHeader: { name: 'X-Two', value: 'second' } },
    { authHeader: { name: 'X-Two', value: 'third' } },
    { authHeader: null },
  ]) {
    assert.equal((await setting.call('PATCH', setting.path, change)).status, 200);
    const [delivery] = (await world.deliver(setting, 1)).toReversed();
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
  const setting = await world.setUp();
  const rotate = async (body: object) => {
    const answer = await setting.call('POST', `${setting.path}/rotate-secret`, body);
    return String(answer.body['secret']);
  };
  const newest = async () => {
    const [delivery] = (await world.deliver(setting, 1)).toReversed();
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
  const setting = await world.setUp();
  const [delivery] = await world.deliver(setting, 1);
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
