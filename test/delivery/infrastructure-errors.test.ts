import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordEvents } from '#core/events/record-event.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { deliveryWorld } from '#test/support/delivery-world.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';

test('a secret whose key is missing costs its delivery no attempt and its neighbours nothing; mended, it is delivered', async () => {
  const world = await deliveryWorld();
  const receiver = await startReceiver();
  try {
    const organization = await world.organization();
    const [bad, good] = [
      await world.endpoint(organization, { url: receiver.url }),
      await world.endpoint(organization, { url: receiver.url }),
    ];
    const [row] = await world.sql('select secret_sealed from webhook_endpoints where id = $1', [bad.id]);
    await world.sql(`update webhook_endpoints set secret_sealed = 'v1.lost.a.b.c' where id = $1`, [bad.id]);
    await recordEvents(world.services.db, [
      { type: 'email_received', organization, mailbox: null, actor: SYSTEM_ACTOR, data: {} },
    ]);
    world.services.deliveriesDue.wake();
    await world.delivery(good.id, ({ status }) => status === 'success');
    const claimed = await world.delivery(bad.id, ({ workflowId }) => workflowId?.startsWith('delivery/') === true);
    assert.equal(claimed.status, 'pending');
    const handle = world.temporal.client.workflow.getHandle(claimed.workflowId ?? '');
    await waitUntil('the engine to have tried some times', async () => {
      const described = await handle.describe().catch(() => undefined);
      return (described?.raw.pendingActivities?.[0]?.attempt ?? 0) >= 4;
    });
    await world.sql('update webhook_endpoints set secret_sealed = $2 where id = $1', [bad.id, row?.['secret_sealed']]);
    const done = await world.delivery(bad.id, ({ status }) => status !== 'pending');
    assert.equal(done.status, 'success');
    assert.equal(done.attemptCount, 1);
  } finally {
    await world.close();
    await receiver.close();
  }
});
