/** Messages whose workflow cannot be started while the engine is away or paused. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectTemporal, type TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { createLogger } from '#core/platform/log/logger.ts';
import { outboundWorkflowId } from '#domain/sending/outbound-workflow.ts';
import { signalDecided, startOutbound, startOutboundSweep } from '#sending/submit/start-outbound.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';
import { testTemporalAddress } from '#test/support/services.ts';
import { type TcpProxy, tcpProxy } from '#test/support/tcp-proxy.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const HOUR_MS = 3_600_000;
const MESSAGES = 12;

let world: OutboundWorld;
let proxy: TcpProxy;
let temporal: TemporalClient;
before(async () => {
  world = await openOutboundWorld();
  await world.consentMode('off');
  const [host = '', port = ''] = testTemporalAddress().split(':');
  proxy = await tcpProxy({ host, port: Number(port) });
  temporal = connectTemporal({ ...world.mail.services.settings, TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}` });
});
after(async () => {
  proxy?.restore();
  await temporal?.close();
  await world?.close();
  await proxy?.close();
});

/** Submitted messages whose workflow the engine does not know and whose time has come. */
async function forgotten(): Promise<string[]> {
  const sendAt = new Date(Date.now() + HOUR_MS);
  const ids: string[] = [];
  for (let i = 0; i < MESSAGES; i++) {
    const { messageId } = await world.send([`ann-${i}@example.com`], { sendAt });
    await world.temporal.client.workflow.getHandle(outboundWorkflowId(messageId)).terminate('lost');
    ids.push(messageId);
  }
  await world.mail.services.db.query(
    `update outbound_message set send_at = now(), due_at = now() - interval '1 second' where id = any($1::text[])`,
    [ids],
  );
  return ids;
}

/** How many of them no sweep looks at now. */
async function putOff(ids: readonly string[]): Promise<number> {
  const [row] = await world.mail.services.db.query<{ count: number }>(
    `select count(*)::int as count from outbound_message where id = any($1::text[]) and due_at > now()`,
    [ids],
  );
  return row?.count ?? 0;
}

for (const fault of ['freeze', 'cut'] as const)
  test(`an engine that is ${fault === 'cut' ? 'away' : 'paused'} puts no message off: all are started at the next look after it`, async () => {
    const lines: string[] = [];
    const log = createLogger('info', { write: (line: string) => void lines.push(line) });
    const said = () => lines.map((line) => String(JSON.parse(line).msg));
    const ids = await forgotten();
    proxy[fault]();
    const sweep = startOutboundSweep({ ...world.mail.services, log }, temporal);
    try {
      await waitUntil('a start to fail', () => said().includes('Temporal is away'), 60_000);
      // The one that a further look is trying waits for the answer of that.
      await waitUntil('no message to wait though nothing was started', async () => (await putOff(ids)) === 0);
      proxy.restore();
      for (const id of ids) assert.equal(await world.finished(id), 'sent');
      await waitUntil('the end of the outage', () => said().includes('Temporal is back'), 60_000);
      assert.deepEqual(said(), ['Temporal is away', 'Temporal is back']);
    } finally {
      proxy.restore();
      await sweep.close();
    }
  });

test('a sweep that is closed leaves nothing put off that it did not start', async () => {
  const ids = await forgotten();
  proxy.freeze();
  const sweep = startOutboundSweep(world.mail.services, temporal);
  try {
    await waitUntil('the sweep to have taken them', async () => (await putOff(ids)) > 0);
    await sweep.close();
    assert.equal(await putOff(ids), 0);
  } finally {
    proxy.restore();
    await sweep.close();
  }
});

test('a start and a signal that the engine does not take in time are left to the next look of the sweep', async () => {
  const { services } = world.mail;
  const sendAt = new Date(Date.now() + HOUR_MS);
  const [first, second] = [
    await world.send(['ann@example.com'], { sendAt }),
    await world.send(['bob@example.com'], { sendAt }),
  ];
  const ids = [first.messageId, second.messageId];
  // By now the workflow waits, and has said when it is overdue.
  await waitUntil('the workflows to wait', async () => {
    const rows = await services.db.query(`select 1 from outbound_message where id = any($1) and due_at > send_at`, [
      ids,
    ]);
    return rows.length === 2;
  });
  proxy.freeze();
  try {
    await startOutbound(services, temporal, first);
    assert.equal(await putOff(ids), 1, 'the one that could not be started is due');
    await signalDecided(services, temporal, [second.messageId]);
    assert.equal(await putOff(ids), 0);
  } finally {
    proxy.restore();
  }
});
