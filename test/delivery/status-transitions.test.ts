import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Services } from '#core/platform/process/services.ts';
import { recordAttempts } from '#db/queries/deliveries/attempts.ts';
import { DELIVERY_STATUSES, DELIVERY_TRANSITIONS, type DeliveryStatus } from '#domain/webhooks/delivery-status.ts';
import { rowsOf } from '#test/support/delivery-world.ts';
import { openTestServices } from '#test/support/services.ts';

let services: Services;
before(async () => {
  services = await openTestServices();
});
after(() => services?.close());

const reasonOf = (status: DeliveryStatus) => (status === 'exhausted' ? ('attempts_exhausted' as const) : null);

async function deliveryIn(status: DeliveryStatus) {
  const rows = rowsOf(services);
  const organization = await rows.organization();
  const endpoint = await rows.endpoint(organization, { url: 'https://hooks.example/' });
  await rows.happen({ organization });
  const final = status === 'success' || status === 'exhausted';
  await rows.sql(`update deliveries set status = $1, reason = $2, completed_at = $3 where endpoint_id = $4`, [
    status,
    reasonOf(status),
    final ? new Date() : null,
    endpoint.id,
  ]);
  const [delivery] = await rows.deliveries(endpoint.id);
  assert.ok(delivery);
  return delivery;
}

for (const from of DELIVERY_STATUSES)
  for (const to of ['success', 'failed', 'exhausted'] as const)
    test(`the result of an automatic attempt ${DELIVERY_TRANSITIONS[from].includes(to) ? 'turns' : 'does not turn'} ${from} into ${to}`, async () => {
      const { id, endpointId } = await deliveryIn(from);
      await recordAttempts(services.db, [
        {
          deliveryId: id,
          number: 1,
          trigger: 'automatic',
          startedAt: new Date(),
          durationMs: 1,
          responseCode: 200,
          error: null,
          responseHeaders: { a: 'b' },
          responseBody: Buffer.from([0, 1, 255]),
          remoteAddress: '127.0.0.1',
          status: to,
          reason: reasonOf(to),
          lastError: null,
          nextAttemptAt: to === 'failed' ? new Date() : null,
          workflowId: null,
        },
      ]);
      const rows = rowsOf(services);
      const [delivery] = await rows.deliveries(endpointId);
      assert.equal(delivery?.status, DELIVERY_TRANSITIONS[from].includes(to) ? to : from);
      assert.equal((await rows.attempts(id)).length, 1, 'the attempt is kept in any case');
    });

test('the database refuses states that do not fit together', async () => {
  const { id } = await deliveryIn('pending');
  const { sql } = rowsOf(services);
  for (const change of [`status = 'lost'`, `status = 'exhausted'`, `status = 'success'`, `reason = 'endpoint_gone'`])
    await assert.rejects(sql(`update deliveries set ${change} where id = $1`, [id]), /check constraint/, change);
});

test('a late failure of an attempt thought lost does not overrule the attempt that followed it', async () => {
  const { id, endpointId } = await deliveryIn('pending');
  const rows = rowsOf(services);
  const nextAttemptAt = new Date(Date.now() + 60_000);
  await rows.sql(`update deliveries set status = 'failed', attempt_count = 2, next_attempt_at = $1 where id = $2`, [
    nextAttemptAt,
    id,
  ]);
  await recordAttempts(services.db, [
    {
      deliveryId: id,
      number: 1,
      trigger: 'automatic',
      startedAt: new Date(),
      durationMs: 1,
      responseCode: 500,
      error: 'http_status',
      responseHeaders: null,
      responseBody: null,
      remoteAddress: null,
      status: 'failed',
      reason: null,
      lastError: 'answered 500',
      nextAttemptAt: new Date(),
      workflowId: null,
    },
  ]);
  const [delivery] = await rows.deliveries(endpointId);
  assert.equal(delivery?.nextAttemptAt?.getTime(), nextAttemptAt.getTime());
  assert.equal((await rows.attempts(id)).length, 1);
});
