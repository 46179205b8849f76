/** Messages of mailboxes here on their way through the transport `mx`: what the API reports in the end. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { chooseTransport } from '#sending/transports/choose-transport.ts';
import { mxTransport } from '#sending/transports/mx.ts';
import { type DnsRecord, type TestDns, testDns } from '#test/support/dns-server.ts';
import { type Fault, type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';
import { testSettings } from '#test/support/services.ts';

let dns: TestDns;
let world: OutboundWorld;
before(async () => {
  dns = await testDns();
  world = await openOutboundWorld({
    transport: ({ port }) =>
      mxTransport({
        hostname: 'mail.test',
        port,
        dnsServers: [dns.address],
        allowDestinations: ['127.0.0.0/8'],
        messagesPerMinute: 1_000_000,
        silenceMs: 5_000,
      }),
  });
});
after(async () => {
  await world?.close();
  await dns.close();
});

const hostOf = (domain: string, address = '127.0.0.1'): DnsRecord[] => [
  { type: 'MX', name: domain, value: `10 mx.${domain}` },
  { type: 'A', name: `mx.${domain}`, value: address },
];
beforeEach(() => {
  world.peer.received.length = 0;
  world.peer.faults = [];
  dns.records = [
    ...hostOf('example.com'),
    ...hostOf('example.net'),
    ...hostOf('inside.example', '10.0.0.1'),
    { type: 'MX', name: 'null.example', value: '0 .' },
  ];
});

const ANN = 'ann@example.com';

async function sendWith(faults: Fault[], to: readonly string[] = [ANN]) {
  world.peer.faults = faults;
  const { messageId } = await world.send(to);
  const status = await world.finished(messageId);
  const attempts = await world.mail.services.db.query<{ outcome: string }>(
    `select outcome from outbound_attempt where message_id = $1 order by destination, number`,
    [messageId],
  );
  return { messageId, status, outcomes: attempts.map(({ outcome }) => outcome) };
}

describe('a message by mx', () => {
  test('is sent to the host of each domain once, and email_sent says so', async () => {
    const { messageId, status } = await sendWith([], [ANN, 'ben@example.net', 'cy@example.com']);
    assert.equal(status, 'sent');
    const recipients = world.peer.received.map(({ to }) => to.toSorted().join(' '));
    assert.deepEqual(recipients.toSorted(), [`${ANN} cy@example.com`, 'ben@example.net']);
    const events = (await world.events('email_sent')).filter(({ data }) => data['messageId'] === messageId);
    assert.deepEqual(
      events.map(({ data }) => data['via']),
      ['mx'],
    );
  });

  test('that is greylisted arrives later', async () => {
    const { status, outcomes } = await sendWith([{ at: 'rcpt', reply: 451, times: 2 }]);
    assert.deepEqual([status, outcomes], ['sent', ['deferred', 'deferred', 'sent']]);
    assert.equal(world.peer.received.length, 1);
  });

  test('whose connection drops after DATA is sent again under the same Message-ID', async () => {
    const { status, outcomes } = await sendWith([{ at: 'data', reply: 'drop', times: 1 }]);
    assert.deepEqual([status, outcomes], ['sent', ['deferred', 'sent']]);
    const ids = world.peer.received.map(({ bytes }) => /^Message-ID: (.*)$/im.exec(bytes.toString())?.[1]);
    assert.equal(ids.length, 2);
    assert.equal(ids[0], ids[1]);
  });

  test('to a host that falls silent is tried again', async () => {
    const { status, outcomes } = await sendWith([{ at: 'mail', reply: 'silence', times: 1 }]);
    assert.deepEqual([status, outcomes], ['sent', ['deferred', 'sent']]);
  });

  test('reaches one recipient while another is refused, has a null MX, or has a private address', async () => {
    const to = [ANN, 'gone@example.com', 'x@null.example', 'y@inside.example'];
    const { messageId, status } = await sendWith([{ at: 'rcpt', reply: 550, for: 'gone@example.com', times: 1 }], to);
    assert.equal(status, 'bounced');
    assert.deepEqual(
      (await world.recipients(messageId)).map((each) => [each.status, each.code]),
      [
        ['sent', '2.0.0'],
        ['bounced', '5.0.0'],
        ['bounced', '5.1.10'],
        ['bounced', '5.4.4'],
      ],
    );
  });
});

test('OUTBOUND_TRANSPORT=mx chooses it', () => {
  assert.equal(chooseTransport(testSettings({ OUTBOUND_TRANSPORT: 'mx' })).via, 'mx');
});
