/** What a unit of work holds, and what it leaves behind when its parts, its connection or its end go wrong. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Services } from '#core/platform/process/services.ts';
import { openUnitOfWork } from '#db/unit-of-work.ts';
import { openTestServices } from '#test/support/services.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let services: Services;
before(async () => {
  services = await openTestServices();
  await services.db.query('create table noted (value text not null)');
});
after(() => services.close());

const begin = () => openUnitOfWork(services.db, async () => {});
const note = async (value: string): Promise<void> => {
  await services.db.query('insert into noted (value) values ($1)', [value]);
};
const INSERT = 'insert into noted (value) values ($1)';
const noted = async (value: string): Promise<number> =>
  (await services.db.query('select 1 from noted where value = $1', [value])).length;
const inUse = (): number => services.db.pool.totalCount - services.db.pool.idleCount;

for (const end of ['commit', 'rollback'] as const)
  test(`after its ${end}, each transaction commits itself and holds no connection`, async () => {
    const unit = begin();
    await unit.db.transaction((sql) => sql.query(INSERT, [`in ${end}`]));
    await unit[end]();
    await unit.db.transaction((sql) => sql.query(INSERT, [`late after ${end}`]));
    await unit.db.entityTransaction((em) => em.execute('select 1'));
    let effects = 0;
    await unit.db.afterCommit(() => {
      effects++;
    });
    assert.equal(await noted(`in ${end}`), end === 'commit' ? 1 : 0);
    assert.equal(await noted(`late after ${end}`), 1);
    assert.equal(effects, 1);
    assert.equal(inUse(), 0);
  });

test('an effect that waited for the commit may write, and wait for a commit again', async () => {
  const unit = begin();
  let ran = 0;
  await unit.db.transaction(async (sql) => {
    await sql.query(INSERT, ['first']);
    await unit.db.afterCommit(async () => {
      await unit.db.transaction((late) => late.query(INSERT, ['of the effect']));
      await unit.db.afterCommit(() => {
        ran++;
      });
    });
  });
  assert.equal(await noted('first'), 0);
  await unit.commit();
  assert.deepEqual([await noted('first'), await noted('of the effect'), ran, inUse()], [1, 1, 1, 0]);
});

test('an effect that throws loses neither the others nor the commit', async () => {
  const unit = begin();
  let ran = 0;
  const fail = (): void => {
    throw new Error('an effect failed');
  };
  await unit.db.transaction((sql) => sql.query(INSERT, ['with effects']));
  await unit.db.afterCommit(fail);
  await unit.db.afterCommit(() => Promise.reject(new Error('another failed')));
  await unit.db.afterCommit(() => {
    ran++;
  });
  await unit.commit();
  assert.deepEqual([await noted('with effects'), ran], [1, 1]);
});

test('a transaction inside of a transaction is an error, not a wait for itself', async () => {
  const unit = begin();
  await assert.rejects(
    unit.db.transaction(() => unit.db.entityTransaction(async () => {})),
    /inside of a transaction/,
  );
  await unit.rollback();
  assert.equal(inUse(), 0);
});

test('transactions at the same time are carried out one after the other', async () => {
  const unit = begin();
  await Promise.all(['a', 'b', 'c'].map((value) => unit.db.transaction((sql) => sql.query(INSERT, [value]))));
  await unit.commit();
  assert.deepEqual(await Promise.all(['a', 'b', 'c'].map(noted)), [1, 1, 1]);
});

test('a connection that is lost between two statements fails the request and nothing else', async () => {
  // The loss is noticed while no statement is running.
  for (const lose of [
    async (work: () => Promise<void>) => {
      const unit = begin();
      const request = unit.db
        .transaction(async (sql) => {
          await endConnection(sql);
          await work();
        })
        .then(() => unit.commit());
      // As the server does it with what is no refusal.
      await request.catch((error: unknown) => unit.rollback().then(() => Promise.reject(error)));
    },
    (work: () => Promise<void>) =>
      services.db.transaction(async (sql) => {
        await endConnection(sql);
        await work();
      }),
  ])
    await assert.rejects(lose(() => note('meanwhile')));
  assert.equal(await noted('meanwhile'), 2);
  assert.equal(inUse(), 0);
});

async function endConnection(sql: { query(text: string): Promise<Record<string, unknown>[]> }): Promise<void> {
  const [row] = await sql.query('select pg_backend_pid() as pid');
  const pid = row?.['pid'];
  await services.db.query('select pg_terminate_backend($1::int)', [pid]);
  await waitUntil(
    'the connection to be gone',
    async () => (await services.db.query('select 1 from pg_stat_activity where pid = $1::int', [pid])).length === 0,
  );
}
