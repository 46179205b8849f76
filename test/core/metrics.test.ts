/** The metrics: their declarations, and real processes scraped over HTTP after what they count was caused. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { METRICS, type MetricProcess, QUEUES } from '#core/platform/log/metrics.ts';
import { metricsDocument } from '#dev/generate/metrics-document.ts';
import { type ApiWorld, apiWorld, TEST_PASSWORD } from '#test/support/api-world.ts';
import { everyRow } from '#test/support/every-row.ts';
import { letter } from '#test/support/mail-world.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';
import { type PartProcess, startPart } from '#test/support/part-process.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { testVariables } from '#test/support/services.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { logIn } from '#test/support/submission-client.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const PATIENCE_MS = 120_000;
const PARTS = ['api', 'worker', 'mail'] as const satisfies readonly MetricProcess[];
/** Named by the library. */
const OF_THE_LIBRARY = /^(?:process|nodejs)_/;

everyRow(
  'each metric has a name by convention, one sentence, and a process',
  METRICS,
  ({ name }) => name,
  async ({ name, type, help, of, labels }) => {
    assert.match(name, /^agent_mailbox_[a-z]+(?:_[a-z]+)*$/);
    assert.equal(name.endsWith('_total'), type === 'counter');
    if (type === 'histogram') assert.match(name, /_seconds$/);
    assert.match(help, /^[A-Z][^\n]{15,}\.$/);
    assert.ok(of.length > 0);
    for (const label of Object.keys(labels)) assert.match(label, /^[a-z_]+$/);
  },
);

test('names are used once, and docs/operations/metrics.md has them all (npm run generate)', () => {
  assert.equal(new Set(METRICS.map(({ name }) => name)).size, METRICS.length);
  const written = readFileSync(new URL('../../docs/operations/metrics.md', import.meta.url), 'utf8');
  assert.equal(written, metricsDocument());
});

/** The samples of an answer, by name with labels. */
interface Scraped {
  readonly types: ReadonlyMap<string, string>;
  readonly samples: ReadonlyMap<string, number>;
}

function read(text: string): Scraped {
  const [types, samples] = [new Map<string, string>(), new Map<string, number>()];
  for (const line of text.split('\n')) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== undefined && type !== undefined) types.set(name, type);
    const [, series, value] = /^([^#\s][^\s{]*(?:\{[^}]*\})?) (\S+)$/.exec(line) ?? [];
    if (series !== undefined) samples.set(series, Number(value));
  }
  return { types, samples };
}

describe('the processes', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'metrics-'));
  const parts = new Map<MetricProcess, { readonly part: PartProcess; readonly url: string }>();
  const ports = { api: 0, smtp: 0, submission: 0, imap: 0, temporal: 0 };
  let world: ApiWorld;
  let peer: Peer;
  let receiver: Receiver;

  before(async () => {
    [peer, receiver] = [await startPeer(), await startReceiver()];
    for (const name of ['api', 'smtp', 'submission', 'imap', 'temporal'] as const) ports[name] = await testPort();
    const common = {
      SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
      CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
      TEMPORAL_TASK_QUEUE: `metrics-${randomBytes(6).toString('hex')}`,
      OUTBOUND_TRANSPORT: 'relay',
      OUTBOUND_RELAY_URL: peer.url,
      DATA_DIR: folder,
    };
    world = await apiWorld(common);
    for (const part of PARTS) {
      const metrics = await testPort();
      const environment = testVariables({
        ...common,
        DATABASE_URL: world.services.settings.DATABASE_URL ?? '',
        API_PORT: String(ports.api),
        SMTP_PORT: String(ports.smtp),
        SUBMISSION_PORT: String(ports.submission),
        IMAP_PORT: String(ports.imap),
        METRICS_PORT: String(metrics),
        TEMPORAL_METRICS_PORT: String(ports.temporal),
      });
      parts.set(part, { part: startPart(part, environment), url: `http://127.0.0.1:${metrics}/metrics` });
    }
    for (const [name, { part }] of parts)
      await waitUntil(`${name} to be ready`, async () => (await part.readiness())?.status === 'ready', PATIENCE_MS);
  });
  after(async () => {
    await Promise.all([...parts.values()].map(({ part }) => part.stop()));
    await world?.close();
    await peer?.close();
    await receiver?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function scrape(part: MetricProcess): Promise<Scraped> {
    const answer = await fetch(parts.get(part)?.url ?? '');
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/);
    return read(await answer.text());
  }

  const value = async (part: MetricProcess, series: string): Promise<number | undefined> =>
    (await scrape(part)).samples.get(`agent_mailbox_${series}`);

  /** Waits until a sample has at least this value. */
  const reaches = (part: MetricProcess, series: string, least = 1) =>
    waitUntil(
      `${series} of ${part} to reach ${least}`,
      async () => ((await value(part, series)) ?? Number.NaN) >= least,
      PATIENCE_MS,
    );

  const call = (method: string, route: string, options: Parameters<ApiWorld['call']>[2]) =>
    world.call(method, `http://127.0.0.1:${ports.api}${route}`, options);

  const send = async (to: string) => {
    const { mailbox } = world.organization;
    const sent = await call('POST', '/api/mailbox/messages', {
      as: mailbox.token,
      body: { to: [to], subject: 'Hello', text: 'Some words.' },
    });
    assert.ok(sent.status < 300, sent.text);
  };

  for (const part of PARTS)
    test(`${part} exposes its declared metrics and no others`, async () => {
      const { types, samples } = await scrape(part);
      const declared = new Map(METRICS.filter(({ of }) => of.includes(part)).map(({ name, type }) => [name, type]));
      const ours = [...types].filter(([name]) => !OF_THE_LIBRARY.test(name));
      assert.deepEqual(new Map(ours), declared);
      assert.ok(types.has('process_cpu_seconds_total') && types.has('nodejs_eventloop_lag_seconds'));
      // A rate needs the value before the first increment.
      for (const { name, type, labels } of METRICS.filter(({ of }) => of.includes(part)))
        if (type === 'counter')
          for (const [label, [first = '']] of Object.entries(labels))
            assert.ok(
              [...samples.keys()].some((series) => series.startsWith(name) && series.includes(`${label}="${first}"`)),
              name,
            );
    });

  test('connections, readiness, certificate, disk and storage have sane values', async () => {
    for (const part of PARTS) {
      assert.equal(await value(part, 'database_connections_max'), 10);
      assert.equal(await value(part, 'ready'), 1);
      assert.equal(await value(part, 'readiness_check{check="temporal"}'), 1);
      const { samples } = await scrape(part);
      const open = (state: string) => samples.get(`agent_mailbox_database_connections{state="${state}"}`) ?? Number.NaN;
      assert.ok(open('used') + open('idle') >= 1 && open('used') + open('idle') <= 10);
      assert.equal(samples.get('agent_mailbox_database_connection_requests_waiting'), 0);
    }
    const expiresAt = (await value('mail', 'tls_certificate_expiry_timestamp_seconds')) ?? 0;
    assert.ok(expiresAt > Date.now() / 1_000);
    const [free, size] = [await value('mail', 'data_folder_free_bytes'), await value('mail', 'data_folder_size_bytes')];
    assert.ok(free !== undefined && size !== undefined && free > 0 && free <= size);
    assert.ok(((await value('api', 'database_size_bytes')) ?? 0) > 1_000_000);
    assert.ok(((await value('api', 'blob_table_size_bytes')) ?? 0) > 0);
    for (const queue of QUEUES) assert.equal(await value('api', `queue_length{queue="${queue}"}`), 0);
  });

  test('the worker shows the metrics of the SDK of Temporal on a port of their own', async () => {
    const answer = await fetch(`http://127.0.0.1:${ports.temporal}/metrics`);
    const { types } = read(await answer.text());
    assert.ok(types.has('temporal_worker_task_slots_available'), [...types.keys()].join(' '));
    assert.equal(types.get('temporal_request_total'), 'counter');
  });

  test('mail from other hosts, its event, and the attempts of its delivery are counted', async () => {
    const { organization } = world;
    const made = await call('POST', '/api/webhooks', {
      as: organization.key,
      body: { url: `${receiver.url}/hook`, eventTypes: ['email_received'] },
    });
    assert.equal(made.status, 201, made.text);
    receiver.answer(500);
    const client = await SmtpClient.open('127.0.0.1', ports.smtp);
    assert.equal(await value('mail', 'mail_sessions{listener="smtp"}'), 1);
    assert.match(await client.send('bob@example.com', [organization.mailbox.address], letter('Hello')), /^250/);
    client.close();
    await waitUntil('the session to end', async () => (await value('mail', 'mail_sessions{listener="smtp"}')) === 0);
    assert.equal(await value('mail', 'smtp_answers_total{command="data",outcome="accepted"}'), 1);
    const stranger = await SmtpClient.open('127.0.0.1', ports.smtp);
    assert.match(await stranger.send('bob@example.com', ['nobody@agents.test'], letter('Hello')), /^550/);
    stranger.close();
    assert.equal(await value('mail', 'smtp_answers_total{command="rcpt",outcome="refused"}'), 1);
    await reaches('worker', 'webhook_attempts_total{outcome="http_status"}');
    await reaches('worker', 'webhook_first_attempt_delay_seconds_count');
    await reaches('worker', 'webhook_first_attempt_outcome_seconds_count');
    await reaches('worker', 'webhook_attempt_duration_seconds_count');
    await reaches('api', 'queue_length{queue="webhooks"}');
    assert.ok(((await value('api', 'queue_oldest_age_seconds{queue="webhooks"}')) ?? 0) > 0);
    assert.equal(await value('api', 'queue_overdue{queue="webhooks"}'), 0);
  });

  test('the caches of a process show hits, misses and their size', async () => {
    const lookups = (outcome: string) =>
      value('mail', `cache_lookups_total{cache="recipients",outcome="${outcome}"}`).then((count) => count ?? 0);
    const before = { hit: await lookups('hit'), miss: await lookups('miss') };
    const client = await SmtpClient.open('127.0.0.1', ports.smtp);
    const unknown = 'nobody-either@agents.test';
    for (const to of [unknown, world.organization.mailbox.address, world.organization.mailbox.address])
      await client.send('bob@example.com', [to], letter('Again'));
    client.close();
    assert.ok((await lookups('hit')) > before.hit, 'a mailbox that was read a moment ago');
    assert.ok((await lookups('miss')) > before.miss, 'an address that is not known is never kept');
    assert.equal(await value('mail', 'cache_entries{cache="recipients"}'), 1);
    assert.ok(((await value('mail', 'cache_lookups_total{cache="dns",outcome="miss"}')) ?? 0) > 0);
  });

  test('a held message, and the notice about it, are counted', async () => {
    await send('held@d.example');
    await reaches('worker', 'notices_total{outcome="sent"}');
    await reaches('worker', 'approval_notice_delay_seconds_count');
    await reaches('api', 'queue_length{queue="consents"}');
    assert.equal(await value('api', 'queue_overdue{queue="consents"}'), 0);
  });

  test('sent mail, bounces and complaints are counted', async () => {
    const { organization } = world;
    const off = await call('PATCH', '/api/organization', {
      as: organization.admin.session,
      body: { settings: { outboundConsent: 'off' } },
    });
    assert.equal(off.status, 200, off.text);
    peer.faults = [{ at: 'rcpt', reply: 550, for: 'gone@d.example', times: 1 }];
    await send('gone@d.example');
    await reaches('worker', 'mail_attempts_total{outcome="failed"}');
    assert.equal(await value('worker', 'mail_bounces_total{source="attempt"}'), 1);
    await send('there@d.example');
    await reaches('worker', 'mail_attempts_total{outcome="sent"}');
    const returnPath = peer.received.find(({ to }) => to.includes('there@d.example'))?.from ?? '';
    const report =
      'From: MAILER-DAEMON@d.example\nTo: <x@agents.test>\nSubject: Report\nMIME-Version: 1.0\n' +
      'Content-Type: multipart/report; report-type=feedback-report; boundary="r"\n\n--r\nContent-Type: text/plain\n\n' +
      'Sorry.\n--r\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\nUser-Agent: Test/1\nVersion: 1\n\n' +
      '--r\nContent-Type: text/rfc822-headers\n\nSubject: Hello\n\n--r--\n';
    for (let time = 0; time < 2; time++) {
      const client = await SmtpClient.open('127.0.0.1', ports.smtp);
      assert.match(await client.send('', [returnPath], report), /^250/);
      client.close();
    }
    assert.equal(await value('mail', 'mail_complaints_total'), 1, 'once, however often it is reported');
  });

  test('logins and API requests are counted by protocol and outcome', async () => {
    const { mailbox, owner } = world.organization;
    const token = (mailbox.token['authorization'] ?? '').replace('Bearer ', '');
    const listener = { host: '127.0.0.1', port: ports.submission };
    const client = await logIn(listener, { address: mailbox.address, token });
    assert.equal(await value('mail', 'mail_sessions{listener="submission"}'), 1);
    client.close();
    await assert.rejects(logIn(listener, { address: mailbox.address, token: 'wrong' }), /^Error: 535/);
    assert.equal(await value('mail', 'logins_total{protocol="smtp",outcome="passed"}'), 1);
    assert.equal(await value('mail', 'logins_total{protocol="smtp",outcome="failed"}'), 1);
    for (const password of ['wrong words for it', TEST_PASSWORD])
      await call('POST', '/api/sessions', { body: { email: owner.email, password } });
    assert.equal(await value('api', 'logins_total{protocol="web",outcome="failed"}'), 1);
    assert.equal(await value('api', 'logins_total{protocol="web",outcome="passed"}'), 1);
    await reaches('api', 'api_request_duration_seconds_count{method="POST",status="4xx"}');
    await reaches('api', 'stored_messages');
    await reaches('api', 'stored_mail_bytes', 100);
  });
});
