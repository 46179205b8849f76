import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import {
  checkDestination,
  type DestinationAddress,
  type DestinationPolicy,
  isPublicAddress,
} from '#core/webhooks/requests/destination-guard.ts';
import { createWebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import { type DeliveryWorld, deliveryWorld } from '#test/support/delivery-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { testTls } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const nothingAllowed = { allowed: [] };

/** One address of each range of the IANA special-purpose registries (RFC 6890), and some cloud metadata addresses. */
const UNSAFE = `10.0.0.1 127.0.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 192.0.2.1 198.18.0.1
  198.51.100.1 203.0.113.1 224.0.0.1 0.0.0.0 240.0.0.1 255.255.255.255 192.88.99.1 192.0.0.1 168.63.129.16 100.100.100.200
  ::1 :: ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1
  2002:7f00:1:: 2001::1 2001:db8::1 3fff::1 5f00::1 100::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1`.split(/\s+/);

test('every special-purpose address is unsafe, ordinary ones are not', () => {
  assert.deepEqual(
    UNSAFE.filter((address) => isPublicAddress(address, nothingAllowed)),
    [],
  );
  for (const address of ['8.8.8.8', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8'])
    assert.ok(isPublicAddress(address, nothingAllowed), address);
});

const policyOf = (answer: readonly string[]): DestinationPolicy => ({
  allowed: [],
  resolve: async () =>
    answer.map((address): DestinationAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
});

test('the parsed host is checked: octal, hex, short, full-width and dotted spellings of loopback are unsafe', async () => {
  for (const host of [
    '0x7f.1',
    '0177.0.0.1',
    '2130706433',
    '127.1',
    '１２７.０.０.１',
    '[::ffff:7f00:1]',
    '127.0.0.1.',
    '[::1]',
  ]) {
    const check = await checkDestination(`https://${host}/`, policyOf(['8.8.8.8']));
    assert.equal(check.ok ? 'ok' : check.problem, 'unsafe_destination', host);
  }
});

test('a name with one public and one private address is refused as a whole', async () => {
  const check = await checkDestination('https://two.example/', policyOf(['8.8.8.8', '10.0.0.1']));
  assert.equal(check.ok ? 'ok' : check.problem, 'unsafe_destination');
});

test('the reason names the address, and beside it the name that leads there', async () => {
  for (const [url, message] of [
    ['https://127.0.0.1/', '127.0.0.1 is not publicly routable'],
    ['https://two.example/', 'two.example resolves to 10.0.0.1, which is not publicly routable'],
  ] as const) {
    const check = await checkDestination(url, policyOf(['8.8.8.8', '10.0.0.1']));
    assert.equal(check.ok ? 'ok' : check.message, message);
  }
});

test('URLs that are no https URL with a host are invalid', async () => {
  for (const url of [
    'http://a.example/',
    'ftp://a.example',
    'https://',
    'https://u:p@a.example/',
    'https://a.example:0/',
    'hello',
    '',
  ])
    assert.equal(
      ((await checkDestination(url, policyOf(['8.8.8.8']))) as { problem?: string }).problem,
      'invalid_url',
      url,
    );
});

test('a name without an address cannot be resolved', async () => {
  const check = await checkDestination('https://none.example/', policyOf([]));
  assert.equal(check.ok ? 'ok' : check.problem, 'unresolvable_destination');
});

test('no text makes the check throw or accept a private address', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.webUrl(),
        fc.string(),
        fc.ipV4().map((ip) => `https://${ip}/`),
        fc.ipV6().map((ip) => `https://[${ip}]/`),
      ),
      async (url) => {
        const check = await checkDestination(url, policyOf(['9.9.9.9']));
        if (check.ok) for (const { address } of check.addresses) assert.ok(isPublicAddress(address, nothingAllowed));
      },
    ),
    { numRuns: 500 },
  );
});

let world: DeliveryWorld;
let receiver: Receiver;
let addresses: readonly DestinationAddress[] = [{ address: '127.0.0.1', family: 4 }];
before(async () => {
  receiver = await startReceiver();
  const policy: DestinationPolicy = {
    allowed: [ipaddr.parseCIDR('127.0.0.1/32')],
    resolve: async () => addresses,
  };
  const sender = createWebhookSender({ policy, extraCa: [readFileSync(testTls().caFile, 'utf8')] });
  world = await deliveryWorld({}, { sender });
});
after(async () => {
  await world?.close();
  await receiver?.close();
});

test('a destination that turns private between two attempts is exhausted at once, without a request', async () => {
  addresses = [{ address: '127.0.0.1', family: 4 }];
  receiver.answer((res) => {
    addresses = [{ address: '10.0.0.7', family: 4 }];
    res.writeHead(500).end();
  }, 200);
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  await world.happen({ organization });
  const delivery = await world.delivery(endpoint.id, ({ status }) => status === 'exhausted');
  assert.equal(delivery.reason, 'unsafe_destination');
  assert.equal(delivery.attemptCount, 2);
  assert.match(delivery.lastError ?? '', /10\.0\.0\.7/);
  assert.equal(receiver.of(delivery.id).length, 1);
});

test('a kept-alive socket does not hide a change of address', async () => {
  addresses = [{ address: '127.0.0.1', family: 4 }];
  receiver.answer(200);
  const organization = await world.organization();
  const endpoint = await world.endpoint(organization, { url: receiver.url });
  await world.happen({ organization });
  await world.delivery(endpoint.id, ({ status }) => status === 'success');
  addresses = [{ address: '127.0.0.2', family: 4 }]; // not among the allowed ones
  await world.happen({ organization });
  const second = await waitUntil('the second delivery to end', async () => {
    const [, row] = await world.deliveries(endpoint.id);
    return row?.completedAt ? row : undefined;
  });
  assert.equal(second.reason, 'unsafe_destination');
});
