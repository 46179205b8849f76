/**
 * Alerts fire by real causes: processes of the service meet each cause, and promtool evaluates the rules on what their
 * `/metrics` say then. Counters are taken to go on as between the two scrapes, once a minute.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { makeCertificate } from '#core/certificates/x509-certificate.ts';
import { newId } from '#core/platform/new-id.ts';
import { type ApiWorld, apiWorld } from '#test/support/api-world.ts';
import { expectAlerts, readScrape, type Scrape } from '#test/support/firing-alerts.ts';
import { letter } from '#test/support/mail-world.ts';
import { insertDeliveries } from '#test/support/many-rows.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';
import { type PartProcess, startPart } from '#test/support/part-process.ts';
import { needs } from '#test/support/programs.ts';
import { testTemporalAddress, testTls, testVariables } from '#test/support/services.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { type TcpProxy, tcpProxy } from '#test/support/tcp-proxy.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const PATIENCE_MS = 120_000;
const PARTS = ['api', 'worker', 'mail'] as const;
type Part = (typeof PARTS)[number];

const folder = mkdtempSync(path.join(tmpdir(), 'alerts-'));
const [certFile, keyFile] = [path.join(folder, 'host.pem'), path.join(folder, 'host.key')];
const parts = new Map<Part, { readonly process: PartProcess; readonly url: string }>();
const ports = { api: 0, smtp: 0 };
let world: ApiWorld;
let peer: Peer;
let postgres: TcpProxy;
let temporal: TcpProxy;

before(async () => {
  peer = await startPeer();
  for (const name of ['api', 'smtp'] as const) ports[name] = await testPort();
  const common = {
    SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
    CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
    TEMPORAL_TASK_QUEUE: `alerts-${randomBytes(6).toString('hex')}`,
    OUTBOUND_TRANSPORT: 'relay',
    OUTBOUND_RELAY_URL: peer.url,
    OUTBOUND_RETRY_DELAYS_MS: '600000',
    WEBHOOK_RETRY_DELAYS_MS: '600000,600000,600000,600000',
    DATA_DIR: folder,
  };
  world = await apiWorld(common);
  const databaseUrl = new URL(world.services.settings.DATABASE_URL ?? '');
  postgres = await tcpProxy({ host: databaseUrl.hostname, port: Number(databaseUrl.port) });
  const [temporalHost = '', temporalPort = ''] = testTemporalAddress().split(':');
  temporal = await tcpProxy({ host: temporalHost, port: Number(temporalPort) });
  databaseUrl.host = `127.0.0.1:${postgres.port}`;
  copyFileSync(testTls().certFile, certFile);
  copyFileSync(testTls().keyFile, keyFile);
  for (const part of PARTS) {
    const metrics = await testPort();
    const environment = testVariables({
      ...common,
      DATABASE_URL: databaseUrl.href,
      TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
      API_PORT: String(ports.api),
      SMTP_PORT: String(ports.smtp),
      METRICS_PORT: String(metrics),
      TLS_CERT: certFile,
      TLS_KEY: keyFile,
    });
    parts.set(part, { process: startPart(part, environment), url: `http://127.0.0.1:${metrics}/metrics` });
  }
  await ready();
});
after(async () => {
  postgres?.restore();
  temporal?.restore();
  await Promise.all([...parts.values()].map(({ process }) => process.stop()));
  await world?.close();
  await Promise.all([peer?.close(), postgres?.close(), temporal?.close()]);
  rmSync(folder, { recursive: true, force: true });
});

async function ready(): Promise<void> {
  for (const [name, { process }] of parts)
    await waitUntil(`${name} to be ready`, async () => (await process.readiness())?.status === 'ready', PATIENCE_MS);
}

async function scrape(): Promise<Scrape> {
  const answers = new Map<string, string | undefined>();
  for (const [part, { url }] of parts) {
    const text = await fetch(url).then(
      (answer) => answer.text(),
      () => undefined,
    );
    answers.set(part, text);
  }
  return readScrape(answers);
}

const sampleOf = async (series: string): Promise<number | undefined> => (await scrape()).samples.get(series)?.value;
const reaches = (series: string, holds: (value: number) => boolean) =>
  waitUntil(
    series,
    async () => {
      const value = await sampleOf(series);
      return value !== undefined && holds(value);
    },
    PATIENCE_MS,
  );
/** Waits until counters have grown by so much since a scrape. */
const grows = (series: string, from: Scrape, by: number) =>
  reaches(series, (value) => value >= (from.samples.get(series)?.value ?? 0) + by);

const call = (method: string, route: string, options: Parameters<ApiWorld['call']>[2]) =>
  world.call(method, `http://127.0.0.1:${ports.api}${route}`, options);
async function send(to: readonly string[]): Promise<void> {
  const sent = await call('POST', '/api/mailbox/messages', {
    as: world.organization.mailbox.token,
    body: { to, subject: 'Hello', text: 'Some words.' },
  });
  assert.ok(sent.status < 300, sent.text);
}
async function receive(count: number): Promise<string[]> {
  const replies: string[] = [];
  const client = await SmtpClient.open('127.0.0.1', ports.smtp);
  for (let i = 0; i < count; i++)
    replies.push(await client.send('bob@example.com', [world.organization.mailbox.address], letter(`Number ${i}`)));
  client.close();
  return replies;
}
const people = (count: number, domain: string) => Array.from({ length: count }, (_, i) => `p${i}@${domain}`);
const ALERT_TEST = { ...needs('promtool') };

test('a service that works has no alert', ALERT_TEST, async () => {
  const from = await scrape();
  assert.match((await receive(1))[0] ?? '', /^250/);
  await expectAlerts('well', from, await scrape(), []);
});

test('another host that puts mail off, one that refuses it, and recipients that complain', ALERT_TEST, async () => {
  const { organization } = world;
  const off = await call('PATCH', '/api/organization', {
    as: organization.admin.session,
    body: { settings: { outboundConsent: 'off' } },
  });
  assert.equal(off.status, 200, off.text);
  const beforeDeferred = await scrape();
  peer.faults = [{ at: 'rcpt', reply: 451, times: 1_000 }];
  await send(people(25, 'later.example'));
  await grows('agent_mailbox_mail_attempts_total{outcome="deferred",instance="worker"}', beforeDeferred, 25);
  await expectAlerts('deferred', beforeDeferred, await scrape(), ['MailDeferred']);

  peer.faults = [];
  const beforeComplaints = await scrape();
  for (const to of people(4, 'cross.example')) await send([to]);
  await grows('agent_mailbox_mail_attempts_total{outcome="sent",instance="worker"}', beforeComplaints, 4);
  const reported = peer.received.filter(({ to }) => to.some((address) => address.endsWith('@cross.example')));
  const client = await SmtpClient.open('127.0.0.1', ports.smtp);
  for (const { from } of reported) assert.match(await client.send('', [from], COMPLAINT), /^250/);
  client.close();
  await expectAlerts('complaints', beforeComplaints, await scrape(), ['Complaints']);

  const beforeBounces = await scrape();
  peer.faults = [{ at: 'rcpt', reply: 550, times: 1_000 }];
  await send(people(25, 'gone.example'));
  await grows('agent_mailbox_mail_bounces_total{source="attempt",instance="worker"}', beforeBounces, 25);
  await expectAlerts('bounces', beforeBounces, await scrape(), ['MailBounces']);
  peer.faults = [];
});

const COMPLAINT =
  'From: MAILER-DAEMON@cross.example\nTo: <x@agents.test>\nSubject: Report\nMIME-Version: 1.0\n' +
  'Content-Type: multipart/report; report-type=feedback-report; boundary="r"\n\n--r\nContent-Type: text/plain\n\n' +
  'Sorry.\n--r\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\nUser-Agent: Test/1\nVersion: 1\n\n' +
  '--r\nContent-Type: text/rfc822-headers\n\nSubject: Hello\n\n--r--\n';

test('a receiver of webhooks that is gone', ALERT_TEST, async () => {
  const made = await call('POST', '/api/webhooks', {
    as: world.organization.key,
    body: { url: `https://127.0.0.1:${await testPort()}/`, eventTypes: ['email_received'] },
  });
  assert.equal(made.status, 201, made.text);
  const from = await scrape();
  assert.ok((await receive(110)).every((reply) => reply.startsWith('250')));
  await grows('agent_mailbox_webhook_attempts_total{outcome="connect_refused",instance="worker"}', from, 105);
  await expectAlerts('receiver gone', from, await scrape(), ['WebhooksFail']);
});

test('a certificate that ends in two days, and is renewed', ALERT_TEST, async () => {
  const expiry = 'agent_mailbox_tls_certificate_expiry_timestamp_seconds{instance="mail"}';
  const { certPem, keyPem } = makeCertificate({ commonName: 'mail.test', validDays: 2, dnsNames: ['mail.test'] });
  const from = await scrape();
  writeFileSync(keyFile, keyPem);
  writeFileSync(certFile, certPem);
  await reaches(expiry, (seconds) => seconds < 3 * 86_400);
  await expectAlerts('certificate', from, await scrape(), ['CertificateExpires', 'CertificateExpiresSoon']);
  copyFileSync(testTls().keyFile, keyFile);
  copyFileSync(testTls().certFile, certFile);
  await reaches(expiry, (seconds) => seconds > 14 * 86_400);
});

test('a DKIM key that nobody has replaced, and one that waits for its record', ALERT_TEST, async () => {
  const from = await scrape();
  const domainId = newId('domain');
  await world.sql(
    `insert into domains (id, organization_id, name, status, verification_token, dkim_selector, dkim_public_key,
       dkim_private_key_sealed, created_at)
     values ($1, $2, 'old-key.example', 'verified', 'x', 'x', 'x', 'x', now() - interval '500 days')`,
    [domainId, world.organization.id],
  );
  await world.sql(
    `insert into dkim_rotation (id, domain, domain_id, selector, public_key, private_key_sealed, state, created_at)
     values ('rotation', 'old-key.example', $1, 'y', 'y', 'y', 'next', now() - interval '4 days')`,
    [domainId],
  );
  await reaches('agent_mailbox_dkim_rotation_waiting_seconds{instance="api"}', (seconds) => seconds > 3 * 86_400);
  await expectAlerts('DKIM', from, await scrape(), ['DkimKeyOld', 'DkimRotationWaits']);
  await world.sql('delete from dkim_rotation');
  await world.sql('delete from domains where id = $1', [domainId]);
  await reaches('agent_mailbox_dkim_signing_key_age_seconds{instance="api"}', (seconds) => seconds < 86_400);
});

test('logins that are guessed', ALERT_TEST, async () => {
  const from = await scrape();
  for (let portion = 0; portion < 20; portion++)
    await Promise.all(
      Array.from({ length: 20 }, () =>
        call('POST', '/api/sessions', { body: { email: 'guessed@example.org', password: 'wrong words for it' } }),
      ),
    );
  await expectAlerts('guesses', from, await scrape(), ['LoginsFail']);
});

test('statements that wait for connections of the pool', ALERT_TEST, async () => {
  const from = await scrape();
  const lock = new pg.Client({ connectionString: world.services.settings.DATABASE_URL });
  await lock.connect();
  let asked: Promise<unknown>[] = [];
  try {
    await lock.query('begin');
    await lock.query('lock table api_keys in access exclusive mode');
    asked = Array.from({ length: 40 }, () => call('GET', '/api/mailboxes', { as: world.organization.key }));
    await reaches('agent_mailbox_database_connection_requests_waiting{instance="api"}', (waiting) => waiting > 0);
    const to = await scrape();
    // Queues are not read then: they are those of the scrape before.
    await expectAlerts('pool', from, { ...to, samples: new Map([...from.samples, ...to.samples]) }, ['PoolExhausted']);
  } finally {
    await lock.query('rollback');
    await lock.end();
    await Promise.allSettled(asked);
  }
  await ready();
});

test('an engine that is away', ALERT_TEST, async () => {
  const from = await scrape();
  temporal.cut();
  try {
    for (const part of PARTS)
      await reaches(`agent_mailbox_readiness_check{check="temporal",instance="${part}"}`, (value) => value === 0);
    await expectAlerts('Temporal', from, await scrape(), ['ProcessNotReady', 'TemporalUnreachable']);
  } finally {
    temporal.restore();
    await ready();
  }
});

test('a database that is away', ALERT_TEST, async () => {
  const from = await scrape();
  postgres.cut();
  try {
    for (const part of PARTS)
      await reaches(`agent_mailbox_readiness_check{check="postgresql",instance="${part}"}`, (value) => value === 0);
    for (let i = 0; i < 20; i++) await call('GET', '/api/mailboxes', { as: world.organization.key });
    for (const reply of await receive(3)) assert.match(reply, /^4/);
    await waitUntil(
      'the queues to be left out',
      async () => (await sampleOf('agent_mailbox_queue_length{queue="webhooks",instance="api"}')) === undefined,
      PATIENCE_MS,
    );
    await expectAlerts('PostgreSQL', from, await scrape(), [
      'ApiErrors',
      'BudgetBurns',
      'BudgetBurnsFast',
      'BudgetBurnsSlowly',
      'PostgresUnreachable',
      'ProcessNotReady',
      'QueuesUnknown',
    ]);
  } finally {
    postgres.restore();
    await ready();
  }
});

test('a worker that has died, and what waits for it', ALERT_TEST, async () => {
  const from = await scrape();
  await parts.get('worker')?.process.stop();
  assert.match((await receive(1))[0] ?? '', /^250/);
  // Ten minutes later.
  await world.sql(`update deliveries set next_attempt_at = now() - interval '10 minutes' where status = 'pending'`);
  await reaches('agent_mailbox_queue_overdue_age_seconds{queue="webhooks",instance="api"}', (age) => age > 300);
  await expectAlerts('worker gone', from, await scrape(), ['ProcessDown', 'QueueOverdue']);
  await insertDeliveries((text, values) => world.sql(text, values), world.organization.id, 51_000);
  await world.sql(
    `update deliveries set status = 'failed', reason = null, completed_at = null, next_attempt_at = now() + interval '1 hour'
      where fan_out_id = 'many'`,
  );
  await reaches('agent_mailbox_queue_length{queue="webhooks",instance="api"}', (length) => length > 50_000);
  await expectAlerts('much waits', from, await scrape(), ['ProcessDown', 'QueueLong', 'QueueOverdue']);
});
