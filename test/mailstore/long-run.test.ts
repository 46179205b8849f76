import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { newId } from '#core/platform/new-id.ts';
import { sweepSpool } from '#mailstore/blobs/spool.ts';
import { pruneMailStore } from '#mailstore/upkeep/housekeeping.ts';
import { fill, folderNamed, letter, openStoreWorld, type StoreWorld, spooled } from '#test/support/store-world.ts';

it('a spool file that a killed process left is removed a day later, one in use is not', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'spool-'));
  for (const name of ['old.eml', 'new.eml', 'other.txt']) writeFileSync(path.join(folder, name), 'x');
  const longAgo = new Date(Date.now() - 25 * 3_600_000);
  for (const name of ['old.eml', 'other.txt']) utimesSync(path.join(folder, name), longAgo, longAgo);
  await sweepSpool(folder, Date.now());
  assert.deepEqual(readdirSync(folder).toSorted(), ['new.eml', 'other.txt']);
  rmSync(folder, { recursive: true });
  await sweepSpool(folder, Date.now()); // no folder, no matter
});

describe('limits reached after years', () => {
  let world: StoreWorld;
  before(async () => {
    world = await openStoreWorld();
  });
  after(async () => {
    assert.deepEqual(await world.faults(), []);
    await world.close();
  });
  const prune = () => pruneMailStore(world.services.db);

  it('UIDs near their maximum start again under another UIDVALIDITY', async () => {
    const mailbox = await world.newMailbox();
    const archive = await folderNamed(mailbox, 'Archive');
    await mailbox.store.append(archive.id, [
      spooled(letter('a'), { flags: 1, keywords: ['k'] }),
      spooled(letter('b')),
      spooled(letter('c'), { flags: 4 }),
    ]);
    await mailbox.store.expunge(archive.id, [1], true);
    await world.sql(`update folder set uid_next = 4294960000 where id = $1`, [archive.id]);
    await fill(mailbox, ['d'], archive);
    const before = (await mailbox.store.view(archive.id, false)) ?? assert.fail();
    assert.deepEqual([...before.uids], [2, 3, 4_294_960_000]);
    assert.equal((await prune()).renewedFolders, 1);
    const view = (await mailbox.store.view(archive.id, false)) ?? assert.fail();
    assert.ok(view.folder.uidValidity > before.folder.uidValidity);
    assert.deepEqual([[...view.uids], [...view.flags], view.folder.uidNext], [[1, 2, 3], [0, 4, 0], 4]);
    assert.equal(await mailbox.store.changes(archive.id, before.folder.highestModseq), 'too-old');
    assert.deepEqual(await fill(mailbox, ['e'], archive), [4]);
    const changes = await mailbox.store.changes(archive.id, view.folder.highestModseq);
    assert.ok(changes !== undefined && changes !== 'too-old');
    assert.deepEqual(
      changes.changed.map(({ uid }) => uid),
      [4],
    );
    assert.equal((await prune()).renewedFolders, 0);
  });

  it('unused keywords make room for others', async () => {
    const mailbox = await world.newMailbox();
    await fill(mailbox, ['a', 'b']);
    for (let round = 0; round < 10; round++)
      await mailbox.store.storeFlags({
        folderId: mailbox.inbox.id,
        uids: [1],
        change: 'replace',
        flags: 0,
        keywords: Array.from({ length: 50 }, (_, i) => `Word${round}-${i}`),
        unchangedSince: null,
      });
    assert.equal((await prune()).keywords, 450);
    await mailbox.store.append(mailbox.inbox.id, [spooled(letter(), { keywords: ['word9-1', 'fresh'] })]);
    assert.deepEqual((await mailbox.store.view(mailbox.inbox.id, false))?.keywords.get(3), ['Word9-1', 'fresh']);
  });

  it('the mail of a deleted mailbox is purged after 30 days, that of the others stays', async () => {
    const [mailbox, other] = [await world.newMailbox(), await world.newMailbox()];
    const text = letter('in both');
    for (const each of [mailbox, other]) await each.store.append(each.inbox.id, [spooled(text)]);
    const count = async (id: string) => (await world.sql(`select 1 from message where mailbox_id = $1`, [id])).length;
    const deletedFor = (days: number) =>
      world.sql(`update mailboxes set deleted_at = now() - make_interval(days => $2) where id = $1`, [
        mailbox.id,
        days,
      ]);
    await deletedFor(29);
    await prune();
    assert.equal((await mailbox.store.quota()).messages, 1);
    await deletedFor(31);
    await prune();
    assert.deepEqual(await mailbox.store.folders(), []);
    await world.sql(`update unplaced_message set since = now() - interval '2 hours'`);
    await prune();
    assert.deepEqual([await count(mailbox.id), await count(other.id)], [0, 1]);
  });

  it('the bytes of a submitted message are kept, although it is in no folder', async () => {
    const mailbox = await world.newMailbox();
    await world.sql(
      `with held as (insert into blob (sha256, size, bytes, created_at)
         values (sha256('held'), 4, 'held', now() - interval '2 days') returning sha256)
       insert into outbound_message (id, organization_id, mailbox_id, blob, size, content_hash, message_id_header,
         from_address, to_addresses, cc_addresses, subject, preview, labels, via, actor, state, submitted_at, due_at)
       select $1, organization_id, $2, sha256, 4, '', '<a@b>', 'a@b', '[]', '[]', '', '', '{}', 'api', '{}', 'held',
              now(), now() from held, mailboxes where mailboxes.id = $2`,
      [newId('message'), mailbox.id],
    );
    await prune();
    assert.equal((await world.sql(`select 1 from blob where sha256 = sha256('held')`)).length, 1);
    await world.sql(`delete from outbound_message where mailbox_id = $1`, [mailbox.id]);
    assert.ok((await prune()).blobs > 0);
  });
});
