import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PLANS } from '#domain/organizations/plans.ts';
import { type ApiWorld, apiWorld, asBearer, at, errorCode, textAt } from '#test/support/api-world.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world.close());

const create = (body?: object, as = world.organization.key) =>
  world.call('POST', '/api/mailboxes', { as, ...(body === undefined ? {} : { body }) });

const events = (mailboxId: string, type: string) =>
  world.sql(`select payload from events where mailbox_id = $1 and type = $2`, [mailboxId, type]);

test('a mailbox without wishes has a made-up address, its token once, and settings for clients', async () => {
  const answer = await create();
  assert.equal(answer.status, 201);
  assert.match(textAt(answer.body, 'address'), /^[a-z]+-[a-z]+-\d{4}@agents\.test$/);
  assert.equal(at(answer.body, 'status'), 'active');
  assert.equal(at(answer.body, 'quota', 'limitBytes'), PLANS.business.quotaBytesPerMailbox);
  assert.equal(at(answer.body, 'connection', 'imap', 'username'), at(answer.body, 'address'));
  const token = asBearer(textAt(answer.body, 'token'));
  const own = await world.call('GET', '/api/mailbox', { as: token });
  assert.equal(at(own.body, 'id'), at(answer.body, 'id'));
  assert.ok(!own.text.includes('token'));
  const connection = await world.call('GET', '/api/mailbox/connection', { as: token });
  assert.deepEqual(connection.body, at(answer.body, 'connection'));
  const { smtp } = connection.body as { smtp: object };
  assert.deepEqual(smtp, {
    host: 'mail.test',
    port: world.services.settings.SUBMISSIONS_PORT,
    security: 'tls',
    username: at(answer.body, 'address'),
  });
  const byId = await world.call('GET', `/api/mailboxes/${textAt(answer.body, 'id')}/connection`, { as: token });
  assert.deepEqual(byId.body, connection.body);
});

test('wishes are kept, the address in lower case', async () => {
  const answer = await create({ localPart: 'Order.Desk', name: 'Order desk', metadata: { team: 'orders' } });
  assert.equal(at(answer.body, 'address'), 'order.desk@agents.test');
  assert.equal(at(answer.body, 'name'), 'Order desk');
  assert.deepEqual(at(answer.body, 'metadata'), { team: 'orders' });
});

test('creation is recorded as an event, with the mailbox in envelope and data, and in the audit log', async () => {
  const answer = await create({ localPart: 'recorded' });
  const id = textAt(answer.body, 'id');
  const [event] = await events(id, 'mailbox_created');
  const payload: unknown = JSON.parse(String(event?.['payload']));
  assert.equal(at(payload, 'mailbox', 'address'), 'recorded@agents.test');
  assert.equal(at(payload, 'data', 'mailbox', 'id'), id);
  assert.equal(at(payload, 'actor', 'type'), 'api_key');
  const audit = await world.call('GET', `/api/audit?targetId=${id}`, { as: world.organization.key });
  assert.equal(at(audit.body, 'data', 0, 'action'), 'mailbox.created');
  assert.equal(at(audit.body, 'data', 0, 'requestId'), answer.headers.get('x-request-id'));
});

test('of many creations of one address at the same time one wins', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => create({ localPart: 'wanted' })));
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.ok(answers.every((answer) => answer.status === 201 || errorCode(answer) === 'conflict'));
});

test('many creations at the same time all get their own mailbox', async () => {
  const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => create({ name: `Crowd ${index}` })));
  assert.ok(answers.every(({ status }) => status === 201));
  assert.equal(new Set(answers.map(({ body }) => at(body, 'address'))).size, 60);
  for (const [index, { body }] of answers.entries()) assert.equal(at(body, 'name'), `Crowd ${index}`);
});

test('a client id makes creation idempotent, even at the same time', async () => {
  const answers = await Promise.all(Array.from({ length: 6 }, () => create({ clientId: 'desk-1', name: 'Desk' })));
  const ids = new Set(answers.map(({ body }) => at(body, 'id')));
  assert.equal(ids.size, 1);
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  for (const { status, body } of answers) assert.equal(at(body, 'token') === null, status === 200);
  const elsewhere = await create({ clientId: 'desk-1', localPart: 'another-address' });
  assert.equal(errorCode(elsewhere), 'conflict');
  assert.equal((await create({ clientId: 'desk-1' }, world.other.key)).status, 201);
});

test('the plan is a limit also for creations at the same time', async () => {
  const organization = await world.newOrganization('free');
  const answers = await Promise.all(Array.from({ length: 8 }, () => create(undefined, organization.key)));
  const limit = PLANS.free.maxMailboxes ?? 0;
  assert.equal(answers.filter(({ status }) => status === 201).length, limit - 1);
  assert.ok(answers.every((answer) => answer.status === 201 || errorCode(answer) === 'plan_limit_reached'));
  await world.call('DELETE', `/api/mailboxes/${organization.mailbox.id}`, { as: organization.key });
  assert.equal((await create(undefined, organization.key)).status, 201);
});

test('a domain that is not one of the organization is refused', async () => {
  const answer = await create({ domain: 'elsewhere.example' });
  assert.equal(errorCode(answer), 'invalid_request');
  assert.equal(at(answer.body, 'error', 'details', 0, 'path'), '/domain');
});

test('a local part is refused with its reason', async () => {
  for (const localPart of ['abuse', 'MAILER-DAEMON', 'a..b', '.a', 'a.', 'a b', 'a@b', 'ü'])
    assert.equal(errorCode(await create({ localPart })), 'invalid_local_part', localPart);
});

test('name, metadata and status change; omitted fields do not', async () => {
  const { body } = await create({ metadata: { a: '1', b: '2' } });
  const path = `/api/mailboxes/${textAt(body, 'id')}`;
  const patch = (changes: object) => world.call('PATCH', path, { as: world.organization.key, body: changes });
  assert.equal(at((await patch({ name: 'New' })).body, 'name'), 'New');
  assert.deepEqual(at((await patch({ metadata: { c: '3' } })).body, 'metadata'), { c: '3' });
  const suspended = await patch({ status: 'suspended' });
  assert.equal(at(suspended.body, 'status'), 'suspended');
  assert.equal(at(suspended.body, 'name'), 'New');
  assert.equal(at((await patch({ status: 'suspended' })).body, 'status'), 'suspended');
  const resumed = await world.call('PATCH', path, {
    as: world.organization.member.session,
    body: { status: 'active' },
  });
  assert.equal(at(resumed.body, 'status'), 'active');
  assert.notEqual(at(suspended.body, 'updatedAt'), at(body, 'updatedAt'));
});

test('rotating the token kills the old one at once', async () => {
  const mailbox = await world.newMailbox(world.organization);
  const answer = await world.call('POST', `/api/mailboxes/${mailbox.id}/rotate-token`, { as: world.organization.key });
  assert.equal(answer.status, 200);
  assert.equal((await world.call('GET', '/api/mailbox', { as: mailbox.token })).status, 401);
  const fresh = await world.call('GET', '/api/mailbox', { as: asBearer(textAt(answer.body, 'token')) });
  assert.equal(at(fresh.body, 'id'), mailbox.id);
});

test('deletion ends token, endpoints and address, and organization endpoints receive it', async () => {
  const { key } = world.organization;
  const created = await create({ localPart: 'leaving' });
  const id = textAt(created.body, 'id');
  const hook = await world.call('POST', '/api/webhooks', {
    as: key,
    body: { url: 'https://127.0.0.1/hook', eventTypes: ['email_received'], mailboxId: id },
  });
  assert.equal((await world.call('DELETE', `/api/mailboxes/${id}`, { as: key })).status, 204);
  const token = asBearer(textAt(created.body, 'token'));
  assert.equal((await world.call('GET', '/api/mailbox', { as: token })).status, 401);
  for (const path of [`/api/mailboxes/${id}`, `/api/webhooks/${textAt(hook.body, 'id')}`])
    assert.equal((await world.call('GET', path, { as: key })).status, 404);
  assert.equal((await world.call('DELETE', `/api/mailboxes/${id}`, { as: key })).status, 404);
  const [event] = await events(id, 'mailbox_deleted');
  assert.equal(at(JSON.parse(String(event?.['payload'])), 'data', 'mailbox', 'status'), 'deleting');
  const list = await world.call('GET', '/api/mailboxes?q=leaving', { as: key });
  assert.deepEqual(at(list.body, 'data'), []);
});

test('a deleted address is given out again after 30 days, not before', async () => {
  const { key } = world.organization;
  const id = textAt((await create({ localPart: 'rested' })).body, 'id');
  await world.call('DELETE', `/api/mailboxes/${id}`, { as: key });
  assert.equal(errorCode(await create({ localPart: 'rested' })), 'conflict');
  await world.sql(`update mailboxes set deleted_at = deleted_at - interval '29 days' where id = $1`, [id]);
  assert.equal(errorCode(await create({ localPart: 'rested' })), 'conflict');
  await world.sql(`update mailboxes set deleted_at = deleted_at - interval '2 days' where id = $1`, [id]);
  assert.equal((await create({ localPart: 'rested' })).status, 201);
});

test('a list is paged to its end without loss or repetition, newest first', async () => {
  const organization = await world.newOrganization('business');
  const made = [organization.mailbox.id];
  for (let count = 0; count < 6; count++)
    made.push(textAt((await create({ name: `Page ${count}` }, organization.key)).body, 'id'));
  const seen: string[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const page = await world.call('GET', `/api/mailboxes?limit=3${cursor}`, {
      as: organization.key,
    });
    const data = at(page.body, 'data');
    assert.ok(Array.isArray(data));
    seen.push(...data.map((mailbox) => textAt(mailbox, 'id')));
    const next = at(page.body, 'nextCursor');
    cursor = typeof next === 'string' ? `&cursor=${next}` : undefined;
  }
  assert.deepEqual(seen, made.toSorted().toReversed());
});

test('a list is searched by part of address or name, its characters taken literally, and filtered', async () => {
  const organization = await world.newOrganization('business');
  const list = (query: string) => world.call('GET', `/api/mailboxes?${query}`, { as: organization.key });
  const names = async (query: string) => {
    const data = at((await list(query)).body, 'data');
    return Array.isArray(data) ? data.map((mailbox) => textAt(mailbox, 'name')) : [];
  };
  await create({ name: '100% Sales', localPart: 'alpha', clientId: 'c-1' }, organization.key);
  const beta = await create({ name: 'Support', localPart: 'beta' }, organization.key);
  await world.call('PATCH', `/api/mailboxes/${textAt(beta.body, 'id')}`, {
    as: organization.key,
    body: { status: 'suspended' },
  });
  assert.deepEqual(await names('q=ALPHA'), ['100% Sales']);
  assert.deepEqual(await names('q=0%25'), ['100% Sales']);
  assert.deepEqual(await names('q=_'), []);
  assert.deepEqual(await names('status=suspended'), ['Support']);
  assert.deepEqual(await names('clientId=c-1'), ['100% Sales']);
  assert.deepEqual(await names('domain=elsewhere.example'), []);
});

test('a cursor of another list is refused', async () => {
  const cursor = Buffer.from('nonsense').toString('base64url');
  const answer = await world.call('GET', `/api/mailboxes?cursor=${cursor}`, { as: world.organization.key });
  assert.equal(at(answer.body, 'error', 'details', 0, 'path'), 'query/cursor');
});

test('any member may manage mailboxes in a session', async () => {
  assert.equal((await create({}, world.organization.member.session)).status, 201);
});

test('a control character in a name is refused, so that it cannot break a header', async () => {
  assert.equal(errorCode(await create({ name: 'a\r\nBcc: x@y.test' })), 'invalid_request');
});
