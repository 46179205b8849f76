import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sweepOrphanBlobs } from '#mailstore/blobs/blob-store.ts';
import { pruneMailStore } from '#mailstore/upkeep/housekeeping.ts';
import { letter, type MailWorld, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

describe('housekeeping of the mail store', () => {
  let world: MailWorld;
  let box: TestMailbox;
  before(async () => {
    world = await openMailWorld();
    box = await world.createMailbox('box');
  });
  after(async () => {
    assert.deepEqual(await world.faults(), []);
    await world.close();
  });
  const sql = (text: string, values: readonly unknown[] = []) => world.services.db.query(text, values);

  it('removes blobs of no message after a day, and no other', async () => {
    await world.send(box.address, letter());
    await sql(`insert into blob (sha256, size, bytes, created_at) values
      (sha256('old'), 3, 'old', now() - interval '25 hours'), (sha256('new'), 3, 'new', now() - interval '23 hours')`);
    await sql(
      `update blob set created_at = now() - interval '2 days' where exists (select from message where blob = sha256)`,
    );
    assert.equal(await sweepOrphanBlobs(world.services.db), 1);
    assert.deepEqual(await sql(`select convert_from(bytes, 'utf8') as left from blob where size = 3`), [
      { left: 'new' },
    ]);
    await sql(`delete from blob where size = 3`);
  });

  it('cuts the change log at 30 days without a gap and moves the watermark', async () => {
    for (let i = 0; i < 4; i++) await world.send(box.address, letter());
    const [first] = await sql(`select min(seq) as seq from change_log where mailbox_id = $1`, [box.id]);
    // Times out of order: the newer row below stays no longer than the older one above it.
    await sql(
      `update change_log set created_at = now() - interval '31 days' where mailbox_id = $1 and seq = $2::bigint + 2`,
      [box.id, first?.['seq']],
    );
    const { changeLogRows } = await pruneMailStore(world.services.db);
    assert.equal(changeLogRows, 3);
    const [inbox] = await sql(
      `select pruned_modseq, modseq from folder where mailbox_id = $1 and special_use = '\\Inbox'`,
      [box.id],
    );
    const [left] = await sql(`select min(modseq) as lowest from change_log where mailbox_id = $1`, [box.id]);
    assert.equal(Number(left?.['lowest']), Number(inbox?.['pruned_modseq']) + 1);
  });

  it('restores what an earlier reader stored of a message, in the background, and nothing else', async () => {
    await world.send(box.address, letter('Twice', 'To: ann@example.com\nTo: ben@example.com\n'));
    const select = `select id, envelope, bodystructure, parts, to_addresses, subject, text_status from message
                     where mailbox_id = $1 order by id desc`;
    const [before, ...others] = await sql(select, [box.id]);
    await sql(
      `update message set envelope = 'old', bodystructure = 'old', parts = parts || '{"lines": 0}', to_addresses = '[]',
              subject = 'old', text_status = 'due' where id = $1`,
      [before?.['id']],
    );
    assert.deepEqual(await world.faults(), []);
    await waitUntil(
      'the message to be read',
      async () => (await sql(`select from message where text_status = 'due'`)).length === 0,
    );
    assert.deepEqual(await sql(select, [box.id]), [before, ...others]);
  });

  it('forgets redelivery keys after five days', async () => {
    await sql(`update delivery_seen set seen_at = now() - interval '6 days'`);
    const { redeliveryKeys } = await pruneMailStore(world.services.db);
    assert.ok(redeliveryKeys > 0);
    assert.deepEqual(await sql(`select 1 from delivery_seen`), []);
  });
});
