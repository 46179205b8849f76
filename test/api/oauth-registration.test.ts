/** Programs without a document of their own register (RFC 7591) and connect like others; a registration proves nothing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { retentionStep } from '#activities/delete-history.ts';
import {
  OAUTH_CLIENT_LIFE_DAYS,
  OAUTH_REGISTRATIONS_PER_SOURCE_AND_HOUR,
  OAUTH_UNUSED_CLIENT_LIFE_HOURS,
  OAUTH_UNUSED_CLIENTS_MAX,
} from '#domain/access/oauth.ts';
import { type ApiWorld, apiWorld, at, detailPaths, errorCode, textAt } from '#test/support/api-world.ts';
import { type McpHost, NAME_OF_REGISTERED, startMcpHost } from '#test/support/mcp-host.ts';
import { asking, beginRequest, CALLBACK, postForm } from '#test/support/oauth-host.ts';

let world: ApiWorld;
let host: McpHost;
before(async () => {
  world = await apiWorld();
  host = await startMcpHost('registers');
});
after(async () => {
  host?.close();
  await world?.close();
});

const me = () => world.organization.member.session;
const METADATA = {
  client_name: 'Command line host',
  redirect_uris: [CALLBACK],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  scope: 'openid',
  client_uri: 'https://host.example',
};

async function register(metadata: unknown, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(new URL('/oauth/register', world.api.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
  });
  const body: unknown = await answer.json();
  return { status: answer.status, body, headers: answer.headers };
}
const registered = async (more: object = {}): Promise<string> =>
  textAt((await register({ ...METADATA, ...more })).body, 'client_id');
const begin = (clientId: string, more: Readonly<Record<string, string>> = {}) =>
  beginRequest(world, me(), asking({ clientId }, world.api.url, more).parameters);
/** Requests of the tests themselves come from one address. */
const forgetUses = () => world.sql(`delete from rate_limits where key like 'oauth%'`);

const cleanUp = () =>
  retentionStep(world.services, { step: 'sessions' }, { heartbeat: () => {}, isEnding: () => false });

test('the metadata name the endpoint; the answer is that of a public client without a secret', async () => {
  const metadata: unknown = await (
    await fetch(new URL('/.well-known/oauth-authorization-server', world.api.url))
  ).json();
  assert.equal(at(metadata, 'registration_endpoint'), `${world.api.url}/oauth/register`);
  const { status, body, headers } = await register({
    ...METADATA,
    client_name: 'A\r\n\u202eB\u200b\u{e0061}',
    software_id: 'x',
  });
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal(headers.get('cache-control'), 'no-store');
  const { client_id: id, client_id_issued_at: issuedAt, ...rest } = Object(body);
  assert.match(String(id), /^oac_[0-9a-z]{26}$/);
  assert.ok(Math.abs(Number(issuedAt) - Date.now() / 1_000) < 60);
  assert.deepEqual(rest, {
    client_name: 'A B',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  });
  const bare = await register({ redirect_uris: ['https://host.example/callback'] });
  assert.deepEqual([bare.status, at(bare.body, 'token_endpoint_auth_method')], [201, 'none']);
});

test('a host with the client of the protocol registers, is let in by a person, and renews its tokens', async () => {
  const { mailbox } = world.organization;
  const url = new URL('/mcp', world.api.url);
  const transport = new StreamableHTTPClientTransport(url, { authProvider: host.provider });
  await assert.rejects(new Client({ name: 'test', version: '1' }).connect(transport), /[Uu]nauthorized/);
  const page = new URL(host.page());
  const begun = await world.call('POST', '/api/oauth/requests', { as: me(), body: { query: page.search.slice(1) } });
  assert.equal(begun.status, 201, begun.text);
  assert.deepEqual(
    [at(begun.body, 'clientName'), at(begun.body, 'clientHost'), at(begun.body, 'redirectHost')],
    [NAME_OF_REGISTERED, null, null],
  );
  const decided = await world.call('POST', `/api/oauth/requests/${textAt(begun.body, 'id')}/decide`, {
    as: me(),
    body: { approve: true, mailboxId: mailbox.id, access: 'read' },
  });
  await transport.finishAuth(new URL(textAt(decided.body, 'redirectUrl')).searchParams);
  const call = async () => {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider: host.provider }));
    const { structuredContent } = await client.callTool({ name: 'get_mailbox', arguments: {} });
    await client.close();
    return Reflect.get(Object(structuredContent), 'address');
  };
  assert.equal(await call(), mailbox.address);
  // Its client renews them by itself.
  await world.sql(`update oauth_tokens set expires_at = now() - interval '1 second' where kind = 'access'`);
  assert.equal(await call(), mailbox.address);
  const grants = await world.call('GET', `/api/mailboxes/${mailbox.id}/grants`, { as: me() });
  assert.deepEqual(
    [at(grants.body, 'data', 0, 'clientName'), at(grants.body, 'data', 0, 'clientHost')],
    [NAME_OF_REGISTERED, null],
  );
});

test('a registration that asks for more than a public client gets is refused as RFC 7591 says', async () => {
  for (const [more, error] of [
    [{ token_endpoint_auth_method: 'client_secret_basic' }, 'invalid_client_metadata'],
    [{ token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    [{ grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    [{ response_types: ['token'] }, 'invalid_client_metadata'],
    [{ redirect_uris: [] }, 'invalid_redirect_uri'],
    [{ redirect_uris: undefined }, 'invalid_redirect_uri'],
    [{ redirect_uris: CALLBACK }, 'invalid_redirect_uri'],
    [{ redirect_uris: Array.from({ length: 51 }, () => CALLBACK) }, 'invalid_redirect_uri'],
    ...[
      'http://host.example/callback',
      'javascript:alert(1)',
      'data:text/html,x',
      'https://user@host.example/',
      'https://host.example/#x',
      'http://127.0.0.1/ü',
      // The parser reads another address than a person.
      'https:evil',
      'https:///evil.example/callback',
      'https://host.example\\callback',
      'https://HOST.example/callback',
      'https://host.example:443/callback',
      'https://host.example/a/../callback',
      'http://2130706433/',
      'http://0x7f.1/callback',
      'http://127.1/callback',
      'http://[0:0:0:0:0:0:0:1]/callback',
      'CURSOR://test/callback',
      'nonsense',
      7,
    ].map((uri) => [{ redirect_uris: [CALLBACK, uri] }, 'invalid_redirect_uri'] as const),
  ] as const) {
    const answer = await register({ ...METADATA, ...more });
    assert.deepEqual([answer.status, at(answer.body, 'error')], [400, error], JSON.stringify(more));
    assert.ok(textAt(answer.body, 'error_description').length > 10);
  }
  await forgetUses();
  for (const [body, headers] of [
    ['{', {}],
    ['null', {}],
    ['[]', {}],
    ['"x"', {}],
    [JSON.stringify({ ...METADATA, client_name: 'x'.repeat(20_000) }), {}],
    [JSON.stringify(METADATA), { 'content-type': 'text/plain' }],
  ] as const) {
    const answer = await register(body, headers);
    assert.equal(answer.status, 400, body.slice(0, 20));
    assert.match(textAt(answer.body, 'error'), /^invalid_/);
  }
  await forgetUses();
});

test('a registration opens nothing but its own redirects, and one that is unknown nothing at all', async () => {
  const id = await registered({ redirect_uris: ['http://127.0.0.1/callback', 'https://evil.example/callback'] });
  const foreign = await begin(id, { redirect_uri: 'https://host.example/callback' });
  assert.deepEqual([foreign.status, detailPaths(foreign)], [400, ['/query/redirect_uri']]);
  const shown = await begin(id, { redirect_uri: 'https://evil.example/callback' });
  assert.deepEqual([at(shown.body, 'clientHost'), at(shown.body, 'redirectHost')], [null, 'evil.example']);
  const unknown = await begin('oac_01k8e8f2c0e4x9w2v7a3r5t6y8');
  assert.deepEqual([unknown.status, detailPaths(unknown)], [400, ['/query/client_id']]);
  const form = { grant_type: 'refresh_token', refresh_token: 'x', client_id: id };
  assert.equal(at((await postForm(`${world.api.url}/oauth/token`, form)).body, 'error'), 'invalid_grant');
});

test('a redirect URI is stored, compared and opened as a browser reads it; the slash of an empty path may be missing', async () => {
  await forgetUses();
  const { mailbox } = world.organization;
  const given = [
    'http://localhost:33418',
    'https://host.example',
    'cursor://test/callback',
    'com.example.app:/callback',
  ];
  const answer = await register({ ...METADATA, redirect_uris: given });
  assert.deepEqual(at(answer.body, 'redirect_uris'), [
    'http://localhost:33418/',
    'https://host.example/',
    'cursor://test/callback',
    'com.example.app:/callback',
  ]);
  const clientId = textAt(answer.body, 'client_id');
  for (const [asked, exchanged] of [
    ['http://localhost:33418', 'http://localhost:33418'],
    ['http://localhost:7000/', 'http://localhost:7000'],
    ['https://host.example/', 'https://host.example'],
    ['com.example.app:/callback', 'com.example.app:/callback'],
  ] as const) {
    const { parameters, verifier } = asking({ clientId }, world.api.url, { redirect_uri: asked });
    const begun = await beginRequest(world, me(), parameters);
    assert.equal(begun.status, 201, begun.text);
    const decided = await world.call('POST', `/api/oauth/requests/${textAt(begun.body, 'id')}/decide`, {
      as: me(),
      body: { approve: true, mailboxId: mailbox.id, access: 'read' },
    });
    const redirect = new URL(textAt(decided.body, 'redirectUrl'));
    const code = redirect.searchParams.get('code') ?? '';
    const tokens = await postForm(`${world.api.url}/oauth/token`, {
      grant_type: 'authorization_code',
      code,
      client_id: clientId,
      redirect_uri: exchanged,
      code_verifier: verifier,
    });
    assert.equal(tokens.status, 200, JSON.stringify(tokens.body));
  }
  for (const other of [
    'https:host.example',
    'https://host.example//',
    'http://2130706433:33418/',
    'http://localhost/x',
  ])
    assert.deepEqual(detailPaths(await begin(clientId, { redirect_uri: other })), ['/query/redirect_uri'], other);
});

test('a flood of registrations from many networks removes its own, never that of another network', async () => {
  await world.sql(`delete from oauth_clients where used_at is null`);
  await forgetUses();
  const NETWORKS = 170;
  await world.sql(
    `insert into oauth_clients (id, name, redirect_uris, network, created_at, expires_at)
     select 'oac_01' || lpad(i::text, 24, '0'), 'flood', array['https://x.example/'], '10.0.' || i % $2 || '.0', now(),
            now() + interval '1 day' from generate_series(1, $1::int) i`,
    [OAUTH_UNUSED_CLIENTS_MAX, NETWORKS],
  );
  // Older than all of the flood, from networks of its own: two of each.
  await world.sql(
    `insert into oauth_clients (id, name, redirect_uris, network, created_at, expires_at)
     select 'oac_00' || lpad(i::text, 24, '0'), 'honest', array['https://x.example/'], '192.0.' || i / 2 || '.0', now(),
            now() + interval '1 day' from generate_series(1, 40) i`,
  );
  const own = await registered();
  const counts = async () =>
    world.sql(
      `select name, count(*)::int as registrations from oauth_clients where used_at is null group by name order by name`,
    );
  const flood = OAUTH_UNUSED_CLIENTS_MAX - 41;
  assert.deepEqual(await counts(), [
    { name: METADATA.client_name, registrations: 1 },
    { name: 'flood', registrations: flood },
    { name: 'honest', registrations: 40 },
  ]);
  const [{ most, fewest } = {}] = await world.sql(
    `select max(each) as most, min(each) as fewest
       from (select count(*)::int as each from oauth_clients where name = 'flood' group by network) networks`,
  );
  assert.deepEqual([fewest, most], [Math.floor(flood / NETWORKS), Math.ceil(flood / NETWORKS)]);
  // The newest of the flood are those that stay.
  const [{ gone } = {}] = await world.sql(
    `select min(substr(id, 7)::int) - 1 as gone from oauth_clients where name = 'flood'`,
  );
  assert.ok(Number(gone) <= 41 + NETWORKS, `${gone}`);
  assert.equal((await begin(own)).status, 201);
  const [{ network } = {}] = await world.sql(`select network from oauth_clients where id = $1`, [own]);
  assert.equal(network, null, 'of a used one no network is kept');
  await world.sql(`delete from oauth_clients where used_at is null`);
});

test('registrations are limited by address', async () => {
  await forgetUses();
  const answers: number[] = [];
  for (let i = 0; i <= OAUTH_REGISTRATIONS_PER_SOURCE_AND_HOUR; i++) answers.push((await register(METADATA)).status);
  assert.deepEqual(answers, [...Array.from({ length: OAUTH_REGISTRATIONS_PER_SOURCE_AND_HOUR }, () => 201), 429]);
  const refused = await world.call('POST', '/oauth/register', { body: METADATA });
  assert.equal(errorCode(refused), 'rate_limited');
  assert.ok(Number(refused.headers.get('retry-after')) > 60);
  await forgetUses();
});

test('registrations that nobody used go after a day, or when many are newer; used ones stay', async () => {
  const aged = (id: string, interval: string) =>
    world.sql(`update oauth_clients set expires_at = expires_at - $2::interval where id = $1`, [id, interval]);
  const [unused, used, connected] = [await registered(), await registered(), await registered()];
  assert.equal((await begin(used)).status, 201);
  assert.equal((await begin(connected)).status, 201);
  await aged(unused, `${OAUTH_UNUSED_CLIENT_LIFE_HOURS} hours`);
  await aged(used, `${OAUTH_CLIENT_LIFE_DAYS - 1} days`);
  await aged(connected, `${OAUTH_CLIENT_LIFE_DAYS + 1} days`);
  await world.sql(`update oauth_grants set client_id = $1`, [connected]);
  await cleanUp();
  const known = async () => (await world.sql(`select id from oauth_clients order by id`)).map(({ id }) => String(id));
  const left = await known();
  assert.deepEqual(
    [unused, used, connected].map((id) => left.includes(id)),
    [false, true, true],
  );
  assert.equal((await begin(unused)).status, 400);
  assert.equal((await begin(connected)).status, 201, 'it still has access');
  await world.sql(
    `insert into oauth_clients (id, name, redirect_uris, created_at, expires_at)
     select 'oac_0' || lpad(i::text, 25, '0'), 'x', array['https://x.example/'], now(), now() + interval '1 day'
       from generate_series(1, $1::int) i`,
    [OAUTH_UNUSED_CLIENTS_MAX],
  );
  const newest = await registered();
  const [{ count = 0 } = {}] = await world.sql(
    `select count(*)::int as count from oauth_clients where used_at is null`,
  );
  assert.equal(count, OAUTH_UNUSED_CLIENTS_MAX);
  assert.deepEqual((await known()).filter((id) => [newest, used, connected].includes(id)).length, 3);
});
