/** The caller's own id (`clientId`): the same content is repeated, other content is refused, whatever is created. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type Answer,
  type ApiWorld,
  apiWorld,
  asBearer,
  at,
  type Credential,
  detailPaths,
  errorCode,
  type TestMailbox,
  textAt,
} from '#test/support/api-world.ts';

let world: ApiWorld;
let ann: TestMailbox;
let ben: TestMailbox;
before(async () => {
  world = await apiWorld();
  ann = await world.newMailbox(world.organization);
  ben = await world.newMailbox(world.organization);
});
after(() => world?.close());

let number = 0;
const newClientId = () => `reply-${++number}`;

const post = (path: string, body: object, as: Credential = ann.token): Promise<Answer> =>
  world.call('POST', path, { as, body });
const send = (body: object, as?: Credential) =>
  post('/api/mailbox/messages', { to: [ben.address], subject: 'First', text: 'Words.', ...body }, as);

function refused(answer: Answer, what: string): void {
  assert.deepEqual([answer.status, errorCode(answer)], [409, 'conflict'], `${what}: ${answer.text}`);
  assert.deepEqual(detailPaths(answer), ['/clientId'], what);
}

function repeated(answer: Answer, first: Answer, what: string): void {
  assert.equal(answer.status, 200, `${what}: ${answer.text}`);
  assert.deepEqual([at(answer.body, 'id'), at(answer.body, 'repeated')], [at(first.body, 'id'), true], what);
}

const countOf = async (subject: string): Promise<number> => {
  const [row] = await world.sql(`select count(*)::int as count from outbound_message where subject = $1`, [subject]);
  return Number(row?.['count']);
};

const uploaded = async (text: string): Promise<string> => {
  const answer = await fetch(new URL('/api/mailbox/files', world.api.url), {
    method: 'POST',
    headers: { ...ann.token, 'content-type': 'text/plain', 'content-disposition': 'attachment; filename="a.txt"' },
    body: text,
  });
  return textAt(await answer.json(), 'id');
};

const inline = (text: string) => ({
  filename: 'a.txt',
  contentType: 'text/plain',
  contentBase64: Buffer.from(text).toString('base64'),
});

describe('a message', () => {
  test('with other content under a used id is refused with what to do, and nothing of it is sent', async () => {
    const clientId = newClientId();
    const whole = {
      clientId,
      cc: ['Cleo <cleo@customer.example>'],
      html: '<p>Words.</p>',
      replyTo: [ben.address],
      labels: ['orders'],
      headers: { 'X-Order': '1' },
      attachments: [inline('one')],
    };
    const first = await send(whole);
    assert.ok(first.status < 300, first.text);
    assert.equal(at(first.body, 'repeated'), false);
    for (const change of [
      { to: [world.organization.mailbox.address] },
      { cc: [] },
      { cc: ['Another <cleo@customer.example>'] },
      { bcc: [world.organization.mailbox.address] },
      { subject: 'Second' },
      { text: 'Other words.' },
      { html: '<p>Other words.</p>' },
      { replyTo: [] },
      { labels: [] },
      { headers: { 'X-Order': '2' } },
      { attachments: [] },
      { attachments: [inline('two')] },
      { attachments: [{ ...inline('one'), filename: 'b.txt' }] },
      { sendAt: new Date(Date.now() + 3_600_000).toISOString() },
    ])
      refused(await send({ ...whole, ...change }), JSON.stringify(change));
    const other = await send({ ...whole, subject: 'Second' });
    assert.match(textAt(other.body, 'error', 'message'), /clientId.*another message/);
    assert.match(textAt(other.body, 'error', 'fix'), /new clientId/);
    assert.equal(await countOf('Second'), 0);
    repeated(await send(whole), first, 'the first one');
  });

  test('is the same one however it is written, and wherever its attachment comes from', async () => {
    const [clientId, fileId] = [newClientId(), await uploaded('content')];
    const first = await send({
      clientId,
      to: [`Ben <${ben.address}>`, 'cleo@customer.example'],
      text: 'One\nTwo',
      headers: { 'X-A': '1', 'X-B': '2' },
      labels: ['a', 'b'],
      attachments: [{ fileId }],
    });
    assert.ok(first.status < 300, first.text);
    const same = {
      clientId,
      to: ['cleo@CUSTOMER.example', `Ben <${ben.address}>`],
      cc: [],
      text: 'One\r\nTwo',
      headers: { 'x-b': '2', 'X-A': '1' },
      labels: ['b', 'a'],
    };
    repeated(await send({ ...same, attachments: [inline('content')] }), first, 'content in the request');
    repeated(await send({ ...same, attachments: [{ fileId: await uploaded('content') }] }), first, 'another upload');
    refused(await send({ ...same, attachments: [{ fileId: await uploaded('other') }] }), 'another file');
  });

  test('is repeated although its file, or the message it answers, is gone', async () => {
    const [clientId, fileId] = [newClientId(), await uploaded('content')];
    const first = await send({ clientId, attachments: [{ fileId }] });
    await world.call('DELETE', `/api/mailbox/files/${fileId}`, { as: ann.token });
    repeated(await send({ clientId, attachments: [{ fileId }] }), first, 'file');
    const received = await receivedMail();
    const reply = { clientId: newClientId(), text: 'Yes.' };
    const answer = await post(`/api/mailbox/messages/${received}/reply`, reply);
    assert.equal(answer.status, 201, answer.text);
    await world.call('DELETE', `/api/mailbox/messages/${received}?permanent=true`, { as: ann.token });
    repeated(await post(`/api/mailbox/messages/${received}/reply`, reply), answer, 'reply');
  });

  test('is another one as reply, reply to all or forward, and to another message', async () => {
    const [one, two] = [await receivedMail(), await receivedMail()];
    const body = { clientId: newClientId(), text: 'Yes.' };
    const first = await post(`/api/mailbox/messages/${one}/reply`, body);
    assert.equal(first.status, 201, first.text);
    refused(await post(`/api/mailbox/messages/${two}/reply`, body), 'reply to another message');
    refused(await post(`/api/mailbox/messages/${one}/forward`, { ...body, to: [ben.address] }), 'forward');
    refused(await send({ ...body, subject: 'Re: Question' }), 'a new message');
    repeated(await post(`/api/mailbox/messages/${one}/reply`, body), first, 'reply');
  });

  test('that is held is repeated as held, and after a person changed it too', async () => {
    const clientId = newClientId();
    const body = { clientId, to: [`new-${number}@customer.example`], subject: 'Held' };
    const first = await send(body);
    assert.equal(first.status, 202, first.text);
    const again = await send(body);
    repeated(again, first, 'held');
    assert.deepEqual(
      [at(again.body, 'status'), at(again.body, 'consentId')],
      ['consent_pending', at(first.body, 'consentId')],
    );
    assert.match(textAt(again.body, 'message'), /Held for approval/);
    const decided = await world.call('POST', `/api/consents/${textAt(first.body, 'consentId')}/approve`, {
      as: world.organization.owner.session,
      body: { scope: 'message', edit: { subject: 'Changed by a person' } },
    });
    assert.equal(decided.status, 200, decided.text);
    const after = await send(body);
    repeated(after, first, 'approved');
    assert.equal(at(after.body, 'subject'), 'Changed by a person');
    refused(await send({ ...body, subject: 'Changed by a person' }), 'the changed content');
  });

  test('of two at once with other content exactly one is accepted', async () => {
    const clientId = newClientId();
    const subjects = ['a', 'b', 'c', 'd'].map((each) => `${clientId} ${each}`);
    const answers = await Promise.all(subjects.map((subject) => send({ clientId, subject })));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    assert.deepEqual(statuses, [201, 409, 409, 409], answers.map(({ text }) => text).join('\n'));
    const same = newClientId();
    const equal = await Promise.all([1, 2, 3].map(() => send({ clientId: same, subject: same })));
    assert.deepEqual(
      equal.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 200, 201],
    );
    assert.equal(await countOf(same), 1);
  });

  test('an id of another mailbox is another id', async () => {
    const clientId = newClientId();
    const [one, two] = [await send({ clientId }), await send({ clientId, subject: 'x' }, ben.token)];
    assert.deepEqual([one.status, two.status], [201, 201]);
  });

  test('a used id is no id of a draft that is sent: it is not dropped', async () => {
    const draft = await post('/api/mailbox/drafts', { to: [ben.address], subject: 'From a draft', text: 'x' });
    const id = textAt(draft.body, 'id');
    assert.equal((await send({ clientId: id })).status, 201);
    refused(await post(`/api/mailbox/drafts/${id}/send`, {}), 'draft');
    const next = await post('/api/mailbox/drafts', { to: [ben.address], subject: 'Another', text: 'x' });
    const path = `/api/mailbox/drafts/${textAt(next.body, 'id')}/send`;
    const first = await post(path, {});
    assert.equal(first.status, 201, first.text);
    repeated(await post(path, {}), first, 'sent draft');
  });
});

describe('a token that may only send', () => {
  test('gets id and status of what it sent, and nothing about what others sent', async () => {
    const made = await world.call('POST', `/api/mailboxes/${ann.id}/tokens`, {
      as: world.organization.key,
      body: { name: 'sender', access: 'send' },
    });
    const sender = asBearer(textAt(made.body, 'token'));
    const own = { clientId: newClientId(), subject: 'Mine' };
    const first = await send(own, sender);
    assert.equal(first.status, 201, first.text);
    const again = await send(own, sender);
    repeated(again, first, 'own');
    assert.deepEqual(Object.keys(Object(again.body)).toSorted(), ['consentId', 'id', 'message', 'repeated', 'status']);
    // Otherwise it could find the content out by trying.
    const ofAnother = { clientId: newClientId(), text: 'The code is 4711' };
    const secret = await send(ofAnother);
    for (const body of [ofAnother, { ...ofAnother, text: 'The code is 4712' }]) {
      const answer = await send(body, sender);
      refused(answer, JSON.stringify(body));
      assert.ok(!answer.text.includes(textAt(secret.body, 'id')));
    }
  });
});

describe('a draft', () => {
  test('with other content under a used id is refused; the same one is repeated as it is now', async () => {
    const clientId = newClientId();
    const fileId = await uploaded('content');
    const body = { clientId, to: [ben.address], subject: 'Mine', text: 'x', attachments: [{ fileId }] };
    const first = await post('/api/mailbox/drafts', body);
    assert.deepEqual([first.status, at(first.body, 'repeated')], [201, false], first.text);
    for (const change of [
      { subject: 'Other' },
      { text: 'y' },
      { attachments: [] },
      { labels: ['a'] },
      { bcc: ['x@y.example'] },
    ])
      refused(await post('/api/mailbox/drafts', { ...body, ...change }), JSON.stringify(change));
    await world.call('DELETE', `/api/mailbox/files/${fileId}`, { as: ann.token });
    await world.call('PATCH', `/api/mailbox/drafts/${textAt(first.body, 'id')}`, {
      as: ann.token,
      body: { subject: 'Changed since' },
    });
    const again = await post('/api/mailbox/drafts', body);
    repeated(again, first, 'same');
    assert.equal(at(again.body, 'subject'), 'Changed since');
  });

  test('of several at once with other content exactly one is created', async () => {
    const clientId = newClientId();
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((subject) => post('/api/mailbox/drafts', { clientId, subject })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 409, 409],
    );
  });

  test('that comes back from the outbox still knows what was asked', async () => {
    const body = { clientId: newClientId(), to: [`back-${number}@customer.example`], subject: 'Back', text: 'x' };
    const first = await post('/api/mailbox/drafts', body);
    const held = await post(`/api/mailbox/drafts/${textAt(first.body, 'id')}/send`, {});
    assert.equal(held.status, 202, held.text);
    const back = await world.call('DELETE', `/api/mailbox/outbox/${textAt(held.body, 'id')}`, {
      as: ann.token,
    });
    assert.equal(at(back.body, 'draftId'), at(first.body, 'id'), back.text);
    repeated(await post('/api/mailbox/drafts', body), first, 'restored');
    refused(await post('/api/mailbox/drafts', { ...body, subject: 'Other' }), 'restored, other content');
  });
});

describe('a mailbox', () => {
  const create = (body: object) => post('/api/mailboxes', body, world.organization.key);

  test('with other content under a used id is refused; the same one is repeated without its token', async () => {
    const body = { clientId: newClientId(), name: 'Desk', metadata: { team: 'a', floor: '1' } };
    const first = await create(body);
    assert.deepEqual([first.status, at(first.body, 'repeated')], [201, false], first.text);
    for (const change of [
      { name: 'Another desk' },
      { localPart: 'another-desk' },
      { purpose: 'Orders' },
      { group: 'orders' },
      { metadata: { team: 'b' } },
    ])
      refused(await create({ ...body, ...change }), JSON.stringify(change));
    const again = await create({ ...body, metadata: { floor: '1', team: 'a' }, domain: 'AGENTS.test' });
    repeated(again, first, 'same');
    assert.equal(at(again.body, 'token'), null);
  });

  test('of several at once with other content exactly one is created', async () => {
    const clientId = newClientId();
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((name) => create({ clientId, name })));
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 409, 409, 409],
    );
  });
});

/** A message from Ben in Ann's INBOX. */
async function receivedMail(): Promise<string> {
  const answer = await post('/api/mailbox/messages', { to: [ann.address], subject: 'Question', text: '?' }, ben.token);
  assert.equal(answer.status, 201, answer.text);
  const list = await world.call('GET', '/api/mailbox/messages?folder=INBOX&limit=1', { as: ann.token });
  return textAt(list.body, 'data', 0, 'id');
}
