import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type MessageColumns,
  type MessageRow,
  type StoreFlags,
  type StoreRefusal,
  StoreRefused,
} from '@agent-mailbox/mail-store';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import { MESSAGE_SLICE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
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

const { seen, flagged, deleted, answered } = MAIL_FLAGS;
const NOTHING: MessageColumns = {
  envelope: false,
  bodyStructure: false,
  parts: false,
  preview: false,
  sortKeys: false,
};
const EVERYTHING: MessageColumns = { envelope: true, bodyStructure: true, parts: true, preview: true, sortKeys: true };

const refused = (refusal: StoreRefusal) => (error: unknown) =>
  error instanceof StoreRefused && error.refusal === refusal;

describe('the store of a mailbox', () => {
  let world: StoreWorld;
  before(async () => {
    world = await openStoreWorld();
  });
  after(async () => {
    assert.deepEqual(await world.faults(), []);
    await world.close();
  });

  const viewOf = async ({ store }: StoreMailbox, folderId: number) =>
    (await store.view(folderId, false)) ?? assert.fail('the folder is gone');
  const stateOf = async (mailbox: StoreMailbox, folderId: number, uid: number) => {
    const view = await viewOf(mailbox, folderId);
    const at = view.uids.indexOf(uid);
    return { flags: view.flags[at], modseq: view.modseqs[at], keywords: view.keywords.get(uid) ?? [] };
  };
  const change = (
    folderId: number,
    uids: readonly number[],
    extra: Partial<StoreFlags> & Pick<StoreFlags, 'change'>,
  ): StoreFlags => ({ folderId, uids, flags: 0, keywords: [], unchangedSince: null, ...extra });
  async function rowsOf(mailbox: StoreMailbox, folderId: number, uids: readonly number[], want = NOTHING) {
    const rows: MessageRow[] = [];
    for await (const portion of mailbox.store.rows(folderId, Uint32Array.from(uids), want)) rows.push(...portion);
    return rows;
  }

  describe('append', () => {
    it('files messages with flags, keywords and date, all in one transaction', async () => {
      const mailbox = await world.newMailbox();
      const date = new Date('2020-02-29T12:00:00Z');
      const { uids, uidValidity } = await mailbox.store.append(mailbox.inbox.id, [
        spooled(letter('one'), { flags: seen | flagged, keywords: ['Todo'], internalDate: date }),
        spooled(letter('two'), { flags: deleted, keywords: ['todo', 'other'] }),
      ]);
      assert.deepEqual(uids, [1, 2]);
      assert.equal(uidValidity, mailbox.inbox.uidValidity);
      const view = await viewOf(mailbox, mailbox.inbox.id);
      assert.deepEqual([...view.uids], [1, 2]);
      assert.deepEqual([...view.flags], [seen | flagged, deleted]);
      assert.deepEqual(
        [...view.keywords],
        [
          [1, ['Todo']],
          [2, ['Todo', 'other']],
        ],
      );
      const { total, unseen, deleted: marked, uidNext } = view.folder;
      assert.deepEqual({ total, unseen, marked, uidNext }, { total: 2, unseen: 1, marked: 1, uidNext: 3 });
      const [first] = await rowsOf(mailbox, mailbox.inbox.id, uids);
      assert.deepEqual(first?.internalDate, date);
    });

    it('gives ENVELOPE, BODYSTRUCTURE, preview, sort keys and thread like a delivery', async () => {
      const mailbox = await world.newMailbox();
      const original = letter('Plan', 'Message-Id-Extra: x\r\nDate: Sat, 21 Nov 2026 10:00:00 +0100\r\n');
      const id = /Message-ID: (<[^>]+>)/.exec(original)?.[1];
      await world.deliver(mailbox, original);
      const sent = await folderNamed(mailbox, 'Sent');
      await mailbox.store.append(sent.id, [
        spooled(
          `From: ${mailbox.address}\r\nTo: Bob <bob@example.com>\r\nSubject: Re: Plan\r\nIn-Reply-To: ${id}\r\n\r\nYes.\r\n`,
        ),
      ]);
      const [first] = await rowsOf(mailbox, mailbox.inbox.id, [1], EVERYTHING);
      const [reply] = await rowsOf(mailbox, sent.id, [1], EVERYTHING);
      assert.equal(reply?.threadId, first?.threadId);
      assert.match(Buffer.from(reply?.envelope ?? '').toString(), /^\(NIL "Re: Plan" /);
      assert.match(Buffer.from(reply?.bodyStructure ?? '').toString(), /^\("text" "plain"/i);
      assert.equal(reply?.preview, 'Yes.');
      assert.deepEqual(reply?.sortKeys?.to, { name: 'Bob', mailbox: 'bob', host: 'example.com' });
      assert.deepEqual(first?.sortKeys?.sentAt, new Date('2026-11-21T09:00:00Z'));
      assert.equal(reply?.parts?.type, 'text');
    });

    it('streams a large message through the spool and gives it back byte for byte', async () => {
      const mailbox = await world.newMailbox();
      const bytes = Buffer.concat([Buffer.from(letter('big')), Buffer.alloc(3_000_000, 'abc\r\n\xff', 'latin1')]);
      const spool = mailbox.store.spool(bytes.length);
      for (let at = 0; at < bytes.length; at += 50_000) await spool.write(bytes.subarray(at, at + 50_000));
      const content = await spool.end();
      await mailbox.store.append(mailbox.inbox.id, [{ ...spooled(''), content }]);
      await content.discard();
      const [row] = await rowsOf(mailbox, mailbox.inbox.id, [1]);
      assert.equal(row?.size, bytes.length);
      const slices: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += MESSAGE_SLICE_MAX_BYTES)
        slices.push(await mailbox.store.slice(row?.messageId ?? '', at, MESSAGE_SLICE_MAX_BYTES));
      assert.ok(Buffer.concat(slices).equals(bytes));
      assert.equal((await mailbox.store.slice(row?.messageId ?? '', bytes.length, 10)).length, 0);
    });

    it('files more messages than fit into one statement', async () => {
      const mailbox = await world.newMailbox();
      const texts = Array.from({ length: 30 }, (_, i) => letter(`m${i}`, '', `${i} ${'x'.repeat(200_000)}\r\n`));
      const { uids } = await mailbox.store.append(
        mailbox.inbox.id,
        texts.map((text) => spooled(text)),
      );
      const rows = await rowsOf(mailbox, mailbox.inbox.id, uids);
      for (const i of [0, 19, 20, 29]) {
        const bytes = await mailbox.store.slice(rows[i]?.messageId ?? '', 0, 1_000_000);
        assert.equal(Buffer.from(bytes).toString(), texts[i]);
      }
    });

    it('refuses messages above the quota as a whole, and accepts the last byte', async () => {
      const text = letter('exact');
      const mailbox = await world.newMailbox({ quotaBytes: text.length * 2 });
      const { id } = mailbox.inbox;
      const three = [spooled(text), spooled(text), spooled(text)];
      await assert.rejects(mailbox.store.append(id, three), refused('over-quota'));
      assert.equal((await viewOf(mailbox, id)).folder.total, 0);
      await mailbox.store.append(id, three.slice(0, 2));
      assert.deepEqual(await mailbox.store.quota(), {
        usedBytes: text.length * 2,
        limitBytes: text.length * 2,
        messages: 2,
      });
      await assert.rejects(mailbox.store.append(id, [spooled('x')]), refused('over-quota'));
    });

    it('refuses an unknown folder, that of another mailbox, and too many keywords', async () => {
      const [mailbox, other] = [await world.newMailbox(), await world.newMailbox()];
      await assert.rejects(mailbox.store.append(2 ** 40, [spooled(letter())]), refused('no-folder'));
      await assert.rejects(mailbox.store.append(other.inbox.id, [spooled(letter())]), refused('no-folder'));
      const keywords = Array.from({ length: 51 }, (_, i) => `k${i}`);
      await assert.rejects(mailbox.store.append(mailbox.inbox.id, [spooled(letter(), { keywords })]), refused('limit'));
    });
  });

  describe('flags', () => {
    it('are added, removed and replaced; MODSEQ rises only where something changes', async () => {
      const mailbox = await world.newMailbox();
      const { id } = mailbox.inbox;
      await fill(mailbox, ['a', 'b', 'c']);
      const added = await mailbox.store.storeFlags(change(id, [1, 2], { change: 'add', flags: seen }));
      assert.deepEqual(
        added.states.map(({ uid, flags }) => [uid, flags]),
        [
          [1, seen],
          [2, seen],
        ],
      );
      const again = await mailbox.store.storeFlags(change(id, [1, 2], { change: 'add', flags: seen }));
      assert.equal(again.highestModseq, added.highestModseq);
      assert.deepEqual(again.states, added.states);
      await mailbox.store.storeFlags(change(id, [1, 3], { change: 'replace', flags: flagged | deleted }));
      await mailbox.store.storeFlags(change(id, [3], { change: 'remove', flags: deleted | answered }));
      const view = await viewOf(mailbox, id);
      assert.deepEqual([...view.flags], [flagged | deleted, seen, flagged]);
      assert.equal(view.folder.unseen, 2);
      assert.equal(view.folder.deleted, 1);
      assert.equal(view.modseqs[2], view.folder.highestModseq);
    });

    it('list removed UIDs, and do not change later changes', async () => {
      const mailbox = await world.newMailbox();
      const { id } = mailbox.inbox;
      await fill(mailbox, ['a', 'b', 'c']);
      const { highestModseq } = (await viewOf(mailbox, id)).folder;
      await mailbox.store.storeFlags(change(id, [2], { change: 'add', flags: seen }));
      const outcome = await mailbox.store.storeFlags(
        change(id, [1, 2, 9], { change: 'add', flags: flagged, unchangedSince: highestModseq }),
      );
      assert.deepEqual(outcome.modified, [2]);
      assert.deepEqual(outcome.missing, [9]);
      assert.deepEqual(
        outcome.states.map(({ uid }) => uid),
        [1],
      );
      assert.equal((await stateOf(mailbox, id, 2)).flags, seen);
    });

    it('keep keywords in their first spelling and compare them without case', async () => {
      const mailbox = await world.newMailbox();
      const { id } = mailbox.inbox;
      await fill(mailbox, ['a', 'b']);
      await mailbox.store.storeFlags(change(id, [1], { change: 'add', keywords: ['$Urgent', 'Later'] }));
      await mailbox.store.storeFlags(change(id, [2], { change: 'add', keywords: ['$URGENT'] }));
      assert.deepEqual((await stateOf(mailbox, id, 2)).keywords, ['$Urgent']);
      await mailbox.store.storeFlags(change(id, [1], { change: 'remove', keywords: ['LATER'] }));
      assert.deepEqual((await stateOf(mailbox, id, 1)).keywords, ['$Urgent']);
      await mailbox.store.storeFlags(change(id, [1], { change: 'replace', keywords: ['other"\\{}'] }));
      assert.deepEqual((await stateOf(mailbox, id, 1)).keywords, ['other"\\{}']);
    });

    it('stop at 50 keywords on a message and 500 in a mailbox', async () => {
      const mailbox = await world.newMailbox();
      const { id } = mailbox.inbox;
      await fill(
        mailbox,
        Array.from({ length: 11 }, (_, i) => `m${i}`),
      );
      const named = (uid: number, n: number) => Array.from({ length: n }, (_, i) => `k${uid}-${i}`);
      for (let uid = 1; uid <= 10; uid++)
        await mailbox.store.storeFlags(change(id, [uid], { change: 'add', keywords: named(uid, 50) }));
      await assert.rejects(
        mailbox.store.storeFlags(change(id, [1], { change: 'add', keywords: ['k2-0'] })),
        refused('limit'),
      );
      await assert.rejects(
        mailbox.store.storeFlags(change(id, [11], { change: 'add', keywords: ['one-more'] })),
        refused('limit'),
      );
      await mailbox.store.storeFlags(change(id, [11], { change: 'add', keywords: ['K2-0'] }));
      assert.deepEqual((await stateOf(mailbox, id, 11)).keywords, ['k2-0']);
    });

    it('are updated in place, without touching an index', async () => {
      const mailbox = await world.newMailbox();
      const { id } = mailbox.inbox;
      await fill(
        mailbox,
        Array.from({ length: 20 }, (_, i) => `m${i}`),
      );
      const index = async () => {
        const [row] = await world.sql<{ size: number }>(`select pg_relation_size('placement_state_pkey') as size`);
        return row?.size;
      };
      const before = await index();
      for (let round = 0; round < 60; round++)
        await mailbox.store.storeFlags(
          change(id, [1, 5, 9], {
            change: round % 2 ? 'add' : 'remove',
            flags: seen,
            keywords: round % 3 ? ['x'] : [],
          }),
        );
      assert.equal(await index(), before);
    });
  });

  describe('copy and move', () => {
    it('copies flags, keywords and dates to ascending UIDs and omits removed messages', async () => {
      const mailbox = await world.newMailbox();
      const archive = await folderNamed(mailbox, 'Archive');
      await mailbox.store.append(mailbox.inbox.id, [
        spooled(letter('a'), { flags: flagged, keywords: ['k'], internalDate: new Date(0) }),
        spooled(letter('b'), { flags: seen }),
      ]);
      const copied = await mailbox.store.copy(mailbox.inbox.id, [1, 2, 77], archive.id);
      assert.deepEqual(copied, { uidValidity: archive.uidValidity, from: [1, 2], to: [1, 2] });
      assert.deepEqual((await stateOf(mailbox, archive.id, 1)).keywords, ['k']);
      const [original] = await rowsOf(mailbox, mailbox.inbox.id, [1]);
      const [copy] = await rowsOf(mailbox, archive.id, [1]);
      assert.equal(copy?.messageId, original?.messageId);
      assert.deepEqual(copy?.internalDate, new Date(0));
      assert.equal((await mailbox.store.quota()).messages, 4);
    });

    it('refuses as a whole if all must exist and one was removed', async () => {
      const mailbox = await world.newMailbox();
      const archive = await folderNamed(mailbox, 'Archive');
      await fill(mailbox, ['a', 'b']);
      for (const transfer of [mailbox.store.copy, mailbox.store.move]) {
        await assert.rejects(transfer(mailbox.inbox.id, [1, 2, 77], archive.id, true), refused('gone'));
        assert.equal((await viewOf(mailbox, archive.id)).folder.total, 0);
      }
      assert.deepEqual((await mailbox.store.move(mailbox.inbox.id, [1, 2], archive.id, true)).from, [1, 2]);
    });

    it('counts a copy against the quota, a move not', async () => {
      const text = letter('only one fits');
      const mailbox = await world.newMailbox({ quotaBytes: text.length });
      const archive = await folderNamed(mailbox, 'Archive');
      await mailbox.store.append(mailbox.inbox.id, [spooled(text)]);
      await assert.rejects(mailbox.store.copy(mailbox.inbox.id, [1], archive.id), refused('over-quota'));
      const moved = await mailbox.store.move(mailbox.inbox.id, [1], archive.id);
      assert.deepEqual([moved.from, moved.to], [[1], [1]]);
      assert.equal((await viewOf(mailbox, mailbox.inbox.id)).folder.total, 0);
      assert.deepEqual(await mailbox.store.vanishedSince(mailbox.inbox.id, 0), [1]);
    });

    it('gives new UIDs when a message moves within its folder', async () => {
      const mailbox = await world.newMailbox();
      const { id } = mailbox.inbox;
      await fill(mailbox, ['a', 'b', 'c']);
      const moved = await mailbox.store.move(id, [1, 3], id);
      assert.deepEqual(
        [moved.from, moved.to],
        [
          [1, 3],
          [4, 5],
        ],
      );
      const view = await viewOf(mailbox, id);
      assert.deepEqual([...view.uids], [2, 4, 5]);
      assert.equal(view.folder.highestModseq, moved.highestModseq);
    });

    it('refuses a deleted target and changes nothing', async () => {
      const mailbox = await world.newMailbox();
      await fill(mailbox, ['a']);
      const temporary = await mailbox.store.createFolder('Temporary', null);
      await mailbox.store.deleteFolder('Temporary');
      await assert.rejects(mailbox.store.move(mailbox.inbox.id, [1], temporary.id), refused('no-folder'));
      assert.equal((await viewOf(mailbox, mailbox.inbox.id)).folder.total, 1);
    });
  });

  describe('expunge', () => {
    it('removes what is \\Deleted, of all or of given UIDs, and any by force', async () => {
      const mailbox = await world.newMailbox();
      const { id } = mailbox.inbox;
      await fill(mailbox, ['a', 'b', 'c', 'd', 'e']);
      assert.deepEqual((await mailbox.store.expunge(id, null)).uids, []);
      await mailbox.store.storeFlags(change(id, [1, 2, 4], { change: 'add', flags: deleted }));
      assert.deepEqual((await mailbox.store.expunge(id, [2, 3])).uids, [2]);
      const rest = await mailbox.store.expunge(id, null);
      assert.deepEqual(rest.uids, [1, 4]);
      assert.deepEqual((await mailbox.store.expunge(id, [5], true)).uids, [5]);
      const view = await viewOf(mailbox, id);
      assert.deepEqual([...view.uids], [3]);
      assert.equal((await mailbox.store.quota()).messages, 1);
      assert.deepEqual(await mailbox.store.vanishedSince(id, rest.highestModseq), [5]);
    });
  });

  describe('replace', () => {
    it('files the new message and removes the old one at once, within a full mailbox too', async () => {
      const text = letter('a draft');
      const mailbox = await world.newMailbox({ quotaBytes: text.length });
      const drafts = await folderNamed(mailbox, 'Drafts');
      await mailbox.store.append(drafts.id, [spooled(text, { flags: MAIL_FLAGS.draft })]);
      const replaced = await mailbox.store.replace(drafts.id, 1, drafts.id, spooled(text.replace('draft', 'DRAFT')));
      assert.equal(replaced.uid, 2);
      assert.deepEqual([...(await viewOf(mailbox, drafts.id)).uids], [2]);
      await assert.rejects(mailbox.store.replace(drafts.id, 1, drafts.id, spooled('x')), refused('gone'));
      await assert.rejects(mailbox.store.replace(drafts.id, 2, drafts.id, spooled(`${text}xx`)), refused('over-quota'));
    });
  });

  describe('view and changes', () => {
    it('list what was added, changed and removed since a MODSEQ', async () => {
      const mailbox = await world.newMailbox();
      const { id } = mailbox.inbox;
      await fill(mailbox, ['a', 'b', 'c']);
      const since = (await viewOf(mailbox, id)).folder.highestModseq;
      const nothing = await mailbox.store.changes(id, since);
      assert.deepEqual(nothing, { highestModseq: since, uidNext: 4, changed: [], vanished: [] });
      await mailbox.store.storeFlags(change(id, [2], { change: 'add', flags: seen, keywords: ['k'] }));
      await fill(mailbox, ['d', 'e']);
      await mailbox.store.expunge(id, [1, 4], true);
      const changes = await mailbox.store.changes(id, since);
      assert.ok(changes !== undefined && changes !== 'too-old');
      assert.deepEqual(
        changes.changed.map(({ uid, flags, keywords }) => [uid, flags, keywords]),
        [
          [2, seen, ['k']],
          [5, 0, []],
        ],
      );
      assert.deepEqual(changes.vanished, [1, 4]);
      assert.equal(changes.highestModseq, (await viewOf(mailbox, id)).folder.highestModseq);
      assert.equal(await mailbox.store.changes(2 ** 40, 0), undefined);
    });

    it('say too old below the watermark of pruning, and answer above it', async () => {
      const mailbox = await world.newMailbox();
      const { id } = mailbox.inbox;
      await fill(mailbox, ['a', 'b']);
      await mailbox.store.expunge(id, [1], true);
      const { highestModseq } = (await viewOf(mailbox, id)).folder;
      await world.sql(`update change_log set created_at = now() - interval '31 days' where mailbox_id = $1`, [
        mailbox.id,
      ]);
      await pruneMailStore(world.services.db);
      assert.equal(await mailbox.store.changes(id, highestModseq - 1), 'too-old');
      assert.equal(await mailbox.store.vanishedSince(id, 1), 'too-old');
      assert.deepEqual(await mailbox.store.vanishedSince(id, highestModseq), []);
      await mailbox.store.expunge(id, [2], true);
      assert.deepEqual(await mailbox.store.vanishedSince(id, highestModseq), [2]);
    });

    it('let one read-write session alone take \\Recent', async () => {
      const mailbox = await world.newMailbox();
      const { id } = mailbox.inbox;
      await fill(mailbox, ['a', 'b']);
      assert.equal((await mailbox.store.view(id, false))?.folder.recentFrom, 1);
      const views = await Promise.all([mailbox.store.view(id, true), mailbox.store.view(id, true)]);
      assert.deepEqual(new Set(views.map((view) => view?.folder.recentFrom)), new Set([1, 3]));
      await fill(mailbox, ['c']);
      assert.equal((await mailbox.store.view(id, true))?.folder.recentFrom, 3);
      assert.equal((await mailbox.store.view(id, true))?.folder.recentFrom, 4);
    });

    it('let no session claim \\Recent again, nor that of another UIDVALIDITY', async () => {
      const mailbox = await world.newMailbox();
      const { id, uidValidity } = mailbox.inbox;
      await fill(mailbox, ['a', 'b']);
      const take = (claimBelow: number | null, of = uidValidity) => mailbox.store.recentFrom(id, of, claimBelow);
      assert.equal(await take(3, uidValidity + 1), Number.MAX_SAFE_INTEGER);
      assert.equal(await take(null), 1);
      assert.equal(await take(2), 1);
      assert.equal(await take(1), Number.MAX_SAFE_INTEGER);
      assert.equal(await take(null), 2);
      assert.equal(await take(4_000_000_000), 2);
      assert.equal((await mailbox.store.view(id, false))?.folder.recentFrom, 3);
    });

    it('give \\Recent of a message to one of many sessions that are notified at once', async () => {
      const mailbox = await world.newMailbox();
      const { id, uidValidity } = mailbox.inbox;
      for (let round = 1; round <= 5; round++) {
        await fill(mailbox, ['new']);
        const claims = Array.from({ length: 8 }, () => mailbox.store.recentFrom(id, uidValidity, round + 1));
        const taken = (await Promise.all(claims)).filter((from) => from <= round);
        assert.deepEqual(taken, [round]);
      }
    });

    it('belong to their mailbox', async () => {
      const [mailbox, other] = [await world.newMailbox(), await world.newMailbox()];
      await fill(mailbox, ['secret']);
      const [row] = await rowsOf(mailbox, mailbox.inbox.id, [1]);
      const { id } = mailbox.inbox;
      assert.equal(await other.store.view(id, false), undefined);
      assert.equal(await other.store.changes(id, 0), undefined);
      assert.deepEqual(await other.store.vanishedSince(id, 0), []);
      assert.deepEqual(await rowsOf(other, id, [1], EVERYTHING), []);
      assert.equal((await other.store.slice(row?.messageId ?? '', 0, 100)).length, 0);
      assert.equal((await other.store.contents([row?.messageId ?? ''], 1e6)).size, 0);
      const all = await other.store.search(id, Uint32Array.of(1), { kind: 'larger', bytes: 0 });
      assert.equal(all.length, 0);
      await assert.rejects(other.store.expunge(id, [1], true), refused('no-folder'));
      await assert.rejects(other.store.copy(id, [1], other.inbox.id), refused('no-folder'));
    });
  });

  describe('rows and contents', () => {
    it('are read in ascending portions, without removed ones', async () => {
      const mailbox = await world.newMailbox();
      const subjects = Array.from({ length: 900 }, (_, i) => `m${i}`);
      await fill(mailbox, subjects);
      await mailbox.store.expunge(mailbox.inbox.id, [450], true);
      const portions: number[] = [];
      const uids: number[] = [];
      const all = Uint32Array.from(subjects, (_, i) => i + 1);
      for await (const rows of mailbox.store.rows(mailbox.inbox.id, all, { ...NOTHING, envelope: true })) {
        portions.push(rows.length);
        uids.push(...rows.map(({ uid }) => uid));
      }
      assert.ok(portions.length > 1);
      assert.equal(uids.length, 899);
      assert.deepEqual(
        uids,
        uids.toSorted((a, b) => a - b),
      );
      assert.ok(!uids.includes(450));
    });

    it('give small contents together and leave large ones out', async () => {
      const mailbox = await world.newMailbox();
      const texts = [letter('a'), letter('b', '', 'x'.repeat(5_000))];
      await mailbox.store.append(
        mailbox.inbox.id,
        texts.map((text) => spooled(text)),
      );
      const ids = (await rowsOf(mailbox, mailbox.inbox.id, [1, 2])).map(({ messageId }) => messageId);
      const contents = await mailbox.store.contents(ids, 2_000);
      assert.deepEqual(
        [...contents].map(([id, bytes]) => [id, Buffer.from(bytes).toString()]),
        [[ids[0], texts[0]]],
      );
    });
  });
});
