import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type StoreRefusal, StoreRefused } from '@agent-mailbox/mail-store';
import { pruneMailStore } from '#mailstore/upkeep/housekeeping.ts';
import {
  fill,
  folderNamed,
  letter,
  openStoreWorld,
  type StoreMailbox,
  type StoreWorld,
  spooled,
} from '#test/support/store-world.ts';

const refused = (refusal: StoreRefusal) => (error: unknown) =>
  error instanceof StoreRefused && error.refusal === refusal;

describe('folders', () => {
  let world: StoreWorld;
  let mailbox: StoreMailbox;
  before(async () => {
    world = await openStoreWorld();
  });
  after(async () => {
    assert.deepEqual(await world.faults(), []);
    await world.close();
  });
  const names = async () => (await mailbox.store.folders()).map(({ name }) => name);

  it('are six at creation, each with its special use', async () => {
    mailbox = await world.newMailbox();
    assert.deepEqual(
      (await mailbox.store.folders()).map(({ name, specialUse }) => [name, specialUse]),
      [
        ['INBOX', '\\Inbox'],
        ['Sent', '\\Sent'],
        ['Drafts', '\\Drafts'],
        ['Archive', '\\Archive'],
        ['Junk', '\\Junk'],
        ['Trash', '\\Trash'],
      ],
    );
    assert.equal((await mailbox.store.folder('inBOX'))?.name, 'INBOX');
    assert.equal(await mailbox.store.folder('sent'), undefined);
  });

  it('are created with their parents, in NFC, and INBOX in capitals', async () => {
    mailbox = await world.newMailbox();
    await mailbox.store.createFolder('inbox/Sub/', null);
    const folder = await mailbox.store.createFolder('Proj/Cafe\u0301/2026', null);
    assert.equal(folder.name, 'Proj/Café/2026');
    assert.match(folder.objectId, /^F\d+$/);
    assert.deepEqual((await names()).slice(6), ['INBOX/Sub', 'Proj', 'Proj/Café', 'Proj/Café/2026']);
  });

  it('are refused where the name is taken in any case, empty at a level, too long or too deep', async () => {
    mailbox = await world.newMailbox();
    await assert.rejects(mailbox.store.createFolder('ARCHIVE', null), refused('exists'));
    await assert.rejects(mailbox.store.createFolder('INBOX', null), refused('exists'));
    await assert.rejects(mailbox.store.createFolder('a//b', null), refused('cannot'));
    await assert.rejects(mailbox.store.createFolder('', null), refused('cannot'));
    await assert.rejects(mailbox.store.createFolder('tab\tbed', null), refused('cannot'));
    await assert.rejects(mailbox.store.createFolder('x'.repeat(256), null), refused('limit'));
    await assert.rejects(mailbox.store.createFolder(Array(17).fill('d').join('/'), null), refused('limit'));
    await assert.rejects(mailbox.store.createFolder('Other', '\\Sent'), refused('cannot'));
    assert.deepEqual(
      await mailbox.store.createFolder('../../etc/passwd', null).then(({ name }) => name),
      '../../etc/passwd',
    );
  });

  it('stop at a thousand', async () => {
    mailbox = await world.newMailbox();
    await world.sql(
      `insert into folder (mailbox_id, name, name_key, uid_validity)
       select $1, 'f' || n, 'f' || n, uid_validity_next + n from mailbox_counter, generate_series(1, 993) as n where mailbox_id = $1`,
      [mailbox.id],
    );
    await world.sql(`update mailbox_counter set uid_validity_next = uid_validity_next + 1000 where mailbox_id = $1`, [
      mailbox.id,
    ]);
    await mailbox.store.createFolder('last', null);
    await assert.rejects(mailbox.store.createFolder('one more', null), refused('limit'));
  });

  it('that are deleted give their bytes back; a new one of the name has another UIDVALIDITY', async () => {
    mailbox = await world.newMailbox();
    const first = await mailbox.store.createFolder('Temp', null);
    const child = await mailbox.store.createFolder('Temp/Child', null);
    await fill(mailbox, ['a', 'b'], first);
    await mailbox.store.copy(first.id, [1], child.id);
    await mailbox.store.deleteFolder('Temp');
    assert.equal((await mailbox.store.quota()).messages, 1);
    assert.equal(await mailbox.store.view(first.id, false), undefined);
    assert.equal((await folderNamed(mailbox, 'Temp/Child')).total, 1);
    const second = await mailbox.store.createFolder('Temp', null);
    assert.ok(second.uidValidity > first.uidValidity);
    await assert.rejects(mailbox.store.deleteFolder('Nothing'), refused('no-folder'));
    await assert.rejects(mailbox.store.deleteFolder('Archive'), refused('cannot'));

    // Only what no other placement needs is purged, and only after its time.
    await pruneMailStore(world.services.db);
    await world.sql(`update unplaced_message set since = now() - interval '2 hours'`);
    await pruneMailStore(world.services.db);
    const left = await world.sql<{ subject: string }>(`select subject from message where mailbox_id = $1`, [
      mailbox.id,
    ]);
    assert.deepEqual(left, [{ subject: 'a' }]);
    assert.deepEqual(await world.sql(`select 1 from unplaced_message`), []);
  });

  it('are renamed with their children and keep ids, UIDs and UIDVALIDITY', async () => {
    mailbox = await world.newMailbox();
    const folder = await mailbox.store.createFolder('Old', null);
    await mailbox.store.createFolder('Old/Child/Leaf', null);
    await mailbox.store.createFolder('Oldest', null);
    await fill(mailbox, ['a'], folder);
    await mailbox.store.renameFolder('Old', 'New/Place');
    assert.deepEqual((await names()).slice(6), [
      'New',
      'New/Place',
      'New/Place/Child',
      'New/Place/Child/Leaf',
      'Oldest',
    ]);
    const renamed = await folderNamed(mailbox, 'New/Place');
    assert.deepEqual([renamed.id, renamed.uidValidity, renamed.total], [folder.id, folder.uidValidity, 1]);
    await mailbox.store.renameFolder('New/Place', 'New/PLACE');
    assert.ok((await names()).includes('New/PLACE/Child'));
    await assert.rejects(mailbox.store.renameFolder('New', 'New/PLACE/Deeper'), refused('cannot'));
    await assert.rejects(mailbox.store.renameFolder('New', 'oldest'), refused('exists'));
    await assert.rejects(mailbox.store.renameFolder('Nothing', 'x'), refused('no-folder'));
    await mailbox.store.renameFolder('Trash', 'Bin');
    assert.equal((await folderNamed(mailbox, 'Bin')).specialUse, '\\Trash');
  });

  it('renaming INBOX moves its messages and leaves it empty', async () => {
    mailbox = await world.newMailbox();
    await mailbox.store.createFolder('INBOX/Child', null);
    await fill(mailbox, ['a', 'b', 'c']);
    await mailbox.store.expunge(mailbox.inbox.id, [2], true);
    await mailbox.store.renameFolder('INBOX', 'Old mail');
    assert.equal((await folderNamed(mailbox, 'Old mail')).total, 2);
    assert.equal((await folderNamed(mailbox, 'INBOX')).total, 0);
    assert.equal((await folderNamed(mailbox, 'INBOX')).id, mailbox.inbox.id);
    assert.ok(await mailbox.store.folder('INBOX/Child'));
    assert.deepEqual(await mailbox.store.vanishedSince(mailbox.inbox.id, 0), [1, 2, 3]);
  });

  it('are subscribed by name, whether they exist or not', async () => {
    mailbox = await world.newMailbox();
    await mailbox.store.createFolder('Lists', null);
    await mailbox.store.subscribe('Lists', true);
    await mailbox.store.subscribe('Gone', true);
    await mailbox.store.subscribe('Junk', false);
    const before = ['Archive', 'Drafts', 'Gone', 'INBOX', 'Lists', 'Sent', 'Trash'];
    assert.deepEqual((await mailbox.store.subscriptions()).toSorted(), before);
    await mailbox.store.deleteFolder('Lists');
    assert.deepEqual((await mailbox.store.subscriptions()).toSorted(), before);
    await mailbox.store.subscribe('inbox', false);
    await mailbox.store.subscribe('LISTS', false);
    assert.deepEqual((await mailbox.store.subscriptions()).toSorted(), ['Archive', 'Drafts', 'Gone', 'Sent', 'Trash']);
  });

  it('created by many at once get UIDVALIDITY values of their own, and one name one folder', async () => {
    mailbox = await world.newMailbox();
    const other = world.store.openMailbox({ mailboxId: mailbox.id, address: mailbox.address });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? other : mailbox.store).createFolder(`p/${i % 10}`, null)),
    );
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10);
    assert.equal((await names()).length, 17);
    await mailbox.store.append(mailbox.inbox.id, [spooled(letter())]);
  });
});
