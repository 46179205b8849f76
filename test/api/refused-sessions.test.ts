/** While PostgreSQL begins no session, or ends each, every route says so: 503 with Retry-After, never 500. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ServiceError } from '@temporalio/client';
import { asCatalogueError } from '#api/http/error-response.ts';
import { routes } from '#api/routes.ts';
import { ReadingBusy } from '#mailstore/reading/reading-threads.ts';
import { type ApiWorld, apiWorld, type Credential } from '#test/support/api-world.ts';
import { type PostgresFaults, postgresFaults, type SessionRefusal } from '#test/support/postgres-faults.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/services.ts';

let database: TestDatabase;
let faults: PostgresFaults;
let world: ApiWorld;
before(async () => {
  database = await createTestDatabase();
  faults = await postgresFaults(database.url);
  world = await apiWorld({ DATABASE_URL: faults.url(database.url) });
});
after(async () => {
  await world?.close();
  await faults?.close();
  await database?.drop();
});

/** Answered from memory, or kept open until the database is back. */
const WITHOUT_DATABASE = /^\/(?:docs|openapi\.json|health|livez|readyz|llms|privacy)|\/(?:stream|wait)$/;
const REFUSALS: readonly SessionRefusal[] = [
  // The disk is full: the first session behind a change of the catalogue writes this file.
  { sqlState: 'XX000', message: 'could not write init file' },
  { sqlState: '53300', message: 'sorry, too many clients already' },
  { sqlState: '57P03', message: 'the database system is in recovery mode' },
  { sqlState: '28P01', message: 'password authentication failed for user "app"' },
  { sqlState: '58030', message: 'could not read from file "base/16384/pg_filenode.map": Input/output error' },
  'closes',
];

/** What a route of each kind takes for a login. */
function credentialFor({ auth }: { readonly auth: unknown }): Credential {
  const text = JSON.stringify(auth);
  if (/operator/.test(text)) return world.operator;
  if (/mailbox/.test(text)) return world.organization.mailbox.token;
  return /session|role/.test(text) ? world.organization.owner.session : world.organization.key;
}

for (const refusal of REFUSALS)
  test(`sessions that are refused (${refusal === 'closes' ? refusal : `${refusal.sqlState} ${refusal.message}`})`, async () => {
    faults.refuseSessions(refusal);
    let unavailable = 0;
    try {
      const asked = routes.filter(({ path }) => !WITHOUT_DATABASE.test(path));
      for (const route of asked) {
        const path = route.path.replaceAll(/:[A-Za-z]+/g, 'x');
        const response = await fetch(new URL(path, world.api.url), {
          method: route.method,
          redirect: 'manual',
          headers: { 'content-type': 'application/json', ...credentialFor(route) },
          ...(route.method === 'GET' ? {} : { body: '{}' }),
        });
        const text = await response.text();
        const what = `${route.method} ${route.path}: ${response.status} ${text.slice(0, 200)}`;
        assert.notEqual(response.status, 500, what);
        if (response.status !== 503) continue;
        unavailable++;
        assert.ok(Number(response.headers.get('retry-after')) > 0, what);
        assert.equal(JSON.parse(text).error.code, 'unavailable', what);
      }
      assert.ok(unavailable > asked.length / 2, `${unavailable} of ${asked.length} routes met the database`);
    } finally {
      faults.refuseSessions(undefined);
    }
  });

/** google.rpc.Code: what the engine and the way to it answer while its disk is full or it is away. */
const ENGINE_CODES = {
  CANCELLED: 1,
  UNKNOWN: 2,
  DEADLINE_EXCEEDED: 4,
  RESOURCE_EXHAUSTED: 8,
  ABORTED: 10,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const;

for (const [name, code] of Object.entries(ENGINE_CODES))
  test(`an engine that answers ${name} is unavailable, with a time to come back`, () => {
    const cause = Object.assign(new Error(name), { code, details: 'disk full', metadata: {} });
    for (const error of [cause, new ServiceError('Failed to start Workflow', { cause })]) {
      const known = asCatalogueError(error);
      assert.deepEqual([known.code, known.status], ['unavailable', 503]);
      assert.ok((known.retryAfterSeconds ?? 0) > 0);
    }
  });

test('mail that cannot be read for now is unavailable, with a time to come back', () => {
  const known = asCatalogueError(new ReadingBusy());
  assert.deepEqual([known.code, known.status, known.retryAfterSeconds], ['unavailable', 503, 5]);
});

test('a fault of our own is no outage', () => {
  assert.equal(asCatalogueError(new TypeError('x is not a function')).code, 'internal_error');
});
