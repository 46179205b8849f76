/** Who talks before the greeting is refused; who waited for it once is not kept waiting again. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SMTP_PATIENT_SOURCE_MS, SMTP_PATIENT_SOURCES_MAX } from '#domain/mail/mail-limits.ts';
import { PatientSources } from '#mail/smtp/inbound-server.ts';
import { LineClient } from '#test/support/line-client.ts';
import { openMailWorld } from '#test/support/mail-world.ts';

const world = await openMailWorld();
after(() => world.close());
const { smtp } = world.mail;

const connect = (localAddress: string) => LineClient.open(smtp.port, { localAddress });

/** @returns milliseconds from the connection to its greeting */
async function greeted(host: string): Promise<number> {
  const startedAt = performance.now();
  const client = await connect(host);
  assert.match((await client.line()) ?? '', /^220 /);
  client.close();
  return performance.now() - startedAt;
}

test('who talks before the greeting is refused, as often as it does', async () => {
  for (let count = 0; count < 3; count++) {
    const client = await connect('127.0.130.1');
    client.send('EHLO robot.test\r\n');
    assert.match((await client.line()) ?? '', /^421 .*too soon/);
    client.close();
  }
});

test('a source that waited is greeted at once from then on', async () => {
  const first = await greeted('127.0.130.2');
  const later = [];
  for (let count = 0; count < 9; count++) later.push(await greeted('127.0.130.2'));
  const [median = first] = later.sort((one, other) => one - other).slice(4);
  assert.ok(median < first / 2, `${median} ms, and ${first} ms at first`);
});

test('a source is known for a day after it was patient last, and forgotten when it talks too soon', () => {
  let now = 0;
  const sources = new PatientSources(() => now);
  sources.add('192.0.2.1');
  sources.add('2001:db8:1:2::1');
  assert.ok(sources.has('::ffff:192.0.2.1'));
  assert.ok(sources.has('2001:db8:1:2:ffff::2'), 'the same /64');
  assert.ok(!sources.has('2001:db8:1:3::1'));
  now += SMTP_PATIENT_SOURCE_MS - 1;
  assert.ok(sources.has('192.0.2.1'));
  sources.delete('2001:db8:1:2::9');
  assert.ok(!sources.has('2001:db8:1:2::1'));
  now += 1;
  assert.ok(!sources.has('192.0.2.1'));
});

test('of many sources the one seen longest ago is forgotten', () => {
  const sources = new PatientSources(() => 0);
  const address = (count: number) => `10.${count >> 16}.${(count >> 8) & 255}.${count & 255}`;
  for (let count = 0; count < SMTP_PATIENT_SOURCES_MAX; count++) sources.add(address(count));
  sources.add(address(0));
  sources.add('192.0.2.1');
  assert.ok(sources.has(address(0)));
  assert.ok(!sources.has(address(1)));
  assert.ok(sources.has('192.0.2.1'));
});
