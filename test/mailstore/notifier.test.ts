import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { announceMailboxAccess } from '#core/mailboxes/mailbox-logins.ts';
import { openMailNotifier } from '#mailstore/changes/notifier.ts';
import { letter, openStoreWorld, type StoreWorld, spooled } from '#test/support/store-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

describe('the wake-up of watchers', () => {
  let world: StoreWorld;
  before(async () => {
    world = await openStoreWorld();
  });
  after(async () => {
    await world.close();
  });

  it('reaches this process at once, for deliveries and every other write, until it is no longer wanted', async () => {
    const mailbox = await world.newMailbox();
    let woken = 0;
    const stop = mailbox.store.watch(mailbox.inbox.id, () => woken++);
    await waitUntil('the listener', () => woken > 0); // every new listener is woken once
    woken = 0;
    await world.deliver(mailbox, letter());
    assert.equal(woken, 1);
    await mailbox.store.append(mailbox.inbox.id, [spooled(letter())]);
    assert.equal(woken, 2);
    const flags = { folderId: mailbox.inbox.id, uids: [1], flags: 1, keywords: [], unchangedSince: null };
    await mailbox.store.storeFlags({ ...flags, change: 'add' });
    await mailbox.store.storeFlags({ ...flags, change: 'add' }); // changes nothing
    assert.equal(woken, 3);
    stop();
    await world.deliver(mailbox, letter());
    assert.equal(woken, 3);
  });

  it('reaches another process, which reads the changes', async () => {
    const mailbox = await world.newMailbox();
    const child = spawn(process.execPath, [fileURLToPath(new URL('watching-process.ts', import.meta.url))], {
      env: { ...process.env, DATABASE_URL: world.services.settings.DATABASE_URL, FOLDER_ID: String(mailbox.inbox.id) },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    await waitUntil('the other process', () => lines.includes('listening'));
    const started = performance.now();
    await world.deliver(mailbox, letter());
    await waitUntil('the news of one message', () => lines.includes('total 1'));
    const tookMs = performance.now() - started;
    // A burst causes few notifications, and the last state is always notified.
    for (let i = 0; i < 20; i++) await world.deliver(mailbox, letter());
    await waitUntil('the news of the burst', () => lines.includes('total 21'));
    // By its notification: without one it looks every 30 s.
    assert.ok(tookMs < 20_000, `${tookMs} ms`);
    child.stdin.end();
    const code = await new Promise((resolve) => child.once('exit', resolve));
    assert.equal(code, 0);
  });

  it('wakes everybody after the listening connection was lost', async () => {
    const mailbox = await world.newMailbox();
    const other = openMailNotifier(world.services);
    let woken = 0;
    other.watchFolder(mailbox.inbox.id, () => woken++);
    await waitUntil('the listener', () => woken > 0);
    woken = 0;
    await world.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'agent-mailbox mail watch'`,
    );
    await waitUntil('the reconnect', () => woken > 0);
    woken = 0;
    await world.deliver(mailbox, letter());
    await waitUntil('a notification', () => woken > 0);
    await other.close();
  });

  it('finds missed changes by its poll, and reports nothing for unchanged folders', async () => {
    const mailbox = await world.newMailbox();
    const polling = openMailNotifier(world.services, { pollMs: 50 });
    let woken = 0;
    polling.watchFolder(mailbox.inbox.id, () => woken++);
    await waitUntil('the listener and the first poll', () => woken >= 2);
    const atRest = woken;
    const polls = async () => {
      const [row] = await world.sql<{ n: number }>(`select count(*) as n from folder`);
      return row?.n;
    };
    for (let i = 0; i < 20; i++) await polls();
    assert.equal(woken, atRest);
    await world.sql(`update folder set modseq = modseq + 1 where id = $1`, [mailbox.inbox.id]);
    await waitUntil('the poll', () => woken > atRest);
    await polling.close();
  });

  it('notifies open sessions of a mailbox that its access changed', async () => {
    const mailbox = await world.newMailbox();
    const other = openMailNotifier(world.services);
    let woken = 0;
    let ready = false;
    other.watchFolder(mailbox.inbox.id, () => {
      ready = true;
    });
    await waitUntil('the listener', () => ready);
    other.watchMailbox(mailbox.id, () => woken++);
    await announceMailboxAccess(world.services.db, mailbox.id);
    await waitUntil('the word', () => woken === 1);
    await other.close();
  });
});
