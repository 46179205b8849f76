import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '#core/platform/new-id.ts';
import { URL_CHECKS_PER_MINUTE } from '#domain/webhooks/delivery-limits.ts';
import {
  type Answer,
  errorOf,
  isFailed,
  isSuccess,
  LONG_LADDER_MS,
  type Subscribed,
  type WebhookWorld,
  webhookWorld,
} from './webhook-world.ts';

const HOUR_MS = 3_600_000;

let world: WebhookWorld;
before(async () => {
  world = await webhookWorld({ WEBHOOK_RETRY_DELAYS_MS: LONG_LADDER_MS });
});
after(() => world?.close());

interface Row {
  readonly hoursAgo: number;
  readonly status: string;
  readonly reason?: string;
  readonly responseCode?: number;
}

/** Deliveries as they would stand in the table had they happened then. @returns their ids */
async function past(endpointId: string, organizationId: string, rows: readonly Row[]): Promise<string[]> {
  const ids: string[] = [];
  for (const { hoursAgo, status, reason, responseCode } of rows) {
    const atMs = Date.now() - hoursAgo * HOUR_MS;
    const [id, eventId] = [newId('delivery', atMs), newId('event', atMs)];
    const isFinal = status === 'success' || status === 'exhausted';
    await world.sql(
      `insert into deliveries (id, event_id, endpoint_id, organization_id, event_type, status, reason, response_code,
         created_at, completed_at, fan_out_id, attempt_count)
       values ($1, $2, $3, $4, 'email_received', $5, $6, $7, $8, $9, 'past', 1)`,
      [
        id,
        eventId,
        endpointId,
        organizationId,
        status,
        reason ?? null,
        responseCode ?? null,
        new Date(atMs),
        isFinal ? new Date(atMs) : null,
      ],
    );
    ids.push(id);
  }
  return ids;
}

/** A subscription to an endpoint that was made two days ago: no delivery is older than its endpoint. */
async function oldEndpoint(): Promise<Subscribed> {
  const setting = await world.setUp();
  const id = newId('webhookEndpoint', Date.now() - 48 * HOUR_MS);
  await world.sql(`update webhook_endpoints set id = $1 where id = $2`, [id, setting.id]);
  return { ...setting, id, path: `/api/webhooks/${id}` };
}

interface Hour {
  readonly from: string;
  readonly success: number;
  readonly exhausted: number;
}

const hoursOf = (answer: Answer): Hour[] => {
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body['hours'] as Hour[];
};

test('deliveries are counted by the hour they were made in and by outcome', async () => {
  const { id, organization, call, path } = await oldEndpoint();
  await past(id, organization.id, [
    { hoursAgo: 0, status: 'success', responseCode: 200 },
    { hoursAgo: 2, status: 'success', responseCode: 204 },
    { hoursAgo: 2, status: 'exhausted', reason: 'attempts_exhausted', responseCode: 500 },
    { hoursAgo: 23, status: 'exhausted', reason: 'endpoint_inactive' },
    { hoursAgo: 30, status: 'success', responseCode: 200 },
  ]);
  const answer = await call('GET', `${path}/stats`);
  const hours = hoursOf(answer);
  assert.equal(hours.length, 24);
  assert.equal(hours.at(-1)?.from, new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS).toISOString());
  assert.deepEqual([hours[23]?.success, hours[21]?.success, hours[21]?.exhausted, hours[0]?.exhausted], [1, 1, 1, 1]);
  assert.deepEqual(answer.body['total'], { pending: 0, success: 2, failed: 0, exhausted: 2 });
  assert.deepEqual(hoursOf(await call('GET', `${path}/stats?hours=1`)).length, 1);
  const longer = await call('GET', `${path}/stats?hours=48`);
  assert.deepEqual(longer.body['total'], { pending: 0, success: 3, failed: 0, exhausted: 2 });
  const stranger = await world.client(await world.organization());
  assert.equal((await stranger('GET', `${path}/stats`)).status, 404);
});

test('deliveries are filtered by time, reason and response code', async () => {
  const { id, organization, call, path } = await oldEndpoint();
  const [now, refused, silent, inactive] = await past(id, organization.id, [
    { hoursAgo: 0.1, status: 'success', responseCode: 204 },
    { hoursAgo: 3, status: 'exhausted', reason: 'attempts_exhausted', responseCode: 503 },
    { hoursAgo: 5, status: 'exhausted', reason: 'attempts_exhausted' },
    { hoursAgo: 7, status: 'exhausted', reason: 'endpoint_inactive', responseCode: 500 },
  ]);
  const list = async (query: string) => {
    const { body, status } = await call('GET', `${path}/deliveries?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    const ids = (body['data'] as { id: string }[]).map((each) => each.id);
    assert.equal(body['total'], ids.length);
    return ids;
  };
  const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();
  assert.deepEqual(await list(''), [now, refused, silent, inactive]);
  assert.deepEqual(await list(`since=${ago(4)}`), [now, refused]);
  assert.deepEqual(await list(`until=${ago(4)}`), [silent, inactive]);
  assert.deepEqual(await list(`since=${ago(6)}&until=${ago(1)}`), [refused, silent]);
  assert.deepEqual(await list('reason=endpoint_inactive'), [inactive]);
  assert.deepEqual(await list('responseCode=503'), [refused]);
  assert.deepEqual(await list('responseCode=5xx'), [refused, inactive]);
  assert.deepEqual(await list('responseCode=none'), [silent]);
  assert.deepEqual(await list('responseCode=2xx&status=success'), [now]);
  assert.deepEqual(await list(`reason=attempts_exhausted&responseCode=5xx&since=${ago(4)}`), [refused]);
  assert.deepEqual(await list(`since=${ago(1)}&until=${ago(2)}`), []);
  for (const query of ['reason=bored', 'responseCode=99', 'responseCode=50x', 'since=yesterday'])
    assert.equal((await call('GET', `${path}/deliveries?${query}`)).status, 400, query);
});

test('an endpoint shows since when its oldest delivery waits, and until when the secret before signs', async () => {
  const setting = await world.setUp();
  world.receiver.answer(503);
  await world.happen({ organization: setting.organization });
  const waiting = await world.delivery(setting.id, isFailed);
  const rotated = await setting.call('POST', `${setting.path}/rotate-secret`, { overlapSeconds: 600 });
  const shown = (await setting.call('GET', setting.path)).body;
  const delivery = (await setting.call('GET', `${setting.path}/deliveries/${waiting.id}`)).body;
  assert.equal(shown['oldestWaitingAt'], delivery['createdAt']);
  assert.equal(shown['previousSecretExpiresAt'], rotated.body['previousSecretExpiresAt']);
  world.receiver.answer(200);
  await world.waitingDelivery(setting);
  await setting.call('POST', `${setting.path}/deliveries/${waiting.id}/resend`);
  await world.delivery(setting.id, isSuccess);
  assert.equal((await setting.call('GET', setting.path)).body['oldestWaitingAt'], null);
  await setting.call('POST', `${setting.path}/rotate-secret`, {});
  assert.equal((await setting.call('GET', setting.path)).body['previousSecretExpiresAt'], null);
});

test('a URL is checked as its creation would check it, nothing is sent to it, and not without end', async () => {
  const organization = await world.organization();
  const call = await world.client(organization);
  const check = (url: string) => call('POST', '/api/webhooks/check-url', { url });
  const requests = world.receiver.requests.length;
  assert.deepEqual((await check('https://LOCALHOST:443/a b')).body, { url: 'https://localhost/a%20b' });
  for (const url of ['http://localhost/', 'no url', 'https://10.0.0.1/', 'https://no-such-name.invalid/']) {
    const created = await call('POST', '/api/webhooks', { url, eventTypes: ['email_received'] });
    assert.deepEqual(errorOf(await check(url)), errorOf(created), url);
  }
  let last = await check(world.receiver.url);
  for (let i = 0; i < URL_CHECKS_PER_MINUTE; i++) last = await check('https://10.0.0.1/');
  assert.equal(errorOf(last).code, 'rate_limited');
  assert.ok(Number(last.headers.get('retry-after')) > 0);
  assert.equal(world.receiver.requests.length, requests);
  const other = await world.client(await world.organization());
  assert.equal((await other('POST', '/api/webhooks/check-url', { url: world.receiver.url })).status, 200);
});
