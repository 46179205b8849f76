import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { MailboxStore } from '@agent-mailbox/mail-store';
import { type MailNotifier, openMailNotifier } from '#mailstore/changes/notifier.ts';
import { type MailStore, openMailStore } from '#mailstore/mail-store.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { type ApiWorld, apiWorld, at, detailPaths, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { letter, spooled } from '#test/support/store-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

describe('messages changed over REST', () => {
  let world: ApiWorld;
  /** The side of a mail client, with a wake-up of its own as in another process. */
  let notifier: MailNotifier;
  let mail: MailStore;
  before(async () => {
    world = await apiWorld();
    notifier = openMailNotifier(world.services);
    mail = openMailStore(world.services, notifier);
  });
  after(async () => {
    const results = await checkMailStore(world.services.db, { all: true });
    assert.deepEqual(
      results.flatMap(({ examples }) => examples),
      [],
    );
    await mail.close();
    await notifier.close();
    await world.close();
  });

  interface Client {
    readonly box: TestMailbox;
    readonly store: MailboxStore;
    id(name: string): Promise<number>;
    append(name: string, text: string): Promise<string>;
    call(method: string, path: string, body?: unknown): Promise<unknown>;
    ok(method: string, path: string, body?: unknown): Promise<unknown>;
  }
  async function client(): Promise<Client> {
    const box = await world.newMailbox(world.organization);
    const store = mail.openMailbox({ mailboxId: box.id, address: box.address });
    const id = async (name: string) => (await store.folder(name))?.id ?? assert.fail(name);
    const call = (method: string, path: string, body?: unknown) =>
      world.call(method, `/api/mailbox${path}`, { as: box.token, ...(body === undefined ? {} : { body }) });
    return {
      box,
      store,
      id,
      async append(name, text) {
        const { uids } = await store.append(await id(name), [spooled(text)]);
        const [row] = await world.sql(`select message_id from placement where folder_id = $1 and uid = $2`, [
          await id(name),
          uids[0],
        ]);
        return String(row?.['message_id']);
      },
      call,
      async ok(method, path, body) {
        const answer = await call(method, path, body);
        assert.ok(answer.status < 300, answer.text);
        return answer.body;
      },
    };
  }

  it('flags, labels and folder reach a mail client at once', async () => {
    const { store, id, append, ok } = await client();
    const message = await append('INBOX', letter('to be changed'));
    const [inbox, archive] = [await id('INBOX'), await id('Archive')];
    let woken = 0;
    store.watch(inbox, () => woken++);
    await waitUntil('the listener', () => woken > 0);
    woken = 0;
    const changed = await ok('PATCH', `/messages/${message}`, {
      seen: true,
      flagged: true,
      labels: ['Order', 'order'],
    });
    assert.deepEqual(at(changed, 'labels'), ['Order']);
    assert.deepEqual([at(changed, 'seen'), at(changed, 'flagged')], [true, true]);
    await waitUntil('the wake-up', () => woken > 0);
    const view = await store.view(inbox, false);
    assert.deepEqual([view?.flags[0], view?.keywords.get(1)], [5, ['Order']]);
    const moved = await ok('PATCH', `/messages/${message}`, { folder: 'archive', labels: [] });
    assert.deepEqual([at(moved, 'folders'), at(moved, 'labels'), at(moved, 'seen')], [['Archive'], [], true]);
    assert.equal((await store.view(inbox, false))?.uids.length, 0);
    assert.equal((await store.view(archive, false))?.uids.length, 1);
    await ok('PATCH', `/messages/${message}`, {});
  });

  it('act on every placement of a message, and a move leaves one', async () => {
    const { store, id, append, ok } = await client();
    const message = await append('INBOX', letter('copied'));
    const [inbox, archive, sent] = [await id('INBOX'), await id('Archive'), await id('Sent')];
    await store.copy(inbox, [1], archive);
    await store.copy(inbox, [1], archive);
    await store.storeFlags({
      folderId: archive,
      uids: [1],
      change: 'add',
      flags: 1,
      keywords: ['Only-here'],
      unchangedSince: null,
    });
    assert.equal(at(await ok('GET', `/messages/${message}`), 'seen'), false);
    const seen = await ok('PATCH', `/messages/${message}`, { seen: true });
    assert.deepEqual([at(seen, 'seen'), at(seen, 'labels')], [true, ['Only-here']]);
    assert.deepEqual(at(seen, 'folders'), ['Archive', 'INBOX']);
    for (const folder of [inbox, archive])
      assert.ok((await store.view(folder, false))?.flags.every((flags) => flags === 1));
    assert.deepEqual(at(await ok('PATCH', `/messages/${message}`, { folder: 'Archive' }), 'folders'), ['Archive']);
    assert.deepEqual([...((await store.view(archive, false))?.uids ?? [])], [1]);
    await ok('PATCH', `/messages/${message}`, { folder: 'Sent' });
    assert.equal((await store.view(sent, false))?.folder.total, 1);
    assert.equal((await store.quota()).messages, 1);
  });

  it('refuse a folder that is not there and labels that are no atoms', async () => {
    const { append, call } = await client();
    const message = await append('INBOX', letter());
    const folder = await world
      .call('GET', '/healthz')
      .then(() => call('PATCH', `/messages/${message}`, { folder: 'Nope' }));
    assert.deepEqual([Reflect.get(Object(folder), 'status')], [400]);
    assert.deepEqual(detailPaths(folder as Parameters<typeof detailPaths>[0]), ['/folder']);
    for (const label of ['two words', '\\Seen', 'wild*', 'quo"te', 'brace{', 'per%cent', 'pa(ren', 'end]', 'ü', ''])
      assert.equal(
        Reflect.get(Object(await call('PATCH', `/messages/${message}`, { labels: [label] })), 'status'),
        400,
        label,
      );
  });

  it('deletion moves to the trash first, then removes permanently; permanent at once', async () => {
    const { store, id, append, ok, call } = await client();
    const [first, second] = [await append('INBOX', letter('first')), await append('INBOX', letter('second'))];
    await store.copy(await id('INBOX'), [1], await id('Archive'));
    await ok('DELETE', `/messages/${first}`);
    assert.deepEqual(at(await ok('GET', `/messages/${first}`), 'folders'), ['Trash']);
    await ok('DELETE', `/messages/${first}`);
    assert.equal(Reflect.get(Object(await call('GET', `/messages/${first}`)), 'status'), 404);
    await ok('DELETE', `/messages/${second}?permanent=true`);
    assert.deepEqual(
      (await store.folders()).map(({ total }) => total),
      [0, 0, 0, 0, 0, 0],
    );
    assert.equal((await store.quota()).usedBytes, 0);
  });

  it('a message that mail clients move concurrently is changed in any folder', async () => {
    const { store, id, append, ok } = await client();
    const message = await append('INBOX', letter('restless'));
    const [inbox, archive] = [await id('INBOX'), await id('Archive')];
    let done = false;
    const mover = (async () => {
      for (let round = 0; !done; round++) {
        const [from, to] = round % 2 ? [archive, inbox] : [inbox, archive];
        await store.move(from, [...((await store.view(from, false))?.uids ?? [])], to);
      }
    })();
    for (let i = 0; i < 20; i++)
      assert.deepEqual(at(await ok('PATCH', `/messages/${message}`, { labels: [`l${i}`] }), 'labels'), [`l${i}`]);
    done = true;
    await mover;
  });

  it('folders are listed with their counts', async () => {
    const { box, store, append, ok } = await client();
    await append('INBOX', letter());
    await store.createFolder('Projects/2026', null);
    const own = at(await ok('GET', '/folders'), 'data');
    assert.ok(Array.isArray(own));
    assert.deepEqual(
      own.map((folder) => [at(folder, 'name'), at(folder, 'role'), at(folder, 'messages'), at(folder, 'unread')]),
      [
        ['INBOX', 'inbox', 1, 1],
        ['Sent', 'sent', 0, 0],
        ['Drafts', 'drafts', 0, 0],
        ['Archive', 'archive', 0, 0],
        ['Junk', 'junk', 0, 0],
        ['Trash', 'trash', 0, 0],
        ['Projects', null, 0, 0],
        ['Projects/2026', null, 0, 0],
      ],
    );
    const byKey = await world.call('GET', `/api/mailboxes/${box.id}/folders`, { as: world.organization.key });
    assert.deepEqual(at(byKey.body, 'data'), own);
  });

  it('threads gather their messages, newest first, page by page', async () => {
    const { append, ok } = await client();
    const first = letter('Plan A');
    const messageId = /Message-ID: (<[^>]+>)/.exec(first)?.[1];
    const root = await append('INBOX', first);
    for (let i = 0; i < 3; i++) await append('INBOX', letter(`other ${i}`));
    const reply = await append(
      'Sent',
      `From: Ann <ann@x.test>\r\nSubject: Re: Plan A\r\nIn-Reply-To: ${messageId}\r\n\r\nYes\r\n`,
    );
    await ok('PATCH', `/messages/${root}`, { seen: true });
    const page = await ok('GET', '/threads?limit=2');
    assert.deepEqual(
      [at(page, 'data', 0, 'subject'), at(page, 'data', 0, 'messageCount'), at(page, 'data', 0, 'unreadCount')],
      ['Re: Plan A', 2, 1],
    );
    assert.deepEqual(at(page, 'data', 0, 'senders'), ['Bob Builder <bob@example.com>', 'Ann <ann@x.test>']);
    const subjects: unknown[] = [];
    for (let cursor: unknown = ''; cursor !== null; ) {
      const next = await ok(
        'GET',
        `/threads?limit=2${cursor === '' ? '' : `&cursor=${JSON.stringify(cursor).slice(1, -1)}`}`,
      );
      const data = at(next, 'data');
      assert.ok(Array.isArray(data));
      subjects.push(...data.map((thread) => at(thread, 'subject')));
      cursor = at(next, 'nextCursor');
    }
    assert.deepEqual(subjects, ['Re: Plan A', 'other 2', 'other 1', 'other 0']);
    const thread = await ok('GET', `/threads/${textAt(page, 'data', 0, 'id')}`);
    assert.deepEqual([at(thread, 'messages', 0, 'id'), at(thread, 'messages', 1, 'id')], [root, reply]);
    // Junk neither counts nor shows.
    await ok('PATCH', `/messages/${reply}`, { labels: ['spam'] });
    assert.equal(at(await ok('GET', `/threads/${textAt(page, 'data', 0, 'id')}`), 'messageCount'), 1);
  });

  it('search finds words of subject, addresses and text, and shows where they stand', async () => {
    const { append, ok } = await client();
    const words = 'Dear all, the quick brown fox jumps over the lazy dog. '.repeat(10);
    const fox = await append('INBOX', letter('Animals', '', `${words}A zebra too.\r\n`));
    const other = await append('Archive', letter('=?utf-8?Q?Stra=C3=9Fenfest?=', '', 'nothing of it\r\n'));
    const ids = async (q: string) => {
      const data = at(await ok('GET', `/messages/search?q=${encodeURIComponent(q)}`), 'data');
      return Array.isArray(data) ? data.map((hit) => at(hit, 'id')) : assert.fail();
    };
    await waitUntil('the words', async () => (await ids('zebra')).length === 1);
    await waitUntil('the other words', async () => (await ids('straßenfest')).length === 1);
    assert.deepEqual(await ids('straßenfest'), [other]);
    assert.deepEqual(await ids('bob@example.com'), [other, fox]);
    assert.deepEqual(await ids('"quick brown" -zebra'), []);
    assert.deepEqual(await ids('"brown quick"'), []);
    assert.deepEqual(await ids('zebra or nothing'), [other, fox]);
    assert.deepEqual(await ids("it's \\ & | ! ( ' :* <->"), []);
    const hits = await ok('GET', '/messages/search?q=zebra&folder=inbox');
    const text = textAt(hits, 'data', 0, 'highlights', 0, 'text');
    const [start, end] = ['start', 'end'].map((edge) =>
      Number(at(hits, 'data', 0, 'highlights', 0, 'ranges', 0, edge)),
    );
    assert.equal(text.slice(start, end), 'zebra');
    assert.ok(text.length < 200);
    assert.deepEqual(at(await ok('GET', '/messages/search?q=zebra&folder=Archive'), 'data'), []);
  });
});
