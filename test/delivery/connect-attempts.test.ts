/** Hosts with several addresses, of which one answers late and the others not at all. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import ipaddr from 'ipaddr.js';
import { failureOf } from '#core/webhooks/attempt-failure.ts';
import { addressesToTry, connectAttemptMs } from '#core/webhooks/connect-attempts.ts';
import { checkDestination, type DestinationAddress, type DestinationPolicy } from '#core/webhooks/destination-guard.ts';
import { createWebhookSender } from '#core/webhooks/webhook-sender.ts';
import { newWebhookSecret, webhookSigner } from '#core/webhooks/webhook-signature.ts';
import { CONNECT_ADDRESSES_MAX, CONNECT_TIMEOUT_MS, FAILURE_REASON_MAX_CHARACTERS } from '#domain/delivery-limits.ts';
import { downloadPublic } from '#mailstore/public-download.ts';
import { testTls } from '#test/support/services.ts';
import { testPort } from '#test/support/test-port.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** Nobody listens on the second address. */
const policy: DestinationPolicy = {
  allowed: ['127.0.0.0/8', '::1/128'].map((range) => ipaddr.parseCIDR(range)),
  resolve: async () => [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ],
};
const { caFile, certFile, keyFile } = testTls();
const extraCa = [readFileSync(caFile, 'utf8')];

/** IPv4 sockets of this machine. */
const SOCKETS = '/proc/net/tcp';
const SYN_SENT = '02';

const RECEIVER = `
  const [certFile, keyFile] = process.argv.slice(1);
  const { readFileSync } = require('node:fs');
  const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  const server = require('node:https').createServer(tls, (request, response) => response.end('{}'));
  server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => console.log(server.address().port));
`;

/** How often the first packet of each connection to a local port was repeated, of those that nobody has answered. */
function unanswered(port: number): number[] {
  const remotePort = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync(SOCKETS, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , remote = '', state]) => remote.endsWith(remotePort) && state === SYN_SENT)
    .map((fields) => Number.parseInt(fields[6] ?? '', 16));
}

/** A receiver that is stopped, with as many connections as wait for it: the next is established after a repetition. */
async function stoppedReceiver() {
  const child = spawn(process.execPath, ['-e', RECEIVER, certFile, keyFile], { stdio: ['ignore', 'pipe', 'inherit'] });
  const waiting: net.Socket[] = [];
  after(async () => {
    for (const socket of waiting) socket.destroy();
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const port = Number(line);
  child.kill('SIGSTOP');
  for (let isFull = false; !isFull; ) {
    const socket = net.connect(port, '127.0.0.1').on('error', () => {});
    waiting.push(socket);
    await waitUntil('a connection, or its second packet', () => !socket.connecting || (unanswered(port)[0] ?? 0) > 0);
    isFull = socket.connecting;
    if (isFull) socket.destroy();
  }
  await waitUntil('the end of that connection', () => unanswered(port).length === 0);
  return {
    port,
    /** Lets the receiver continue as soon as a connection got no answer. */
    async continueLate() {
      await waitUntil('a packet without an answer', () => unanswered(port).length > 0);
      child.kill('SIGCONT');
    },
  };
}

const waits = { skip: existsSync(SOCKETS) ? false : 'reads the sockets of Linux' };

test(
  'an attempt waits for the first address of a host when a packet is lost, though the second refuses',
  waits,
  async () => {
    const sender = createWebhookSender({ policy, extraCa });
    after(() => sender.close());
    const { port, continueLate } = await stoppedReceiver();
    const sent = sender.send({
      deliveryId: 'dlv_test',
      url: `https://mail.test:${port}/`,
      eventType: 'email_received',
      payload: '{}',
      signer: webhookSigner([newWebhookSecret()]),
      authHeader: undefined,
    });
    await continueLate();
    const { error, responseCode } = await sent;
    assert.deepEqual({ error, responseCode }, { error: null, responseCode: 200 });
  },
);

const options = { policy, extraCa, timeoutMs: 20_000, maxBytes: 100, redirectsMax: 0, headers: {} };

test('a download waits for the first address of a host in the same way', waits, async () => {
  const { port, continueLate } = await stoppedReceiver();
  const downloaded = downloadPublic(`https://mail.test:${port}/`, options);
  await continueLate();
  const result = await downloaded;
  assert.equal(result.ok && String(result.bytes), '{}');
});

const nobodyListens = async (addresses = policy.resolve) => {
  const sender = createWebhookSender({ policy: { ...policy, resolve: addresses }, extraCa });
  after(() => sender.close());
  return sender.send({
    deliveryId: 'dlv_test',
    url: `https://mail.test:${await testPort()}/`,
    eventType: 'email_received',
    payload: '{}',
    signer: webhookSigner([newWebhookSecret()]),
    authHeader: undefined,
  });
};

test('an attempt that no address accepts names the reason of each', async () => {
  const { error, message } = await nobodyListens();
  assert.equal(error, 'connect_refused');
  assert.match(message ?? '', /127\.0\.0\.1.*; .*::1/);
});

test('of a silent and a refusing address both are named', () => {
  const [silent, refusing] = ['ETIMEDOUT', 'ECONNREFUSED'].map((code, index) =>
    Object.assign(new Error(`connect ${code} 192.0.2.${index}:443`), { code }),
  );
  // As undici says it.
  const error = Object.assign(new Error('Connect Timeout Error (timeout: 10000ms)'), {
    code: 'UND_ERR_CONNECT_TIMEOUT',
    cause: new AggregateError([silent, refusing]),
  });
  assert.deepEqual(failureOf(error), {
    error: 'timeout',
    message: 'ETIMEDOUT: connect ETIMEDOUT 192.0.2.0:443; connect ECONNREFUSED 192.0.2.1:443',
  });
});

test('four addresses of each family are tried, in their order, and a reason is short', async () => {
  const many: DestinationAddress[] = Array.from({ length: 300 }, (_, index) => [
    { address: `127.1.${index % 200}.${index % 7}`, family: 4 as const },
    { address: '::1', family: 6 as const },
  ]).flat();
  assert.deepEqual(addressesToTry(many), many.slice(0, 8));
  assert.deepEqual(addressesToTry(many.slice(0, 3)), many.slice(0, 3));
  const { message } = await nobodyListens(async () => many);
  assert.equal(message?.match(/ECONNREFUSED 127/g)?.length, 4);
  assert.ok((message?.length ?? 0) <= FAILURE_REASON_MAX_CHARACTERS);
  const everyCheck = { ...options, policy: { ...policy, resolve: async () => many } };
  const result = await downloadPublic(`https://mail.test:${await testPort()}/`, everyCheck);
  assert.equal(result.ok ? 0 : result.reason.match(/ECONNREFUSED 127/g)?.length, 4);
});

test('all addresses are checked, also those that are not tried', async () => {
  const resolve = async () => [
    ...Array.from({ length: 9 }, () => ({ address: '127.0.0.1', family: 4 as const })),
    { address: '10.0.0.1', family: 4 as const },
  ];
  const checked = await checkDestination('https://mail.test/', { ...policy, resolve });
  assert.equal(checked.ok ? '' : checked.problem, 'unsafe_destination');
});

test('the last address has its part of the time', () => {
  for (const withinMs of [2_500, 5_000, CONNECT_TIMEOUT_MS])
    for (let count = 1; count <= 2 * CONNECT_ADDRESSES_MAX; count++) {
      const attemptMs = connectAttemptMs(count, withinMs);
      assert.ok(attemptMs * count <= withinMs && attemptMs >= 250 && attemptMs <= 2_000, `${count} in ${withinMs}`);
    }
  assert.equal(connectAttemptMs(2, CONNECT_TIMEOUT_MS), 2_000);
});

test('a download that no address accepts names the reason of each', async () => {
  const result = await downloadPublic(`https://mail.test:${await testPort()}/`, options);
  assert.match(result.ok ? '' : result.reason, /127\.0\.0\.1.*; .*::1/);
});
