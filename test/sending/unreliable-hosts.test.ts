/**
 * Faulty hosts outside, from the submission to the final status in the API: nothing is lost, and nothing arrives twice
 * except mail in flight when its connection ended. All timeouts are those of the product. Each test has its own host,
 * so they run in parallel.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { domainOf } from '#domain/mail/mailbox-address.ts';
import { OUTBOUND_GREETING_TIMEOUT_MS } from '#domain/sending/outbound.ts';
import { relayTransport } from '#sending/transports/choose-transport.ts';
import { mxTransport } from '#sending/transports/mx.ts';
import type { Transport } from '#sending/transports/transport.ts';
import { at, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { type DnsRecord, type TestDns, testDns } from '#test/support/dns-server.ts';
import { type Fault, type Peer, startPeer } from '#test/support/outbound-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { developmentCertificates } from '../../operations/certificates.ts';
import { openSendingWorld, SENDING_ENTRY_POINTS, type SendingWorld } from './sending-world.ts';

const AT_ONCE = 6;
const PATIENCE_MS = 60_000;

const folder = mkdtempSync(path.join(tmpdir(), 'unreliable-hosts-'));
const STS_DOMAIN = 'strict.test';
const files = developmentCertificates(folder, ['mx.somebody.test', `mta-sts.${STS_DOMAIN}`]);
const pem = (file: string) => readFileSync(file, 'utf8');
/** From a root that is unknown unless configured. */
const untrusted = { cert: pem(files.certFile), key: pem(files.keyFile) };
/** No version of TLS in common with anybody careful. */
const broken = { ...untrusted, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } as const;

let dns: TestDns;
let world: SendingWorld;
let from: TestMailbox;
/** How mail for a domain leaves. */
const routes = new Map<string, Transport>();
const peers: Peer[] = [];
before(async () => {
  dns = await testDns();
  world = await openSendingWorld({
    transport: {
      via: 'relay',
      destinationOf: (domain) => domain,
      send: async (mail) => (await routes.get(domainOf(mail.recipients[0] ?? ''))?.send(mail)) ?? [],
    },
  });
  const organization = await world.api.newOrganization('unlimited');
  from = organization.mailbox;
  await world.api.call('PATCH', '/api/organization', {
    as: organization.owner.session,
    body: { settings: { outboundConsent: 'off' } },
  });
});
after(async () => {
  await world?.close();
  await Promise.all(peers.map((peer) => peer.close()));
  await dns?.close();
  rmSync(folder, { recursive: true, force: true });
});

const WAYS = ['relay', 'mx'] as const;
type Way = (typeof WAYS)[number];

let number = 0;

interface Host {
  readonly domain: string;
  readonly peer: Peer;
}

const recordsOf = (domain: string): DnsRecord[] => [
  { type: 'MX', name: domain, value: `10 mx.${domain}` },
  { type: 'A', name: `mx.${domain}`, value: '127.0.0.1' },
];

/** A host that takes the mail of a domain of its own. */
async function hostBy(way: Way, options: Parameters<typeof startPeer>[0] = {}, credentials = ''): Promise<Host> {
  const peer = await startPeer(options);
  peers.push(peer);
  const domain = `host${++number}.test`;
  if (way === 'relay') {
    const url = peer.url.replace('//', `//${credentials}`);
    routes.set(domain, relayTransport({ url, hostname: 'mail.test' }));
  } else {
    dns.records = [...dns.records, ...recordsOf(domain)];
    const hosts = { dnsServers: [dns.address], allowDestinations: ['127.0.0.0/8'], messagesPerMinute: 1_000_000 };
    routes.set(domain, mxTransport({ hostname: 'mail.test', port: peer.port, ...hosts }));
  }
  return { domain, peer };
}

/** What the API reports about a message. */
interface SendResult {
  readonly id: string;
  readonly status: string;
  /** `<status> <code>` of each recipient. */
  readonly recipients: readonly string[];
  /** Outcome of each attempt. */
  readonly attempts: readonly unknown[];
  /** Replies of the attempts. */
  readonly replies: readonly string[];
}

async function ask(id: string): Promise<SendResult> {
  const { body } = await world.api.call('GET', `/api/mailbox/messages/${id}/status`, { as: from.token });
  const attempts = Object.values(Object(at(body, 'attempts')));
  return {
    id,
    status: textAt(body, 'status'),
    recipients: Object.values(Object(at(body, 'recipients'))).map(
      (each) => `${textAt(each, 'status')} ${String(at(each, 'code'))}`,
    ),
    attempts: attempts.map((each) => at(each, 'outcome')),
    replies: attempts.map((each) => String(at(each, 'reply'))),
  };
}

async function submit(to: readonly string[], text?: string): Promise<{ id: string; subject: string }> {
  const subject = `message ${++number}`;
  const entry = SENDING_ENTRY_POINTS[number % SENDING_ENTRY_POINTS.length] ?? 'REST';
  const answer = await world.send(entry, from, { to, subject, ...(text === undefined ? {} : { text }) });
  assert.equal(answer.kind, 'accepted', answer.words);
  return { id: answer.id, subject };
}

/** Submits a message, and waits until the API says that it is over. */
async function send(
  host: Host,
  faults: Fault[],
  names: readonly string[] = ['ann'],
  text?: string,
): Promise<SendResult> {
  host.peer.faults = faults;
  const { id, subject } = await submit(
    names.map((name) => `${name}@${host.domain}`),
    text,
  );
  const over = ['sent', 'bounced', 'denied', 'suppressed'];
  await waitUntil(`the end of ${subject}`, async () => over.includes((await ask(id)).status), PATIENCE_MS);
  const copies = (await world.folder(from, 'Sent')).filter((each) => each === subject);
  assert.equal(copies.length, 1, 'Sent has one copy');
  return ask(id);
}

/** How often the host got the mail for each name. */
const counts = ({ peer, domain }: Host, names: readonly string[]): number[] =>
  names.map((name) => peer.received.filter(({ to }) => to.includes(`${name}@${domain}`)).length);

const eventsOf = async (id: string) => (await world.events('email_sent', id)).length;

/** Faults that pass, each as often as it says, after which the mail arrives once. */
const PASSING: Readonly<Record<string, readonly Fault[]>> = {
  'greylists with 451 at RCPT, twice': [{ at: 'rcpt', reply: 451, times: 2 }],
  'says 450 to MAIL': [{ at: 'mail', reply: 450, times: 1 }],
  'says 451 after the message': [{ at: 'data', reply: 451, times: 1 }],
  'says 421 after the message': [{ at: 'data', reply: 421, times: 1 }],
  'greets with 421': [{ at: 'connect', reply: 421, times: 1 }],
  'greets with 554': [{ at: 'connect', reply: 554, times: 1 }],
  'drops the connection before its greeting': [{ at: 'connect', reply: 'drop', times: 1 }],
  'drops the connection at MAIL': [{ at: 'mail', reply: 'drop', times: 1 }],
  'drops the connection at RCPT': [{ at: 'rcpt', reply: 'drop', times: 1 }],
  'drops the connection in the middle of the message': [{ at: 'body', reply: 'drop', times: 1 }],
};

describe('hosts outside', { concurrency: true }, () => {
  for (const way of WAYS)
    describe(`by ${way}, a host that`, { concurrency: AT_ONCE }, () => {
      test(`never greets is left after ${OUTBOUND_GREETING_TIMEOUT_MS / 1_000} s and tried again`, async () => {
        const host = await hostBy(way);
        const startedAt = performance.now();
        const result = await send(host, [{ at: 'connect', reply: 'silence', times: 1 }]);
        assert.ok(performance.now() - startedAt >= OUTBOUND_GREETING_TIMEOUT_MS - 1_000, 'not given up early');
        assert.deepEqual([result.status, result.attempts], ['sent', ['deferred', 'sent']]);
        assert.deepEqual(counts(host, ['ann']), [1]);
      });

      for (const [what, faults] of Object.entries(PASSING))
        test(`${what} gets the mail once, later`, async () => {
          const host = await hostBy(way);
          const long = what.includes('middle') ? 'A line of a long message.\n'.repeat(20_000) : undefined;
          const result = await send(
            host,
            faults.map((fault) => ({ ...fault })),
            ['ann'],
            long,
          );
          const deferred = Array.from({ length: faults[0]?.times ?? 0 }, () => 'deferred');
          assert.deepEqual(
            [result.status, result.attempts],
            ['sent', [...deferred, 'sent']],
            result.replies.join(' | '),
          );
          assert.deepEqual(counts(host, ['ann']), [1]);
          assert.equal(await eventsOf(result.id), 1);
          const reply = faults[0]?.reply;
          if (typeof reply === 'number') assert.match(result.replies[0] ?? '', new RegExp(`${reply}`));
        });

      test('drops the connection after the message, before its answer, gets it twice under one Message-ID', async () => {
        const host = await hostBy(way);
        const result = await send(host, [{ at: 'data', reply: 'drop', times: 1 }]);
        assert.deepEqual([result.status, result.attempts], ['sent', ['deferred', 'sent']]);
        const ids = host.peer.received.map(({ bytes }) => /^Message-ID: (.*)$/im.exec(bytes.toString())?.[1]);
        assert.equal(ids.length, 2);
        assert.equal(ids[0], ids[1]);
        assert.equal(await eventsOf(result.id), 1);
      });

      for (const [what, fault] of [
        ['the sender', { at: 'mail', reply: 553, times: 1 }],
        ['the recipient', { at: 'rcpt', reply: 550, times: 1 }],
        ['the content', { at: 'data', reply: 554, times: 1 }],
      ] as const)
        test(`refuses ${what} permanently is tried once, and the sender is notified`, async () => {
          const host = await hostBy(way);
          const result = await send(host, [{ ...fault }]);
          assert.deepEqual(
            [result.status, result.recipients, result.attempts],
            ['bounced', ['bounced 5.0.0'], ['failed']],
          );
          assert.match(result.replies[0] ?? '', new RegExp(`^${fault.reply}`));
          assert.equal(host.peer.received.length, 0);
          assert.equal(await eventsOf(result.id), 0);
          const notices = await world.api.sql(
            `select 1 from message m join outbound_message o on o.id = $1
            where m.mailbox_id = o.mailbox_id and m.origin = 'system' and m.thread_id = o.thread_id`,
            [result.id],
          );
          assert.equal(notices.length, 1);
        });

      test('accepts one of three recipients, defers one and refuses one: each is handled once', async () => {
        const host = await hostBy(way);
        const result = await send(
          host,
          [
            { at: 'rcpt', reply: 451, times: 1, for: `ben@${host.domain}` },
            { at: 'rcpt', reply: 550, times: 1, for: `cy@${host.domain}` },
          ],
          ['ann', 'ben', 'cy'],
        );
        assert.deepEqual([result.status, result.attempts], ['bounced', ['partial', 'sent']]);
        assert.deepEqual(result.recipients, ['sent 2.0.0', 'sent 2.0.0', 'bounced 5.0.0']);
        assert.deepEqual(counts(host, ['ann', 'ben', 'cy']), [1, 1, 0]);
      });

      test('defers one recipient and then refuses the message: the one is tried again, the others are not', async () => {
        const host = await hostBy(way);
        const result = await send(
          host,
          [
            { at: 'rcpt', reply: 450, times: 1, for: `ben@${host.domain}` },
            { at: 'data', reply: 550, times: 1 },
          ],
          ['ann', 'ben'],
        );
        assert.deepEqual([result.status, result.attempts], ['bounced', ['partial', 'sent']]);
        assert.deepEqual(result.recipients, ['bounced 5.0.0', 'sent 2.0.0']);
        assert.deepEqual(counts(host, ['ann', 'ben']), [0, 1]);
      });

      test('says 452 to recipients that are too many gets them in a further transaction', async () => {
        const host = await hostBy(way);
        const names = ['ann', 'ben', 'cy', 'dan'];
        const late = names
          .slice(2)
          .map((name): Fault => ({ at: 'rcpt', reply: 452, times: 1, for: `${name}@${host.domain}` }));
        const result = await send(host, late, names);
        assert.deepEqual([result.status, result.attempts], ['sent', ['partial', 'sent']]);
        assert.deepEqual(counts(host, names), [1, 1, 1, 1]);
      });

      test('is not there gets the mail once it is back', async () => {
        const host = await hostBy(way);
        const { port } = host.peer;
        await host.peer.close();
        const { id } = await submit([`ann@${host.domain}`]);
        await waitUntil('two attempts in vain', async () => (await ask(id)).attempts.length >= 2, PATIENCE_MS);
        assert.match((await ask(id)).replies[0] ?? '', /ECONNREFUSED/);
        const back = await startPeer({ port });
        peers.push(back);
        await waitUntil('the end', async () => (await ask(id)).status === 'sent', PATIENCE_MS);
        assert.equal(back.received.length, 1);
      });
    });

  describe('TLS that fails', { concurrency: AT_ONCE }, () => {
    /** Waits for attempts, then lets the two days be over. */
    async function givenUp(host: Host): Promise<SendResult> {
      const { id } = await submit([`ann@${host.domain}`]);
      await waitUntil('two attempts in vain', async () => (await ask(id)).attempts.length >= 2, PATIENCE_MS);
      assert.ok(['queued', 'sending'].includes((await ask(id)).status));
      await world.api.sql(`update outbound_message set give_up_at = now() where id = $1`, [id]);
      await waitUntil('the end', async () => (await ask(id)).status === 'bounced', PATIENCE_MS);
      return ask(id);
    }

    for (const [what, tls] of [
      ['a certificate of nobody we know', untrusted],
      ['a handshake that cannot succeed', broken],
      ['no STARTTLS', undefined],
    ] as const)
      test(`a relay with a password and ${what} gets neither: the mail waits, and is given up in the end`, async () => {
        const host = await hostBy('relay', tls === undefined ? {} : { tls }, 'user:secret@');
        const result = await givenUp(host);
        assert.deepEqual(result.recipients, ['bounced 4.4.7']);
        assert.ok(result.attempts.slice(0, -1).every((each) => each === 'deferred'));
        assert.equal(host.peer.received.length, 0);
      });

    for (const [what, tls] of [
      ['a certificate of nobody we know', untrusted],
      ['a handshake that cannot succeed', broken],
    ] as const)
      test(`a mail host with ${what} gets the mail all the same, once`, async () => {
        const host = await hostBy('mx', { tls });
        const result = await send(host, []);
        assert.deepEqual([result.status, result.attempts], ['sent', ['sent']]);
        assert.deepEqual(counts(host, ['ann']), [1]);
        assert.equal(host.peer.received[0]?.secure, tls === untrusted);
      });

    test('a relay without a password whose certificate nobody knows gets nothing either: its offer of TLS is held to', async () => {
      const host = await hostBy('relay', { tls: untrusted });
      const result = await givenUp(host);
      assert.match(result.replies[0] ?? '', /certificate/);
      assert.equal(host.peer.received.length, 0);
    });

    test('a mail host whose domain enforces MTA-STS gets nothing without good TLS: the mail waits, and is given up', async () => {
      const domain = STS_DOMAIN;
      const peer = await startPeer({ tls: broken });
      peers.push(peer);
      const policy = `version: STSv1\r\nmode: enforce\r\nmx: mx.${domain}\r\nmax_age: 86400\r\n`;
      const server = https.createServer(untrusted, (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' }).end(policy);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port: policyPort } = server.address() as AddressInfo;
      dns.records = [
        ...dns.records,
        ...recordsOf(domain),
        { type: 'A', name: `mta-sts.${domain}`, value: '127.0.0.1' },
        { type: 'TXT', name: `_mta-sts.${domain}`, value: 'v=STSv1; id=1;' },
      ];
      const hosts = { dnsServers: [dns.address], allowDestinations: ['127.0.0.0/8'], messagesPerMinute: 1_000_000 };
      const ca = [pem(files.caFile)];
      routes.set(domain, mxTransport({ hostname: 'mail.test', port: peer.port, policyPort, ca, ...hosts }));
      try {
        const result = await givenUp({ domain, peer });
        assert.deepEqual(result.recipients, ['bounced 4.4.7']);
        assert.match(result.replies[0] ?? '', /MTA-STS/);
        assert.equal(peer.received.length, 0);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });
  });
});
