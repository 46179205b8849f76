import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '#core/platform/new-id.ts';
import { type ApiWorld, apiWorld, at, textAt } from '#test/support/api-world.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world?.close());

const add = (organizationId: string, address: string, reason: string) =>
  world.sql(`insert into suppression (id, organization_id, address, reason) values ($1, $2, $3, $4)`, [
    newId('suppression'),
    organizationId,
    address,
    reason,
  ]);

const list = async (query = '') => {
  const as = world.organization.key;
  const { status, body, text } = await world.call('GET', `/api/suppressions${query}`, { as });
  assert.equal(status, 200, text);
  const data = at(body, 'data');
  return { body, addresses: Array.isArray(data) ? data.map((entry) => textAt(entry, 'address')) : [] };
};

test('an organization lists its suppressions page by page, filters them, and removes one', async () => {
  await add(world.organization.id, 'gone@a.example', 'hard_bounce');
  await add(world.organization.id, 'angry@a.example', 'complaint');
  await add(world.other.id, 'foreign@a.example', 'complaint');
  const first = await list('?limit=1');
  assert.deepEqual(first.addresses, ['angry@a.example']);
  const second = await list(`?limit=1&cursor=${textAt(first.body, 'nextCursor')}`);
  assert.deepEqual(second.addresses, ['gone@a.example']);
  assert.equal(at(second.body, 'nextCursor'), null);
  assert.deepEqual((await list('?reason=hard_bounce')).addresses, ['gone@a.example']);
  assert.deepEqual((await list('?address=Angry@a.example')).addresses, ['angry@a.example']);

  const path = `/api/suppressions/${textAt(first.body, 'data', 0, 'id')}`;
  const as = world.organization.member.session;
  assert.equal((await world.call('DELETE', path, { as })).status, 204);
  assert.equal((await world.call('DELETE', path, { as })).status, 404);
  assert.deepEqual((await list()).addresses, ['gone@a.example']);
  const audit = await world.call('GET', '/api/audit?action=suppression.deleted', { as });
  assert.equal(textAt(audit.body, 'data', 0, 'details', 'address'), 'angry@a.example');
});
