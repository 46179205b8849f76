import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { route } from '#api/http/route.ts';
import { createApp } from '#api/server.ts';
import { startApi } from '#api/start.ts';
import { openReadiness } from '#core/process/readiness.ts';
import { openDatabase } from '#db/database.ts';
import { openMailNotifier } from '#mailstore/changes/notifier.ts';
import { type ApiWorld, apiWorld, at, errorCode } from '#test/support/api-world.ts';
import { tcpProxy } from '#test/support/tcp-proxy.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world.close());

test('a request id is taken over when harmless, else made', async () => {
  const get = (id: string) => world.call('GET', '/healthz', { headers: { 'x-request-id': id } });
  assert.equal((await get('trace-1')).headers.get('x-request-id'), 'trace-1');
  assert.match((await get('<script>')).headers.get('x-request-id') ?? '', /^req_/);
  assert.match((await get('x'.repeat(200))).headers.get('x-request-id') ?? '', /^req_/);
});

test('unknown paths and methods answer in the one error shape', async () => {
  const unknown = await world.call('GET', '/api/nothing');
  assert.deepEqual([unknown.status, errorCode(unknown)], [404, 'not_found']);
  const method = await world.call('PUT', '/api/mailboxes', { as: world.organization.key });
  assert.deepEqual([method.status, errorCode(method)], [405, 'method_not_allowed']);
  for (const allowed of ['GET', 'POST']) assert.ok(method.headers.get('allow')?.includes(allowed));
  const options = await world.call('OPTIONS', '/api/mailboxes');
  assert.equal(options.status, 204);
});

test('every error links to its code in the documents', async () => {
  const answer = await world.call('GET', '/api/mailboxes');
  assert.equal(at(answer.body, 'error', 'docs'), `${world.api.url}/docs/errors#unauthenticated`);
});

test('answers with rows are not kept by caches, and carry the security headers', async () => {
  const answer = await world.call('GET', '/api/mailboxes', { as: world.organization.key });
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/);
});

test('an unchanged resource answers 304 without a body', async () => {
  const path = `/api/mailboxes/${world.organization.mailbox.id}`;
  const first = await world.call('GET', path, { as: world.organization.key });
  const etag = first.headers.get('etag') ?? '';
  const get = (value: string) =>
    world.call('GET', path, { as: world.organization.key, headers: { 'if-none-match': value } });
  assert.deepEqual([(await get(etag)).status, (await get(etag)).text], [304, '']);
  assert.equal((await get('"other"')).status, 200);
  await world.call('PATCH', path, { as: world.organization.key, body: { name: 'Changed' } });
  assert.equal((await get(etag)).status, 200);
});

test('HEAD answers as GET, without the body', async () => {
  const answer = await world.call('HEAD', '/healthz');
  assert.deepEqual([answer.status, answer.text], [200, '']);
});

test('long answers are compressed, short ones are not', async () => {
  const encoding = async (path: string) =>
    (await fetch(new URL(path, world.api.url), { headers: { 'accept-encoding': 'gzip' } })).headers.get(
      'content-encoding',
    );
  assert.equal(await encoding('/openapi.json'), 'gzip');
  assert.equal(await encoding('/healthz'), null);
});

test('a parameter given twice is refused where one is wanted', async () => {
  const answer = await world.call('GET', '/api/mailboxes?limit=1&limit=2', { as: world.organization.key });
  assert.equal(errorCode(answer), 'invalid_request');
});

test('text that cannot be stored is refused before the database sees it', async () => {
  const { key } = world.organization;
  for (const name of ['x\\u0000y', '\\ud800', 'x\\udc00y']) {
    for (const rawBody of [`{"name": "${name}"}`, `{"metadata": {"a": "${name}"}}`, `{"metadata": {"${name}": "a"}}`]) {
      const answer = await world.call('POST', '/api/mailboxes', { as: key, rawBody });
      assert.equal(errorCode(answer), 'invalid_request', rawBody);
    }
  }
  for (const path of ['/api/mailboxes?q=%00', '/api/audit?actorId=a%00'])
    assert.equal(errorCode(await world.call('GET', path, { as: key })), 'invalid_request', path);
});

test('a backslash before u0000, and whole surrogate pairs, are ordinary text', async () => {
  const { key } = world.organization;
  const answer = await world.call('POST', '/api/mailboxes', {
    as: key,
    rawBody: String.raw`{"name": "\\u0000 \ud83d\ude00"}`,
  });
  assert.equal(answer.status, 201);
  assert.equal(at(answer.body, 'name'), '\\u0000 😀');
});

test('fields named as properties of every object are just unknown fields', async () => {
  for (const rawBody of ['{"__proto__": {"name": 1}}', '{"constructor": 1}', '{"metadata": {"__proto__": 1}}']) {
    const answer = await world.call('POST', '/api/mailboxes', { as: world.organization.key, rawBody });
    assert.equal(errorCode(answer), 'invalid_request', rawBody);
  }
});

test('a body in another encoding is refused', async () => {
  for (const headers of [{ 'content-type': 'application/json; charset=latin1' }, { 'content-encoding': 'gzip' }])
    assert.equal(
      errorCode(
        await world.call('POST', '/api/mailboxes', {
          as: world.organization.key,
          rawBody: '{}',
          headers: { ...headers },
        }),
      ),
      'unsupported_media_type',
    );
});

test('a body of unknown length is refused as soon as it is too large, and the refusal is read', async () => {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(chunk);
    },
  });
  const url = new URL('/api/mailboxes', world.api.url);
  const response = await fetch(url, {
    method: 'POST',
    duplex: 'half',
    headers: { ...world.organization.key, 'content-type': 'application/json' },
    body,
  });
  assert.equal(response.status, 413);
  assert.equal(response.headers.get('connection'), 'close');
});

test('an unknown error is opaque to the client and in the log by its request id', async () => {
  const logged: unknown[] = [];
  const broken = route({
    method: 'GET',
    path: '/broken',
    operationId: 'broken',
    tag: 'Operations',
    summary: 'Breaks',
    auth: 'public',
    responses: { 204: { description: 'Never.' } },
    handler: async () => {
      throw new Error('the secret of the house');
    },
  });
  const log = Object.assign(Object.create(world.services.log) as typeof world.services.log, {
    error: (entry: unknown) => logged.push(entry),
  });
  const services = { ...world.services, log };
  const notifier = openMailNotifier(services);
  const { signal: stopping } = new AbortController();
  const publicUrl = () => 'http://x';
  const readiness = openReadiness(services, 'api');
  const app = createApp([broken], { services, temporal: world.temporal, notifier, readiness, stopping, publicUrl });
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const answer = await world.call('GET', `http://127.0.0.1:${port}/broken`);
  server.close();
  server.closeAllConnections();
  assert.deepEqual([answer.status, errorCode(answer)], [500, 'internal_error']);
  assert.ok(!answer.text.includes('secret of the house'));
  assert.equal(at(logged[0], 'requestId'), answer.headers.get('x-request-id'));
  assert.ok(JSON.stringify(logged).includes('secret of the house'));
});

test('while the database is away requests answer 503 with Retry-After, and recover with it', async () => {
  const url = new URL(world.services.settings.DATABASE_URL ?? '');
  const proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) });
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  const db = await openDatabase({ url: url.href, poolMax: 4 });
  const api = await startApi({ ...world.services, db }, world.temporal);
  const get = (path: string) => world.call('GET', `${api.url}${path}`, { as: world.organization.key });
  try {
    assert.equal((await get('/api/organization')).status, 200);
    assert.equal((await get('/readyz')).status, 200);
    proxy.cut();
    for (const path of ['/api/organization', '/api/mailboxes']) {
      const away = await get(path);
      assert.deepEqual([away.status, errorCode(away)], [503, 'unavailable'], away.text);
      assert.ok(Number(away.headers.get('retry-after')) > 0);
    }
    const readiness = await waitUntil('/readyz to say so', async () => {
      const found = await get('/readyz');
      return found.status === 503 && found;
    });
    assert.equal(at(readiness.body, 'checks', 'postgresql'), 'unreachable');
    assert.equal((await get('/healthz')).status, 200);
    proxy.restore();
    assert.equal((await get('/api/organization')).status, 200);
  } finally {
    await api.close();
    await db.close();
    await proxy.close();
  }
});
