import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlagChange } from '@agent-mailbox/mail-store';
import fc from 'fast-check';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import {
  fill,
  letter,
  openStoreWorld,
  type StoreMailbox,
  type StoreWorld,
  spooled,
} from '#test/support/store-world.ts';

const FOLDERS = ['INBOX', 'Archive', 'Trash', 'Extra'] as const;
const KEYWORDS = ['one', 'two', 'three'];
const ALL_FLAGS = Object.values(MAIL_FLAGS).reduce((sum, flag) => sum | flag, 0);

type Command =
  | { readonly kind: 'append' | 'deliver'; readonly folder: number; readonly count: number; readonly flags: number }
  | {
      readonly kind: 'flags';
      readonly folder: number;
      readonly pick: number;
      readonly change: FlagChange;
      readonly flags: number;
      readonly keywords: readonly string[];
    }
  | { readonly kind: 'copy' | 'move' | 'replace'; readonly folder: number; readonly to: number; readonly pick: number }
  | { readonly kind: 'expunge'; readonly folder: number; readonly pick: number; readonly force: boolean }
  | { readonly kind: 'recreate' };

const folder = fc.nat(FOLDERS.length - 1);
const pick = fc.nat(255);
const flags = fc.nat(ALL_FLAGS);
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('append' as const, 'deliver' as const),
    folder,
    count: fc.integer({ min: 1, max: 4 }),
    flags,
  }),
  fc.record({
    kind: fc.constant('flags' as const),
    folder,
    pick,
    change: fc.constantFrom<FlagChange>('add', 'remove', 'replace'),
    flags,
    keywords: fc.subarray(KEYWORDS),
  }),
  fc.record({ kind: fc.constantFrom('copy' as const, 'move' as const, 'replace' as const), folder, to: folder, pick }),
  fc.record({ kind: fc.constant('expunge' as const), folder, pick, force: fc.boolean() }),
  fc.record({ kind: fc.constant('recreate' as const) }),
);

interface Placed {
  readonly size: number;
  flags: number;
  keywords: Set<string>;
}

/** A folder as it should be. */
class ModelFolder {
  readonly id: number;
  nextUid = 1;
  placed = new Map<number, Placed>();
  constructor(id: number) {
    this.id = id;
  }
  add(size: number, messageFlags: number, keywords: Iterable<string>): number {
    this.placed.set(this.nextUid, { size, flags: messageFlags, keywords: new Set(keywords) });
    return this.nextUid++;
  }
  /** Some UIDs, among them one that never was. */
  pick(bits: number): number[] {
    return [...this.placed.keys(), 9_999].filter((uid) => (bits >> (uid % 8)) & 1);
  }
  state(): unknown[] {
    return [...this.placed].map(([uid, each]) => [uid, each.flags, [...each.keywords].toSorted()]);
  }
}

/** What a client that follows the changes believes. */
class Follower {
  since = 0;
  known = new Map<number, unknown[]>();
  async follow({ store }: StoreMailbox, folderId: number): Promise<void> {
    const changes = await store.changes(folderId, this.since);
    assert.ok(changes !== undefined && changes !== 'too-old');
    for (const { uid, flags: now, keywords } of changes.changed) this.known.set(uid, [uid, now, keywords.toSorted()]);
    for (const uid of changes.vanished) this.known.delete(uid);
    this.since = changes.highestModseq;
  }
  state(): unknown[] {
    return [...this.known.values()];
  }
}

describe('random operations', () => {
  let world: StoreWorld;
  before(async () => {
    world = await openStoreWorld();
  });
  after(async () => {
    assert.deepEqual(await world.faults(), []);
    await world.close();
  });

  it('leave the store as a simple model of it, and a follower of changes with the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
        const mailbox = await world.newMailbox();
        await mailbox.store.createFolder('Extra', null);
        const model: ModelFolder[] = [];
        const followers: Follower[] = [];
        for (const name of FOLDERS) {
          model.push(new ModelFolder((await mailbox.store.folder(name))?.id ?? 0));
          followers.push(new Follower());
        }
        for (const [step, each] of commands.entries()) {
          await carryOut(mailbox, model, followers, each);
          if (step % 3 === 0) for (const [i, { id }] of model.entries()) await followers[i]?.follow(mailbox, id);
        }
        await compare(mailbox, model, followers);
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });

  async function carryOut(mailbox: StoreMailbox, model: ModelFolder[], followers: Follower[], each: Command) {
    if (each.kind === 'recreate') {
      await mailbox.store.deleteFolder('Extra');
      const { id } = await mailbox.store.createFolder('Extra', null);
      model[3] = new ModelFolder(id);
      followers[3] = new Follower();
      return;
    }
    const from = model[each.folder] ?? assert.fail();
    switch (each.kind) {
      case 'append': {
        const texts = Array.from({ length: each.count }, () => letter());
        const { uids } = await mailbox.store.append(
          from.id,
          texts.map((text, i) => spooled(text, { flags: each.flags, keywords: KEYWORDS.slice(0, i) })),
        );
        assert.deepEqual(
          uids,
          texts.map((text, i) => from.add(text.length, each.flags, KEYWORDS.slice(0, i))),
        );
        return;
      }
      case 'deliver': {
        const text = letter();
        const target = (await mailbox.store.folders()).find(({ id }) => id === from.id);
        await world.deliver(mailbox, text, target);
        from.add(text.length, 0, []);
        return;
      }
      case 'flags': {
        const uids = from.pick(each.pick);
        const stored = await mailbox.store.storeFlags({ ...each, folderId: from.id, uids, unchangedSince: null });
        const { change } = each;
        for (const uid of uids) {
          const placed = from.placed.get(uid);
          if (placed === undefined) {
            assert.ok(stored.missing.includes(uid));
            continue;
          }
          if (change === 'replace') placed.flags = each.flags;
          else placed.flags = change === 'add' ? placed.flags | each.flags : placed.flags & ~each.flags;
          if (change === 'replace') placed.keywords = new Set(each.keywords);
          for (const keyword of each.keywords) placed.keywords[change === 'remove' ? 'delete' : 'add'](keyword);
        }
        return;
      }
      case 'copy':
      case 'move': {
        const to = model[each.to] ?? assert.fail();
        const uids = from.pick(each.pick);
        const copied = await mailbox.store[each.kind](from.id, uids, to.id);
        const there = uids.filter((uid) => from.placed.has(uid));
        assert.deepEqual(copied.from, there);
        const added = there.map((uid) => {
          const placed = from.placed.get(uid) ?? assert.fail();
          return to.add(placed.size, placed.flags, placed.keywords);
        });
        assert.deepEqual(copied.to, added);
        if (each.kind === 'move') for (const uid of there) from.placed.delete(uid);
        return;
      }
      case 'replace': {
        const to = model[each.to] ?? assert.fail();
        const [uid] = from.placed.keys();
        if (uid === undefined) return;
        const text = letter();
        const replaced = await mailbox.store.replace(from.id, uid, to.id, spooled(text));
        assert.equal(replaced.uid, to.add(text.length, 0, []));
        from.placed.delete(uid);
        return;
      }
      case 'expunge': {
        const uids = from.pick(each.pick);
        const { uids: gone } = await mailbox.store.expunge(from.id, uids, each.force);
        const expected = uids.filter((uid) => {
          const placed = from.placed.get(uid);
          return placed !== undefined && (each.force || (placed.flags & MAIL_FLAGS.deleted) !== 0);
        });
        assert.deepEqual(gone, expected);
        for (const uid of gone) from.placed.delete(uid);
      }
    }
  }

  async function compare(mailbox: StoreMailbox, model: readonly ModelFolder[], followers: readonly Follower[]) {
    let bytes = 0;
    let messages = 0;
    for (const [i, expected] of model.entries()) {
      const view = (await mailbox.store.view(expected.id, false)) ?? assert.fail();
      const state = [...view.uids].map((uid, at) => [uid, view.flags[at], (view.keywords.get(uid) ?? []).toSorted()]);
      assert.deepEqual(state, expected.state());
      assert.equal(view.folder.uidNext, expected.nextUid);
      const follower = followers[i] ?? assert.fail();
      await follower.follow(mailbox, expected.id);
      assert.deepEqual(follower.state(), expected.state());
      for (const { size } of expected.placed.values()) bytes += size;
      messages += expected.placed.size;
    }
    const quota = await mailbox.store.quota();
    assert.deepEqual([quota.usedBytes, quota.messages], [bytes, messages]);
    await fill(mailbox, ['still works']);
  }
});
