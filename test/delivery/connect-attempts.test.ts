/** Hosts with several addresses, of which one answers late and the others not at all. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import ipaddr from 'ipaddr.js';
import { connectAttempts } from '#core/webhooks/requests/connection-pools.ts';
import {
  checkDestination,
  type DestinationAddress,
  type DestinationPolicy,
} from '#core/webhooks/requests/destination-guard.ts';
import { createWebhookSender, failureOf } from '#core/webhooks/requests/webhook-sender.ts';
import { newWebhookSecret, webhookSigner } from '#core/webhooks/signing/webhook-signature.ts';
import { CONNECT_TIMEOUT_MS, FAILURE_REASON_MAX_CHARACTERS } from '#domain/webhooks/delivery-limits.ts';
import { downloadPublic } from '#mailstore/messages/public-download.ts';
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

const addressesOf = (counts: { readonly v4: number; readonly v6: number }): DestinationAddress[] => [
  ...Array.from({ length: counts.v4 }, (_, index) => ({ address: `127.0.0.${index + 1}`, family: 4 as const })),
  ...Array.from({ length: counts.v6 }, () => ({ address: '::1', family: 6 as const })),
];

/** Of the time, half is for connecting. */
const options = { policy, extraCa, timeoutMs: 10_000, maxBytes: 100, redirectsMax: 0, headers: {} };

test('a download waits for the only IPv4 address in the same way, though four of IPv6 refuse', waits, async () => {
  const { port, continueLate } = await stoppedReceiver();
  const resolve = async () => addressesOf({ v4: 1, v6: 4 });
  const downloaded = downloadPublic(`https://mail.test:${port}/`, { ...options, policy: { ...policy, resolve } });
  await continueLate();
  const result = await downloaded;
  assert.equal(result.ok && String(result.bytes), '{}');
});

test('an attempt that no address accepts names the reason of each', async () => {
  const sender = createWebhookSender({ policy, extraCa });
  after(() => sender.close());
  const { error, message } = await sender.send({
    deliveryId: 'dlv_test',
    url: `https://mail.test:${await testPort()}/`,
    eventType: 'email_received',
    payload: '{}',
    signer: webhookSigner([newWebhookSecret()]),
    authHeader: undefined,
  });
  assert.equal(error, 'connect_refused');
  assert.match(message ?? '', /127\.0\.0\.1.*; .*::1/);
});

const failedAt = (address: string, code: string) => Object.assign(new Error(`connect ${code} ${address}`), { code });

test('of a silent address and one after it that refuses both are named, whatever the order of the errors', () => {
  const [silent, refusing] = [failedAt('192.0.2.0:443', 'ETIMEDOUT'), failedAt('192.0.2.1:443', 'ECONNREFUSED')];
  // As undici says it.
  const failing = (...errors: Error[]) =>
    failureOf(
      Object.assign(new Error('Connect Timeout Error (timeout: 10000ms)'), {
        code: 'UND_ERR_CONNECT_TIMEOUT',
        cause: new AggregateError(errors),
      }),
    );
  assert.deepEqual(failing(silent, refusing), {
    error: 'timeout',
    message: 'ETIMEDOUT: connect ETIMEDOUT 192.0.2.0:443; connect ECONNREFUSED 192.0.2.1:443',
  });
  assert.equal(failing(refusing, silent).error, 'timeout');
});

test('a reason is short, however many addresses it names', () => {
  const errors = Array.from({ length: 50 }, (_, index) => failedAt(`192.0.2.${index}:443`, 'ECONNREFUSED'));
  const { error, message } = failureOf(new AggregateError(errors));
  assert.equal(error, 'connect_refused');
  assert.equal(message.length, FAILURE_REASON_MAX_CHARACTERS);
});

test('four addresses of each family are tried, in their order', () => {
  const many = addressesOf({ v4: 200, v6: 200 });
  const tried = (checked: readonly DestinationAddress[]) => connectAttempts(checked, CONNECT_TIMEOUT_MS).addresses;
  assert.deepEqual(tried(many), [...many.slice(0, 4), ...many.slice(200, 204)]);
  assert.deepEqual(tried(many.slice(198, 203)), many.slice(198, 203));
});

test('all addresses are checked, also those that are not tried', async () => {
  const resolve = async () => [
    ...Array.from({ length: 9 }, () => ({ address: '127.0.0.1', family: 4 as const })),
    { address: '10.0.0.1', family: 4 as const },
  ];
  const checked = await checkDestination('https://mail.test/', { ...policy, resolve });
  assert.equal(checked.ok ? '' : checked.problem, 'unsafe_destination');
});

test('each address of a family has its part of the time, and more than a lost packet takes', () => {
  for (const withinMs of [100, 2_500, 5_000, CONNECT_TIMEOUT_MS])
    for (let v4 = 1; v4 <= 6; v4++)
      for (const v6 of [0, 1, 4, 6]) {
        const { addresses, attemptMs } = connectAttempts(addressesOf({ v4, v6 }), withinMs);
        const ofFamily = Math.max(
          ...[4, 6].map((wanted) => addresses.filter(({ family }) => family === wanted).length),
        );
        assert.ok(
          ofFamily >= 1 && (attemptMs * ofFamily <= withinMs || ofFamily === 1),
          `${v4} and ${v6}, ${withinMs}`,
        );
        assert.ok(attemptMs >= 1_500 && attemptMs <= 2_000, `${attemptMs} ms`);
      }
});

test('a download that no address accepts names the reason of each', async () => {
  const result = await downloadPublic(`https://mail.test:${await testPort()}/`, options);
  assert.match(result.ok ? '' : result.reason, /127\.0\.0\.1.*; .*::1/);
});

test('attempts that start during the look-up of their URL share it, and later ones make their own', async () => {
  const found = Promise.withResolvers<readonly DestinationAddress[]>();
  let lookUps = 0;
  const resolve = () => {
    lookUps++;
    return found.promise;
  };
  const sender = createWebhookSender({ policy: { ...policy, resolve }, extraCa });
  after(() => sender.close());
  const url = `https://mail.test:${await testPort()}/`;
  const send = () =>
    sender.send({
      deliveryId: 'dlv_test',
      url,
      eventType: 'email_received',
      payload: '{}',
      signer: webhookSigner([newWebhookSecret()]),
      authHeader: undefined,
    });
  const sent = [send(), send()];
  await waitUntil('a look-up', () => lookUps > 0);
  assert.equal(lookUps, 1);
  found.resolve([{ address: '127.0.0.1', family: 4 }]);
  assert.deepEqual(
    (await Promise.all(sent)).map(({ error }) => error),
    ['connect_refused', 'connect_refused'],
  );
  assert.equal(lookUps, 1);
  await send();
  assert.equal(lookUps, 2);
});
