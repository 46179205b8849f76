/** Hosts with several addresses, of which one answers late and the others not at all. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import ipaddr from 'ipaddr.js';
import type { DestinationPolicy } from '#core/webhooks/destination-guard.ts';
import { createWebhookSender } from '#core/webhooks/webhook-sender.ts';
import { newWebhookSecret, webhookSigner } from '#core/webhooks/webhook-signature.ts';
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

const RECEIVER = `
  const [certFile, keyFile] = process.argv.slice(1);
  const { readFileSync } = require('node:fs');
  const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  const server = require('node:https').createServer(tls, (request, response) => response.end('{}'));
  server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => console.log(server.address().port));
`;

/** Connections that listeners of this machine have refused by silence, because too many waited to be accepted. */
function overflows(): number {
  const [names = '', values = ''] = readFileSync('/proc/net/netstat', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'));
  return Number(values.split(' ')[names.split(' ').indexOf('ListenOverflows')]);
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
    const before = overflows();
    const socket = net.connect(port, '127.0.0.1').on('error', () => {});
    waiting.push(socket);
    await waitUntil('a connection, or its refusal by silence', () => !socket.connecting || overflows() > before);
    isFull = socket.connecting;
    if (isFull) socket.destroy();
  }
  return { port, goOn: () => child.kill('SIGCONT') };
}

const waits = { skip: process.platform === 'linux' ? false : 'counts what Linux counts' };

test(
  'an attempt waits for the first address of a host when a packet is lost, though the second refuses',
  waits,
  async () => {
    const sender = createWebhookSender({ policy, extraCa });
    after(() => sender.close());
    const { port, goOn } = await stoppedReceiver();
    const before = overflows();
    const sent = sender.send({
      deliveryId: 'dlv_test',
      url: `https://mail.test:${port}/`,
      eventType: 'email_received',
      payload: '{}',
      signer: webhookSigner([newWebhookSecret()]),
      authHeader: undefined,
    });
    await waitUntil('the packet to be lost', () => overflows() > before);
    goOn();
    const { error, responseCode } = await sent;
    assert.deepEqual({ error, responseCode }, { error: null, responseCode: 200 });
  },
);

const options = { policy, extraCa, timeoutMs: 20_000, maxBytes: 100, redirectsMax: 0, headers: {} };

test('a download waits for the first address of a host in the same way', waits, async () => {
  const { port, goOn } = await stoppedReceiver();
  const before = overflows();
  const downloaded = downloadPublic(`https://mail.test:${port}/`, options);
  await waitUntil('the packet to be lost', () => overflows() > before);
  goOn();
  const result = await downloaded;
  assert.equal(result.ok && String(result.bytes), '{}');
});

test('a download that no address accepts names the reason of each', async () => {
  const result = await downloadPublic(`https://mail.test:${await testPort()}/`, options);
  assert.match(result.ok ? '' : result.reason, /127\.0\.0\.1.*; .*::1/);
});
