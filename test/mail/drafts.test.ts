/** Drafts are messages in the folder Drafts: REST and mail clients see the same ones. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type MailListeners, startMail } from '#mail/start.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';
import {
  type Answer,
  type ApiWorld,
  apiWorld,
  at,
  errorCode,
  type TestMailbox,
  textAt,
} from '#test/support/api-world.ts';
import { LineClient } from '#test/support/line-client.ts';
import { dnsStub, letter } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';

let world: ApiWorld;
let mail: MailListeners;
let ben: TestMailbox;
before(async () => {
  world = await apiWorld();
  mail = await startMail(world.services, { lookup: dnsStub({}) });
  ben = await world.newMailbox(world.organization);
  await world.call('PATCH', '/api/organization', {
    as: world.organization.owner.session,
    body: { settings: { outboundConsent: 'off' } },
  });
});
after(async () => {
  const results = await checkMailStore(world.services.db, { all: true });
  assert.deepEqual(
    results.flatMap(({ examples }) => examples),
    [],
  );
  await mail.close();
  await world.close();
});

const newBox = () => world.newMailbox(world.organization);
const call = (box: TestMailbox, method: string, path: string, body?: object): Promise<Answer> =>
  world.call(method, `/api/mailbox/${path}`, { as: box.token, ...(body === undefined ? {} : { body }) });
async function ok(box: TestMailbox, method: string, path: string, body?: object): Promise<unknown> {
  const answer = await call(box, method, path, body);
  assert.ok(answer.status < 300, answer.text);
  return answer.body;
}
const drafts = async (box: TestMailbox): Promise<unknown[]> => Object(at(await ok(box, 'GET', 'drafts'), 'data'));
const password = ({ token }: TestMailbox): string => (token['authorization'] ?? '').replace('Bearer ', '');

async function imap(box: TestMailbox) {
  const client = await LineClient.open(mail.imap.port, { secure: true });
  await client.line();
  let count = 0;
  const command = async (text: string) => {
    const tag = `t${++count}`;
    client.send(`${tag} ${text}\r\n`);
    const lines: string[] = [];
    for (let line = await client.line(); line !== undefined; line = await client.line()) {
      lines.push(line);
      if (line.startsWith(`${tag} `)) break;
    }
    assert.match(lines.at(-1) ?? '', / OK /);
    return lines;
  };
  await command(`LOGIN ${box.address} "${password(box)}"`);
  return { client, command };
}

const WHOLE = {
  to: ['Ada Byron <ada@customer.example>'],
  cc: ['carl@customer.example'],
  bcc: ['boss@acme.example'],
  replyTo: ['desk@acme.example'],
  subject: 'Grüße aus Wien',
  text: 'Dear Ada,\n\nsome words.',
  html: '<p>Dear Ada, some <b>words</b>.</p>',
  attachments: [
    { filename: 'böse.txt', contentType: 'text/plain', contentBase64: Buffer.from('first').toString('base64') },
    { contentType: 'image/png', contentBase64: 'iVBORw0KGgo=', contentId: 'logo@acme' },
  ],
  labels: ['orders'],
  headers: { 'X-Campaign': 'blue' },
};

describe('a draft', () => {
  test('stores all fields, including Bcc, and keeps the others when one field is saved again', async () => {
    const box = await newBox();
    const created = await ok(box, 'POST', 'drafts', WHOLE);
    const path = `drafts/${textAt(created, 'id')}`;
    const saved = await ok(box, 'PATCH', path, { subject: 'Grüße' });
    for (const draft of [created, saved]) {
      for (const field of ['to', 'cc', 'bcc', 'replyTo', 'html', 'labels', 'headers'] as const)
        assert.deepEqual(at(draft, field), WHOLE[field], field);
      assert.equal(textAt(draft, 'text').trimEnd(), WHOLE.text);
      assert.deepEqual(
        [at(draft, 'attachments', 0, 'contentId'), at(draft, 'attachments', 1, 'filename')],
        ['logo@acme', 'böse.txt'],
      );
    }
    assert.deepEqual([at(created, 'subject'), at(saved, 'subject')], [WHOLE.subject, 'Grüße']);
    assert.equal(at(saved, 'id'), at(created, 'id'));
    assert.notEqual(at(saved, 'messageId'), at(created, 'messageId'));
    assert.equal(at(saved, 'createdAt'), at(created, 'createdAt'));
    assert.equal((await drafts(box)).length, 1);
    const file = await call(
      box,
      'GET',
      `messages/${textAt(saved, 'messageId')}/attachments/${textAt(saved, 'attachments', 1, 'id')}`,
    );
    assert.equal(file.text, 'first');
    const message = await ok(box, 'GET', `messages/${textAt(saved, 'messageId')}`);
    assert.deepEqual([at(message, 'draft'), at(message, 'folders')], [true, ['Drafts']]);
    const cleared = await ok(box, 'PATCH', path, { html: null, bcc: [], attachments: [], labels: [] });
    assert.deepEqual(
      [at(cleared, 'html'), at(cleared, 'bcc'), at(cleared, 'attachments'), at(cleared, 'labels')],
      [null, [], [], []],
    );
  });

  test('is replaced for an open mail client: one is removed, one is added, with a new UID and the same Message-ID', async () => {
    const box = await newBox();
    const draft = await ok(box, 'POST', 'drafts', { subject: 'One', text: 'x' });
    const session = await imap(box);
    const messageIdOf = (lines: string[]) => /<[^>]+@[^>]+>/.exec(lines.join('\n'))?.[0];
    assert.ok((await session.command('SELECT Drafts')).includes('* 1 EXISTS'));
    const before = await session.command('FETCH 1 (UID FLAGS ENVELOPE)');
    assert.match(before[0] ?? '', /UID 1 .*\\Draft/);
    assert.match((await session.client.command('i IDLE')) ?? '', /^\+/);
    await ok(box, 'PATCH', `drafts/${textAt(draft, 'id')}`, { subject: 'Two' });
    assert.deepEqual([await session.client.line(), await session.client.line()], ['* 2 EXISTS', '* 2 RECENT']);
    assert.equal(await session.client.line(), '* 1 EXPUNGE');
    session.client.send('DONE\r\n');
    await session.client.line();
    const after = await session.command('FETCH 1 (UID ENVELOPE)');
    assert.match(after[0] ?? '', /UID 2 .*"Two"/);
    assert.equal(messageIdOf(after), messageIdOf(before));
    session.client.close();
  });

  test('that a mail client wrote is one too, keeps its id when REST saves it, and another client edit makes another', async () => {
    const box = await newBox();
    const session = await imap(box);
    const append = async (subject: string) => {
      const text = `From: ${box.address}\r\nTo: ada@customer.example\r\nSubject: ${subject}\r\nBcc: b@acme.example\r\nMessage-ID: <${subject}@client.test>\r\n\r\nx\r\n`;
      session.client.send(`a APPEND Drafts (\\Draft) {${text.length}+}\r\n${text}\r\n`);
      for (let line = await session.client.line(); !line?.startsWith('a OK'); line = await session.client.line())
        assert.match(line ?? '', /^\*/);
    };
    await append('written');
    const [written] = await drafts(box);
    const id = textAt(written, 'id');
    assert.equal(id, textAt(written, 'messageId').replace('msg_', 'drf_'));
    assert.deepEqual(at(await ok(box, 'GET', `drafts/${id}`), 'bcc'), ['b@acme.example']);
    const saved = await ok(box, 'PATCH', `drafts/${id}`, { text: 'more' });
    assert.deepEqual([at(saved, 'id'), at(saved, 'bcc'), at(saved, 'subject')], [id, ['b@acme.example'], 'written']);
    await session.command('SELECT Drafts');
    await append('edited');
    await session.command('UID STORE 2 +FLAGS (\\Deleted)');
    const [edited, ...more] = await drafts(box);
    assert.equal(more.length, 0, 'what is marked as deleted is no draft any more');
    assert.notEqual(at(edited, 'id'), id);
    const gone = await call(box, 'GET', `drafts/${id}`);
    assert.equal(errorCode(gone), 'not_found');
    assert.match(textAt(gone.body, 'error', 'message'), /mail client/);
    session.client.close();
  });

  test('is removed when it is sent, is sent without Bcc to all recipients, and only once', async () => {
    const box = await newBox();
    const cleo = await newBox();
    const body = { to: [ben.address], bcc: [cleo.address], subject: 'Sent draft', text: 'x', labels: ['kept'] };
    const draft = await ok(box, 'POST', 'drafts', body);
    const path = `drafts/${textAt(draft, 'id')}/send`;
    const sent = await ok(box, 'POST', path, {});
    assert.deepEqual([at(sent, 'to'), at(sent, 'bcc'), at(sent, 'status')], [[ben.address], [cleo.address], 'sent']);
    assert.deepEqual(await drafts(box), []);
    const copy = await ok(box, 'GET', `messages/${textAt(sent, 'id')}`);
    assert.deepEqual([at(copy, 'folders'), at(copy, 'labels'), at(copy, 'draft')], [['Sent'], ['kept'], false]);
    assert.equal(at(copy, 'threadId'), at(draft, 'threadId'));
    for (const reader of [ben, cleo]) {
      const [got] = Object(at(await ok(reader, 'GET', 'messages?folder=INBOX&subject=Sent draft'), 'data'));
      const raw = await call(reader, 'GET', `messages/${textAt(got, 'id')}/raw`);
      assert.doesNotMatch(raw.text, /^Bcc:/im);
    }
    const again = await ok(box, 'POST', path, {});
    assert.deepEqual([at(again, 'id'), at(again, 'bcc')], [at(sent, 'id'), [cleo.address]]);
    assert.equal(Object(at(await ok(ben, 'GET', 'messages?subject=Sent draft'), 'data')).length, 1);
    assert.equal(errorCode(await call(box, 'GET', `drafts/${textAt(draft, 'id')}`)), 'not_found');
  });

  test('of a mail client is sent to everybody in all of its To, Cc and Bcc fields', async () => {
    const box = await newBox();
    const session = await imap(box);
    const text = `From: ${box.address}\r\nTo: a@x.example\r\nTo: b@x.example\r\nCc: c@x.example\r\nBcc: d@x.example\r\nCc: e@x.example\r\nBcc: f@x.example\r\nSubject: Many\r\n\r\nx\r\n`;
    session.client.send(`a APPEND Drafts (\\Draft) {${text.length}+}\r\n${text}\r\n`);
    for (let line = await session.client.line(); !line?.startsWith('a OK'); line = await session.client.line())
      assert.match(line ?? '', /^\*/);
    session.client.close();
    const [draft] = await drafts(box);
    const sent = await ok(box, 'POST', `drafts/${textAt(draft, 'id')}/send`, {});
    const status = await ok(box, 'GET', `messages/${textAt(sent, 'id')}/status`);
    assert.deepEqual(
      Object.values(Object(at(status, 'recipients'))).map((each) => textAt(each, 'address')),
      ['a', 'b', 'c', 'e', 'd', 'f'].map((name) => `${name}@x.example`),
    );
  });

  test('of a reply is addressed to all, is in the thread of the message, and marks it when it is sent', async () => {
    const box = await newBox();
    const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
    const reply = await client.send('bob@example.com', [box.address], letter('Question', `Cc: carl@example.com\n`));
    client.close();
    const id = /msg_\w+/.exec(reply)?.[0] ?? assert.fail(reply);
    const original = await ok(box, 'GET', `messages/${id}`);
    const draft = await ok(box, 'POST', 'drafts', { inReplyTo: id, text: 'Answer' });
    assert.deepEqual(
      [at(draft, 'to'), at(draft, 'subject'), at(draft, 'inReplyTo'), at(draft, 'threadId')],
      [['Bob Builder <bob@example.com>'], 'Re: Question', at(original, 'messageId'), at(original, 'threadId')],
    );
    assert.ok(Object(at(draft, 'cc')).includes('carl@example.com'));
    assert.equal(at(await ok(box, 'GET', `messages/${id}`), 'answered'), false);
    await ok(box, 'POST', `drafts/${textAt(draft, 'id')}/send`, {});
    assert.equal(at(await ok(box, 'GET', `messages/${id}`), 'answered'), true);
    const alone = await ok(box, 'POST', 'drafts', { inReplyTo: id, replyAll: false });
    assert.deepEqual(at(alone, 'cc'), []);
  });

  test('keeps the time it is to go, and waits for it when it is sent', async () => {
    const box = await newBox();
    const sendAt = new Date(Date.now() + 3_600_000).toISOString();
    const draft = await ok(box, 'POST', 'drafts', { to: [ben.address], subject: 'Timed', text: 'x', sendAt });
    assert.equal(at(draft, 'sendAt'), sendAt);
    const sent = await ok(box, 'POST', `drafts/${textAt(draft, 'id')}/send`, {});
    assert.deepEqual([at(sent, 'status'), at(sent, 'sendAt')], ['scheduled', sendAt]);
    assert.deepEqual(await drafts(box), []);
    const now = await ok(box, 'POST', 'drafts', { to: [ben.address], subject: 'Now', text: 'x', sendAt });
    assert.equal(at(await ok(box, 'POST', `drafts/${textAt(now, 'id')}/send`, { sendAt: null }), 'status'), 'sent');
  });

  test('is also removed when it is held for consent', async () => {
    const { mailbox } = world.other;
    const draft = await ok(mailbox, 'POST', 'drafts', { to: ['new@example.com'], subject: 'Held', text: 'x' });
    const answer = await call(mailbox, 'POST', `drafts/${textAt(draft, 'id')}/send`, {});
    assert.equal(answer.status, 202);
    assert.deepEqual(await drafts(mailbox), []);
    const again = await call(mailbox, 'POST', `drafts/${textAt(draft, 'id')}/send`, {});
    assert.deepEqual([again.status, at(again.body, 'consentId')], [200, at(answer.body, 'consentId')]);
  });

  test('is not sent without recipient, and stays', async () => {
    const box = await newBox();
    const draft = await ok(box, 'POST', 'drafts', { subject: 'Nobody' });
    assert.equal(errorCode(await call(box, 'POST', `drafts/${textAt(draft, 'id')}/send`, {})), 'invalid_request');
    assert.equal((await drafts(box)).length, 1);
    assert.equal((await call(box, 'DELETE', `drafts/${textAt(draft, 'id')}`)).status, 204);
    assert.deepEqual(await drafts(box), []);
  });

  test('saved twice concurrently and sent meanwhile: every step answers, at most one message is sent, none is left over', async () => {
    const box = await newBox();
    const draft = await ok(box, 'POST', 'drafts', { to: [ben.address], subject: 'Race', text: '0' });
    const path = `drafts/${textAt(draft, 'id')}`;
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, (_, i) => call(box, 'PATCH', path, { text: `${i}` })),
      call(box, 'POST', `${path}/send`, {}),
      call(box, 'POST', `${path}/send`, {}),
    ]);
    for (const { status, text } of answers) assert.ok([200, 201, 404, 409].includes(status), text);
    const copies = Object(at(await ok(box, 'GET', 'messages?folder=Sent&subject=Race'), 'data')).length;
    assert.equal(copies + (await drafts(box)).length, 1);
  });

  test('is created once for one clientId while it is a draft; pages go over all of them', async () => {
    const box = await newBox();
    const make = () => call(box, 'POST', 'drafts', { subject: 'Mine', clientId: 'order-1' });
    const answers = await Promise.all([make(), make(), make()]);
    assert.equal(new Set(answers.map(({ body }) => textAt(body, 'id'))).size, 1);
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 200, 201],
    );
    await call(box, 'DELETE', `drafts/${textAt(answers[0]?.body, 'id')}`);
    assert.equal((await make()).status, 201);
    await ok(box, 'POST', 'drafts', { subject: 'Second' });
    const first = await ok(box, 'GET', 'drafts?limit=1');
    const second = await ok(box, 'GET', `drafts?limit=1&cursor=${textAt(first, 'nextCursor')}`);
    assert.deepEqual([at(first, 'data', 0, 'subject'), at(second, 'data', 0, 'subject')], ['Second', 'Mine']);
    assert.equal(at(second, 'nextCursor'), null);
  });

  test('refuses reserved header fields, line breaks, and a reply to a message of another mailbox', async () => {
    const box = await newBox();
    const foreign = await ok(ben, 'POST', 'drafts', { subject: 'Not yours' });
    for (const body of [
      { headers: { Bcc: 'x@example.com' } },
      { headers: { 'X-A': 'a\r\nBcc: x@example.com' } },
      { subject: 'a\r\nBcc: x@example.com' },
      { to: ['a@b.c\r\nBcc: x@example.com'] },
      { labels: ['two words'] },
      { inReplyTo: textAt(foreign, 'messageId') },
    ])
      assert.equal(errorCode(await call(box, 'POST', 'drafts', body)), 'invalid_request', JSON.stringify(body));
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { subject: 'x' }],
      ['DELETE', '', undefined],
      ['POST', '/send', {}],
    ] as const)
      assert.equal(errorCode(await call(box, method, `drafts/${textAt(foreign, 'id')}${path}`, body)), 'not_found');
  });
});
