/** What is stored of the content of messages, and that nothing reads it a second time. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { readContent } from '#mailstore/messages/message-content.ts';
import { findMessage, searchMessages } from '#mailstore/messages/read-messages.ts';
import { upgradePortion } from '#mailstore/upkeep/upgrade-stored-mail.ts';
import { type MailWorld, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const html = (subject: string, body: string) =>
  `From: Shop <shop@example.com>\nSubject: ${subject}\nMessage-ID: <${subject.replaceAll(' ', '-')}@x>\nContent-Type: text/html\n\n${body}\n`;

describe('the content of messages', () => {
  let world: MailWorld;
  let box: TestMailbox;
  before(async () => {
    world = await openMailWorld();
    box = await world.createMailbox('content');
  });
  after(async () => {
    assert.deepEqual(await world.faults(), []);
    await world.close();
  });
  const sql = (text: string, values: unknown[] = []) => world.services.db.query(text, values);
  const idOf = (reply: string): string => /msg_\w+/.exec(reply)?.[0] ?? assert.fail(reply);
  const stored = async (id: string) =>
    (await findMessage(world.services.db, box.id, id)) ?? assert.fail(`${id} is not there`);
  const contentOf = async (id: string) => readContent(world.services.db, await stored(id));

  it('is stored with the message: text, codes, links, the new part of a reply', async () => {
    const body =
      '<p>Your code: <b>482913</b></p><a href="https://shop.example/c?t=1">Confirm</a><blockquote>old</blockquote>';
    const id = idOf(await world.send(box.address, html('Your code', body)));
    assert.equal((await stored(id)).textStatus, 'ok');
    const [row] = await sql(`select body, extracts from message_content where message_id = $1`, [id]);
    assert.equal(row?.['body'], 'Your code: 482913\n\nConfirm [https://shop.example/c?t=1]\n\n> old');
    const { codes, links, reply } = await contentOf(id);
    assert.equal(codes[0]?.code, '482913');
    assert.equal(links[0]?.url, 'https://shop.example/c?t=1');
    assert.equal(reply, 'Your code: 482913\n\nConfirm [https://shop.example/c?t=1]');
    assert.deepEqual(await sql(`select 1 from reading_attempt`), [], 'no mark stays');
  });

  it('is used by every reader: the bytes are not read again', async () => {
    const id = idOf(await world.send(box.address, html('Seen once', '<p>first words')));
    await waitUntil(
      'the search text',
      async () => (await sql(`select 1 from message_text where message_id = $1`, [id])).length === 1,
    );
    await sql(`update message_content set body = 'as stored' where message_id = $1`, [id]);
    assert.equal((await contentOf(id)).text, 'as stored');
    const [hit] = await searchMessages(world.services.db, box.id, { q: 'first words' }, { limit: 1, after: null });
    assert.equal(hit?.id, id);
  });

  it('of a mail that crashes a process is not read when it arrives again, and the mail is stored', async () => {
    const mail = html('Killer', '<p>words');
    const first = idOf(await world.send(box.address, mail));
    assert.equal((await contentOf(first)).status, 'ok');
    // As a process leaves it that was killed while it read these bytes.
    const received = Buffer.from(mail.replaceAll('\n', '\r\n').replace('Killer@x', 'killer@x'));
    await sql(`insert into reading_attempt (content, started_at) values ($1, now() - interval '1 minute')`, [
      createHash('sha256').update(received).digest(),
    ]);
    const id = idOf(await world.send(box.address, received));
    const message = await stored(id);
    assert.deepEqual(
      [message.textStatus, message.subject, message.from[0]?.address, message.preview],
      ['failed', 'Killer', 'shop@example.com', ''],
    );
    assert.equal((await contentOf(id)).status, 'failed');
    assert.equal((await sql(`select 1 from reading_attempt`)).length, 1, 'nor the next time');
    await sql(`delete from reading_attempt`);
  });

  it('of mail that an earlier version stored is read in the background, and when somebody asks before that', async () => {
    const ids: string[] = [];
    for (const word of ['one', 'two']) ids.push(idOf(await world.send(box.address, html(`Old ${word}`, `<p>${word}`))));
    await sql(`delete from message_content where message_id = any($1)`, [ids]);
    await sql(`update message set text_status = 'due', attachments = '[1]', preview = 'old' where id = any($1)`, [ids]);
    const [one = '', two = ''] = ids;
    assert.equal((await contentOf(one)).text, 'one');
    await waitUntil('the background', async () => {
      await upgradePortion(world.services.db, world.services.log);
      return (await stored(two)).textStatus !== 'due';
    });
    const message = await stored(two);
    assert.deepEqual([message.textStatus, message.preview, message.attachments], ['ok', 'two', []]);
    assert.equal((await contentOf(two)).text, 'two');
  });

  it('of a mail made to take long is read in little time, and others meanwhile', async () => {
    const heavy = world.send(box.address, html('Heavy', '<li><td>'.repeat(65_536)));
    const light = await world.send(box.address, 'From: a@example.com\nSubject: light\n\nwords\n');
    assert.equal((await contentOf(idOf(light))).text, 'words\n');
    assert.equal((await stored(idOf(await heavy))).textStatus, 'ok');
  });
});
