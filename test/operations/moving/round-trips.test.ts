/** A mailbox leaves by each format and comes back into another one: every message byte for byte, with flags, folder, date. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { EXPORT_FORMATS } from '#domain/mailbox-moves.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { letter, type StoreMailbox, spooled } from '#test/support/store-world.ts';
import { contentsOf, fillHard, type MovingWorld, openMovingWorld } from './moving-world.ts';

let world: MovingWorld;
let source: StoreMailbox;
before(async () => {
  world = await openMovingWorld();
  source = await world.newMailbox();
  await fillHard(source);
});
after(() => world.close());

for (const format of EXPORT_FORMATS)
  test(`${format}: nothing changes, an import that runs again imports nothing, and another format has the same`, async () => {
    const target = world.path(format);
    await world.export(source, format, target);
    const second = await world.newMailbox();
    const wanted = await contentsOf(world, source);
    const dry = await world.import(second, target, { dryRun: true });
    assert.deepEqual([dry.imported, dry.problems], [wanted.messages.length, []]);
    assert.deepEqual((await contentsOf(world, second)).messages, []);
    const report = await world.import(second, target);
    assert.deepEqual(report.problems, []);
    assert.deepEqual([report.imported, report.known], [wanted.messages.length, 0]);
    assert.deepEqual(await contentsOf(world, second), wanted);
    const again = await world.import(second, target);
    assert.deepEqual([again.imported, again.known], [0, wanted.messages.length]);
    for (const other of EXPORT_FORMATS.filter((each) => each !== format)) {
      await world.export(second, other, world.path(`${format}-${other}`));
      const third = await world.newMailbox();
      await world.import(third, world.path(`${format}-${other}`));
      assert.deepEqual(await contentsOf(world, third), wanted, `${format}, then ${other}`);
      // What came by another format is recognized, too.
      assert.equal((await world.import(third, target)).imported, 0);
    }
    assert.deepEqual(await world.faults(), []);
    const events = await world.sql('select 1 from events limit 1');
    assert.deepEqual(events, [], 'an import records no event');
  });

test('what was imported is not imported again after it was moved or deleted', async () => {
  const target = world.path('moved');
  const first = await world.newMailbox();
  await first.store.append(first.inbox.id, [spooled(letter('one')), spooled(letter('two'))]);
  await world.export(first, 'mbox', target);
  const second = await world.newMailbox();
  await world.import(second, target);
  const archive = (await second.store.folder('Archive')) ?? assert.fail();
  await second.store.move(second.inbox.id, [1], archive.id);
  await second.store.expunge(second.inbox.id, [2], true);
  const again = await world.import(second, target);
  assert.deepEqual([again.imported, again.known], [0, 2]);
});

test('an archive keeps threads, envelope, subscriptions and time of receipt', async () => {
  const first = await world.newMailbox();
  await world.deliver(first, letter('A thread'));
  await world.deliver(first, letter('Re: A thread', 'In-Reply-To: <nobody@example.org>\r\n'));
  await world.deliver(first, letter('Re: A thread'));
  await first.store.createFolder('Quiet', null);
  await first.store.subscribe('Quiet', true);
  await first.store.subscribe('Junk', false);
  const facts = (mailbox: StoreMailbox) =>
    world.sql<{ thread_id: string; subject: string }>(
      `select m.thread_id, m.subject, m.envelope_from, m.received_at, m.delivered_to from message m
        join placement p on p.message_id = m.id where m.mailbox_id = $1 order by p.uid`,
      [mailbox.id],
    );
  const threadsOf = (rows: readonly { thread_id: string }[]) => {
    const ids = [...new Set(rows.map((row) => row.thread_id))];
    return rows.map((row) => ids.indexOf(row.thread_id));
  };
  await world.export(first, 'archive', world.path('threads'));
  const second = await world.newMailbox();
  assert.deepEqual((await world.import(second, world.path('threads'))).problems, []);
  const [before, now] = [await facts(first), await facts(second)];
  assert.equal(now.length, 3);
  assert.deepEqual(threadsOf(now), threadsOf(before));
  assert.deepEqual(
    now.map((row) => ({ ...row, thread_id: '' })),
    before.map((row) => ({ ...row, thread_id: '' })),
  );
  assert.deepEqual(await second.store.subscriptions(), await first.store.subscriptions());
});

test('a damaged or cut archive is named, and what is whole is imported', async () => {
  const first = await world.newMailbox();
  await first.store.append(
    first.inbox.id,
    [1, 2, 3].map((n) => spooled(letter(`letter ${n}`))),
  );
  await world.export(first, 'archive', world.path('damaged'));
  const file = world.path('damaged/mailbox.tar');
  const bytes = readFileSync(file);
  const at = bytes.indexOf('Subject: letter 2');
  bytes[at + 9] = 76;
  writeFileSync(file, bytes);
  const damaged = await world.import(await world.newMailbox(), file);
  assert.equal(damaged.imported, 3);
  assert.deepEqual(
    damaged.problems.map(({ problem }) => problem.split(':')[0]),
    ['is damaged', 'messages are missing or changed'],
  );
  truncateSync(file, bytes.indexOf('Subject: letter 3') + 3);
  const cut = await world.import(await world.newMailbox(), file);
  assert.equal(cut.imported, 2);
  assert.match(
    cut.problems.map(({ problem }) => problem).join('; '),
    /ends inside of this message: not imported; .*ends here without its end/,
  );
});

test('the mailbox is full: what fits is imported, and the import goes on with a larger quota', async () => {
  const first = await world.newMailbox();
  await first.store.append(
    first.inbox.id,
    Array.from({ length: 20 }, (_, n) => spooled(letter(`letter ${n}`, '', 'x'.repeat(900)))),
  );
  await world.export(first, 'maildir', world.path('full'));
  const second = await world.newMailbox({ quotaBytes: 10_500 });
  const dry = await world.import(second, world.path('full'), { dryRun: true });
  assert.match(dry.problems[0]?.problem ?? '', /^has room for 10500 bytes, and 2\d{4} would be imported$/);
  const report = await world.import(second, world.path('full'));
  assert.match(report.stopped ?? '', /the mailbox is full: \d+ of 10500 bytes/);
  assert.ok(report.imported > 5 && report.imported < 12, String(report.imported));
  await world.sql('update mailbox_counter set quota_bytes = 1000000 where mailbox_id = $1', [second.id]);
  const rest = await world.import(second, world.path('full'));
  assert.deepEqual([rest.stopped, rest.imported, rest.known], [null, 20 - report.imported, report.imported]);
});

test('killed in the middle, export and import go on', { timeout: 300_000 }, async () => {
  const first = await world.newMailbox();
  for (let n = 0; n < 60; n++)
    await first.store.append(
      first.inbox.id,
      Array.from({ length: 50 }, (_, m) => spooled(letter(`letter ${n} ${m}`, '', 'words\r\n'.repeat(40)))),
    );
  const wanted = await contentsOf(world, first);
  const environment = { DATABASE_URL: world.services.settings.DATABASE_URL ?? '', DATA_DIR: world.path('data') };
  for (const format of EXPORT_FORMATS) {
    const target = world.path(`killed-${format}`);
    /** Kills the program as soon as `isInside` says that it is in the middle. */
    const killed = async (args: string[], isInside: () => Promise<boolean>) => {
      let stop: (() => void) | undefined;
      const watching = setInterval(() => {
        void isInside().then((inside) => {
          if (inside) stop?.();
        });
      }, 5);
      const run = await runAdmin(args, {
        environment,
        onStart: (kill) => {
          stop = () => kill('SIGKILL');
        },
      });
      clearInterval(watching);
      return run;
    };
    const state = path.join(target, 'agent-mailbox-export.json');
    await killed(['export', first.address, target, '--format', format], async () => existsSync(state));
    const resumed = await runAdmin(['export', first.address, target, '--format', format, '--json'], { environment });
    assert.equal(resumed.code, 0, resumed.stderr);
    const exported = JSON.parse(resumed.stdout) as { messages: number; continued: boolean };
    assert.deepEqual([exported.messages, exported.continued], [3_000, true]);
    const whole = await runAdmin(['export', first.address, target, '--format', format], { environment });
    assert.equal(whole.code, 1);
    assert.match(whole.stderr, /has the whole export/);
    const second = await world.newMailbox();
    const countOf = async () =>
      (
        await world.sql<{ messages: number }>('select messages from mailbox_counter where mailbox_id = $1', [second.id])
      )[0]?.messages ?? 0;
    await killed(['import', second.address, target], async () => (await countOf()) > 500);
    const before = await countOf();
    assert.ok(before > 0 && before < 3_000, `${before} were imported when it was killed`);
    const rest = await runAdmin(['import', second.address, target, '--json'], { environment });
    assert.equal(rest.code, 0, rest.stderr + rest.stdout);
    const report = JSON.parse(rest.stdout) as { imported: number; known: number };
    assert.deepEqual([report.imported, report.known], [3_000 - before, before]);
    assert.deepEqual(await contentsOf(world, second), wanted);
  }
});

test('files of an export can be read by their owner alone, and no folder leaves the target', async () => {
  for (const format of EXPORT_FORMATS)
    for (const entry of readdirSync(world.path(format), { recursive: true, withFileTypes: true }))
      if (entry.isFile())
        assert.equal(
          statSync(path.join(entry.parentPath, entry.name)).mode & 0o077,
          0,
          `${entry.parentPath}/${entry.name}`,
        );
  assert.ok(!readdirSync(path.dirname(world.path('x'))).includes('.mbox'));
});
