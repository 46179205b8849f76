/** Every key of SEARCH on PostgreSQL: the same answers from bytes, from filled texts, and from those of an earlier version. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { loggedIn } from '#packages/imap/test/dialogue.ts';
import { appendBoth, askSearchKeys } from '#packages/imap/test/search-key-cases.ts';
import { openStoreWorld, type StoreMailbox, type StoreWorld } from '#test/support/store-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

describe('keys of SEARCH', () => {
  let world: StoreWorld;
  before(async () => {
    world = await openStoreWorld();
  });
  after(async () => {
    assert.deepEqual(await world.faults(), []);
    await world.close();
  });

  const OF_MAILBOX = `message_id in (select id from message where mailbox_id = $1)`;

  /** @param prepare what is done to the texts of the mailbox before it is searched */
  async function ask(prepare: (mailbox: StoreMailbox) => Promise<void>): Promise<void> {
    const mailbox = await world.newMailbox();
    await appendBoth(mailbox.store);
    await waitUntil('the texts', async () => {
      const rows = await world.sql(`select from message_text where ${OF_MAILBOX}`, [mailbox.id]);
      return rows.length === 2;
    });
    await prepare(mailbox);
    const client = await loggedIn(mailbox.store);
    await askSearchKeys(client);
    await client.close();
  }

  it('find what their definitions say in filled texts', () => ask(async () => {}));

  it('find the same in the bytes of messages whose texts are not filled in', () =>
    ask(async ({ id }) => {
      await world.sql(`delete from message_text where ${OF_MAILBOX}`, [id]);
    }));

  it('find the same after texts of an earlier version were made again', () =>
    ask(async ({ id }) => {
      await world.sql(
        `update message_text set body = '', envelope = '', part_headers = '', fill_again = true where ${OF_MAILBOX}`,
        [id],
      );
      await waitUntil('the texts made again', async () => {
        const rows = await world.sql(`select from message_text where fill_again and ${OF_MAILBOX}`, [id]);
        return rows.length === 0;
      });
    }));
});
