import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import ipaddr from 'ipaddr.js';
import { createWebhookSender, type WebhookSender } from '../../core/webhook-sender.ts';
import { newWebhookSecret, webhookSigner } from '../../core/webhook-signature.ts';
import { type Answer, type Receiver, startReceiver, verified } from '../support/receiver.ts';
import { testTls } from '../support/services.ts';

const TIMEOUT_MS = 400;
let receiver: Receiver;
let sender: WebhookSender;
const resolve = async (host: string) => {
  if (host === 'hangs.test') return new Promise<never>(() => {});
  return [{ address: '127.0.0.1', family: 4 as const }];
};
before(async () => {
  receiver = await startReceiver();
  sender = createWebhookSender({
    policy: { allowed: [ipaddr.parseCIDR('127.0.0.0/8')], resolve },
    extraCa: [readFileSync(testTls().caFile, 'utf8')],
    timeoutMs: TIMEOUT_MS,
  });
});
after(async () => {
  await sender?.close();
  await receiver?.close();
});
afterEach(() => receiver.answer(200));

const secrets = [newWebhookSecret(), newWebhookSecret()];
const send = (url = receiver.url, payload = '{"a":1}') =>
  sender.send({
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
    const result = await send();
    assert.equal(result.error, error, result.message ?? '');
    assert.ok(result.durationMs <= TIMEOUT_MS + 300);
  });

test('one deadline holds over a look-up that never ends', async () => {
  assert.equal((await send('https://hangs.test/')).error, 'timeout');
});

test('a refused connection and a server without TLS are told apart', async () => {
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
  receiver.answer((res) => res.writeHead(503, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() }).end());
  const { retryAfterMs = 0 } = await send();
  assert.ok(retryAfterMs > 50_000 && retryAfterMs <= 60_000);
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
