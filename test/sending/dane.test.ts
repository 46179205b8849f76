/** DANE (RFC 7672): mail goes by TLS with a certificate of the TLSA records, or not at all. */
import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { type MxOptions, mxTransport } from '#sending/transports/mx.ts';
import { validatedDns } from '#sending/transports/validated-dns.ts';
import { type DnsRecord, type TestDns, testDns } from '#test/support/dns-server.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';
import { developmentCertificates } from '../../operations/certificates.ts';

const HOST = 'mx.dest.test';
const folder = mkdtempSync(path.join(tmpdir(), 'dane-test-'));
const pem = (file: string) => readFileSync(file, 'utf8');
/** With the certificate of its authority behind it, as RFC 7672 §3.1.2 wants it. */
function hostWith(name: string, names: readonly string[]) {
  const files = developmentCertificates(path.join(folder, name), [...names]);
  const [own, authority] = [pem(files.certFile), pem(files.caFile)];
  return {
    cert: `${own}\n${authority}`,
    key: pem(files.keyFile),
    own: new X509Certificate(own),
    authority: new X509Certificate(authority),
  };
}
const host = hostWith('host', [HOST]);
const other = hostWith('other', [HOST]);
const misnamed = hostWith('misnamed', ['elsewhere.test']);

let dns: TestDns;
const open: Peer[] = [];
before(async () => {
  dns = await testDns();
});
beforeEach(() => {
  dns.validated = () => true;
  dns.treat = () => 'answered';
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

type Made = ReturnType<typeof hostWith>;
const spki = ({ publicKey }: X509Certificate): Buffer => publicKey.export({ type: 'spki', format: 'der' });
const hash = (name: 'sha256' | 'sha512', bytes: Buffer): string => createHash(name).update(bytes).digest('hex');
/** The usual record: the public key of the host (3 1 1). */
const ee = ({ own }: Made): string => `3 1 1 ${hash('sha256', spki(own))}`;
/** That of its authority (2 0 1). */
const ta = ({ authority }: Made): string => `2 0 1 ${hash('sha256', authority.raw)}`;

function records(port: number, ...tlsa: readonly string[]): DnsRecord[] {
  return [
    { type: 'MX', name: 'dest.test', value: `10 ${HOST}` },
    { type: 'A', name: HOST, value: '127.0.0.1' },
    ...tlsa.map((value): DnsRecord => ({ type: 'TLSA', name: `_${port}._tcp.${HOST}`, value })),
  ];
}

async function send(port: number, more: Partial<MxOptions> = {}) {
  const transport = mxTransport({
    hostname: 'mail.agents.test',
    port,
    dnsServers: [dns.address],
    allowDestinations: ['127.0.0.0/8'],
    messagesPerMinute: 1_000_000,
    silenceMs: 20_000,
    ...more,
  });
  const [result] = await transport.send({
    sender: 'agent@agents.test',
    recipients: ['ann@dest.test'],
    bytes: Buffer.from('Subject: Hello\r\n\r\nHello\r\n'),
  });
  assert.ok(result);
  return result;
}

describe('a host is used', () => {
  const zeros = '00'.repeat(32);
  for (const [what, values] of [
    ['by the hash of its key', [ee(host)]],
    ['by a longer hash of its certificate', [`3 0 2 ${hash('sha512', host.own.raw)}`]],
    ['by its whole key', [`3 1 0 ${spki(host.own).toString('hex')}`]],
    ['by its authority', [ta(host)]],
    ['by one record of several', [`3 1 1 ${zeros}`, ee(host)]],
    ['with any certificate where no record can be used', [`1 0 1 ${zeros}`]],
  ] as const)
    test(what, async () => {
      const peer = await peerWith({ tls: host });
      dns.records = records(peer.port, ...values);
      assert.equal((await send(peer.port)).kind, 'sent');
      assert.equal(peer.received[0]?.secure, true);
    });

  test('whatever the name in a certificate that a record names itself', async () => {
    const peer = await peerWith({ tls: misnamed });
    dns.records = records(peer.port, ee(misnamed));
    assert.equal((await send(peer.port)).kind, 'sent');
  });
});

describe('mail waits, and nothing is sent,', () => {
  for (const [what, tls, value] of [
    ['where the certificate is another one', other, ee(host)],
    ['where the authority is another one', other, ta(host)],
    ['where the certificate of the authority is for another name', misnamed, ta(misnamed)],
    ['where the host itself is named as an authority', host, `2 1 1 ${hash('sha256', spki(host.own))}`],
    ['where STARTTLS is missing', undefined, ee(host)],
    ['where STARTTLS is missing and no record can be used', undefined, `1 0 1 ${'00'.repeat(32)}`],
  ] as const)
    test(what, async () => {
      const peer = await peerWith(tls === undefined ? {} : { tls });
      dns.records = records(peer.port, value);
      const { kind, code, reply } = await send(peer.port);
      assert.deepEqual([kind, code], ['deferred', '4.7.5']);
      assert.match(reply, /TLSA records of mx\.dest\.test/);
      assert.equal(peer.received.length, 0);
    });

  for (const [what, name] of [
    ['whether it has TLSA records', (port: number) => `_${port}._tcp.${HOST}`],
    ['what its addresses are', () => HOST],
    ['which hosts it has', () => 'dest.test'],
  ] as const)
    test(`where DNS does not say ${what}`, async () => {
      const peer = await peerWith();
      dns.records = records(peer.port);
      dns.treat = (asked) => (asked === name(peer.port) ? 'failed' : 'answered');
      const { kind, code } = await send(peer.port);
      assert.deepEqual([kind, code], ['deferred', '4.4.3']);
      assert.equal(peer.received.length, 0);
    });
});

describe('records do not count', () => {
  for (const [what, unsigned] of [
    ['of a domain whose hosts are not certain', 'dest.test'],
    ['of a host whose addresses are not certain', HOST],
    ['that are not certain themselves', '_tcp'],
  ] as const)
    test(what, async () => {
      const peer = await peerWith();
      dns.records = records(peer.port, ee(host));
      dns.validated = (name) => (unsigned === '_tcp' ? !name.includes('_tcp') : name !== unsigned);
      assert.equal((await send(peer.port)).kind, 'sent');
    });

  test('of a host in an unsigned zone, which is not asked for them', async () => {
    const peer = await peerWith();
    dns.records = records(peer.port);
    dns.validated = (name) => name === 'dest.test';
    dns.treat = (name) => (name.includes('_tcp') ? 'failed' : 'answered');
    assert.equal((await send(peer.port)).kind, 'sent');
    assert.equal(dns.asked.get(`_${peer.port}._tcp.${HOST}`), undefined);
  });

  test('where it is switched off', async () => {
    const peer = await peerWith();
    dns.records = records(peer.port, ee(host));
    assert.equal((await send(peer.port, { dane: false })).kind, 'sent');
  });
});

test('a resolver on another machine is not believed', () => {
  assert.equal(validatedDns(['127.0.0.1', '192.0.2.1:53']), undefined);
  assert.equal(validatedDns(['192.0.2.1']), undefined);
  for (const here of ['127.0.0.53', '127.0.0.1:5353', '::1', '[::1]:53']) assert.ok(validatedDns([here]), here);
});

test('an answer that is too long for UDP is asked for by TCP', async () => {
  const peer = await peerWith({ tls: other });
  dns.records = records(peer.port, ee(host));
  dns.treat = (name) => (name.includes('_tcp') ? 'truncated' : 'answered');
  assert.equal((await send(peer.port)).code, '4.7.5');
});
