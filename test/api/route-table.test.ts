/**
 * Every route of the table against what every route must withstand. The cases are made from the route's own data, so a
 * new route is covered by being in the table, and fails here until each error it declares has a case.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type AuthRule, actsInOrganization, BODY_LIMIT_BYTES, type Route, tokenNeedOf } from '#api/http/route.ts';
import { routes } from '#api/routes.ts';
import { newId } from '#core/platform/new-id.ts';
import { newCredential } from '#core/platform/secrets/credentials.ts';
import { API_SCOPES, type ApiScope } from '#domain/access/api-scopes.ts';
import { type TokenAccess, tokenAllows } from '#domain/organizations/mailboxes.ts';
import {
  type Answer,
  type ApiWorld,
  apiWorld,
  asBearer,
  asKey,
  at,
  type CallOptions,
  type Credential,
  checkSchema,
  detailPaths,
  errorCode,
  type TestMailbox,
  type TestOrganization,
  textAt,
} from '#test/support/api-world.ts';
import { addPasskey } from '#test/support/authenticator.ts';
import { everyRow } from '#test/support/every-row.ts';
import { holdMail } from '#test/support/held-mail.ts';
import { asking, beginRequest, oauthHost } from '#test/support/oauth-host.ts';
import { linkedPerson } from '#test/support/oidc.ts';
import { unknownId, withValue, wrongFields, wrongParameters } from '#test/support/schema-samples.ts';
import { newApprovalLink } from './approval-link-world.ts';
import { errorCases } from './error-cases/index.ts';

let world: ApiWorld;
/** On a plan with a limit, which is used up. */
let limited: TestOrganization;
/** A link of a request that waits, by organization. */
let links: Readonly<Record<string, Credential>>;
/** Has every scope, for mailboxes of a group that none is in. */
let limitedKey: Credential;
/** A request for consent of the organization's mailbox, which is in no group. */
let ownConsent: string;
/** Tokens of the mailbox that may do a part. */
let tokens: readonly (readonly [TokenAccess, Credential])[];
/** Each has every scope but one, by that. */
let keysWithout: ReadonlyMap<string, Credential>;
/** Another mailbox of the organization. */
let neighbour: TestMailbox;
/** Were good once; the token is of a mailbox that was deleted. */
let expired: Readonly<Record<'key' | 'session' | 'token', Credential>>;
/** Ids of rows of another organization, by prefix. */
let foreign: Readonly<Record<string, string>>;

before(async () => {
  world = await apiWorld();
  limited = await world.newOrganization('free');
  await world.sql(`insert into rate_limits (key, used, resets_at_ms) values ($1, 1000000, $2)`, [
    `api:${limited.id}`,
    Date.now() + 3_600_000,
  ]);
  foreign = await foreignRows(world.other);
  limitedKey = await world.newKey(world.organization.id, API_SCOPES, null, ['nobody']);
  const held = await world.call('POST', '/api/mailbox/messages', {
    as: world.organization.mailbox.token,
    body: { to: ['stranger@example.com'], subject: 'Hello', text: 'x' },
  });
  ownConsent = textAt(held.body, 'consentId');
  neighbour = await world.newMailbox(world.organization);
  expired = await expire();
  const { id } = world.organization;
  const withoutOne = async (scope: ApiScope) =>
    [
      scope,
      await world.newKey(
        id,
        API_SCOPES.filter((each) => each !== scope),
      ),
    ] as const;
  keysWithout = new Map(await Promise.all(API_SCOPES.map(withoutOne)));
  tokens = [await tokenOf('read'), await tokenOf('send')];
  links = { [world.organization.id]: await newApprovalLink(world, world.organization) };
});
after(() => world.close());

async function tokenOf(access: TokenAccess): Promise<readonly [TokenAccess, Credential]> {
  const { key, mailbox } = world.organization;
  const body = { name: access, access };
  const answer = await world.call('POST', `/api/mailboxes/${mailbox.id}/tokens`, { as: key, body });
  return [access, asBearer(textAt(answer.body, 'token'))];
}

async function linkedIdentity(organizationId: string): Promise<string> {
  const { userId } = await linkedPerson(world, organizationId);
  return String((await world.sql(`select id from oidc_identities where user_id = $1`, [userId]))[0]?.['id']);
}

async function foreignRows(other: TestOrganization): Promise<Record<string, string>> {
  const held = await world.call('POST', '/api/mailbox/messages', {
    as: other.mailbox.token,
    body: { to: ['stranger@example.com'], subject: 'Hello', text: 'x' },
  });
  assert.equal(held.status, 202, held.text);
  const make = async (path: string, body: unknown) => {
    const answer = await world.call('POST', path, { as: other.owner.session, body });
    assert.equal(answer.status, 201, answer.text);
    return String(Reflect.get(Object(answer.body), 'id'));
  };
  const suppression = newId('suppression');
  await world.sql(
    `insert into suppression (id, organization_id, address, reason) values ($1, $2, 'gone@foreign.example', 'hard_bounce')`,
    [suppression, other.id],
  );
  const { parameters } = asking(await oauthHost(), world.api.url);
  const question = await beginRequest(world, other.owner.session, parameters);
  return {
    // Of no organization: one that is not there.
    ers_: newId('erasure'),
    mov_: newId('move'),
    oar_: String(Reflect.get(Object(question.body), 'id')),
    con_: String(Reflect.get(Object(held.body), 'consentId')),
    lst_: await make('/api/lists/inbound/block', { value: 'foreign.example' }),
    sup_: suppression,
    msg_: await holdMail(world, other),
    sta_: await make('/api/standing-approvals', {
      mailboxId: other.mailbox.id,
      recipients: ['foreign.example'],
      endsAt: new Date(Date.now() + 3_600_000).toISOString(),
      messagesMax: 1,
    }),
    rul_: await make('/api/decision-rules', { mailboxGroup: 'foreign', persons: 2 }),
    lgh_: await make('/api/legal-holds', { mailboxId: other.mailbox.id, reason: 'Foreign' }),
    mbx_: other.mailbox.id,
    mem_: other.member.memberId,
    inv_: await make('/api/members', { email: 'foreign@people.test' }),
    oid_: await linkedIdentity(other.id),
    pky_: (await addPasskey(world, await world.newPerson(other.id, 'member'))).passkeyId,
    ses_: String((await world.sql(`select id from sessions where user_id = $1`, [other.owner.userId]))[0]?.['id']),
    key_: await make('/api/keys', { name: 'foreign', scopes: ['org:read'] }),
    dom_: await make('/api/domains', { name: 'foreign.example' }),
    whe_: await make('/api/webhooks', { url: 'https://127.0.0.1/hook', eventTypes: ['email_received'] }),
  };
}

const propertiesOf = (schema: unknown): Readonly<Record<string, unknown>> =>
  Object(Reflect.get(Object(schema ?? {}), 'properties') ?? {});

function requiredFields({ body }: Route): string[] {
  const required: unknown = Reflect.get(Object(body ?? {}), 'required');
  return Array.isArray(required) ? required.map(String) : [];
}

/** The path with values of the right form, and what its query needs; `id` names the first parameter. */
function pathOf(route: Route, id?: string): string {
  const parameters = propertiesOf(route.params);
  const path = route.path.replaceAll(/:([A-Za-z]+)/g, (_, name: string) =>
    name === 'id' && id !== undefined ? id : unknownId(parameters[name]),
  );
  const required: unknown = Reflect.get(Object(route.query ?? {}), 'required');
  const names = Array.isArray(required) ? required.map(String) : [];
  const wanted = propertiesOf(route.query);
  const valueOf = (name: string): string => {
    const choices: unknown = Reflect.get(Object(wanted[name] ?? {}), 'enum');
    if (Array.isArray(choices)) return String(choices[0]);
    return Reflect.get(Object(wanted[name] ?? {}), 'type') === 'integer' ? '1' : 'word';
  };
  return withQuery(path, Object.fromEntries(names.map((name) => [name, valueOf(name)])));
}

/** A path with further parameters, or other values of those it has. */
function withQuery(path: string, more: Readonly<Record<string, string>>): string {
  const url = new URL(path, 'http://api');
  for (const [name, value] of Object.entries(more)) url.searchParams.set(name, value);
  return url.pathname + url.search;
}

const prefixOf = (route: Route): string =>
  /^\^([a-z]{3}_)/.exec(String(Reflect.get(Object(propertiesOf(route.params)['id'] ?? {}), 'pattern') ?? ''))?.[1] ??
  '';

/** A credential that a route accepts, of an organization. */
function credentialFor(auth: AuthRule, organization: TestOrganization): Credential {
  if (auth === 'public') return {};
  if (auth === 'instance') return world.operator;
  if (auth === 'operator') return { ...world.operator, 'x-organization-id': organization.id };
  if (auth === 'mailbox_token') return organization.mailbox.token;
  if (auth === 'approval_link') return links[organization.id] ?? {};
  if (auth === 'session' || 'role' in auth) return organization.owner.session;
  return organization.key;
}

/** Genuine credentials of kinds a route does not take. */
function wrongKinds(auth: AuthRule): Readonly<Record<string, Credential>> {
  const link = auth === 'approval_link' ? undefined : links[world.organization.id];
  return { ...otherKinds(auth), ...(link === undefined ? {} : { 'approval link': link }) };
}

function otherKinds(auth: AuthRule): Readonly<Record<string, Credential>> {
  const { key, owner, mailbox } = world.organization;
  const { operator } = world;
  if (auth === 'operator' || auth === 'instance')
    return { 'API key': key, session: owner.session, 'mailbox token': mailbox.token };
  if (auth === 'mailbox_token') return { 'API key': key, session: owner.session, 'operator key': operator };
  if (auth === 'approval_link')
    return { 'API key': key, session: owner.session, 'mailbox token': mailbox.token, 'operator key': operator };
  if (auth === 'session' || (typeof auth === 'object' && 'role' in auth))
    return { 'API key': key, 'mailbox token': mailbox.token, 'operator key': operator };
  if (typeof auth === 'object' && auth.mailboxToken === true) return { 'operator key': operator };
  return { 'mailbox token': mailbox.token, 'operator key': operator };
}

/** Credentials that were good once, and ones that never were. */
function deadCredentials(auth: AuthRule): Readonly<Record<string, Credential>> {
  const { key, session, token } = expired;
  const unknown = {
    'unknown API key': asKey(newCredential('apiKey')),
    'mistyped API key': asKey(`${newCredential('apiKey').slice(0, -1)}u`),
    'unknown session': asBearer(newCredential('session')),
    'unknown mailbox token': asBearer(newCredential('mailboxToken')),
    'unknown approval link': asBearer(newCredential('approvalLink')),
    'another scheme': { authorization: 'Basic dXNlcjpwYXNzd29yZA==' },
    // Wrong ones are counted by source.
    'wrong operator key': {
      'x-operator-key': 'amo_wrong',
      'x-forwarded-for': `198.19.${sources >> 8}.${sources++ & 255}`,
    },
    'API key as Bearer': asBearer(newCredential('apiKey')),
  };
  if (typeof auth === 'object' && 'scope' in auth) return { ...unknown, 'expired API key': key };
  if (auth === 'session' || typeof auth === 'object') return { ...unknown, 'expired session': session };
  if (auth === 'mailbox_token') return { ...unknown, 'token of a deleted mailbox': token };
  return unknown;
}

async function expire(): Promise<typeof expired> {
  const { id, key } = world.organization;
  const person = await world.newPerson(id, 'owner');
  await world.sql(`update sessions set expires_at = now() - interval '1 second' where user_id = $1`, [person.userId]);
  const mailbox = await world.newMailbox(world.organization);
  await world.call('DELETE', `/api/mailboxes/${mailbox.id}`, { as: key });
  return {
    key: await world.newKey(id, API_SCOPES, new Date(Date.now() - 1_000)),
    session: person.session,
    token: mailbox.token,
  };
}

let sources = 0;

const call = (
  route: Route,
  path: string,
  as: Credential,
  { headers, ...more }: Omit<CallOptions, 'as'> = {},
): Promise<Answer> =>
  world.call(route.method, path, {
    as,
    ...(route.bodyExample === undefined ? {} : { body: route.bodyExample }),
    ...more,
    headers: {
      // Their use is limited by source.
      ...(route.auth === 'approval_link' ? { 'x-forwarded-for': `198.18.${sources >> 8}.${sources++ & 255}` } : {}),
      ...headers,
    },
  });

function assertError(answer: Answer, status: number, code: string, why = ''): void {
  assert.deepEqual([answer.status, errorCode(answer)], [status, code], `${why} ${answer.text}`);
}

/** A rule that all routes, or some, must keep. */
const everyRoute = (
  rule: string,
  check: (route: Route) => void | Promise<void>,
  isUnderRule: (route: Route) => boolean = () => true,
): void => everyRow(rule, routes.filter(isUnderRule), ({ method, path }) => `${method} ${path}`, check);

const needsCredential = ({ auth }: Route): boolean => auth !== 'public';
const scopeOf = ({ auth }: Route): ApiScope | undefined =>
  typeof auth === 'object' && 'scope' in auth ? auth.scope : undefined;
const isForKeys = (route: Route): boolean => scopeOf(route) !== undefined;
/** Of keys and of the token of the mailbox that it names. */
const isForBoth = ({ auth }: Route): boolean =>
  typeof auth === 'object' && 'scope' in auth && auth.mailboxToken === true;
const takesJson = ({ method, takesFile }: Route): boolean => method !== 'GET' && takesFile !== true;
const ownCredential = ({ auth }: Route): Credential => credentialFor(auth, world.organization);

everyRoute('its examples fulfil its schemas', (route) => {
  if (route.body !== undefined) {
    assert.ok(route.bodyExample !== undefined, 'a route with a body has an example of it');
    checkSchema(route.body, route.bodyExample, 'bodyExample');
  }
  for (const [status, { schema, example }] of Object.entries(route.responses)) {
    if (schema === undefined) continue;
    assert.notEqual(example, undefined, `the answer ${status} has an example`);
    checkSchema(schema, example, `example of ${status}`);
  }
});

everyRoute(
  'refuses a request without credential',
  async (route) => {
    const answer = await call(route, pathOf(route), {});
    assertError(answer, 401, 'unauthenticated');
    assert.ok(answer.headers.get('www-authenticate'));
  },
  needsCredential,
);

everyRoute(
  'refuses genuine credentials of the wrong kind',
  async (route) => {
    for (const [kind, credential] of Object.entries(wrongKinds(route.auth)))
      assertError(await call(route, pathOf(route), credential), 403, 'forbidden', kind);
  },
  needsCredential,
);

everyRoute(
  'refuses two credentials at once, whosever they are',
  async (route) => {
    const own = ownCredential(route);
    const others = [world.other.key, world.organization.key, world.organization.mailbox.token, world.operator];
    for (const another of others.filter((each) => !Object.keys(each).some((name) => name in own)))
      assertError(await call(route, pathOf(route), { ...another, ...own }), 400, 'invalid_request');
  },
  needsCredential,
);

everyRoute(
  'refuses expired, revoked, unknown and mistyped credentials alike',
  async (route) => {
    for (const [kind, credential] of Object.entries(deadCredentials(route.auth)))
      assertError(await call(route, pathOf(route), credential), 401, 'unauthenticated', kind);
  },
  needsCredential,
);

everyRoute(
  'refuses a key that has every scope but the one needed',
  async (route) => {
    const scope = scopeOf(route);
    const key = keysWithout.get(scope ?? '') ?? {};
    assertError(await call(route, pathOf(route), key), 403, 'insufficient_scope', scope);
  },
  isForKeys,
);

everyRoute(
  'refuses a member without the role',
  async (route) => {
    assertError(await call(route, pathOf(route), world.organization.member.session), 403, 'forbidden');
  },
  ({ auth }) => typeof auth === 'object' && 'role' in auth && auth.role !== 'member',
);

everyRoute(
  'hides other mailboxes from a mailbox token',
  async (route) => {
    const answer = await call(route, pathOf(route, neighbour.id), world.organization.mailbox.token);
    assertError(answer, 404, 'not_found');
  },
  isForBoth,
);

everyRoute(
  'refuses mailbox tokens whose access it does not include',
  async (route) => {
    const path = pathOf(route, world.organization.mailbox.id);
    for (const [access, token] of tokens)
      if (!tokenAllows(access, tokenNeedOf(route)))
        assertError(await call(route, path, token), 403, 'insufficient_scope', access);
  },
  (route) => route.auth === 'mailbox_token' || isForBoth(route),
);

everyRoute(
  'shows nothing of other mailboxes to a key that is limited to a group',
  async (route) => {
    const { mailbox } = world.organization;
    const prefix = prefixOf(route);
    const outside = prefix === 'con_' ? ownConsent : mailbox.id;
    const answer = await call(route, pathOf(route, outside), limitedKey);
    if (route.limitedKeys !== true) {
      const expected = prefix === 'con_' || prefix === 'mbx_' ? [404, 'not_found'] : [403, 'insufficient_scope'];
      assert.deepEqual([answer.status, errorCode(answer)], expected, answer.text);
      return;
    }
    assert.notEqual(answer.status, 201, answer.text);
    for (const its of [mailbox.id, mailbox.address, ownConsent]) assert.ok(!answer.text.includes(its), answer.text);
    if (answer.status === 200 && Array.isArray(at(answer.body, 'data'))) assert.deepEqual(at(answer.body, 'data'), []);
    const foreignMailbox = await call(route, withQuery(pathOf(route), { mailboxId: mailbox.id }), limitedKey);
    assert.ok(!foreignMailbox.text.includes(mailbox.address), foreignMailbox.text);
  },
  isForKeys,
);

everyRoute(
  'hides rows of other organizations',
  async (route) => {
    const id = foreign[prefixOf(route)];
    assert.ok(id !== undefined, `a row of another organization for ${prefixOf(route)}`);
    const own = ownCredential(route);
    assertError(await call(route, pathOf(route, id), own), 404, 'not_found', 'row of another organization');
    assertError(await call(route, pathOf(route), own), 404, 'not_found', 'unknown id');
    assertError(await call(route, pathOf(route, 'nonsense'), own), 404, 'not_found', 'malformed id');
  },
  (route) => prefixOf(route) !== '',
);

everyRoute('refuses unknown query parameters and every invalid one', async (route) => {
  const own = ownCredential(route);
  const unknown = await call(route, withQuery(pathOf(route), { no_such_parameter: '1' }), own);
  assertError(unknown, 400, 'invalid_request');
  assert.deepEqual(detailPaths(unknown), ['query/no_such_parameter']);
  for (const { name, value, why } of wrongParameters(route.query)) {
    const answer = await call(route, withQuery(pathOf(route), { [name]: value }), own);
    assertError(answer, 400, 'invalid_request', `${name} ${why}`);
    assert.ok(detailPaths(answer).includes(`query/${name}`), answer.text);
  }
});

everyRoute(
  'refuses unknown fields and every invalid one',
  async (route) => {
    const own = ownCredential(route);
    const unknown = await call(route, pathOf(route), own, { body: { ...route.bodyExample, noSuchField: 1 } });
    assertError(unknown, 400, 'invalid_request');
    assert.ok(detailPaths(unknown).includes('/noSuchField'), unknown.text);
    for (const { path, value, why } of wrongFields(route.body)) {
      const answer = await call(route, pathOf(route), own, { body: withValue(route.bodyExample, path, value) });
      assertError(answer, 400, 'invalid_request', `${path.join('.')} ${why}`);
      const pointer = `/${path.join('/')}`;
      assert.ok(
        detailPaths(answer).some((each) => each === pointer || each.startsWith(`${pointer}/`)),
        answer.text,
      );
    }
  },
  takesJson,
);

everyRoute(
  'names every field that is missing',
  async (route) => {
    const answer = await call(route, pathOf(route), ownCredential(route), { body: {} });
    assertError(answer, 400, 'invalid_request');
    assert.deepEqual(
      detailPaths(answer).toSorted(),
      requiredFields(route)
        .map((name) => `/${name}`)
        .toSorted(),
    );
  },
  (route) => takesJson(route) && requiredFields(route).length > 0,
);

everyRoute(
  'refuses bodies that are no JSON, of another type, or too large',
  async (route) => {
    const own = ownCredential(route);
    const path = pathOf(route);
    assertError(await call(route, path, own, { rawBody: '{' }), 400, 'invalid_request', 'half a body');
    assertError(await call(route, path, own, { rawBody: '[1]' }), 400, 'invalid_request', 'a list');
    const asText = { rawBody: '{}', headers: { 'content-type': 'text/plain' } };
    assertError(await call(route, path, own, asText), 415, 'unsupported_media_type');
    const tooLarge = { rawBody: `"${'x'.repeat(route.bodyLimitBytes ?? BODY_LIMIT_BYTES)}"` };
    assertError(await call(route, path, own, tooLarge), 413, 'payload_too_large');
  },
  takesJson,
);

everyRoute(
  'answers 429 with Retry-After above the limit of the plan',
  async (route) => {
    const answer = await call(route, pathOf(route), credentialFor(route.auth, limited));
    assertError(answer, 429, 'rate_limited');
    assert.equal(answer.headers.get('ratelimit-remaining'), '0');
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
  },
  ({ auth, unlimited }) => actsInOrganization(auth) && unlimited === undefined,
);

everyRoute(
  'refuses an Idempotency-Key that was used with another request',
  async (route) => {
    const key = `${route.operationId}-other`;
    await world.sql(
      `insert into idempotency_keys (principal, key, request_hash, status, body)
       select principal, $2, $3, 200, '{}' from unnest($1::text[]) principal`,
      [
        ['public', 'operator', ...(await principalsOf(world.organization))],
        key,
        createHash('sha256').update('another request').digest(),
      ],
    );
    const answer = await call(route, pathOf(route), ownCredential(route), { headers: { 'idempotency-key': key } });
    assertError(answer, 409, 'idempotency_conflict');
  },
  // An upload is stored before it is compared: `files.test.ts`.
  ({ method, takesFile }) => method === 'POST' && takesFile !== true,
);

everyRow(
  'answers each error where it says so',
  routes.flatMap((route) =>
    (route.errors ?? [])
      .filter((code) => code !== 'not_found' || prefixOf(route) === '')
      .map((code) => ({ name: `${route.operationId} ${code}`, code })),
  ),
  ({ name }) => name,
  async ({ name, code }) => {
    const reach = errorCases[name];
    assert.ok(reach !== undefined, `add a case for "${name}" to error-cases/`);
    const answer = await reach(world);
    assert.equal(errorCode(answer), code, answer.text);
  },
);

/** How the organization's credentials stand in the table of idempotency keys. */
async function principalsOf(organization: TestOrganization): Promise<string[]> {
  const keys = await world.sql(`select id from api_keys where organization_id = $1`, [organization.id]);
  return [
    ...keys.map(({ id }) => `api_key:${String(id)}`),
    `user:${organization.owner.userId}`,
    `mailbox:${organization.mailbox.id}`,
    ...(await world.sql(`select id from approval_links`)).map(({ id }) => `approval_link:${String(id)}`),
  ];
}

test('every case for a documented error belongs to a route that documents it', () => {
  const documented = new Set(
    routes.flatMap((route) => (route.errors ?? []).map((code) => `${route.operationId} ${code}`)),
  );
  assert.deepEqual(
    Object.keys(errorCases).filter((name) => !documented.has(name)),
    [],
  );
});
