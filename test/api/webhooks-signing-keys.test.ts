import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifyWebhook } from '#client/index.ts';
import { type ReceivedRequest, verified } from '#test/support/receiver.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { errorOf, type Subscribed, type WebhookWorld, webhookWorld } from './webhook-world.ts';

interface SigningKey {
  readonly id: string;
  readonly publicKey: string;
  readonly expiresAt: string | null;
}

interface Jwk {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly kid: string;
}

let world: WebhookWorld;
before(async () => {
  world = await webhookWorld();
});
after(() => world?.close());

const keysOf = async ({ call }: Pick<Subscribed, 'call'>): Promise<readonly SigningKey[]> =>
  (await call('GET', '/api/webhooks/signing-keys')).body['keys'] as SigningKey[];

async function keySet(query = ''): Promise<readonly Jwk[]> {
  const response = await fetch(`${world.api.url}/.well-known/jwks.json${query}`);
  assert.equal(response.status, 200);
  return ((await response.json()) as { keys: Jwk[] }).keys;
}

/** A delivery that was made just now. */
async function newRequest({ call, path }: Subscribed): Promise<ReceivedRequest> {
  const sent = await call('POST', `${path}/test`, {});
  return waitUntil('the delivery', () => world.receiver.of(String(sent.body['id']))[0]);
}

const verifies = (request: ReceivedRequest, key: string | Jwk | readonly Jwk[]): Promise<boolean> =>
  verifyWebhook(request.headers, request.body, key).then(
    () => true,
    () => false,
  );

test('an endpoint asks for v1a, and its deliveries verify with the key set of its organization', async () => {
  const subscribed = await world.setUp();
  assert.deepEqual(await keysOf(subscribed), []);
  assert.match(String((await newRequest(subscribed)).headers['webhook-signature']), /^v1,\S+$/);
  const changed = await subscribed.call('PATCH', subscribed.path, { publicKeySignature: true });
  assert.equal(changed.body['publicKeySignature'], true);
  const request = await newRequest(subscribed);
  verified(request, subscribed.secret);
  const answer = await subscribed.call('GET', '/api/webhooks/signing-keys');
  const [key, ...more] = answer.body['keys'] as SigningKey[];
  assert.ok(key);
  assert.deepEqual([more, key.expiresAt], [[], null]);
  assert.match(key.publicKey, /^whpk_[A-Za-z0-9+/]{43}=$/);
  assert.ok(await verifies(request, key.publicKey));

  const url = new URL(String(answer.body['keySetUrl']));
  assert.equal(url.pathname + url.search, `/.well-known/jwks.json?organization=${subscribed.organization.id}`);
  const keys = await keySet(url.search);
  assert.deepEqual(keys, [
    {
      kty: 'OKP',
      crv: 'Ed25519',
      x: Buffer.from(key.publicKey.slice(5), 'base64').toString('base64url'),
      kid: key.id,
      use: 'sig',
      alg: 'EdDSA',
    },
  ]);
  assert.ok(await verifies(request, keys));
  const cached = await fetch(`${world.api.url}/.well-known/jwks.json${url.search}`);
  assert.equal(cached.headers.get('cache-control'), 'public, max-age=300');
  assert.ok(
    (await keySet()).some(({ kid }) => kid === key.id),
    'the set of all organizations has it too',
  );

  assert.equal((await subscribed.call('PATCH', subscribed.path, { publicKeySignature: false })).status, 200);
  assert.match(String((await newRequest(subscribed)).headers['webhook-signature']), /^v1,\S+$/);
});

test('each organization has keys of its own: an event of one does not verify as an event of another', async () => {
  const [one, other] = [
    await world.setUp({ publicKeySignature: true }),
    await world.setUp({ publicKeySignature: true }),
  ];
  const request = await newRequest(one);
  const [[ofOne], [ofOther]] = [await keysOf(one), await keysOf(other)];
  assert.ok(ofOne && ofOther);
  assert.ok(await verifies(request, ofOne.publicKey));
  assert.ok(!(await verifies(request, ofOther.publicKey)));
  assert.ok(!(await verifies(request, await keySet(`?organization=${other.organization.id}`))));
  const second = await one.call('POST', '/api/webhooks', {
    url: world.receiver.url,
    eventTypes: ['email_sent'],
    publicKeySignature: true,
  });
  assert.equal(second.status, 201);
  assert.deepEqual(
    (await keysOf(one)).map(({ id }) => id),
    [ofOne.id],
    'its endpoints share one',
  );
});

test('a rotation with an overlap signs with both keys, one without ends the former at once', async () => {
  const subscribed = await world.setUp({ publicKeySignature: true });
  const rotate = (body: object) => subscribed.call('POST', '/api/webhooks/signing-keys/rotate', body);
  const [first] = await keysOf(subscribed);
  assert.equal((await rotate({})).status, 200);
  const [second, former] = await keysOf(subscribed);
  assert.ok(first && second && former);
  assert.notEqual(second.id, first.id);
  assert.equal(former.id, first.id);
  const dayMs = 86_400_000;
  const remainingMs = Date.parse(String(former.expiresAt)) - Date.now();
  assert.ok(remainingMs > dayMs / 2 && remainingMs <= dayMs);
  const both = await newRequest(subscribed);
  assert.match(String(both.headers['webhook-signature']), /^v1,\S+ v1a,\S+ v1a,\S+$/);
  assert.ok((await verifies(both, first.publicKey)) && (await verifies(both, second.publicKey)));
  const published = await keySet(`?organization=${subscribed.organization.id}`);
  assert.deepEqual(new Set(published.map(({ kid }) => kid)), new Set([first.id, second.id]));

  assert.equal((await rotate({ overlapSeconds: 0 })).status, 200);
  const [third, ...more] = await keysOf(subscribed);
  assert.ok(third);
  assert.deepEqual(more, []);
  const request = await newRequest(subscribed);
  assert.ok(await verifies(request, third.publicKey));
  assert.ok(!(await verifies(request, first.publicKey)) && !(await verifies(request, second.publicKey)));

  await rotate({ overlapSeconds: 3_600 });
  await world.sql(`update webhook_signing_key set expires_at = now() - interval '1 second' where id = $1`, [third.id]);
  assert.ok(!(await verifies(await newRequest(subscribed), third.publicKey)), 'the overlap is over');
  assert.equal((await keySet(`?organization=${subscribed.organization.id}`)).length, 1);
  const audit = await world.sql(
    `select action from audit_entries where organization_id = $1 and action = 'webhook.signing_key_rotated'`,
    [subscribed.organization.id],
  );
  assert.equal(audit.length, 3);
});

test('private keys are stored sealed and are in no answer', async () => {
  const subscribed = await world.setUp({ publicKeySignature: true });
  const [row] = await world.sql('select * from webhook_signing_key where organization_id = $1', [
    subscribed.organization.id,
  ]);
  assert.match(String(row?.['private_key_sealed']), /^v1\./);
  assert.ok(!JSON.stringify(row).includes('whsk_'));
  const reader = await world.client(subscribed.organization, ['webhook:read']);
  assert.deepEqual(Object.keys((await keysOf({ call: reader }))[0] ?? {}), [
    'id',
    'publicKey',
    'createdAt',
    'expiresAt',
  ]);
  assert.equal(errorOf(await reader('POST', '/api/webhooks/signing-keys/rotate', {})).status, 403);
});

test('ten endpoints ask for the first key at the same time, and one key is made', async () => {
  const subscribed = await world.setUp();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () =>
      subscribed.call('POST', '/api/webhooks', {
        url: world.receiver.url,
        eventTypes: ['email_sent'],
        publicKeySignature: true,
      }),
    ),
  );
  assert.ok(answers.every(({ status }) => status === 201));
  assert.equal((await keysOf(subscribed)).length, 1);
});
