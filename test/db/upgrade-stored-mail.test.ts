/** Mail that an earlier reader parsed becomes what today's reader makes of it: all of it, once, by one process at a time. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { blobKey, storeBlob } from '#mailstore/blobs/blob-store.ts';
import { readContent } from '#mailstore/messages/message-content.ts';
import { findMessage, searchMessages } from '#mailstore/messages/read-messages.ts';
import { searchContent } from '#mailstore/search/search-content.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import { upgradePortion } from '#mailstore/upkeep/upgrade-stored-mail.ts';
import { insertMailbox, type TestMailbox } from '#test/support/mail-world.ts';
import { openTestServices } from '#test/support/services.ts';

/** More than two portions. */
const MESSAGES = 120;
const OLD = Buffer.from(
  `From: =?utf-8?q?J=C3=B6rg?= <joerg@from.example>
To: ann@example.com
Subject: Your code
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html
Content-Description: partheaderword

<p>Your code is <b>482913</b></p>
--b
Content-Type: text/plain
Content-Disposition: attachment; filename=notes.txt

attachedword
--b--
`.replaceAll('\n', '\r\n'),
);

let services: Services;
let box: TestMailbox;
let inboxId = 0;
const ids: string[] = [];
const organizationId = newId('organization');
const sql = <Row extends object = Record<string, unknown>>(text: string, values: readonly unknown[] = []) =>
  services.db.query<Row>(text, values);

before(async () => {
  services = await openTestServices();
  const { db } = services;
  await sql(`insert into organizations (id, name, slug, plan) values ($1, 'Old', 'old', 'unlimited')`, [
    organizationId,
  ]);
  box = await insertMailbox(services, organizationId, 'old');
  await storeBlob(db, blobKey(OLD), OLD);
  await fileOldMail();
});
after(() => services?.close());

/** As a version with a simpler reader stored it: the structure is one part, texts know neither envelope nor attachments. */
async function fileOldMail(): Promise<void> {
  const parts = { header: 0, body: OLD.indexOf('\r\n\r\n') + 4, end: OLD.length, type: 'text', subtype: 'plain' };
  for (let i = 0; i < MESSAGES; i++) ids.push(newId('message'));
  const [inbox] = await sql<{ id: number }>(
    `update folder set uid_next = $2::int + 1, modseq = 2, total = $2, unseen = $2, bytes = $2::int * $3::int
      where mailbox_id = $1 and special_use = '\\Inbox' returning id`,
    [box.id, MESSAGES, OLD.length],
  );
  inboxId = inbox?.id ?? 0;
  await sql(
    `insert into message (id, mailbox_id, blob, thread_id, origin, received_at, size, from_addresses, to_addresses,
       cc_addresses, subject, preview, envelope, bodystructure, parts, attachments, text_status)
     select id, $2, $3, $4, 'smtp', now() - interval '40 days', $5::int, '[]', '[]', '[]', 'Old', 'old', 'old', 'old',
       $6, '[]', 'due' from unnest($1::text[]) as id`,
    [ids, box.id, blobKey(OLD), newId('thread'), OLD.length, JSON.stringify(parts)],
  );
  await sql(
    `insert into placement (folder_id, uid, message_id, internal_date, save_date, size)
     select $1, uid, id, now(), now(), $3 from unnest($2::text[]) with ordinality as t (id, uid)`,
    [inboxId, ids, OLD.length],
  );
  await sql(
    `insert into placement_state (folder_id, uid, flags, keywords, modseq) select $1, uid, 0, '{}', 2
       from generate_series(1, $2::int) as uid`,
    [inboxId, MESSAGES],
  );
  await sql(
    `insert into change_log (mailbox_id, seq, folder_id, modseq, kind, uids) values ($1, 1, $2, 2, 'added', $3)`,
    [box.id, inboxId, `{[1,${MESSAGES}]}`],
  );
  await sql(
    `update mailbox_counter set bytes_used = $2::int * $3::int, messages = $3, change_seq = 1 where mailbox_id = $1`,
    [box.id, OLD.length, MESSAGES],
  );
  // One was stored just before its process ended: it has no text at all.
  await sql(
    `insert into message_text (message_id, body, cut, words, header, fill_again)
     select id, 'your code is 482913', false, to_tsvector('simple', 'old'), E'\\nsubject: your code', true
       from unnest($1::text[]) as id`,
    [ids.slice(1)],
  );
}

const allUids = Uint32Array.from({ length: MESSAGES }, (_, i) => i + 1);
const found = async (text: string) =>
  (await searchContent(services.db, box.id, inboxId, allUids, { kind: 'body', text })).length;
const from = async (text: string) =>
  (await searchContent(services.db, box.id, inboxId, allUids, { kind: 'envelope', field: 'from', text })).length;

test('search finds everything before anything is read again', async () => {
  assert.equal(await from('jörg'), MESSAGES);
  assert.equal(await found('482913'), MESSAGES);
});

test('a message that is opened is read and stored at once, its search text later', async () => {
  const opened = ids[5] ?? '';
  const message = (await findMessage(services.db, box.id, opened)) ?? assert.fail('the message');
  const content = await readContent(services.db, message);
  assert.equal(content.codes[0]?.code, '482913');
  const [row] = await sql(
    `select m.text_status, t.fill_again from message m join message_text t on t.message_id = m.id where m.id = $1`,
    [opened],
  );
  assert.deepEqual(row, { text_status: 'ok', fill_again: true });
});

test('all of it is read again: once, in portions, by one process at a time, even if a message fails', async () => {
  const { db, log } = services;
  const poison = ids[7] ?? '';
  await sql(`alter table message add constraint poison check (id <> '${poison}' or text_status <> 'ok')`);
  let read = 0;
  for (let portions = 0; ; portions++) {
    assert.ok(portions < 2 * MESSAGES);
    const done = await Promise.all([upgradePortion(db, log), upgradePortion(db, log), upgradePortion(db, log)]);
    assert.ok(done.every((n) => n <= 50));
    const portion = done.reduce((sum, n) => sum + n, 0);
    read += portion;
    if (portion === 0) break;
  }
  // Each once; of the one that had been opened the search text, of the one that fails also the lines of its header.
  assert.equal(read, MESSAGES + 1);
  assert.equal((await sql(`select from message where text_status = 'ok'`)).length, MESSAGES - 1);
  assert.deepEqual(await sql(`select id from message where text_status = 'failed'`), [{ id: poison }]);
  assert.equal((await sql(`select from message_content`)).length, MESSAGES - 1);
  const texts = await sql(`select from message_text where not fill_again and envelope like '%jörg%' and not cut`);
  assert.equal(texts.length, MESSAGES);
  assert.equal(await upgradePortion(db, log), 0);
  await sql(`alter table message drop constraint poison`);

  assert.equal(await from('jörg'), MESSAGES);
  for (const words of ['482913', 'attachedword', 'partheaderword', 'notes.txt'])
    assert.ok((await found(words)) >= MESSAGES - 1, words);
  const hits = await searchMessages(db, box.id, { q: '482913' }, { limit: 200, after: null });
  assert.ok(hits.length >= MESSAGES - 1, `words of ${hits.length} messages are found`);
  assert.deepEqual(
    (await checkMailStore(db, { all: true })).flatMap(({ examples }) => examples),
    [],
  );
});

test('the turn of a process that died passes on', async () => {
  const { db, log } = services;
  await sql(`update message_text set fill_again = true where message_id = $1`, [ids[0]]);
  await sql(`update sweeps set next_at = now() + interval '2 minutes' where name = 'stored mail'`);
  assert.equal(await upgradePortion(db, log), 0);
  await sql(`update sweeps set next_at = now() where name = 'stored mail'`);
  assert.equal(await upgradePortion(db, log), 1);
});
