/** A database that the replaced migrations made goes on with today's; one with only some of them is refused. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Services } from '#core/platform/services.ts';
import { UnknownSchemaError } from '#db/adopt-earlier-schema.ts';
import { openDatabase } from '#db/database.ts';
import { migrate, pendingMigrations } from '#db/migrate.ts';
import { migrations } from '#db/migrations/index.ts';
import { createTestDatabase, openTestServices, type TestDatabase } from '#test/support/services.ts';

/** Names as MikroORM recorded them; the rest of a name does not matter. */
const EARLIER = [
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19].map((number) => ['20261121', number] as const),
  ...[1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 22, 23, 24].map(
    (number) => ['20261122', number] as const,
  ),
].map(([day, number]) => `Migration${day}${String(number).padStart(6, '0')}_something`);

let database: TestDatabase;
let services: Services;
/** The migrations that replaced the earlier ones; those after them are applied as in any database. */
const replacing = migrations.filter(({ name }) => name <= 'Migration20261122000110_organization_changes');
const later = migrations.slice(replacing.length);

before(async () => {
  database = await createTestDatabase();
  migrations.splice(replacing.length);
  const db = await openDatabase({ url: database.url, poolMax: 2 });
  try {
    await db.query(`drop schema public cascade`);
    await db.query(`create schema public`);
    await migrate(db);
  } finally {
    migrations.push(...later);
    await db.close();
  }
  services = await openTestServices({ DATABASE_URL: database.url });
});
after(async () => {
  await services?.close();
  await database?.drop();
});

const names = async () =>
  (await services.db.query<{ name: string }>(`select name from migrations order by id`)).map(({ name }) => name);

/** A database of then: other names, and a column that is no longer used. */
async function recordInstead(earlier: readonly string[]): Promise<void> {
  await services.db.query(`alter table message add column if not exists read_again boolean not null default false`);
  await services.db.query(`delete from migrations`);
  await services.db.query(`insert into migrations (name) select unnest($1::text[])`, [earlier]);
}
beforeEach(() => recordInstead(EARLIER));

test('a database with all earlier migrations runs the later ones alone', async () => {
  const { db } = services;
  await db.query(`insert into organizations (id, name, slug, plan) values ('kept', 'Kept', 'kept', 'free')`);
  assert.equal((await pendingMigrations(db)).length, migrations.length);
  assert.deepEqual(
    await migrate(db),
    later.map(({ name }) => name),
  );
  assert.deepEqual(await pendingMigrations(db), []);
  assert.deepEqual(
    await names(),
    migrations.map(({ name }) => name),
  );
  assert.equal((await db.query(`select from organizations where id = 'kept'`)).length, 1);
  assert.deepEqual(await migrate(db), []);
});

for (const [what, earlier, missing] of [
  ['the last', EARLIER.slice(0, -1), '20261122000024'],
  ['one in between', EARLIER.toSpliced(20, 1), '20261122000003'],
  ['all but the first', EARLIER.slice(0, 1), '20261121000002'],
] as const)
  test(`a database that lacks ${what} of the earlier migrations is refused with what to do, and unchanged`, async () => {
    await recordInstead(earlier);
    await assert.rejects(migrate(services.db), (error: Error) => {
      assert.ok(error instanceof UnknownSchemaError);
      assert.match(
        error.message,
        new RegExp(`${earlier.length} of the 39 migrations.*Migration${missing} is the first`),
      );
      assert.match(error.message, /Run `npm run migrate` of the last version that had them/);
      return true;
    });
    assert.deepEqual(await names(), earlier);
  });
