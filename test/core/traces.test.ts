/** Traces: real processes that send them to a receiver of OTLP, and processes that load nothing that could. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ATTRIBUTES, SPANS } from '#core/platform/tracing/span-names.ts';
import { wantsTracing } from '#core/platform/tracing/start-tracing.ts';
import { currentTraceContext, inSpan } from '#core/platform/tracing/trace.ts';
import { type ApiWorld, apiWorld, textAt } from '#test/support/api-world.ts';
import { letter } from '#test/support/mail-world.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '#test/support/otlp-receiver.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';
import { type PartProcess, startPart } from '#test/support/part-process.ts';
import { type Receiver, startReceiver, verified } from '#test/support/receiver.ts';
import { testVariables } from '#test/support/services.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const PATIENCE_MS = 120_000;
const PARTS = ['api', 'worker', 'mail'] as const;
const [SUBJECT, BODY, SENDER] = ['plantedsubject', 'plantedbody', 'planted-sender@example.com'];

/** Writes the address of every module that a process loads to the file LOADED_MODULES. */
const NOTE_MODULES = `
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.LOADED_MODULES, url + '\\n');
    return next(url, context);
  },
});
`;

test('docs/operations/traces.md has all names of spans and attributes', () => {
  const document = readFileSync(new URL('../../docs/operations/traces.md', import.meta.url), 'utf8');
  for (const [name, meaning] of [...Object.entries(SPANS), ...Object.entries(ATTRIBUTES)])
    assert.ok(document.includes(`| \`${name}\` | ${meaning} |`), name);
});

test('an address of the standard variables switches traces on, and the standard ways to switch them off do so', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
  assert.ok(wantsTracing(endpoint));
  assert.ok(wantsTracing({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }));
  for (const off of [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' },
    { ...endpoint, OTEL_SDK_DISABLED: 'true' },
    { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
  ])
    assert.equal(wantsTracing(off), false, JSON.stringify(off));
});

test('without tracing, work in a span is the work alone', async () => {
  const seen = await inSpan('api.request', {}, async (span) => [span.context, currentTraceContext()]);
  assert.deepEqual(seen, [undefined, undefined]);
});

describe('the processes', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'traces-'));
  const parts: PartProcess[] = [];
  const ports = { api: 0, smtp: 0 };
  let world: ApiWorld;
  let peer: Peer;
  let receiver: Receiver;
  let traces: OtlpReceiver;
  const noteFile = path.join(folder, 'note-modules.mjs');
  writeFileSync(noteFile, NOTE_MODULES);
  const noting = (name: string) => ({
    NODE_OPTIONS: `--import=${pathToFileURL(noteFile).href}`,
    LOADED_MODULES: path.join(folder, `${name}.modules`),
  });
  const loadedBy = (name: string) => readFileSync(path.join(folder, `${name}.modules`), 'utf8').split('\n');
  /** The library of metrics loads the interfaces, which do nothing by themselves. */
  const ofOpenTelemetry = (name: string) =>
    loadedBy(name).filter((url) => /@opentelemetry\/(?!api\/)|tracing\/open-telemetry/.test(url));
  let common: Record<string, string>;

  async function start(part: (typeof PARTS)[number], more: Readonly<Record<string, string>>): Promise<PartProcess> {
    const metrics = await testPort();
    const environment = testVariables({
      ...common,
      DATABASE_URL: world.services.settings.DATABASE_URL ?? '',
      API_PORT: String(ports.api),
      SMTP_PORT: String(ports.smtp),
      METRICS_PORT: String(metrics),
      ...more,
    });
    const process = startPart(part, environment);
    parts.push(process);
    await waitUntil(`${part} to be ready`, async () => (await process.readiness())?.status === 'ready', PATIENCE_MS);
    return process;
  }

  before(async () => {
    [peer, receiver, traces] = [await startPeer(), await startReceiver(), await startOtlpReceiver()];
    for (const name of ['api', 'smtp'] as const) ports[name] = await testPort();
    common = {
      SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
      CREDENTIAL_PEPPER: randomBytes(32).toString('base64'),
      TEMPORAL_TASK_QUEUE: `traces-${randomBytes(6).toString('hex')}`,
      OUTBOUND_TRANSPORT: 'relay',
      OUTBOUND_RELAY_URL: peer.url,
      WEBHOOK_RETRY_DELAYS_MS: '50,50,600000,600000',
      DATA_DIR: folder,
    };
    world = await apiWorld(common);
  });
  after(async () => {
    await Promise.all(parts.map((part) => part.stop()));
    await world?.close();
    await Promise.all([peer?.close(), receiver?.close(), traces?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  const call = (method: string, route: string, options: Parameters<ApiWorld['call']>[2]) =>
    world.call(method, `http://127.0.0.1:${ports.api}${route}`, options);

  /** A span and those above it, up to the root of its trace. */
  function upwards(span: ReceivedSpan): ReceivedSpan[] {
    const above = traces.spans.find(({ spanId }) => spanId === span.parentSpanId);
    assert.ok(above === undefined || above.traceId === span.traceId);
    return above === undefined ? [span] : [span, ...upwards(above)];
  }
  /** Waits until all spans up to a root have come. */
  const pathOf = (what: string, wanted: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan[]> =>
    waitUntil(
      `the trace of ${what}`,
      () => {
        const span = traces.spans.find(wanted);
        const spans = span === undefined ? [] : upwards(span);
        return spans.length > 0 && spans.at(-1)?.parentSpanId === undefined && spans;
      },
      PATIENCE_MS,
    );
  const shown = (spans: readonly ReceivedSpan[]) => spans.map(({ service, name }) => `${service} ${name}`);

  async function receive(): Promise<void> {
    const client = await SmtpClient.open('127.0.0.1', ports.smtp);
    const message = letter(SUBJECT, '', `${BODY}\n`);
    assert.match(await client.send(SENDER, [world.organization.mailbox.address], message), /^250/);
    client.close();
  }

  test('without an address no process loads SDK or exporter of OpenTelemetry, sends a trace, or keeps one', async () => {
    const started = await Promise.all(PARTS.map((part) => start(part, noting(part))));
    receiver.answer(200);
    const made = await call('POST', '/api/webhooks', {
      as: world.organization.key,
      body: { url: receiver.url, eventTypes: ['email_received'] },
    });
    assert.equal(made.status, 201, made.text);
    await receive();
    const request = await waitUntil('the webhook', () => receiver.requests[0], PATIENCE_MS);
    assert.equal(request.headers['traceparent'], undefined);
    await Promise.all(started.map((part) => part.stop()));
    for (const part of PARTS) {
      assert.ok(
        loadedBy(part).some((url) => url.endsWith(`/${part}/main.ts`)),
        part,
      );
      assert.deepEqual(ofOpenTelemetry(part), [], part);
    }
    assert.deepEqual(await world.sql('select 1 from trace_context'), []);
    const deleted = await world.call('DELETE', `/api/webhooks/${textAt(made.body, 'id')}`, {
      as: world.organization.key,
    });
    assert.ok(deleted.status < 300, deleted.text);
  });

  test('with one: a trace from the SMTP session to each request at the receiver, which verifies the same signature', async () => {
    const standard = { OTEL_EXPORTER_OTLP_ENDPOINT: traces.url, OTEL_BSP_SCHEDULE_DELAY: '50' };
    await Promise.all(PARTS.map((part) => start(part, { ...standard, ...noting(`${part}-traced`) })));
    for (const part of PARTS) assert.ok(ofOpenTelemetry(`${part}-traced`).length > 0, part);
    const made = await call('POST', '/api/webhooks', {
      as: world.organization.key,
      body: { url: `${receiver.url}/traced`, eventTypes: ['email_received'] },
    });
    const secret = textAt(made.body, 'secret');
    receiver.answer(500, 200);
    await receive();
    const requests = await waitUntil(
      'both attempts',
      () => {
        const traced = receiver.requests.filter(({ path: to }) => to === '/hook/traced');
        return traced.length === 2 && traced;
      },
      PATIENCE_MS,
    );
    const attempts: ReceivedSpan[] = [];
    for (const request of requests) {
      verified(request, secret);
      const [, traceId, spanId] =
        /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/.exec(String(request.headers['traceparent'])) ?? [];
      const spans = await pathOf('the attempt', (span) => span.spanId === spanId);
      assert.deepEqual(shown(spans), [
        'agent-mailbox-worker webhook.attempt',
        'agent-mailbox-mail event.record',
        'agent-mailbox-mail message.store',
        'agent-mailbox-mail smtp.message',
        'agent-mailbox-mail smtp.session',
      ]);
      assert.ok(spans.every((span) => span.traceId === traceId));
      const [attempt, event, , message, session] = spans;
      assert.equal(attempt?.attributes['agent_mailbox.delivery.id'], request.headers['webhook-id']);
      assert.equal(attempt?.attributes['agent_mailbox.event.id'], event?.attributes['agent_mailbox.event.id']);
      assert.equal(message?.attributes['agent_mailbox.session.id'], session?.attributes['agent_mailbox.session.id']);
      assert.match(String(message?.attributes['agent_mailbox.message.id']), /^msg_/);
      if (attempt !== undefined) attempts.push(attempt);
    }
    assert.equal(new Set(attempts.map(({ traceId }) => traceId)).size, 1);
    assert.deepEqual(
      attempts.map(({ failed, attributes }) => [
        failed,
        attributes['http.response.status_code'],
        attributes['error.type'],
        attributes['agent_mailbox.attempt.number'],
      ]),
      [
        [true, 500, 'http_status', 1],
        [false, 200, undefined, 2],
      ],
    );
    // The second one is made by a workflow.
    assert.match(String(attempts[1]?.attributes['temporal.workflow.id']), /^delivery/);
  });

  test('a trace from the request of the API to the attempt to send the mail, past its workflow', async () => {
    const off = await call('PATCH', '/api/organization', {
      as: world.organization.admin.session,
      body: { settings: { outboundConsent: 'off' } },
    });
    assert.equal(off.status, 200, off.text);
    const sent = await call('POST', '/api/mailbox/messages', {
      as: world.organization.mailbox.token,
      body: { to: ['planted-recipient@d.example'], subject: SUBJECT, text: BODY },
    });
    assert.equal(sent.status, 201, sent.text);
    const id = textAt(sent.body, 'id');
    const isOf = ({ attributes }: ReceivedSpan) => String(attributes['agent_mailbox.message.id']) === id;
    const spans = await pathOf('the mail', (span) => span.name === 'mail.attempt' && isOf(span));
    assert.deepEqual(shown(spans), [
      'agent-mailbox-worker mail.attempt',
      'agent-mailbox-api message.submit',
      'agent-mailbox-api api.request',
    ]);
    const [attempt, , request] = spans;
    assert.equal(request?.attributes['agent_mailbox.request.id'], sent.headers.get('x-request-id'));
    const workflowId = attempt?.attributes['temporal.workflow.id'];
    const start = await pathOf(
      'the workflow',
      ({ name, attributes }) => name === 'workflow.start' && attributes['temporal.workflow.id'] === workflowId,
    );
    assert.equal(start.at(-1)?.spanId, request?.spanId);
  });

  test('no content, address or credential is in a trace, and each name is one of the list', async () => {
    const all = traces.bodies.join('\n');
    const { mailbox, owner } = world.organization;
    for (const word of [SUBJECT, BODY, 'planted-', mailbox.address, owner.email, mailbox.token['authorization'] ?? '?'])
      assert.ok(!all.includes(word), `${word} is in a trace`);
    for (const { name, attributes } of traces.spans) {
      assert.ok(name in SPANS, name);
      for (const attribute of Object.keys(attributes)) assert.ok(attribute in ATTRIBUTES, attribute);
    }
  });

  test('with TRACE_ADDRESSES the addresses of the envelope are in it', async () => {
    await parts.at(-1)?.stop();
    ports.smtp = await testPort();
    const mail = await start('mail', {
      OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
      OTEL_SERVICE_NAME: 'with-addresses',
      TRACE_ADDRESSES: 'true',
    });
    await receive();
    // What waits is sent at the end.
    await mail.stop();
    const message = traces.spans.find(({ service, name }) => service === 'with-addresses' && name === 'smtp.message');
    assert.equal(message?.attributes['agent_mailbox.mail.from'], SENDER);
    assert.deepEqual(message?.attributes['agent_mailbox.mail.to'], [world.organization.mailbox.address]);
  });
});
