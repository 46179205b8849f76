/** Mail past the retention of its mailbox goes as if a client had removed it, and nothing else does. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { retentionStep } from '#activities/delete-history.ts';
import { liftLegalHold, listLegalHolds, setLegalHold } from '#core/mailboxes/legal-holds.ts';
import type { Caller } from '#core/platform/caller.ts';
import { holdsStay } from '#db/queries/mailboxes/legal-hold.ts';
import type { RetentionStep } from '#domain/retention.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { removeOldMail } from '#mailstore/upkeep/remove-old-mail.ts';
import { fill, folderNamed, openStoreWorld, type StoreMailbox, type StoreWorld } from '#test/support/store-world.ts';

import { waitUntil } from '#test/support/wait-until.ts';

const SYSTEM: Caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };
const DAY_MS = 86_400_000;

let world: StoreWorld;
before(async () => {
  world = await openStoreWorld();
});
after(() => world?.close());

const setRule = (mailbox: StoreMailbox, rule: object | null) =>
  world.sql('update mailboxes set retention = $2 where id = $1', [
    mailbox.id,
    rule === null ? null : JSON.stringify(rule),
  ]);

/** All portions, as the workflow asks for them. @param inDays when @returns portions with work */
async function run(inDays: number): Promise<number> {
  const services = { db: world.services.db, now: () => Date.now() + inDays * DAY_MS };
  let portions = 0;
  for (let [more, from] = [true, '']; more; ) {
    const portion = await removeOldMail(services, from);
    if (portion.done > 0) portions++;
    [more, from] = [portion.more, portion.after ?? ''];
  }
  return portions;
}

beforeEach(() => world.sql('update mailboxes set retention = null'));

const step = (name: RetentionStep) =>
  retentionStep(world.services, { step: name }, { heartbeat() {}, isEnding: () => false });

const subjects = async (mailbox: StoreMailbox, folder: string): Promise<number> =>
  (await folderNamed(mailbox, folder)).total;

test('each rule removes what is past it, with counts, log and tombstones as of a client', async () => {
  const mailbox = await world.newMailbox();
  const [trash, junk] = [await folderNamed(mailbox, 'Trash'), await folderNamed(mailbox, 'Junk')];
  await fill(mailbox, ['a', 'b']);
  await fill(mailbox, ['c'], trash);
  await fill(mailbox, ['d'], junk);
  await setRule(mailbox, { allMailDays: null, trashDays: 10, spamDays: 20 });
  await run(9);
  assert.deepEqual([await subjects(mailbox, 'Trash'), await subjects(mailbox, 'Junk')], [1, 1]);
  const before = await folderNamed(mailbox, 'Trash');
  await run(11);
  assert.deepEqual([await subjects(mailbox, 'Trash'), await subjects(mailbox, 'Junk')], [0, 1]);
  const after = await folderNamed(mailbox, 'Trash');
  assert.ok(after.highestModseq > before.highestModseq);
  assert.equal(after.uidValidity, before.uidValidity);
  const [gone] = await world.sql('select uid from expunged where folder_id = $1', [trash.id]);
  assert.equal(gone?.['uid'], 1);
  await run(21);
  assert.deepEqual([await subjects(mailbox, 'Junk'), await subjects(mailbox, 'INBOX')], [0, 2]);
  await setRule(mailbox, { allMailDays: 30, trashDays: null, spamDays: null });
  await run(31);
  assert.equal(await subjects(mailbox, 'INBOX'), 0);
  const quota = await mailbox.store.quota();
  assert.deepEqual([quota.usedBytes, quota.messages], [0, 0]);
  assert.deepEqual(await world.faults(), []);
});

test('the rule of the organization applies to mailboxes without their own, and to no others', async () => {
  const [follows, own] = [await world.newMailbox(), await world.newMailbox()];
  await world.sql(
    `update organizations set settings = settings || '{"retention": {"allMailDays": 5, "trashDays": null, "spamDays": null}}'`,
  );
  await setRule(own, { allMailDays: null, trashDays: null, spamDays: null });
  await fill(follows, ['a']);
  await fill(own, ['a']);
  await run(6);
  await world.sql(`update organizations set settings = settings - 'retention'`);
  assert.deepEqual([await subjects(follows, 'INBOX'), await subjects(own, 'INBOX')], [0, 1]);
});

test('a large mailbox is emptied in portions, whatever portion a process was killed after', async () => {
  const mailbox = await world.newMailbox();
  const many = Array.from({ length: 450 }, (_, n) => `mail ${n}`);
  await fill(mailbox, many);
  await setRule(mailbox, { allMailDays: 30, trashDays: null, spamDays: null });
  const services = { db: world.services.db, now: () => Date.now() + 31 * DAY_MS };
  const first = await removeOldMail(services, '');
  assert.ok(first.more && first.done < 450, `${first.done} at once`);
  // Killed: the next run begins anew.
  await run(31);
  assert.equal(await subjects(mailbox, 'INBOX'), 0);
  assert.deepEqual(await world.faults(), []);
});

test('a run that removes nothing reads one message of a mailbox, however many it has', async () => {
  const mailbox = await world.newMailbox();
  await fill(
    mailbox,
    Array.from({ length: 500 }, (_, n) => `mail ${n}`),
  );
  await fill(
    mailbox,
    Array.from({ length: 500 }, (_, n) => `spam ${n}`),
    await folderNamed(mailbox, 'Junk'),
  );
  await setRule(mailbox, { allMailDays: 30, trashDays: 10, spamDays: 10 });
  await world.sql('analyze');
  const read = await world.services.db.transaction(async (sql) => {
    const count = async () => {
      const [row] = await sql.query<{ read: number }>(
        `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read
           from pg_stat_xact_user_tables where relname in ('message', 'placement', 'placement_state')`,
      );
      return row?.read ?? Number.NaN;
    };
    await sql.query('set local plan_cache_mode = force_custom_plan');
    const earlier = await count();
    const db = Object.assign(Object.create(world.services.db), { query: sql.query.bind(sql) });
    const { done } = await removeOldMail({ db, now: () => Date.now() }, '');
    assert.equal(done, 0);
    return (await count()) - earlier;
  });
  assert.ok(read <= 20, `${read} rows were read`);
});

/** Everything is as old as it must be for its step. */
const age = () => world.sql(`update unplaced_message set since = since - interval '2 hours'`);

test('on legal hold nothing is removed by retention, and what a client removes is preserved until no hold is left', async () => {
  const mailbox = await world.newMailbox();
  const uids = await fill(mailbox, ['removed', 'kept']);
  await setRule(mailbox, { allMailDays: 30, trashDays: null, spamDays: null });
  const services = world.services;
  const [row] = await world.sql<{ id: string }>('select organization_id as id from mailboxes where id = $1', [
    mailbox.id,
  ]);
  const organizationId = row?.id ?? '';
  const hold = (mailboxId: string | null) =>
    setLegalHold(services, organizationId, SYSTEM, { mailboxId, reason: 'Case 1' });
  const [one, two] = [await hold(mailbox.id), await hold(null)];
  await run(31);
  assert.equal(await subjects(mailbox, 'INBOX'), 2, 'removed by retention');

  await mailbox.store.expunge(mailbox.inbox.id, uids.slice(0, 1), true);
  const messages = async () => (await world.sql('select id from message where mailbox_id = $1', [mailbox.id])).length;
  const preserved = async () => (await listLegalHolds(services.db, organizationId)).at(-1)?.preservedMessages;
  await age();
  await step('messages');
  await step('blobs');
  assert.deepEqual([await subjects(mailbox, 'INBOX'), await messages(), await preserved()], [1, 2, 1]);

  assert.deepEqual(await world.faults(), []);

  await liftLegalHold(services, organizationId, one.id, SYSTEM);
  await step('messages');
  await age();
  await step('messages');
  assert.equal(await messages(), 2, 'deleted although the hold of the organization keeps it');

  await liftLegalHold(services, organizationId, two.id, SYSTEM);
  await step('messages');
  await age();
  await step('messages');
  assert.deepEqual([await messages(), await subjects(mailbox, 'INBOX')], [1, 1]);
  assert.deepEqual(await world.faults(), []);
});

test('a hold that is set while a portion is deleted waits for it, and keeps the rest', async () => {
  const mailbox = await world.newMailbox();
  await fill(mailbox, ['kept']);
  await setRule(mailbox, { allMailDays: 30, trashDays: null, spamDays: null });
  const [row] = await world.sql<{ id: string }>('select organization_id as id from mailboxes where id = $1', [
    mailbox.id,
  ]);
  const order: string[] = [];
  let setting: Promise<unknown> = Promise.resolve();
  await world.services.db.transaction(async (sql) => {
    await holdsStay(sql);
    setting = setLegalHold(world.services, row?.id ?? '', SYSTEM, { mailboxId: mailbox.id, reason: 'Case 2' }).then(
      () => order.push('hold'),
    );
    await waitUntil('the hold waits', async () => {
      const [waiting] = await world.sql(`select 1 from pg_locks where locktype = 'advisory' and not granted`);
      return waiting !== undefined;
    });
    order.push('portion');
  });
  await setting;
  assert.deepEqual(order, ['portion', 'hold']);
  await run(31);
  assert.equal(await subjects(mailbox, 'INBOX'), 1);
});
