import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AnsweredMeanwhile, storeAnswer, takeKey } from '#api/http/idempotency.ts';
import { routes } from '#api/routes.ts';
import { newId } from '#core/platform/new-id.ts';
import { IDEMPOTENCY_KEY_MAX_LENGTH } from '#domain/idempotency-limits.ts';
import { type ApiWorld, apiWorld, at, errorCode, textAt } from '#test/support/api-world.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world.close());

const create = (key: string, body: object = {}, as = world.organization.key) =>
  world.call('POST', '/api/mailboxes', { as, body, headers: { 'idempotency-key': key } });

const age = (key: string, interval: string) =>
  world.sql(`update idempotency_keys set created_at = created_at - $2::interval where key = $1`, [key, interval]);

test('a repeated request gets the answer of the first one, and has no effect', async () => {
  const first = await create('repeat', { name: 'Once' });
  const second = await create('repeat', { name: 'Once' });
  assert.equal(first.status, 201);
  assert.equal(second.status, 201);
  assert.equal(second.text, first.text);
  assert.equal(first.headers.get('idempotent-replayed'), null);
  assert.equal(second.headers.get('idempotent-replayed'), 'true');
  const [row] = await world.sql(`select count(*)::int as count from mailboxes where name = 'Once'`);
  assert.equal(row?.['count'], 1);
});

test('the same key with another body is refused', async () => {
  await create('body', { name: 'A' });
  const answer = await create('body', { name: 'B' });
  assert.deepEqual([answer.status, errorCode(answer)], [409, 'idempotency_conflict']);
});

test('the same key on another path is refused', async () => {
  await create('path');
  const answer = await world.call('POST', `/api/mailboxes/${world.organization.mailbox.id}/rotate-token`, {
    as: world.organization.key,
    headers: { 'idempotency-key': 'path' },
  });
  assert.equal(errorCode(answer), 'idempotency_conflict');
});

test('of many equal requests at the same time one runs, the others are refused or replayed', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => create('together', { name: 'Together' })));
  const statuses = new Set(answers.map(({ status }) => status));
  assert.ok(
    [...statuses].every((status) => status === 201 || status === 409),
    [...statuses].join(),
  );
  const [row] = await world.sql(`select count(*)::int as count from mailboxes where name = 'Together'`);
  assert.equal(row?.['count'], 1);
});

test('keys of different senders are apart', async () => {
  const own = await create('mine');
  const others = await create('mine', {}, world.other.key);
  assert.equal(others.status, 201);
  assert.notEqual(textAt(own.body, 'id'), textAt(others.body, 'id'));
});

test('a person’s key is of one organization: in another one it is refused, and nothing is replayed', async () => {
  const person = await world.newPerson(world.organization.id, 'owner');
  await world.sql(`insert into members (id, organization_id, user_id, role) values ($1, $2, $3, 'owner')`, [
    newId('member'),
    world.other.id,
    person.userId,
  ]);
  const createIn = (organizationId: string) =>
    world.call('POST', '/api/mailboxes', {
      as: person.session,
      body: { name: 'Of one' },
      headers: { 'idempotency-key': 'across', 'x-organization-id': organizationId },
    });
  const first = await createIn(world.organization.id);
  assert.equal(first.status, 201, first.text);
  const elsewhere = await createIn(world.other.id);
  assert.deepEqual([elsewhere.status, errorCode(elsewhere)], [409, 'idempotency_conflict']);
  assert.ok(!elsewhere.text.includes(textAt(first.body, 'token')));
  assert.equal((await createIn(world.organization.id)).text, first.text);
});

test('secrets are in a replay for ten minutes, then null', async () => {
  const first = await create('secret');
  assert.ok(textAt(first.body, 'token').startsWith('amt_'));
  await age('secret', '11 minutes');
  const late = await create('secret');
  assert.equal(late.status, 201);
  assert.equal(at(late.body, 'token'), null);
  assert.equal(textAt(late.body, 'id'), textAt(first.body, 'id'));
});

test('a stored answer contains no plaintext secret', async () => {
  const first = await create('sealed');
  const [row] = await world.sql(`select body, body_sealed from idempotency_keys where key = 'sealed'`);
  assert.ok(!JSON.stringify(row).includes(textAt(first.body, 'token')));
});

test('after a day the key is new', async () => {
  const first = await create('old');
  await age('old', '25 hours');
  const second = await create('old');
  assert.equal(second.headers.get('idempotent-replayed'), null);
  assert.notEqual(textAt(first.body, 'id'), textAt(second.body, 'id'));
});

test('a request that failed changed nothing, and its key can be used again with a corrected body', async () => {
  const refused = await create('corrected', { localPart: 'postmaster' });
  assert.equal(errorCode(refused), 'invalid_local_part');
  assert.equal((await create('corrected', { localPart: 'postmaster-2' })).status, 201);
});

/** The lock of a request that has begun to change something, as another process would hold it. */
async function runElsewhere(key: string): Promise<{ end(): Promise<void> }> {
  const [row] = await world.sql(`select id from api_keys where organization_id = $1`, [world.organization.id]);
  const client = await world.services.db.pool.connect();
  await client.query('begin');
  await client.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [
    JSON.stringify(['idempotency', `api_key:${String(row?.['id'])}`, key]),
  ]);
  return {
    async end() {
      await client.query('rollback');
      client.release();
    },
  };
}

test('while a request runs an equal one is refused, and once it has died the key is free at once', async () => {
  const running = await runElsewhere('died');
  const refused = await create('died', { name: 'Died' });
  await running.end();
  assert.deepEqual([refused.status, errorCode(refused)], [409, 'idempotency_conflict']);
  assert.equal(refused.headers.get('retry-after'), '1');
  const [row] = await world.sql(`select count(*)::int as count from mailboxes where name = 'Died'`);
  assert.equal(row?.['count'], 0);
  assert.equal((await create('died', { name: 'Died' })).status, 201);
});

test('a refusal is not replayed, but its records are kept', async () => {
  const { mailbox, owner } = world.organization;
  await world.call('POST', '/api/lists/outbound/block', { as: owner.session, body: { value: 'blocked.example' } });
  const send = () =>
    world.call('POST', '/api/mailbox/messages', {
      as: mailbox.token,
      body: { to: ['x@blocked.example'], subject: 'Blocked', text: '.' },
      headers: { 'idempotency-key': 'refused' },
    });
  const events = () => world.sql(`select id from events where type = 'email_blocked'`);
  const before = (await events()).length;
  assert.equal(errorCode(await send()), 'recipient_blocked');
  assert.equal((await events()).length, before + 1);
  assert.equal(errorCode(await send()), 'recipient_blocked');
});

test('an answer stored between the first look and the lock is that of the request, and is stored once', async () => {
  const { services } = world;
  const route = routes.find(({ secretFields }) => secretFields === undefined);
  assert.ok(route !== undefined);
  const request = { principal: 'key_of_a_race', key: 'meanwhile', hash: Buffer.alloc(32, 1) };
  const answer = { status: 201, headers: { location: '/api/things/1' }, text: '{ "id": "1" }' };
  const store = () => services.db.transaction((sql) => storeAnswer(services, sql, route, request, answer));
  await store();
  await assert.rejects(
    services.db.transaction((sql) => takeKey(services, sql, request)),
    (error) => {
      assert.ok(error instanceof AnsweredMeanwhile);
      assert.deepEqual(error.answer, answer);
      return true;
    },
  );
  await assert.rejects(store(), { code: 'idempotency_conflict' });
});

test('a key of the greatest length is taken', async () => {
  assert.equal((await create('k'.repeat(IDEMPOTENCY_KEY_MAX_LENGTH))).status, 201);
});

test('a key that is too long is refused', async () => {
  const answer = await create('x'.repeat(257));
  assert.equal(errorCode(answer), 'invalid_request');
  assert.equal(at(answer.body, 'error', 'details', 0, 'path'), 'header/idempotency-key');
});
