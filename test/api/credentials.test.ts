/** Which credentials a request may carry, whatever it asks for. What each may do is in the tests of its kind. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiWorld, apiWorld, at, type Credential, errorCode } from '#test/support/api-world.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world.close());

const list = (as: Credential) => world.call('GET', '/api/mailboxes', { as });

test('no credential, and one of no known kind, are refused, at /api without a word about MCP', async () => {
  for (const as of [{}, { authorization: 'Bearer nonsense' }]) {
    const answer = await list(as);
    assert.equal(errorCode(answer), 'unauthenticated');
    assert.ok(!answer.text.includes('OAuth'), answer.text);
    assert.equal(typeof at(answer.body, 'error', 'fix'), 'string', answer.text);
    const mcp = await world.call('POST', '/mcp', {
      as,
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      headers: { accept: 'application/json, text/event-stream' },
    });
    assert.equal(mcp.status, 401);
    assert.ok(mcp.text.includes('OAuth'), mcp.text);
  }
});

test('two credentials are refused, and both are named: it would be unclear which of them acts', async () => {
  const { key, owner } = world.organization;
  const { operator } = world;
  for (const [as, names] of [
    [{ ...key, ...owner.session }, ['x-organization-key', 'authorization']],
    [{ ...operator, ...key }, ['x-operator-key', 'x-organization-key']],
    [{ ...operator, ...owner.session }, ['x-operator-key', 'authorization']],
  ] as const) {
    const answer = await list(as);
    assert.equal(errorCode(answer), 'invalid_request');
    const details = Object.values(Object(at(answer.body, 'error', 'details')));
    assert.deepEqual(
      details.map((detail) => at(detail, 'path')),
      names.map((name) => `header/${name}`),
    );
  }
  assert.equal((await list({ ...key, authorization: 'Basic cHJveHk6' })).status, 200, 'of a proxy in front');
});

test('a key may name its own organization, and no other', async () => {
  const { key, id } = world.organization;
  assert.equal((await list({ ...key, 'x-organization-id': id })).status, 200);
  const answer = await list({ ...key, 'x-organization-id': world.other.id });
  assert.equal(errorCode(answer), 'invalid_request');
  assert.equal(at(answer.body, 'error', 'details', 0, 'path'), 'header/x-organization-id');
});
