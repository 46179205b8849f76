/** Header lines for lists: as in the bytes of every message, in its folder alone, and never of an earlier reader. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { MessageRow, SortOrder } from '@agent-mailbox/mail-store';
import { CLIENT_REQUESTS, LISTED_FIELDS } from '@agent-mailbox/mail-store/listed-fields';
import { headerFields } from '@agent-mailbox/mime-structure/header-fields';
import { indexMessage } from '@agent-mailbox/mime-structure/index-message';
import { upgradePortion } from '#mailstore/upkeep/upgrade-stored-mail.ts';
import { corpus } from '#test/mail/corpus/read-corpus.ts';
import {
  fill,
  folderNamed,
  openStoreWorld,
  type StoreMailbox,
  type StoreWorld,
  spooled,
} from '#test/support/store-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const SMALL_BYTES = 300_000;
const mail = corpus.filter(({ bytes }) => bytes.length <= SMALL_BYTES);

let world: StoreWorld;
let box: StoreMailbox;
before(async () => {
  world = await openStoreWorld();
  box = await world.newMailbox();
  await box.store.append(
    box.inbox.id,
    mail.map(({ bytes }, i) =>
      spooled(bytes, { internalDate: new Date(Date.UTC(1999 + (i % 3), 5, 1)), internalOffsetMinutes: -90 }),
    ),
  );
});
after(async () => {
  assert.deepEqual(await world.faults(), []);
  await world.close();
});

const allUids = Uint32Array.from(mail, (_, i) => i + 1);

interface Listed {
  readonly uid: number;
  readonly size: number;
  readonly internalDate: number;
  readonly offset: number;
  /** Null: not in the index. */
  readonly lines: string | null;
}

async function listed(mailbox: StoreMailbox, folderId: number, uids: Uint32Array, fields: readonly string[]) {
  const found: Listed[] = [];
  for await (const each of mailbox.store.listed?.(folderId, uids, fields) ?? assert.fail('no index')) {
    let from = 0;
    for (const [i, uid] of each.uids.entries()) {
      const lines = Buffer.from(each.lines.subarray(from, each.ends[i])).toString('latin1');
      from = each.ends[i] ?? 0;
      found.push({
        uid,
        size: each.sizes[i] ?? 0,
        internalDate: each.internalDates[i] ?? 0,
        offset: each.internalOffsets[i] ?? 0,
        lines: each.indexed[i] === 1 ? lines : null,
      });
    }
  }
  return found;
}

function linesOf(bytes: Buffer, fields: readonly string[]): string {
  const { header, body } = indexMessage(bytes);
  return headerFields(bytes, header, body)
    .filter(({ name }) => fields.includes(name))
    .map(({ start, end }) => bytes.toString('latin1', start, end))
    .map((line) => (line.endsWith('\n') ? line : `${line}\r\n`))
    .join('');
}

test('every request of a client gets the lines of the messages, byte for byte', async () => {
  const requests = [...Object.values(CLIENT_REQUESTS).map((each) => each.split(' ')), LISTED_FIELDS];
  for (const fields of [...requests, ...LISTED_FIELDS.map((each) => [each])]) {
    const found = await listed(box, box.inbox.id, allUids, fields);
    assert.equal(found.length, mail.length);
    for (const [i, { bytes, name }] of mail.entries()) {
      const each = found[i] ?? assert.fail(name);
      assert.equal(each.uid, i + 1);
      assert.equal(each.size, bytes.length, name);
      assert.equal(each.internalDate, Date.UTC(1999 + (i % 3), 5, 1));
      assert.equal(each.offset, -90);
      if (each.lines !== null) assert.equal(each.lines, linesOf(bytes, fields), name);
    }
    const read = found.filter(({ lines }) => lines === null);
    assert.ok(read.length < mail.length / 10, `${read.length} of ${mail.length} messages are not in the index`);
  }
});

test('only the UIDs that are asked for are listed, and only in the folder of the mailbox', async () => {
  const uids = Uint32Array.of(2, 3, 17, 40_000);
  assert.deepEqual(
    (await listed(box, box.inbox.id, uids, ['subject'])).map(({ uid }) => uid),
    [2, 3, 17],
  );
  assert.deepEqual(await listed(box, box.inbox.id, Uint32Array.of(50_000, 50_001), ['subject']), []);
  const stranger = await world.newMailbox();
  assert.deepEqual(await listed(stranger, box.inbox.id, allUids, ['subject']), []);
  assert.deepEqual(await listed(box, stranger.inbox.id, allUids, ['subject']), []);
});

test('the database sorts as the rows say, with and without an index', async () => {
  const columns = { envelope: false, bodyStructure: false, parts: false, preview: false, sortKeys: true };
  const rows: MessageRow[] = [];
  for await (const portion of box.store.rows(box.inbox.id, allUids, columns)) rows.push(...portion);
  const values = {
    date: (row: MessageRow) => (row.sortKeys?.sentAt ?? row.internalDate).getTime(),
    'internal-date': (row: MessageRow) => row.internalDate.getTime(),
    size: (row: MessageRow) => row.size,
  };
  const sort = (order: readonly SortOrder[], uids: Uint32Array) =>
    box.store.sorted?.(box.inbox.id, uids, order) ?? assert.fail('no sorting');
  const orders: SortOrder[][] = [
    [{ key: 'date', reverse: false }],
    [{ key: 'date', reverse: true }],
    [{ key: 'size', reverse: true }],
    [
      { key: 'internal-date', reverse: false },
      { key: 'size', reverse: true },
    ],
  ];
  const fewUids = Uint32Array.of(1, 5, 9, 60_000);
  const checkAll = async () => {
    for (const order of orders)
      for (const uids of [allUids, allUids.filter((uid) => uid % 3 > 0), fewUids]) {
        const expected = rows
          .filter(({ uid }) => uids.includes(uid))
          .toSorted((a, b) => {
            for (const { key, reverse } of order) {
              const difference = values[key](a) - values[key](b);
              if (difference !== 0) return reverse ? -difference : difference;
            }
            return a.uid - b.uid;
          });
        assert.deepEqual(
          [...(await sort(order, uids))],
          expected.map(({ uid }) => uid),
        );
      }
  };
  await checkAll();
  assert.deepEqual([...(await sort([{ key: 'date', reverse: false }], Uint32Array.of()))], []);
  const stranger = await world.newMailbox();
  assert.equal((await stranger.store.sorted?.(box.inbox.id, allUids, [{ key: 'size', reverse: false }]))?.length, 0);
  await world.sql(`update placement set header_lines = null, sent_at = null where folder_id = $1 and uid % 2 = 0`, [
    box.inbox.id,
  ]);
  await checkAll();
});

test('copies keep their lines; what was stored without is indexed in the background', async () => {
  const other = await world.newMailbox();
  const uids = await fill(other, ['one', 'two', 'three']);
  const drafts = await folderNamed(other, 'Drafts');
  const expected = ['one', 'two', 'three'].map((subject) => `Subject: ${subject}\r\n`);
  const lines = async (folderId: number, count = 3) =>
    (
      await listed(
        other,
        folderId,
        Uint32Array.from({ length: count }, (_, i) => i + 1),
        ['subject'],
      )
    ).map((each) => each.lines);
  const of = 'message_id in (select id from message where mailbox_id = $1)';
  await other.store.copy(other.inbox.id, uids, drafts.id);
  assert.deepEqual(await lines(drafts.id), expected);

  // As an earlier version stored it; the upgrade in the background waits for its turn.
  await world.sql(
    `insert into sweeps (name, next_at) values ('stored mail', now() + interval '1 hour')
     on conflict (name) do update set next_at = excluded.next_at`,
  );
  await world.sql(
    `update placement set header_lines = null, long_header_lines = null, envelope_text = null, sent_at = null where ${of}`,
    [other.id],
  );
  assert.deepEqual(await lines(other.inbox.id), [null, null, null]);
  // A message that is read again while it is copied: its copy must not keep what the earlier reader found.
  await world.sql(`update message set text_status = 'due' where mailbox_id = $1`, [other.id]);
  await world.sql(`update placement set header_lines = '\\x01', envelope_text = 'earlier' where ${of}`, [other.id]);
  await other.store.copy(other.inbox.id, uids, drafts.id);
  assert.deepEqual((await lines(drafts.id, 6)).slice(3), [null, null, null]);
  await world.sql(`update sweeps set next_at = now() where name = 'stored mail'`);
  await waitUntil('the header lines', async () => {
    await upgradePortion(world.services.db, world.services.log);
    const [due] = await world.sql(
      `select from placement where header_lines is null
        union all select from message where text_status = 'due' limit 1`,
    );
    return due === undefined;
  });
  assert.deepEqual(await lines(other.inbox.id), expected);
  assert.deepEqual(await lines(drafts.id, 6), [...expected, ...expected]);
  const rest = `header_lines is null or envelope_text is null or envelope_text = 'earlier'`;
  assert.deepEqual(await world.sql(`select uid from placement where (${rest}) and ${of}`, [other.id]), []);
});
