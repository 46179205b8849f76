/** OAuth for MCP: metadata, the question to a person, tokens that are used once, and what they open. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { requireTokenAccess } from '#api/auth/authorize.ts';
import type { Principal } from '#api/http/principal.ts';
import { routes } from '#api/routes.ts';
import {
  ACCESS_TOKEN_LIFE_SECONDS,
  ACCESS_TOKENS_PER_GRANT_MAX,
  accessesFor,
  isRegistered,
  problemOfClientId,
  REFRESH_REPEAT_SECONDS,
  redirectUriOf,
  USED_TOKENS_PER_GRANT_MAX,
} from '#domain/access/oauth.ts';
import type { TokenAccess } from '#domain/organizations/mailboxes.ts';
import {
  type ApiWorld,
  apiWorld,
  asBearer,
  at,
  type Credential,
  detailPaths,
  errorCode,
  TEST_PASSWORD,
  type TestMailbox,
  textAt,
} from '#test/support/api-world.ts';
import {
  answerOfHost,
  asking,
  beginRequest,
  CALLBACK,
  type GivenTokens,
  givenCode,
  givenTokens,
  oauthHost,
  postForm,
} from '#test/support/oauth-host.ts';
import { addTotp } from '#test/support/second-factor.ts';

let world: ApiWorld;
let mailbox: TestMailbox;
before(async () => {
  world = await apiWorld();
  mailbox = world.organization.mailbox;
});
after(() => world?.close());

const me = (): Credential => world.organization.member.session;
const get = async (path: string) => (await fetch(new URL(path, world.api.url))).json();
const token = (form: Readonly<Record<string, string>>) => postForm(`${world.api.url}/oauth/token`, form);
const refreshed = ({ clientId, refreshToken }: Pick<GivenTokens, 'clientId' | 'refreshToken'>) =>
  token({ grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId });

/** As if every token that was used had been used this long before. */
const usedBefore = (seconds: number) =>
  world.sql(`update oauth_tokens set used_at = used_at - make_interval(secs => $1) where used_at is not null`, [
    seconds,
  ]);

const mcp = (as: Credential, name = 'get_mailbox', input: object = {}) =>
  world.call('POST', '/mcp', {
    as,
    headers: { accept: 'application/json, text/event-stream' },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } },
  });

/** The first text of a tool's answer, which is JSON or one event. */
const firstTextOf = ({ text }: { readonly text: string }): string => {
  const answer: unknown = JSON.parse(text.replace(/^[^]*?^data: /m, '').split('\n')[0] ?? '');
  return textAt(answer, 'result', 'content', 0, 'text');
};

test('a refused request names the metadata that a program needs', async () => {
  const refused = await mcp({});
  assert.equal(refused.status, 401);
  const challenge = refused.headers.get('www-authenticate') ?? '';
  const [, address = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
  assert.equal(address, `${world.api.url}/.well-known/oauth-protected-resource/mcp`);
  const resource = await get(address);
  assert.equal(at(resource, 'resource'), `${world.api.url}/mcp`);
  assert.deepEqual(resource, await get('/.well-known/oauth-protected-resource'));
  const issuer = textAt(resource, 'authorization_servers', 0);
  const server = await get('/.well-known/oauth-authorization-server');
  assert.equal(at(server, 'issuer'), issuer);
  assert.deepEqual(at(server, 'code_challenge_methods_supported'), ['S256']);
  assert.equal(at(server, 'client_id_metadata_document_supported'), true);
  const wrong = await mcp(asBearer('ama_unknown'));
  assert.equal(wrong.status, 401);
  assert.match(wrong.headers.get('www-authenticate') ?? '', /error="invalid_token"/);
  const elsewhere = await world.call('GET', '/api/mailbox/messages');
  assert.doesNotMatch(elsewhere.headers.get('www-authenticate') ?? '', /resource_metadata/);
});

test('the browser is sent to the page with the request as it was written', async () => {
  const query = 'client_id=https%3A%2F%2Fhost.example%2Fc.json&state=1e5&state2=%22';
  const answer = await fetch(`${world.api.url}/oauth/authorize?${query}`, { redirect: 'manual' });
  assert.equal(answer.status, 303);
  const [, packed = ''] = /^\/authorize\?request=q([\w-]+)$/.exec(answer.headers.get('location') ?? '') ?? [];
  assert.equal(Buffer.from(packed, 'base64url').toString(), query);
  assert.equal((await fetch(`${world.api.url}/oauth/authorize?state=${'x'.repeat(7_000)}`)).status, 400);
});

test('a person grants access to a program, which exchanges its code for tokens once', async () => {
  const { redirect, form } = await givenCode(world, me(), mailbox.id);
  assert.equal(redirect.origin + redirect.pathname, CALLBACK);
  assert.deepEqual([redirect.searchParams.get('state'), redirect.searchParams.get('iss')], ['1e5', world.api.url]);
  for (const [field, value] of [
    ['code_verifier', 'x'.repeat(43)],
    ['redirect_uri', 'http://127.0.0.1:1/callback'],
    ['client_id', 'https://host.example/other.json'],
  ] as const) {
    const other = await token({ ...form, [field]: value });
    assert.deepEqual([other.status, at(other.body, 'error')], [400, 'invalid_grant'], field);
  }
  const target = await token({ ...form, resource: 'https://elsewhere.example/mcp' });
  assert.equal(at(target.body, 'error'), 'invalid_target');
  const answer = await token(form);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.deepEqual(
    [at(answer.body, 'token_type'), at(answer.body, 'expires_in'), at(answer.body, 'scope')],
    ['Bearer', ACCESS_TOKEN_LIFE_SECONDS, 'mailbox:full'],
  );
  const credential = asBearer(textAt(answer.body, 'access_token'));
  assert.match(firstTextOf(await mcp(credential)), new RegExp(mailbox.address));
  // The code was stolen, or the answer was lost: which of the two cannot be known.
  assert.equal(at((await token(form)).body, 'error'), 'invalid_grant');
  assert.equal((await mcp(credential)).status, 401, 'a code that came twice ends everything');
});

test('a request is decided by the person who opened it, once, within the requested access', async () => {
  const host = await oauthHost();
  const { parameters } = asking(host, world.api.url, { scope: 'mailbox:read offline_access' });
  const begun = await beginRequest(world, me(), parameters);
  assert.deepEqual(
    [at(begun.body, 'clientName'), at(begun.body, 'redirectHost'), at(begun.body, 'accesses')],
    ['Test Host', null, ['read']],
  );
  const path = `/api/oauth/requests/${textAt(begun.body, 'id')}/decide`;
  const decide = (as: Credential, body: object) => world.call('POST', path, { as, body });
  const yes = { approve: true, mailboxId: mailbox.id, access: 'read' };
  assert.equal((await decide(world.organization.admin.session, yes)).status, 404, 'another person');
  assert.deepEqual(detailPaths(await decide(me(), { approve: true, mailboxId: mailbox.id })), ['/access']);
  assert.deepEqual(detailPaths(await decide(me(), { ...yes, access: 'full' })), ['/access'], 'more than asked');
  const foreign = { ...yes, mailboxId: world.other.mailbox.id };
  assert.equal((await decide(me(), foreign)).status, 404, 'the mailbox of another organization');
  const denied = new URL(textAt((await decide(me(), { approve: false })).body, 'redirectUrl'));
  assert.deepEqual([denied.searchParams.get('error'), denied.searchParams.get('code')], ['access_denied', null]);
  assert.equal((await decide(me(), yes)).status, 404, 'decided before');
});

test('invalid requests are refused with the name of the parameter', async () => {
  const host = await oauthHost();
  const { parameters } = asking(host, world.api.url);
  // The first text is that of the document; URL takes both for the same address.
  const odd = asking(await oauthHost({ redirect_uris: ['http://127.0.0.1/%00'] }), world.api.url, {
    redirect_uri: 'http://127.0.0.1:9/\0',
  });
  assert.deepEqual(detailPaths(await beginRequest(world, me(), odd.parameters)), ['/query/redirect_uri']);
  await oauthHost();
  for (const [name, value] of [
    ['response_type', 'token'],
    ['code_challenge_method', 'plain'],
    ['code_challenge', 'short'],
    ['resource', 'https://elsewhere.example/mcp'],
    ['redirect_uri', 'https://host.example/other'],
    ['redirect_uri', 'https://host.example/callback/'],
    ['redirect_uri', 'http://127.0.0.1:9/other'],
    ['redirect_uri', 'http://127.0.0.2/callback'],
    ['client_id', host.clientId.replace('https:', 'http:')],
    ['client_id', new URL('/', host.clientId).href],
    ['client_id', 'https://10.0.0.1/client.json'],
    ['client_id', 'mcp-client'],
    ['code_challenge_method', ''],
    ['state', 'a\0b'],
    ['state', 'ü'],
    ['redirect_uri', 'http://127.0.0.1:9/\0'],
    ['redirect_uri', 'http://127.0.0.1:9/call\nback'],
  ] as const) {
    const refused = await beginRequest(world, me(), { ...parameters, [name]: value });
    assert.deepEqual([refused.status, detailPaths(refused)], [400, [`/query/${name}`]], `${name} ${value}`);
  }
  const twice = `${new URLSearchParams(parameters)}&redirect_uri=https%3A%2F%2Fevil.example%2F`;
  const repeated = await world.call('POST', '/api/oauth/requests', { as: me(), body: { query: twice } });
  assert.deepEqual(detailPaths(repeated), ['/query/redirect_uri']);
  for (const free of ['http://127.0.0.1:1/callback', 'cursor://test/callback', 'https://host.example/callback'])
    assert.equal((await beginRequest(world, me(), { ...parameters, redirect_uri: free })).status, 201, free);
});

test('a document that is not one of a public client is refused with the reason', async () => {
  for (const [more, reason] of [
    [{ client_id: 'https://host.example/client.json' }, /not its own address/],
    [{ token_endpoint_auth_method: 'client_secret_basic' }, /secret/],
    [{ redirect_uris: [] }, /redirect_uris/],
    [{ redirect_uris: 'http://127.0.0.1/callback' }, /redirect_uris/],
    [{ client_name: 'x'.repeat(20_000) }, /too large/],
  ] as const) {
    const { parameters } = asking(await oauthHost(more), world.api.url);
    const refused = await beginRequest(world, me(), parameters);
    assert.equal(refused.status, 400);
    assert.match(textAt(refused.body, 'error', 'details', 0, 'message'), reason);
  }
  const { parameters } = asking(await oauthHost(), world.api.url);
  for (const [status, headers, body, reason] of [
    [302, { location: 'https://127.0.0.1/elsewhere' }, '', /redirects/],
    [404, {}, '', /404/],
    [200, { 'content-type': 'text/html' }, '<p>', /not JSON/],
    [200, { 'content-type': 'application/json' }, '{', /not its own address/],
  ] as const) {
    await answerOfHost(status, headers, body);
    const refused = await beginRequest(world, me(), parameters);
    assert.match(textAt(refused.body, 'error', 'details', 0, 'message'), reason);
  }
});

test('a name is one line of limited length; a redirect that a browser would execute is never registered', async () => {
  const client = { id: 'https://host.example/c', name: 'x', redirectUris: [] as string[] };
  for (const uri of [
    'javascript:alert(1)',
    'javascript://x/%0aalert(1)',
    'data:text/html,x',
    'file:///etc',
    'http://host.example/',
    'https://a@b/',
  ])
    assert.equal(redirectUriOf(uri), undefined, uri);
  for (const uri of ['https://host.example/', 'http://[::1]:1/a?b=c', 'com.example.app:/callback', 'vscode://x/y']) {
    assert.equal(redirectUriOf(uri), uri);
    assert.equal(isRegistered({ ...client, redirectUris: [uri] }, uri), true, uri);
  }
  assert.equal(isRegistered({ ...client, redirectUris: ['http://localhost/a'] }, 'http://localhost:5/b'), false);
  assert.match(problemOfClientId('https://HOST.example/a/../c') ?? '', /https:\/\/host\.example\/c/);
  assert.deepEqual(accessesFor('mailbox:read mailbox:send'), ['read', 'send']);
  const { parameters } = asking(await oauthHost({ client_name: `A\r\nB ${'y'.repeat(500)}` }), world.api.url);
  const name = textAt((await beginRequest(world, me(), parameters)).body, 'clientName');
  assert.match(name, /^A B y+$/);
  assert.ok(name.length <= 100);
});

test('a refresh token is used once; a second use ends the grant, with an entry in the audit log', async () => {
  const first = await givenTokens(world, me(), mailbox.id);
  const answer = await refreshed(first);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const second = { ...first, refreshToken: textAt(answer.body, 'refresh_token') };
  const credential = asBearer(textAt(answer.body, 'access_token'));
  assert.equal((await mcp(credential)).status, 200);
  assert.equal((await mcp(first.credential)).status, 200, 'until it expires');
  const stolen = await refreshed({ ...second, clientId: 'https://thief.example/c' });
  assert.equal(at(stolen.body, 'error'), 'invalid_grant');
  assert.equal((await mcp(credential)).status, 200, 'a guess of another program ends nothing');
  await usedBefore(REFRESH_REPEAT_SECONDS);
  assert.equal(at((await refreshed(first)).body, 'error'), 'invalid_grant');
  assert.equal((await mcp(credential)).status, 401);
  assert.equal(at((await refreshed(second)).body, 'error'), 'invalid_grant');
  const audit = await world.call('GET', '/api/audit?action=grant.deleted', { as: world.organization.admin.session });
  assert.match(textAt(audit.body, 'data', 0, 'details', 'why'), /refresh token was used twice/);
});

test('a refresh whose answer was lost is answered the same again for a short time, to the same program', async () => {
  const first = await givenTokens(world, me(), mailbox.id);
  const answer = await refreshed(first);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  await usedBefore(REFRESH_REPEAT_SECONDS - 5);
  assert.equal(at((await refreshed({ ...first, clientId: 'https://thief.example/c' })).body, 'error'), 'invalid_grant');
  const again = await refreshed(first);
  assert.deepEqual([again.status, again.body], [200, answer.body]);
  assert.equal(again.headers.get('cache-control'), 'no-store');
  const credential = asBearer(textAt(again.body, 'access_token'));
  assert.equal((await mcp(credential)).status, 200);
  const stored = JSON.stringify(await world.sql(`select * from oauth_tokens`));
  assert.ok(!stored.includes(textAt(answer.body, 'access_token')) && !stored.includes(first.refreshToken));
  // Its answer was received: whoever has the old token now is somebody else.
  const next = await refreshed({ ...first, refreshToken: textAt(again.body, 'refresh_token') });
  assert.equal(next.status, 200, JSON.stringify(next.body));
  assert.equal(at((await refreshed(first)).body, 'error'), 'invalid_grant');
  assert.equal((await mcp(credential)).status, 401);
});

test('refreshes at the same time get the same answer', async () => {
  const first = await givenTokens(world, me(), mailbox.id);
  const answers = await Promise.all([1, 2, 3, 4].map(() => refreshed(first)));
  for (const { status, body } of answers) assert.deepEqual([status, body], [200, answers[0]?.body]);
  const [row] = await world.sql(
    `select count(*)::int as count from oauth_tokens t join oauth_grants g on g.id = t.grant_id
      where g.client_id = $1 and t.kind = 'refresh' and t.used_at is null and g.id =
        (select max(id) from oauth_grants)`,
    [first.clientId],
  );
  assert.equal(row?.['count'], 1);
});

test('a refresh is not repeated for another resource, to who left, or after it was revoked', async () => {
  const resource = { resource: 'https://elsewhere.example/mcp' };
  const other = await givenTokens(world, me(), mailbox.id);
  const form = { grant_type: 'refresh_token', refresh_token: other.refreshToken, client_id: other.clientId };
  assert.equal((await token(form)).status, 200);
  assert.equal(at((await token({ ...form, ...resource })).body, 'error'), 'invalid_grant');
  assert.equal((await mcp(other.credential)).status, 401, 'another request under a used token is no repetition');
  const revoked = await givenTokens(world, me(), mailbox.id);
  const answer = await refreshed(revoked);
  const refreshToken = textAt(answer.body, 'refresh_token');
  await postForm(`${world.api.url}/oauth/revoke`, { token: refreshToken, client_id: revoked.clientId });
  assert.equal(at((await refreshed(revoked)).body, 'error'), 'invalid_grant');
  const person = await world.newPerson(world.organization.id, 'member');
  const left = await givenTokens(world, person.session, mailbox.id);
  assert.equal((await refreshed(left)).status, 200);
  await world.call('DELETE', `/api/members/${person.memberId}`, { as: world.organization.owner.session });
  assert.equal(at((await refreshed(left)).body, 'error'), 'invalid_grant');
});

test('an access token expires, is revoked alone, and ends with its grant', async () => {
  const revoke = (text: string, clientId: string) =>
    postForm(`${world.api.url}/oauth/revoke`, { token: text, client_id: clientId });
  const old = await givenTokens(world, me(), mailbox.id);
  await world.sql(`update oauth_tokens set expires_at = now() - interval '1 second' where kind = 'access'`);
  assert.equal((await mcp(old.credential)).status, 401, 'expired');
  const renewed = await refreshed(old);
  const credential = asBearer(textAt(renewed.body, 'access_token'));
  assert.equal((await revoke(textAt(renewed.body, 'access_token'), 'https://other.example/c')).status, 200);
  assert.equal((await mcp(credential)).status, 200, 'another program revokes nothing');
  assert.equal((await revoke(textAt(renewed.body, 'access_token'), 'x\0')).status, 200, 'what no column can hold');
  await revoke(textAt(renewed.body, 'access_token'), old.clientId);
  assert.equal((await mcp(credential)).status, 401);
  const again = await refreshed({ ...old, refreshToken: textAt(renewed.body, 'refresh_token') });
  assert.equal(again.status, 200, 'the rest of the grant is left');
  await revoke(textAt(again.body, 'refresh_token'), old.clientId);
  assert.equal((await mcp(asBearer(textAt(again.body, 'access_token')))).status, 401);
  assert.equal((await revoke('amn_unknown', old.clientId)).status, 200);
});

test('a member lists the programs of a mailbox and ends one, at once', async () => {
  const own = await world.newMailbox(world.organization);
  const { credential, clientId } = await givenTokens(world, me(), own.id, 'read');
  await mcp(credential);
  const path = `/api/mailboxes/${own.id}/grants`;
  const list = await world.call('GET', path, { as: world.organization.admin.session });
  assert.deepEqual(
    [at(list.body, 'data', 0, 'clientId'), at(list.body, 'data', 0, 'access'), at(list.body, 'data', 0, 'createdBy')],
    [clientId, 'read', 'A member'],
  );
  const grant = `${path}/${textAt(list.body, 'data', 0, 'id')}`;
  assert.equal((await world.call('GET', path, { as: world.other.owner.session })).status, 404);
  assert.equal((await world.call('DELETE', grant, { as: world.other.owner.session })).status, 404);
  for (const as of [own.token, world.organization.key, credential])
    assert.equal((await world.call('GET', path, { as })).status, 403);
  assert.equal((await world.call('DELETE', grant, { as: world.organization.admin.session })).status, 204);
  assert.equal((await mcp(credential)).status, 401);
  assert.deepEqual(at((await world.call('GET', path, { as: me() })).body, 'data'), []);
});

test('access ends with the membership of the person, and with the mailbox', async () => {
  const person = await world.newPerson(world.organization.id, 'member');
  const own = await world.newMailbox(world.organization);
  const left = await givenTokens(world, person.session, own.id);
  const stays = await givenTokens(world, me(), own.id);
  await world.call('DELETE', `/api/members/${person.memberId}`, { as: world.organization.owner.session });
  assert.equal((await mcp(left.credential)).status, 401);
  assert.equal(at((await refreshed(left)).body, 'error'), 'invalid_grant');
  assert.equal((await mcp(stays.credential)).status, 200);
  await world.call('DELETE', `/api/mailboxes/${own.id}`, { as: world.organization.owner.session });
  assert.equal((await mcp(stays.credential)).status, 401);
  assert.equal(at((await refreshed(stays)).body, 'error'), 'invalid_grant');
});

test('a person who comes back gives nothing back by it; the audit log says what ended', async () => {
  const person = await world.newPerson(world.organization.id, 'member');
  const own = await world.newMailbox(world.organization);
  const left = await givenTokens(world, person.session, own.id);
  const elsewhere = await givenTokens(world, me(), own.id);
  await world.call('DELETE', `/api/members/${person.memberId}`, { as: world.organization.owner.session });
  await world.sql(`insert into members (id, organization_id, user_id, role) values ($1, $2, $3, 'member')`, [
    person.memberId,
    world.organization.id,
    person.userId,
  ]);
  assert.equal((await world.call('GET', `/api/mailboxes/${own.id}`, { as: person.session })).status, 200);
  assert.equal((await mcp(left.credential)).status, 401);
  assert.equal(at((await refreshed(left)).body, 'error'), 'invalid_grant');
  assert.equal((await mcp(elsewhere.credential)).status, 200, 'what others gave is left');
  const audit = await world.call('GET', '/api/audit?action=grant.deleted', { as: world.organization.admin.session });
  assert.deepEqual(
    [at(audit.body, 'data', 0, 'details', 'mailboxId'), at(audit.body, 'data', 0, 'details', 'why')],
    [own.id, 'the member who gave it was removed'],
  );
});

test('a program that asks for tokens without end fills no disk', async () => {
  const own = await world.newMailbox(world.organization);
  const given = await givenTokens(world, me(), own.id);
  const [grant] = await world.sql(`select id from oauth_grants where mailbox_id = $1`, [own.id]);
  for (const [kind, used, count] of [
    ['access', null, ACCESS_TOKENS_PER_GRANT_MAX],
    ['refresh', new Date(0), USED_TOKENS_PER_GRANT_MAX],
  ] as const)
    await world.sql(
      `insert into oauth_tokens (hash, grant_id, kind, expires_at, used_at)
       select decode(md5($2::text || i), 'hex'), $1, $2::text, now() + interval '1 second', $3::timestamptz from generate_series(1, $4::int) i`,
      [grant?.id, kind, used, count],
    );
  const answer = await refreshed(given);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const kept = await world.sql(
    `select kind, used_at is not null as used, count(*)::int as count from oauth_tokens
      where grant_id = $1 and kind <> 'code' group by 1, 2 order by 1, 2`,
    [grant?.id],
  );
  // Of the used ones one is the code.
  assert.deepEqual(kept, [
    { kind: 'access', used: false, count: ACCESS_TOKENS_PER_GRANT_MAX },
    { kind: 'refresh', used: false, count: 1 },
    { kind: 'refresh', used: true, count: USED_TOKENS_PER_GRANT_MAX - 1 },
  ]);
  // The newest are the ones that are kept.
  assert.equal((await mcp(asBearer(textAt(answer.body, 'access_token')))).status, 200);
  assert.equal((await refreshed({ ...given, refreshToken: textAt(answer.body, 'refresh_token') })).status, 200);
  assert.equal(at((await refreshed(given)).body, 'error'), 'invalid_grant');
  assert.equal((await mcp(given.credential)).status, 401, 'one that was used a moment ago is still noticed');
});

test('a changed password ends undecided requests and unused codes, not the access of connected programs', async () => {
  const person = await world.newPerson(world.organization.id, 'member');
  const connected = await givenTokens(world, person.session, mailbox.id);
  const { form } = await givenCode(world, person.session, mailbox.id);
  const { parameters } = asking(await oauthHost(), world.api.url);
  const begun = await beginRequest(world, person.session, parameters);
  const body = { currentPassword: TEST_PASSWORD, newPassword: 'another long pass phrase' };
  const changed = await world.call('PUT', '/api/sessions/current/password', { as: person.session, body });
  assert.equal(changed.status, 204, changed.text);
  assert.equal(at((await token(form)).body, 'error'), 'invalid_grant');
  const path = `/api/oauth/requests/${textAt(begun.body, 'id')}/decide`;
  assert.equal((await world.call('POST', path, { as: person.session, body: { approve: false } })).status, 404);
  assert.equal((await mcp(connected.credential)).status, 200);
});

test('a token is valid for /mcp and its mailbox only, also when the request forges its origin', async () => {
  const { credential } = await givenTokens(world, me(), mailbox.id);
  for (const headers of [{}, { 'x-agent-mailbox-in-process': '0'.repeat(64) }]) {
    const direct = await world.call('GET', '/api/mailbox/messages', { as: credential, headers });
    assert.deepEqual([direct.status, errorCode(direct)], [403, 'forbidden']);
  }
  await world.sql(`update oauth_grants set resource = 'https://moved.example/mcp' where mailbox_id = $1`, [mailbox.id]);
  assert.equal((await mcp(credential)).status, 401, 'made for another address');
});

test('a program has the access that the person granted, and sees only the tools for it', async () => {
  const own = await world.newMailbox(world.organization);
  const toolsOf = async (as: Credential): Promise<string[]> => {
    const answer = await world.call('POST', '/mcp', {
      as,
      headers: { accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
    });
    const body: unknown = JSON.parse(answer.text.replace(/^[^]*?^data: /m, '').split('\n')[0] ?? '');
    const tools = at(body, 'result', 'tools');
    assert.ok(Array.isArray(tools));
    return tools.map((each) => textAt(each, 'name'));
  };
  const letter = { to: [own.address], subject: 'x', text: 'y' };
  const read = await givenTokens(world, me(), own.id, 'read');
  const readTools = await toolsOf(read.credential);
  assert.ok(readTools.includes('read_message') && !readTools.includes('send_message'));
  const send = await givenTokens(world, me(), own.id, 'send');
  const sendTools = await toolsOf(send.credential);
  assert.ok(sendTools.includes('send_message') && !sendTools.includes('list_messages'));
  assert.match(firstTextOf(await mcp(send.credential, 'send_message', letter)), /msg_/);
  assert.match(firstTextOf(await mcp(read.credential, 'list_messages')), /"subject": "x"/);
  const full = await givenTokens(world, me(), own.id, 'full');
  assert.ok((await toolsOf(full.credential)).length > readTools.length + 5);
  // The API itself refuses, whatever the tools are.
  const principal = (access: TokenAccess): Principal => ({
    kind: 'mailbox',
    id: own.id,
    name: '',
    address: own.address,
    access,
    credentialId: 'oag_1',
    grant: { resource: '' },
  });
  for (const route of routes) {
    if (route.method !== 'GET')
      assert.throws(() => requireTokenAccess(principal('read'), route), /with the access read/);
    if (/messages?$|thread|draft|folder/i.test(route.operationId) && route.method === 'GET')
      assert.throws(() => requireTokenAccess(principal('send'), route), /with the access send/, route.operationId);
    requireTokenAccess(principal('full'), route);
  }
});

test('the token endpoint answers in the form of OAuth', async () => {
  const url = `${world.api.url}/oauth/token`;
  const error = async (init: RequestInit) => {
    const answer = await fetch(url, { method: 'POST', ...init });
    const body: unknown = await answer.json();
    return [answer.status, at(body, 'error')];
  };
  assert.deepEqual(await error({ body: '{}', headers: { 'content-type': 'application/json' } }), [
    400,
    'invalid_request',
  ]);
  assert.deepEqual(await error({ body: new URLSearchParams({ client_id: 'x' }) }), [400, 'invalid_request']);
  const password = { grant_type: 'password', client_id: 'x' };
  assert.deepEqual(await error({ body: new URLSearchParams(password) }), [400, 'unsupported_grant_type']);
  const twice = 'grant_type=refresh_token&client_id=x&client_id=y&refresh_token=z';
  assert.deepEqual(await error({ body: new URLSearchParams(twice) }), [400, 'invalid_request']);
});

test('codes and tokens are stored as hashes', async () => {
  const { accessToken, refreshToken } = await givenTokens(world, me(), mailbox.id);
  const stored = JSON.stringify(
    await world.sql(`select t.*, g.* from oauth_tokens t join oauth_grants g on g.id = t.grant_id`),
  );
  assert.ok(!stored.includes(accessToken) && !stored.includes(refreshToken));
});

test('a program that was connected without a second factor is refused while one is required, and connected again with one', async () => {
  const { owner, admin, mailbox, id } = await world.newOrganization('business');
  await addTotp(world, owner);
  const setPolicy = async (secondFactor: string) => {
    const set = await world.call('PATCH', '/api/organization', {
      as: owner.session,
      body: { settings: { secondFactor } },
    });
    assert.equal(set.status, 200, set.text);
  };
  const full = await givenTokens(world, admin.session, mailbox.id);
  const reader = await givenTokens(world, admin.session, mailbox.id, 'read');
  const proven = await givenTokens(world, owner.session, mailbox.id);
  const statuses = async () => {
    const answers = await Promise.all([full, reader, proven].map(({ credential }) => mcp(credential)));
    return answers.map(({ status }) => status);
  };
  assert.deepEqual(await statuses(), [200, 200, 200]);
  await setPolicy('approvers');
  assert.deepEqual(await statuses(), [401, 200, 200], 'who only reads may, as a session of its person');
  await setPolicy('everyone');
  assert.deepEqual(await statuses(), [401, 401, 200]);
  const refused = await refreshed(full);
  assert.equal(at(refused.body, 'error'), 'invalid_grant');
  assert.match(textAt(refused.body, 'error_description'), /second factor/);
  assert.equal((await refreshed(proven)).status, 200);
  await addTotp(world, admin);
  const again = await givenTokens(world, admin.session, mailbox.id);
  assert.equal((await mcp(again.credential)).status, 200);
  await world.sql(`update organizations set settings = settings - 'secondFactor' where id = $1`, [id]);
  assert.equal((await refreshed(full)).status, 200, 'it was refused, not ended');
});
