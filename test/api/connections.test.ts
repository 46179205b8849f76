import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { answerBrokenRequests } from '#api/http/error-response.ts';
import { type ApiWorld, apiWorld, at, textAt } from '#test/support/api-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const MAX = 5;
let world: ApiWorld;
const sockets: Socket[] = [];
before(async () => {
  world = await apiWorld({ API_CONNECTIONS_MAX: String(MAX) });
});
after(async () => {
  for (const socket of sockets) socket.destroy();
  await world.close();
});

async function open(): Promise<Socket> {
  const socket = connect(Number(new URL(world.api.url).port), '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;

async function answerOf(socket: Socket, text: string): Promise<string> {
  let answer = '';
  socket.on('data', (data) => {
    answer += data.toString();
  });
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

/** Whether the body of a raw answer has the shape of the API's errors, and the length it says. */
function assertErrorShape(answer: string, code: string): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  assert.match(head, /\r\nContent-Type: application\/json/);
  const length = /\r\nContent-Length: (\d+)/.exec(head)?.[1];
  assert.equal(Number(length), Buffer.byteLength(body));
  const error: unknown = at(JSON.parse(body), 'error');
  assert.deepEqual(Object.keys(Object(error)), ['code', 'message', 'fix', 'docs', 'requestId', 'details']);
  assert.equal(textAt(error, 'code'), code);
  assert.equal(textAt(error, 'docs'), `${world.api.url}/docs/errors#${code}`);
  assert.match(textAt(error, 'requestId'), /^req_/);
}

test('connections over the limit are answered 503 and closed, and the next is served when one has ended', async () => {
  const served: Socket[] = [];
  for (let n = 0; n < MAX; n++) served.push(await open());
  const refused = await answerOf(await open(), request('/healthz'));
  assert.match(refused, /^HTTP\/1\.1 503 /);
  assert.match(refused, /\r\nRetry-After: \d+\r\n/);
  assertErrorShape(refused, 'unavailable');
  // The first ones are not disturbed.
  const [first, ...others] = served;
  assert.ok(first !== undefined);
  assert.match(await answerOf(first, request('/healthz')), /^HTTP\/1\.1 200 /);
  await waitUntil('a place', async () =>
    (await answerOf(await open(), request('/healthz'))).startsWith('HTTP/1.1 200 '),
  );
  for (const socket of others) socket.destroy();
});

test('header fields over 16 KiB are refused', async () => {
  const answer = await waitUntil('an answer', async () => {
    const text = `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`;
    const found = await answerOf(await open(), text);
    return found.startsWith('HTTP/1.1 503 ') ? undefined : found;
  });
  assert.match(answer, /^HTTP\/1\.1 431 /);
  assertErrorShape(answer, 'headers_too_large');
});

const NO_REQUESTS = {
  'no HTTP at all': 'EHLO client.test\r\n\r\n',
  'a request line without a version': 'GET /healthz\r\n\r\n',
  'a header field with a bare control character': 'GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\u0001\r\n\r\n',
  'two lengths': 'POST /api/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
  'a length and chunks':
    'POST /api/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
  'no host': 'GET /healthz HTTP/1.1\r\n\r\n',
};
for (const [what, text] of Object.entries(NO_REQUESTS))
  test(`${what} is answered 400 in the error format of the API`, async () => {
    const answer = await waitUntil('an answer', async () => {
      const found = await answerOf(await open(), text);
      return found.startsWith('HTTP/1.1 503 ') ? undefined : found;
    });
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assertErrorShape(answer, 'invalid_request');
  });

test('input after a valid request on the same connection does not get into its answer', async () => {
  const good = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
  const answer = await waitUntil('an answer', async () => {
    const found = await answerOf(await open(), `${good}NO REQUEST\r\n\r\n`);
    return found.startsWith('HTTP/1.1 503 ') ? undefined : found;
  });
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  if (head.startsWith('HTTP/1.1 200 ')) assert.doesNotMatch(rest[0] ?? '', /HTTP\/1\.1 400/);
  else assertErrorShape(answer, 'invalid_request');
});

test('a request that does not arrive in time is answered 408 in the one error shape', async () => {
  const server = createServer({ headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 20 });
  answerBrokenRequests(server, () => world.api.url);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const socket = connect(address.port, '127.0.0.1');
  const answer = await answerOf(socket, 'GET /healthz HTTP/1.1\r\nHost: x\r\n');
  server.close();
  assert.match(answer, /^HTTP\/1\.1 408 /);
  assertErrorShape(answer, 'request_timeout');
});
