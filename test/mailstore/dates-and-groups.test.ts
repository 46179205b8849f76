/** On PostgreSQL: the zone of INTERNALDATE through every move of a message, and groups in SORT. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { renewUids } from '#mailstore/upkeep/housekeeping.ts';
import { loggedIn } from '#packages/imap/test/dialogue.ts';
import { GROUPED } from '#packages/imap/test/grouped-mail.ts';
import { openStoreWorld, type StoreWorld } from '#test/support/store-world.ts';

describe('internal dates and groups', () => {
  let world: StoreWorld;
  before(async () => {
    world = await openStoreWorld();
  });
  after(async () => {
    assert.deepEqual(await world.faults(), []);
    await world.close();
  });

  it('keep the zone of INTERNALDATE through COPY, MOVE and new UIDs, up to the ends of the calendar', async () => {
    const mailbox = await world.newMailbox();
    const dates = [
      ' 1-Feb-2026 00:30:00 +0530',
      '31-Jan-2026 23:30:00 -0800',
      ' 1-Jan-0001 00:00:00 -1400',
      '31-Dec-9999 23:59:59 +1200',
      ' 7-Feb-1994 21:52:25 +0000',
    ];
    const client = await loggedIn(mailbox.store);
    const shown = async (): Promise<string[]> =>
      (await client.command('f', 'FETCH 1:* INTERNALDATE')).flatMap(
        (line) => /INTERNALDATE "(.*)"/.exec(line)?.[1] ?? [],
      );
    for (const date of dates)
      assert.match((await client.command('a', `APPEND INBOX "${date}" {3+}\r\nabc`)).at(-1) ?? '', /^a OK/, date);
    await client.command('s', 'SELECT INBOX');
    assert.deepEqual(await shown(), dates);
    assert.deepEqual((await client.command('q', 'SEARCH ON 1-Feb-2026'))[0], '* SEARCH 1');
    assert.deepEqual((await client.command('q', 'SEARCH ON 1-Jan-0001'))[0], '* SEARCH 3');
    assert.deepEqual((await client.command('q', 'SEARCH SINCE 31-Dec-9999'))[0], '* SEARCH 4');
    await client.command('c', 'COPY 1:* Archive');
    await client.command('m', 'MOVE 1:* Trash');
    for (const folder of ['Archive', 'Trash']) {
      await client.command('s', `SELECT ${folder}`);
      assert.deepEqual(await shown(), dates, folder);
    }
    await world.sql(`update folder set uid_next = 4294967295 where mailbox_id = $1 and name = 'Trash'`, [mailbox.id]);
    await renewUids(world.services.db);
    await client.command('s', 'SELECT Trash');
    assert.deepEqual(await shown(), dates, 'with new UIDs');
    await client.close();
  });

  it('sort by the name of the group that a list begins with, and by local parts without their quotes', async () => {
    const mailbox = await world.newMailbox();
    const client = await loggedIn(mailbox.store);
    for (const fields of GROUPED) {
      const header = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
      const text = `${header.join('')}\r\ntext\r\n`;
      await client.command('a', `APPEND INBOX {${text.length}+}\r\n${text}`);
    }
    await client.command('s', 'SELECT INBOX');
    for (const [key, order] of [
      ['FROM', '3 1 2'],
      ['TO', '2 1 3'],
      ['CC', '3 2 1'],
      ['DISPLAYTO', '2 1 3'],
    ])
      assert.equal((await client.command('q', `SORT (${key}) UTF-8 ALL`))[0], `* SORT ${order}`, key);
    await client.close();
  });
});
