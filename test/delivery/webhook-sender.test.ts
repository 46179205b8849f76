import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import ipaddr from 'ipaddr.js';
import { createWebhookSender, type WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import { newWebhookSecret, webhookSigner } from '#core/webhooks/signing/webhook-signature.ts';
import { ATTEMPT_TIMEOUT_MS } from '#domain/webhooks/delivery-limits.ts';
import { type Answer, type Receiver, startReceiver, verified } from '#test/support/receiver.ts';
import { testTls } from '#test/support/services.ts';

/** For answers that never come. */
const SHORT_TIMEOUT_MS = 400;
/** For answers that come, and bodies that never end. */
const TIMEOUT_MS = 5_000;
let receiver: Receiver;
let sender: WebhookSender;
let impatient: WebhookSender;
const resolve = async (host: string) => {
  if (host === 'hangs.test') return new Promise<never>(() => {});
  return [{ address: '127.0.0.1', family: 4 as const }];
};
before(async () => {
  receiver = await startReceiver();
  const options = {
    policy: { allowed: [ipaddr.parseCIDR('127.0.0.0/8')], resolve },
    extraCa: [readFileSync(testTls().caFile, 'utf8')],
  };
  sender = createWebhookSender({ ...options, timeoutMs: TIMEOUT_MS });
  impatient = createWebhookSender({ ...options, timeoutMs: SHORT_TIMEOUT_MS });
});
after(async () => {
  await sender?.close();
  await impatient?.close();
  await receiver?.close();
});
afterEach(() => receiver.answer(200));

const secrets = [newWebhookSecret(), newWebhookSecret()];
const send = (url = receiver.url, payload = '{"a":1}', by = sender) =>
  by.send({
    deliveryId: 'dlv_test',
    url,
    eventType: 'email_received',
    payload,
    signer: webhookSigner(secrets),
    authHeader: undefined,
  });

test('during a rotation both signatures are sent, and either secret verifies', async () => {
  const payload = JSON.stringify({ text: 'ä€🙂', nested: [1, 2] });
  assert.equal((await send(receiver.url, payload)).error, null);
  const request = receiver.requests.at(-1);
  assert.ok(request);
  assert.equal(request.body, payload);
  for (const secret of secrets) verified(request, secret);
  assert.throws(() => verified(request, newWebhookSecret()));
});

const hang: Answer = () => {};
const failures: { hazard: string; answer: Answer; error: string }[] = [
  { hazard: 'no answer at all', answer: hang, error: 'timeout' },
  { hazard: 'a status line that never ends', answer: (res) => res.socket?.write('HTTP/1.1 200 O'), error: 'timeout' },
  { hazard: 'a connection closed without an answer', answer: (res) => res.destroy(), error: 'reset' },
  { hazard: 'an answer that is no HTTP', answer: (res) => res.socket?.end('hello\r\n\r\n'), error: 'reset' },
  {
    hazard: 'headers beyond all bounds',
    answer: (res) => res.socket?.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`),
    error: 'response_too_large',
  },
];
for (const { hazard, answer, error } of failures)
  test(`${hazard} is ${error}`, async () => {
    receiver.answer(answer);
    const result = await send(undefined, undefined, error === 'timeout' ? impatient : sender);
    assert.equal(result.error, error, result.message ?? '');
    // Its own deadline ended it, not the default one.
    assert.ok(result.durationMs < ATTEMPT_TIMEOUT_MS, `${result.durationMs} ms`);
  });

test('the deadline includes a look-up that never ends', async () => {
  assert.equal((await send('https://hangs.test/', undefined, impatient)).error, 'timeout');
});

test('a refused connection and a server without TLS are distinguished', async () => {
  const plain = net.createServer((socket) => socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  plain.listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const { port } = plain.address() as AddressInfo;
  assert.equal((await send(`https://localhost:${port}/`)).error, 'tls_failed');
  plain.close();
  await once(plain, 'close');
  assert.equal((await send(`https://localhost:${port}/`)).error, 'connect_refused');
});

test('a certificate for another name is tls_failed', async () => {
  assert.equal((await send(`https://other.example:${receiver.port}/`)).error, 'tls_failed');
});

test('a certificate of an unknown root is refused, whatever the environment says', async () => {
  const strict = createWebhookSender({ policy: { allowed: [ipaddr.parseCIDR('127.0.0.0/8')], resolve } });
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  try {
    const result = await strict.send({
      deliveryId: 'dlv_test',
      url: receiver.url,
      eventType: 'email_received',
      payload: '{}',
      signer: webhookSigner(secrets),
      authHeader: undefined,
    });
    assert.equal(result.error, 'tls_failed');
  } finally {
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    await strict.close();
  }
});

test('the status line decides: a body that never ends, or is endless, changes nothing', async () => {
  receiver.answer((res) => void res.writeHead(200).write('beginning'));
  const slow = await send();
  assert.equal(slow.error, null);
  assert.equal(slow.responseBody?.toString(), 'beginning');
  receiver.answer((res) => {
    res.writeHead(200);
    const more = () => {
      while (!res.destroyed && res.write(Buffer.alloc(65_536, 'x')));
    };
    res.on('drain', more);
    more();
  });
  const endless = await send();
  assert.equal(endless.error, null);
  assert.equal(endless.responseBody?.length, 16_384);
});

test('a compressed bomb is decoded up to the limit only', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000, 'a'));
  receiver.answer((res) => res.writeHead(500, { 'content-encoding': 'gzip' }).end(bomb));
  const result = await send();
  assert.equal(result.error, 'http_status');
  assert.equal(result.responseBody?.length, 16_384);
  assert.equal(result.responseBody?.[0], 'a'.charCodeAt(0));
});

test('Retry-After of a 429 or 503 is read as seconds or date', async () => {
  receiver.answer((res) => res.writeHead(429, { 'retry-after': '120' }).end());
  assert.equal((await send()).retryAfterMs, 120_000);
  const askedAtMs = Date.now();
  receiver.answer((res) => res.writeHead(503, { 'retry-after': new Date(askedAtMs + 60_000).toUTCString() }).end());
  const { retryAfterMs = 0 } = await send();
  // The date has whole seconds.
  assert.ok(retryAfterMs > 59_000 - (Date.now() - askedAtMs) && retryAfterMs <= 60_000, `${retryAfterMs} ms`);
  receiver.answer((res) => res.writeHead(500, { 'retry-after': '120' }).end());
  assert.equal((await send()).retryAfterMs, undefined);
});

test('a server that echoes the request does not make the authentication header readable', async () => {
  receiver.answer((res, { headers }) =>
    res.writeHead(500, { 'x-echo': `got ${headers['x-my-auth']}` }).end(`binary \xff ${headers['x-my-auth']} end`),
  );
  const result = await sender.send({
    deliveryId: 'dlv_test',
    url: receiver.url,
    eventType: 'email_received',
    payload: '{}',
    signer: webhookSigner(secrets),
    authHeader: { name: 'X-My-Auth', value: 'super-secret-value' },
  });
  assert.equal(result.responseHeaders?.['x-echo'], 'got [hidden]');
  assert.match(result.responseBody?.toString() ?? '', /^binary .* \[hidden\] end$/);
});
