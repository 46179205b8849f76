import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type MailboxStore, StoreRefused } from '@agent-mailbox/mail-store';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import { type MailStore, openMailStore } from '#mailstore/mail-store.ts';
import {
  fill,
  folderNamed,
  letter,
  openStoreWorld,
  type StoreMailbox,
  type StoreWorld,
  spooled,
} from '#test/support/store-world.ts';

describe('writers at the same time', () => {
  let world: StoreWorld;
  /** As in a second process: it knows nothing of the first one's queue, only the locks hold them apart. */
  let second: MailStore;
  let watcher: ChildProcess;
  let watched = '';
  before(async () => {
    world = await openStoreWorld();
    second = openMailStore(world.services, world.notifier);
    watcher = spawn(
      process.execPath,
      [fileURLToPath(new URL('../../operations/admin.ts', import.meta.url)), 'check-mailstore', '--watch'],
      {
        env: { ...process.env, DATABASE_URL: world.services.settings.DATABASE_URL },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    for (const stream of [watcher.stdout, watcher.stderr])
      stream?.on('data', (chunk: Buffer) => {
        watched += chunk;
      });
    await once(watcher.stderr ?? assert.fail(), 'data');
  });
  after(async () => {
    watcher.kill('SIGINT');
    const [code] = watcher.exitCode === null ? await once(watcher, 'exit') : [watcher.exitCode];
    assert.equal(code, 0, watched);
    assert.deepEqual(await world.faults(), []);
    await second.close();
    await world.close();
  });
  const both = (mailbox: StoreMailbox): readonly [MailboxStore, MailboxStore] => [
    mailbox.store,
    second.openMailbox({ mailboxId: mailbox.id, address: mailbox.address }),
  ];
  const times = <Result>(n: number, work: (i: number) => Promise<Result>) =>
    Promise.all(Array.from({ length: n }, (_, i) => work(i)));

  it('on one folder give every message a UID of its own, and changes miss none of them', async () => {
    const mailbox = await world.newMailbox();
    const stores = both(mailbox);
    const { id } = mailbox.inbox;
    let since = 1;
    const seen: number[] = [];
    let done = false;
    const reader = (async () => {
      while (!done || since < ((await mailbox.store.view(id, false))?.folder.highestModseq ?? 0)) {
        const changes = await mailbox.store.changes(id, since);
        assert.ok(changes !== undefined && changes !== 'too-old');
        seen.push(...changes.changed.map(({ uid }) => uid));
        since = changes.highestModseq;
      }
    })();
    const uids = await times(10, async (writer) => {
      const got: number[] = [];
      for (let i = 0; i < 10; i++) {
        const store = stores[(writer + i) % 2] ?? mailbox.store;
        if (writer % 3 === 0) await world.deliver(mailbox, letter());
        else got.push(...(await store.append(id, [spooled(letter()), spooled(letter())])).uids);
      }
      return got;
    });
    done = true;
    await reader;
    const appended = uids.flat();
    assert.equal(new Set(appended).size, appended.length);
    // Each addition was reported exactly once, in order.
    assert.deepEqual(
      seen,
      Array.from({ length: 160 }, (_, i) => i + 1),
    );
  });

  it('that move between two folders both ways never deadlock', async () => {
    const mailbox = await world.newMailbox();
    const archive = await folderNamed(mailbox, 'Archive');
    const stores = both(mailbox);
    await fill(
      mailbox,
      Array.from({ length: 20 }, (_, i) => `a${i}`),
    );
    await fill(
      mailbox,
      Array.from({ length: 20 }, (_, i) => `b${i}`),
      archive,
    );
    const folders = [mailbox.inbox.id, archive.id] as const;
    await times(8, async (writer) => {
      for (let round = 0; round < 12; round++) {
        const store = stores[writer % 2] ?? mailbox.store;
        const [from, to] = (writer >> 1) % 2 ? folders : [folders[1], folders[0]];
        const view = await store.view(from, false);
        const uids = [...(view?.uids ?? [])].filter((_, i) => i % 4 === round % 4);
        if (writer === 7) await world.deliver(mailbox, letter());
        else if (writer === 6)
          await store.storeFlags({
            folderId: to,
            uids,
            change: round % 2 ? 'add' : 'remove',
            flags: MAIL_FLAGS.seen,
            keywords: ['k'],
            unchangedSince: null,
          });
        else await store.move(from, uids, to);
      }
    });
    const totals = (await mailbox.store.folders()).map(({ total }) => total);
    assert.equal(
      totals.reduce((sum, n) => sum + n, 0),
      52,
    );
  });

  it('race for the last byte of the quota: one wins, and it is never exceeded', async () => {
    const text = letter('a piece of exactly this size');
    const mailbox = await world.newMailbox({ quotaBytes: text.length * 5 });
    const archive = await folderNamed(mailbox, 'Archive');
    const stores = both(mailbox);
    await mailbox.store.append(mailbox.inbox.id, [spooled(text)]);
    const outcomes = await times(12, async (i) => {
      try {
        const store = stores[i % 2] ?? mailbox.store;
        if (i % 3 === 0) return (await world.deliver(mailbox, text)).kind === 'delivered';
        if (i % 3 === 1) await store.append(mailbox.inbox.id, [spooled(text)]);
        else await store.copy(mailbox.inbox.id, [1], archive.id);
        return true;
      } catch (error) {
        assert.ok(error instanceof StoreRefused && error.refusal === 'over-quota', String(error));
        return false;
      }
    });
    assert.equal(outcomes.filter(Boolean).length, 4);
    assert.equal((await mailbox.store.quota()).usedBytes, text.length * 5);
  });

  it('on many folders of many mailboxes, with folders coming and going, keep every invariant', async () => {
    const mailboxes = await times(4, () => world.newMailbox());
    await times(12, async (writer) => {
      const mailbox = mailboxes[writer % 4] ?? assert.fail();
      const store = both(mailbox)[writer % 2] ?? mailbox.store;
      const name = `w${writer}`;
      for (let round = 0; round < 5; round++) {
        const folder = await store.createFolder(name, null);
        await store.append(folder.id, [spooled(letter()), spooled(letter(), { flags: MAIL_FLAGS.deleted })]);
        await store.copy(folder.id, [1, 2], mailbox.inbox.id);
        await world.deliver(mailbox, letter());
        await store.expunge(mailbox.inbox.id, null);
        await store.renameFolder(name, `shared/${name}`);
        await store.deleteFolder(`shared/${name}`);
      }
    });
    for (const { inbox, store } of mailboxes) {
      const view = await store.view(inbox.id, false);
      assert.equal(view?.folder.total, 30);
    }
  });
});
