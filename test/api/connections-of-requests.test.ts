/**
 * A POST works in one transaction on one connection. It must not ask the pool for another one meanwhile: as many requests
 * at once as there are connections would wait for each other for ever.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { routes } from '#api/routes.ts';
import { type ApiWorld, apiWorld } from '#test/support/api-world.ts';
import { type PostRequest, postRequests } from './post-requests.ts';

/** The smallest pool that the settings allow. */
const CONNECTIONS = 2;
/** Far longer than so few requests take. */
const ANSWERED_WITHIN_MS = 60_000;
let world: ApiWorld;
before(async () => {
  world = await apiWorld({ DATABASE_POOL_MAX: String(CONNECTIONS) });
  await world.sql(`update organizations set plan = 'unlimited'`);
});
after(() => world.close());

for (const { method, operationId } of routes)
  if (method === 'POST')
    test(`${operationId}: as many requests at once as the pool has connections are all answered`, async () => {
      const make = postRequests[operationId];
      assert.ok(make !== undefined);
      await world.sql('delete from rate_limits');
      const requests: PostRequest[] = [];
      for (let n = 0; n < CONNECTIONS * 2; n++) requests.push(await make(world));
      const late = AbortSignal.timeout(ANSWERED_WITHIN_MS);
      const answers = Promise.all(
        requests.map(({ path, as, body }) =>
          world.call('POST', path, {
            as,
            ...(body === undefined ? {} : { body }),
            headers: { 'idempotency-key': randomBytes(12).toString('hex') },
          }),
        ),
      );
      const given = await Promise.race([
        answers,
        new Promise<never>((_, reject) => late.addEventListener('abort', () => reject(late.reason), { once: true })),
      ]);
      // Two of them may change the same thing, and the later one gets a conflict.
      for (const { status, text } of given) assert.ok(status < 300 || status === 409, text);
      assert.ok(given.some(({ status }) => status < 300));
    });

test('in the end no connection is in use', () => {
  const { totalCount, idleCount, waitingCount } = world.services.db.pool;
  assert.deepEqual([totalCount - idleCount, waitingCount], [0, 0]);
});
