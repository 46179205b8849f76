/** The transport `mx` against mail hosts, name server and policy server on loopback. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { domainGate, type Entry } from '#sending/transports/domain-gate.ts';
import { type MxOptions, mxTransport } from '#sending/transports/mx.ts';
import { type DnsRecord, type TestDns, testDns } from '#test/support/dns-server.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';
import { developmentCertificates } from '../../operations/certificates.ts';

const ANN = 'ann@dest.test';
const BEN = 'ben@dest.test';
const BYTES = Buffer.from('Message-ID: <1@agents.test>\r\nSubject: Hello\r\n\r\nGr\u00fc\u00dfe\r\n..\r\n');

const folder = mkdtempSync(path.join(tmpdir(), 'mx-test-'));
const ours = developmentCertificates(path.join(folder, 'known'), ['mx.dest.test', 'mta-sts.dest.test']);
const others = developmentCertificates(path.join(folder, 'other'), ['mx.dest.test']);
const pem = (file: string) => readFileSync(file, 'utf8');
const known = { cert: pem(ours.certFile), key: pem(ours.keyFile) };
const unknown = { cert: pem(others.certFile), key: pem(others.keyFile) };
/** No version of TLS in common with anybody careful. */
const outdated = { ...known, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } as const;

const leave = (entry: Entry | undefined): void => {
  if (entry !== undefined && 'leave' in entry) entry.leave();
};

let dns: TestDns;
const open: { close(): Promise<void> }[] = [];
before(async () => {
  dns = await testDns();
});
beforeEach(() => {
  dns.silent = false;
  dns.records = [];
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});
after(async () => {
  await dns.close();
  rmSync(folder, { recursive: true, force: true });
});

async function peerWith(options: Parameters<typeof startPeer>[0] = {}): Promise<Peer> {
  const peer = await startPeer(options);
  open.push(peer);
  return peer;
}

const mx = (host: string, preference = 10): DnsRecord => ({
  type: 'MX',
  name: 'dest.test',
  value: `${preference} ${host}`,
});
const a = (name: string, value: string): DnsRecord => ({ type: 'A', name, value });

const transport = (port: number, more: Partial<MxOptions> = {}) =>
  mxTransport({
    hostname: 'mail.agents.test',
    port,
    dnsServers: [dns.address],
    allowDestinations: ['127.0.0.0/8', '::1/128'],
    messagesPerMinute: 1_000_000,
    silenceMs: 20_000,
    ca: [pem(ours.caFile)],
    ...more,
  });

/** Where a host falls silent; elsewhere a busy machine must not look like one that does. */
const SHORT_SILENCE = { silenceMs: 5_000 };

async function send(port: number, more: Partial<MxOptions> = {}, to: readonly string[] = [ANN]) {
  const results = await transport(port, more).send({ sender: 'agent@agents.test', recipients: to, bytes: BYTES });
  assert.deepEqual(
    results.map(({ address }) => address),
    to,
  );
  return results.map(({ kind, code }) => `${kind} ${code}`);
}

describe('mail hosts', () => {
  test('are tried by preference, and get the message byte for byte', async () => {
    const near = await peerWith();
    dns.records = [
      mx('far.dest.test', 50),
      mx('near.dest.test', 5),
      a('near.dest.test', '127.0.0.1'),
      a('far.dest.test', '127.0.0.3'),
    ];
    const second = await peerWith({ address: '127.0.0.3', port: near.port });
    assert.deepEqual(await send(near.port), ['sent 2.0.0']);
    assert.deepEqual([near.received.length, second.received.length], [1, 0]);
    assert.deepEqual(near.received[0]?.bytes, BYTES);
    assert.equal(near.received[0]?.from, 'agent@agents.test');
  });

  test('that are not there, refuse the greeting or fall silent are passed over', async () => {
    const good = await peerWith();
    const { port } = good;
    const refusing = await peerWith({ address: '127.0.0.3', port });
    refusing.faults = [{ at: 'connect', reply: 554, times: 9 }];
    const mute = await peerWith({ address: '127.0.0.4', port });
    mute.faults = [{ at: 'connect', reply: 'silence', times: 9 }];
    dns.records = [
      mx('gone.dest.test', 1),
      mx('nameless.dest.test', 2),
      mx('refusing.dest.test', 3),
      mx('mute.dest.test', 4),
      mx('good.dest.test', 5),
      a('gone.dest.test', '127.0.0.2'),
      a('refusing.dest.test', '127.0.0.3'),
      a('mute.dest.test', '127.0.0.4'),
      a('good.dest.test', '127.0.0.1'),
    ];
    assert.deepEqual(await send(port, SHORT_SILENCE), ['sent 2.0.0']);
    assert.equal(good.received.length, 1);
  });

  test('are reached by IPv4 where IPv6 does not answer', async () => {
    const peer = await peerWith();
    dns.records = [
      mx('mx.dest.test'),
      { type: 'AAAA', name: 'mx.dest.test', value: '::1' },
      a('mx.dest.test', '127.0.0.1'),
    ];
    assert.deepEqual(await send(peer.port), ['sent 2.0.0']);
  });

  test('may be the domain itself when it names none', async () => {
    const peer = await peerWith();
    dns.records = [a('dest.test', '127.0.0.1')];
    assert.deepEqual(await send(peer.port), ['sent 2.0.0']);
  });

  test('that no domain has fail for good: null MX, no domain, no address, ourselves', async () => {
    dns.records = [mx('.', 0), a('dest.test', '127.0.0.1')];
    assert.deepEqual(await send(1), ['failed 5.1.10']);
    dns.records = [];
    assert.deepEqual(await send(1), ['failed 5.1.2']);
    dns.records = [mx('nameless.dest.test')];
    assert.deepEqual(await send(1), ['failed 5.4.4']);
    dns.records = [mx('mail.agents.test', 10), mx('mx.dest.test', 20), a('mx.dest.test', '127.0.0.1')];
    assert.deepEqual(await send(1), ['failed 5.4.6']);
  });

  test('without a public address are never connected to', async () => {
    const peer = await peerWith();
    dns.records = [mx('mx.dest.test'), a('mx.dest.test', '127.0.0.1')];
    assert.deepEqual(await send(peer.port, { allowDestinations: [] }), ['failed 5.4.4']);
    assert.equal(peer.received.length, 0);
  });

  test('that none reaches are tried later', async () => {
    dns.records = [mx('mx.dest.test'), a('mx.dest.test', '127.0.0.2')];
    const peer = await peerWith();
    assert.deepEqual(await send(peer.port), ['deferred 4.4.1']);
  });
});

test('a name server that does not answer is tried later', async () => {
  const deaf = await testDns();
  deaf.silent = true;
  try {
    assert.deepEqual(await send(1, { dnsServers: [deaf.address] }), ['deferred 4.4.3']);
  } finally {
    await deaf.close();
  }
});

describe('what a host says', () => {
  let peer: Peer;
  beforeEach(async () => {
    peer = await peerWith();
    dns.records = [mx('mx.dest.test'), a('mx.dest.test', '127.0.0.1')];
  });

  test('is returned for each recipient', async () => {
    peer.faults = [
      { at: 'rcpt', reply: 550, for: ANN, times: 1 },
      { at: 'rcpt', reply: 451, for: 'cy@dest.test', times: 1 },
    ];
    assert.deepEqual(await send(peer.port, {}, [ANN, BEN, 'cy@dest.test']), [
      'failed 5.0.0',
      'sent 2.0.0',
      'deferred 4.0.0',
    ]);
    assert.deepEqual(peer.received[0]?.to, [BEN]);
  });

  test('after it was asked is not asked of another host', async () => {
    const second = await peerWith({ address: '127.0.0.3', port: peer.port });
    dns.records = [...dns.records, mx('second.dest.test', 20), a('second.dest.test', '127.0.0.3')];
    for (const reply of ['drop', 'silence', 451] as const) {
      peer.faults = [{ at: 'data', reply, times: 1 }];
      assert.match((await send(peer.port, SHORT_SILENCE))[0] ?? '', /^deferred 4\./);
    }
    assert.equal(second.received.length, 0);
  });

  test('about the content is final', async () => {
    peer.faults = [{ at: 'data', reply: 554, times: 1 }];
    assert.deepEqual(await send(peer.port, {}, [ANN, BEN]), ['failed 5.0.0', 'failed 5.0.0']);
  });
});

describe('TLS', () => {
  test('is used if it is offered, whatever its certificate', async () => {
    const peer = await peerWith({ tls: unknown });
    dns.records = [mx('mx.dest.test'), a('mx.dest.test', '127.0.0.1')];
    assert.deepEqual(await send(peer.port), ['sent 2.0.0']);
    assert.equal(peer.received[0]?.secure, true);
  });

  test('that fails is answered in the clear where no policy forbids it', async () => {
    const peer = await peerWith({ tls: outdated });
    dns.records = [mx('mx.dest.test'), a('mx.dest.test', '127.0.0.1')];
    assert.deepEqual(await send(peer.port), ['sent 2.0.0']);
    assert.equal(peer.received[0]?.secure, false);
  });
});

describe('MTA-STS', () => {
  let policyPort: number;
  let policy: string | undefined;
  let fetched: number;
  const text = (mode: string, host = 'mx.dest.test') =>
    `version: STSv1\r\nmode: ${mode}\r\nmx: ${host}\r\nmax_age: 86400\r\n`;
  const records = (id: string | undefined): DnsRecord[] => [
    mx('mx.dest.test'),
    a('mx.dest.test', '127.0.0.1'),
    a('mta-sts.dest.test', '127.0.0.1'),
    ...(id === undefined ? [] : [{ type: 'TXT', name: '_mta-sts.dest.test', value: `v=STSv1; id=${id};` } as const]),
  ];
  beforeEach(async () => {
    fetched = 0;
    policy = text('enforce');
    const server = https.createServer(known, (request, response) => {
      fetched++;
      const found = policy !== undefined && request.url === '/.well-known/mta-sts.txt';
      response.writeHead(found ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' }).end(policy);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    policyPort = (server.address() as AddressInfo).port;
    open.push({
      close: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    });
    dns.records = records('1');
  });

  test('enforced is kept by a host of the policy with a valid certificate', async () => {
    const peer = await peerWith({ tls: known });
    assert.deepEqual(await send(peer.port, { policyPort }), ['sent 2.0.0']);
    assert.equal(peer.received[0]?.secure, true);
  });

  for (const [what, tls] of [
    ['no TLS', undefined],
    ['a certificate of nobody we know', unknown],
    ['a handshake that fails', outdated],
  ] as const)
    test(`enforced defers mail before it is sent to a host with ${what}`, async () => {
      const peer = await peerWith(tls === undefined ? {} : { tls });
      assert.deepEqual(await send(peer.port, { policyPort }), ['deferred 4.7.5']);
      assert.equal(peer.received.length, 0);
    });

  test('enforced defers mail before it is sent to a host that the policy does not name', async () => {
    policy = text('enforce', 'other.dest.test');
    const peer = await peerWith({ tls: known });
    assert.deepEqual(await send(peer.port, { policyPort }), ['deferred 4.7.5']);
    assert.equal(peer.received.length, 0);
  });

  test('in testing, or with a policy that cannot be had, stops nothing', async () => {
    policy = text('testing', 'other.dest.test');
    const peer = await peerWith();
    assert.deepEqual(await send(peer.port, { policyPort }), ['sent 2.0.0']);
    policy = undefined;
    assert.deepEqual(await send(peer.port, { policyPort }), ['sent 2.0.0']);
  });

  test('is fetched once for an id, and stays valid when its record and its server are unavailable', async () => {
    const peer = await peerWith();
    const kept = transport(peer.port, { policyPort });
    const mail = { sender: 'agent@agents.test', recipients: [ANN], bytes: BYTES };
    const codes = async () => (await kept.send(mail)).map(({ code }) => code);
    assert.deepEqual(await codes(), ['4.7.5']);
    assert.deepEqual(await codes(), ['4.7.5']);
    assert.equal(fetched, 1);
    dns.records = records(undefined);
    assert.deepEqual(await codes(), ['4.7.5']);
    policy = undefined;
    dns.records = records('2');
    assert.deepEqual(await codes(), ['4.7.5']);
    assert.deepEqual(await codes(), ['4.7.5']);
    assert.equal(fetched, 2);
    policy = text('none');
    dns.records = records('3');
    assert.deepEqual(await codes(), ['2.0.0']);
  });
});

describe('towards one domain', () => {
  test('at most five connections are open, and mail that waits too long is deferred', async () => {
    let most = 0;
    const sockets = new Set<net.Socket>();
    const server = net.createServer((socket) => {
      sockets.add(socket);
      most = Math.max(most, sockets.size);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    dns.records = [mx('mx.dest.test'), a('mx.dest.test', '127.0.0.1')];
    const mute = transport((server.address() as AddressInfo).port, { silenceMs: 200 });
    const mail = { sender: 'agent@agents.test', recipients: [ANN], bytes: BYTES };
    const results = await Promise.all(Array.from({ length: 12 }, () => mute.send(mail)));
    await new Promise((resolve) => server.close(resolve));
    assert.equal(most, 5);
    assert.ok(results.every(([result]) => result?.kind === 'deferred'));

    const gate = domainGate(1_000_000, 20);
    const places = await Promise.all(Array.from({ length: 5 }, () => gate.enter('dest.test')));
    assert.ok('comeBackInMs' in (await gate.enter('dest.test')));
    assert.ok('leave' in (await gate.enter('elsewhere.test')));
    leave(places[0]);
    assert.ok('leave' in (await gate.enter('dest.test')));
  });

  test('messages above the burst go out at the rate', async () => {
    const gate = domainGate(1_200, 500);
    const started = performance.now();
    for (let i = 0; i < 22; i++) leave(await gate.enter('dest.test'));
    assert.ok(performance.now() - started >= 2 * 50 - 5);
    const slow = domainGate(1, 500);
    for (let i = 0; i < 20; i++) leave(await slow.enter('dest.test'));
    assert.ok('comeBackInMs' in (await slow.enter('dest.test')));
  });

  test('a host that trickles is left when the session has lasted long enough', async () => {
    const server = net.createServer((socket) => {
      const trickle = setInterval(() => socket.write('220-more\r\n'), 20);
      socket.on('close', () => clearInterval(trickle)).on('error', () => {});
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push({ close: async () => void server.close() });
    dns.records = [mx('mx.dest.test'), a('mx.dest.test', '127.0.0.1')];
    const { port } = server.address() as AddressInfo;
    const [result] = await transport(port, { silenceMs: 60_000, sessionMs: 300 }).send({
      sender: 'agent@agents.test',
      recipients: [ANN],
      bytes: BYTES,
    });
    assert.deepEqual([result?.kind, result?.code], ['deferred', '4.4.2']);
  });

  test('messages beyond the queue get later times, one interval after the other', async () => {
    const gate = domainGate(60, 300);
    const entered: Promise<Entry>[] = [];
    for (let i = 0; i < 5; i++) await gate.enter('dead.test');
    for (let i = 0; i < 50; i++) entered.push(gate.enter('dead.test'));
    const turns = await Promise.all([gate.enter('dead.test'), gate.enter('dead.test'), gate.enter('dead.test')]);
    const times = turns.map((entry) => ('comeBackInMs' in entry ? entry.comeBackInMs : 0));
    assert.ok((times[0] ?? 0) > 300);
    for (const i of [1, 2]) assert.ok(Math.abs((times[i] ?? 0) - (times[i - 1] ?? 0) - 1_000) < 50);
    await Promise.all(entered);
  });
});
