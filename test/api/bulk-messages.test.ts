/** Changing and deleting many messages of a mailbox in one request. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BULK_MESSAGES_MAX } from '#domain/mail/mail-limits.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import {
  type Answer,
  type ApiWorld,
  apiWorld,
  at,
  detailPaths,
  errorCode,
  type TestMailbox,
  textAt,
} from '#test/support/api-world.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world.close());

/** Messages in the INBOX of a new mailbox, oldest first. */
async function boxWith(subjects: readonly string[]): Promise<{ box: TestMailbox; ids: string[] }> {
  const box = await world.newMailbox(world.organization);
  for (const subject of subjects) {
    const body = { to: [box.address], subject, text: 'x' };
    const sent = await world.call('POST', '/api/mailbox/messages', { as: world.organization.mailbox.token, body });
    assert.equal(sent.status, 201, sent.text);
  }
  return { box, ids: idsOf(await list(box)).toReversed() };
}

const list = (box: TestMailbox, query = ''): Promise<Answer> =>
  world.call('GET', `/api/mailbox/messages?${query}`, { as: box.token });
const idsOf = (answer: Answer): string[] => (at(answer.body, 'data') as object[]).map((row) => textAt(row, 'id'));
const change = (box: TestMailbox, body: object): Promise<Answer> =>
  world.call('POST', '/api/mailbox/messages/change', { as: box.token, body });

async function assertSound(): Promise<void> {
  const results = await checkMailStore(world.services.db, { all: true });
  assert.deepEqual(
    results.flatMap(({ rule, examples }) => examples.map((example) => `${rule}: ${example}`)),
    [],
  );
}

test('messages selected by ids get flags and labels, and move; unknown ids are missing', async () => {
  const { box, ids } = await boxWith(['one', 'two', 'three']);
  const [first = '', second = '', third = ''] = ids;
  const { ids: foreign } = await boxWith(['of another']);
  const gone = 'msg_00000000000000000000000000';
  const answer = await change(box, { messageIds: [second, gone, first, ...foreign], seen: true, addLabels: ['bulk'] });
  assert.deepEqual(answer.body, { messageIds: [second, first], missing: [gone, ...foreign], more: false });
  const state = async (id: string) => {
    const { body } = await world.call('GET', `/api/mailbox/messages/${id}`, { as: box.token });
    return [at(body, 'seen'), at(body, 'flagged'), at(body, 'labels'), at(body, 'folders')];
  };
  assert.deepEqual(await state(first), [true, false, ['bulk'], ['INBOX']]);
  assert.deepEqual(await state(third), [false, false, [], ['INBOX']]);
  await change(box, {
    messageIds: ids,
    seen: false,
    flagged: true,
    removeLabels: ['BULK'],
    addLabels: ['kept'],
    folder: 'archive',
  });
  for (const id of ids) assert.deepEqual(await state(id), [false, true, ['kept'], ['Archive']]);
  const folders = await world.call('GET', '/api/mailbox/folders', { as: box.token });
  const archive = (at(folders.body, 'data') as object[]).find((each) => at(each, 'name') === 'Archive');
  assert.deepEqual([at(archive, 'messages'), at(archive, 'unread')], [3, 3]);
  await assertSound();
});

test('messages selected by filters are moved to the trash, then deleted for good; the stream names each', async () => {
  const { box, ids } = await boxWith(['news 1', 'keep', 'news 2', 'news 3']);
  const stream = await fetch(new URL('/api/mailbox/events/stream', world.api.url), { headers: box.token });
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(reader !== undefined);
  const news = ids.filter((_, i) => i !== 1).toReversed();
  const trashed = await change(box, { query: { subject: 'news' }, delete: 'trash' });
  assert.deepEqual(trashed.body, { messageIds: news, missing: [], more: false });
  let heard = '';
  while (!news.every((id) => heard.includes(id))) {
    const { value, done } = await reader.read();
    assert.equal(done, false, heard);
    heard += value;
  }
  await reader.cancel();
  assert.deepEqual(idsOf(await list(box)), [ids[1]]);
  assert.deepEqual(idsOf(await list(box, 'folder=Trash')), news);
  const again = await change(box, { query: { folder: 'Trash', subject: 'news 1' }, delete: 'trash' });
  assert.deepEqual(at(again.body, 'messageIds'), [ids[0]]);
  assert.equal((await world.call('GET', `/api/mailbox/messages/${ids[0]}`, { as: box.token })).status, 404);
  await change(box, { query: { folder: '*' }, delete: 'permanent' });
  assert.deepEqual(idsOf(await list(box, 'folder=*')), []);
  await assertSound();
});

test('one request changes a limited number of messages, and says that there are more', async () => {
  const { box, ids } = await boxWith(['many']);
  const count = BULK_MESSAGES_MAX + 1;
  // Rows as deliveries write them, in one statement.
  await world.sql(
    `with f as (select id from folder where mailbox_id = $2 and special_use = '\\Inbox'),
          m as (insert into message (id, mailbox_id, blob, thread_id, origin, received_at, size, from_addresses,
                  to_addresses, cc_addresses, subject, preview, envelope, bodystructure, parts, attachments, text_status)
                select substr(m.id, 1, 22) || lpad(n::text, 8, '0'), mailbox_id, blob, thread_id, origin, received_at, size,
                       from_addresses, to_addresses, cc_addresses, subject, preview, envelope, bodystructure, parts,
                       attachments, text_status
                  from message m, generate_series(1, $3::int) n where m.id = $1 returning id, size),
          p as (insert into placement (folder_id, uid, message_id, internal_date, save_date, size)
                select f.id, 1000 + row_number() over (order by m.id), m.id, now(), now(), m.size from m, f
                returning folder_id, uid, size),
          s as (insert into placement_state (folder_id, uid, flags, keywords, modseq)
                select folder_id, uid, 0, '{}', 1 from p),
          c as (update mailbox_counter set messages = messages + $3, bytes_used = bytes_used + (select sum(size) from p)
                 where mailbox_id = $2)
     update folder set uid_next = 1000000, total = total + $3, unseen = unseen + $3,
            bytes = bytes + (select sum(size) from p) where id = (select id from f)`,
    [ids[0], box.id, count],
  );
  const first = await change(box, { query: { unread: true }, seen: true });
  assert.equal(Object(at(first.body, 'messageIds')).length, BULK_MESSAGES_MAX);
  assert.equal(at(first.body, 'more'), true);
  const second = await change(box, { query: { unread: true }, seen: true });
  assert.deepEqual([Object(at(second.body, 'messageIds')).length, at(second.body, 'more')], [2, false]);
});

test('a request without a change, with two selections or with an unknown folder changes nothing', async () => {
  const { box, ids } = await boxWith(['stays']);
  for (const [body, path] of [
    [{ messageIds: ids }, '/'],
    [{ seen: true }, '/messageIds'],
    [{ messageIds: ids, query: {}, seen: true }, '/messageIds'],
    [{ messageIds: ids, seen: true, delete: 'trash' }, '/delete'],
    [{ messageIds: ids, seen: true, folder: 'Nowhere' }, '/folder'],
    [{ query: { folder: 'Nowhere' }, seen: true }, 'query/folder'],
  ] as const) {
    const answer = await change(box, body);
    assert.deepEqual([errorCode(answer), detailPaths(answer)], ['invalid_request', [path]], JSON.stringify(body));
  }
  assert.equal(at((await list(box)).body, 'data', 0, 'seen'), false);
});
