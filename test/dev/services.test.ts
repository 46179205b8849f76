import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isMigrated } from '#db/migrate.ts';
import { openTestServices } from '#test/support/services.ts';

const [one, other] = await Promise.all([openTestServices(), openTestServices()]);
after(() => Promise.all([one.close(), other.close()]));

test('each caller gets a migrated database of its own', async () => {
  assert.equal(await isMigrated(one.db), true);
  await one.db.query(`create table only_here (id int)`);
  const tables = await other.db.query(`select 1 as found from pg_class where relname = 'only_here'`);
  assert.deepEqual(tables, []);
});
