import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiWorld, apiWorld, at, errorCode, textAt } from '../support/api-world.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world.close());

const create = (key: string, body: object = {}, as = world.organization.key) =>
  world.call('POST', '/api/mailboxes', { as, body, headers: { 'idempotency-key': key } });

const age = (key: string, interval: string) =>
  world.sql(`update idempotency_keys set created_at = created_at - $2::interval where key = $1`, [key, interval]);

test('a repeated request answers what the first one did, and does nothing', async () => {
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

test('secrets are in a replay for ten minutes, then null', async () => {
  const first = await create('secret');
  assert.ok(textAt(first.body, 'token').startsWith('amt_'));
  await age('secret', '11 minutes');
  const late = await create('secret');
  assert.equal(late.status, 201);
  assert.equal(at(late.body, 'token'), null);
  assert.equal(textAt(late.body, 'id'), textAt(first.body, 'id'));
});

test('a stored answer holds no secret in the clear', async () => {
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

test('the key of a request whose process died is taken over after five minutes by the same request only', async () => {
  await create('died', { name: 'A' });
  await world.sql(`update idempotency_keys set status = null, body = null, body_sealed = null where key = 'died'`);
  const running = await create('died', { name: 'A' });
  assert.equal(errorCode(running), 'idempotency_conflict');
  assert.equal(running.headers.get('retry-after'), '1');
  await age('died', '6 minutes');
  assert.equal(errorCode(await create('died', { name: 'B' })), 'idempotency_conflict');
  assert.equal((await create('died', { name: 'A' })).status, 201);
});

test('a mail whose commit lost its answer is not sent again by a repeated request', async () => {
  const { db } = world.services;
  const { transaction } = db;
  let lost = 0;
  // Commits, and breaks the connection before the answer comes.
  const broken: typeof transaction = async (work) => {
    await transaction(work);
    lost++;
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  };
  const { mailbox } = world.organization;
  const send = () =>
    world.call('POST', '/api/mailbox/messages', {
      as: mailbox.token,
      body: { to: [mailbox.address], subject: 'Lost answer', text: '.' },
      headers: { 'idempotency-key': 'lost' },
    });
  Object.assign(db, { transaction: broken });
  try {
    assert.deepEqual([(await send()).status, lost], [503, 1]);
  } finally {
    Object.assign(db, { transaction });
  }
  assert.equal(errorCode(await send()), 'idempotency_conflict');
  const sent = await world.sql(`select id from outbound_message where subject = 'Lost answer'`);
  assert.equal(sent.length, 1);
});

test('a key that is too long is refused', async () => {
  const answer = await create('x'.repeat(257));
  assert.equal(errorCode(answer), 'invalid_request');
  assert.equal(at(answer.body, 'error', 'details', 0, 'path'), 'header/idempotency-key');
});
