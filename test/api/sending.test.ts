import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
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
let ann: TestMailbox;
let ben: TestMailbox;
let cleo: TestMailbox;
before(async () => {
  world = await apiWorld();
  [ann, ben, cleo] = [
    await world.newMailbox(world.organization),
    await world.newMailbox(world.organization),
    await world.newMailbox(world.organization),
  ];
  await world.call('PATCH', '/api/organization', {
    as: world.organization.owner.session,
    body: { settings: { outboundConsent: 'off' } },
  });
});
after(() => world?.close());

const send = (from: TestMailbox, body: object, path = '/api/mailbox/messages'): Promise<Answer> =>
  world.call('POST', path, { as: from.token, body });

async function sent(from: TestMailbox, body: object): Promise<string> {
  const answer = await send(from, { subject: 'Hello', text: 'Some words.', ...body });
  assert.equal(answer.status, 201, answer.text);
  return textAt(answer.body, 'id');
}

const inbox = async (mailbox: TestMailbox) =>
  at((await world.call('GET', '/api/mailbox/messages?folder=INBOX', { as: mailbox.token })).body, 'data');

const newest = async (mailbox: TestMailbox) => {
  const id = textAt(await inbox(mailbox), 0, 'id');
  return (await world.call('GET', `/api/mailbox/messages/${id}`, { as: mailbox.token })).body;
};

describe('a message sent over REST', () => {
  test('is in Sent once and in the INBOX of a colleague, with attachments and labels, without Bcc', async () => {
    const id = await sent(ann, {
      to: [`Ben <${ben.address}>`],
      bcc: [cleo.address],
      subject: 'Grüße',
      html: '<p>Some <b>words</b>.</p>',
      labels: ['invoices'],
      attachments: [
        { filename: 'a.txt', contentType: 'text/plain', contentBase64: Buffer.from('attached').toString('base64') },
      ],
      headers: { 'X-Campaign': 'blue' },
    });
    const own = (await world.call('GET', `/api/mailbox/messages/${id}`, { as: ann.token })).body;
    assert.deepEqual([at(own, 'folders'), at(own, 'labels'), at(own, 'seen')], [['Sent'], ['invoices'], true]);
    const got = await newest(ben);
    assert.deepEqual([at(got, 'subject'), at(got, 'attachments', 0, 'filename')], ['Grüße', 'a.txt']);
    assert.deepEqual(at(got, 'bcc'), []);
    assert.equal(at(got, 'authentication', 'dmarc', 'result'), 'pass');
    assert.equal(at(await newest(cleo), 'subject'), 'Grüße');
    const status = await world.call('GET', `/api/mailbox/messages/${id}/status`, { as: ann.token });
    assert.equal(at(status.body, 'status'), 'sent');
  });

  test('is sent once for one clientId, and for one Idempotency-Key', async () => {
    const body = { to: [ben.address], subject: 'Once', text: 'x', clientId: 'order-1' };
    const [first, second] = [await send(ann, body), await send(ann, body)];
    assert.equal(textAt(first.body, 'id'), textAt(second.body, 'id'));
    const subjects = Object.values(Object(await inbox(ben))).map((each) => textAt(each, 'subject'));
    assert.equal(subjects.filter((subject) => subject === 'Once').length, 1);
  });

  test('takes one address without a list, for each field and way to send', async () => {
    const id = await sent(ann, { to: `Ben <${ben.address}>`, cc: cleo.address, replyTo: cleo.address, subject: 'One' });
    const own = (await world.call('GET', `/api/mailbox/messages/${id}`, { as: ann.token })).body;
    assert.deepEqual(
      [at(own, 'to'), at(own, 'cc'), at(own, 'replyTo')],
      [[`Ben <${ben.address}>`], [cleo.address], [cleo.address]],
    );
    for (const [path, body] of [
      [`/api/mailbox/messages/${id}/reply`, { bcc: cleo.address }],
      [`/api/mailbox/messages/${id}/reply-all`, { to: cleo.address }],
      [`/api/mailbox/messages/${id}/forward`, { to: cleo.address }],
      ['/api/mailbox/drafts', { to: cleo.address }],
    ] as const)
      assert.equal((await send(ann, { text: 'x', ...body }, path)).status, 201, path);
  });

  test('names the field that is wrong, and what is right for it', async () => {
    const detail = async (body: object): Promise<unknown> => {
      const answer = await send(ann, { subject: 's', text: 'x', ...body });
      assert.equal(errorCode(answer), 'invalid_request', answer.text);
      return at(answer.body, 'error', 'details');
    };
    const notOne = 'must be one address, such as a@b.c or Name <a@b.c>';
    assert.deepEqual(await detail({ to: 'nobody' }), [{ path: '/to', message: notOne }]);
    assert.deepEqual(await detail({ to: `${ben.address}, ${cleo.address}` }), [{ path: '/to', message: notOne }]);
    assert.deepEqual(await detail({ to: [ben.address, 'x@y'], cc: 'nobody' }), [{ path: '/cc', message: notOne }]);
    assert.deepEqual(await detail({ to: 7 }), [{ path: '/to', message: 'must be string or array' }]);
    assert.deepEqual(await detail({ to: [7] }), [{ path: '/to/0', message: 'must be string' }]);
    assert.deepEqual(await detail({ to: 'x' }), [{ path: '/to', message: 'must NOT have fewer than 3 characters' }]);
    const wait = await world.call('GET', '/api/mailbox/messages/wait?extract=codes', { as: ann.token });
    assert.deepEqual(detailPaths(wait), ['query/extract']);
    assert.match(textAt(wait.body, 'error', 'details', 0, 'message'), /"otp","links","otp,links"/);
  });

  test('needs recipients that are addresses, and header fields that are the caller’s to set', async () => {
    const refused = async (body: object) => {
      const answer = await send(ann, { subject: 's', text: 'x', ...body });
      assert.equal(errorCode(answer), 'invalid_request', answer.text);
      return detailPaths(answer);
    };
    assert.deepEqual(await refused({}), ['/to']);
    assert.deepEqual(await refused({ to: [ben.address, 'no address'] }), ['/to/1']);
    assert.deepEqual(await refused({ to: [ben.address], headers: { Bcc: 'x@example.com' } }), ['/headers/Bcc']);
    assert.deepEqual(
      await refused({ to: Array.from({ length: 100 }, (_, i) => `a${i}@example.com`), cc: ['b@example.com'] }),
      ['/to'],
    );
    assert.deepEqual(await refused({ to: [ben.address], subject: 'a\r\nBcc: x@example.com' }), ['/subject']);
  });

  test('counts against the limits of the plan, with one event and the time to wait', async () => {
    const organization = await world.newOrganization('free');
    const mailbox = organization.mailbox;
    await world.sql(`insert into rate_limits (key, used, resets_at_ms) values ($1, 50, $2)`, [
      `sends:${mailbox.id}`,
      Date.now() + 60_000,
    ]);
    for (let i = 0; i < 2; i++) {
      const answer = await send(mailbox, { to: [mailbox.address], subject: 's', text: 'x' });
      assert.equal(errorCode(answer), 'rate_limited');
      assert.ok(Number(answer.headers.get('retry-after')) > 0);
    }
    const events = await world.sql(`select payload from events where type = 'email_blocked' and mailbox_id = $1`, [
      mailbox.id,
    ]);
    assert.equal(events.length, 1);
  });
});

describe('a scheduled message', () => {
  const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

  test('has a status with its time, is dated by it, and is taken back by DELETE, once', async () => {
    const sendAt = inAnHour();
    const body = { to: [ben.address], bcc: [cleo.address], subject: 'Later', text: 'x', sendAt };
    const answer = await send(ann, body);
    assert.deepEqual(
      [answer.status, at(answer.body, 'status'), at(answer.body, 'sendAt'), at(answer.body, 'threadId')],
      [201, 'scheduled', sendAt, null],
    );
    const path = `/api/mailbox/messages/${textAt(answer.body, 'id')}`;
    const status = async () => (await world.call('GET', `${path}/status`, { as: ann.token })).body;
    assert.deepEqual([at(await status(), 'status'), at(await status(), 'sendAt')], ['scheduled', sendAt]);
    const [{ date } = {}] = await world.sql(
      `select substring(convert_from(b.bytes, 'utf8') from 'Date: ([^\r]+)') as date
         from outbound_message o join blob b on b.sha256 = o.blob where o.id = $1`,
      [textAt(answer.body, 'id')],
    );
    assert.equal(Math.floor(Date.parse(String(date)) / 1_000), Math.floor(Date.parse(sendAt) / 1_000));
    assert.equal((await world.call('DELETE', path, { as: ben.token })).status, 404);
    assert.equal((await world.call('DELETE', path, { as: ann.token })).status, 204);
    assert.equal(at(await status(), 'status'), 'denied');
    assert.equal(at(await status(), 'recipients', 0, 'reply'), 'cancelled');
    assert.equal((await world.call('DELETE', path, { as: ann.token })).status, 404);
  });

  test('must lie ahead', async () => {
    const answer = await send(ann, { to: [ben.address], subject: 's', text: 'x', sendAt: '2020-01-01T00:00:00.000Z' });
    assert.deepEqual([errorCode(answer), detailPaths(answer)], ['invalid_request', ['/sendAt']]);
  });

  test('that is held shows its recipients and its time', async () => {
    const { mailbox } = world.other;
    const sendAt = inAnHour();
    const body = { to: ['new@example.com'], cc: ['else@example.com'], subject: 's', text: 'x', sendAt };
    const answer = await send(mailbox, body);
    assert.equal(answer.status, 202);
    assert.deepEqual(
      [at(answer.body, 'to'), at(answer.body, 'cc'), at(answer.body, 'sendAt')],
      [['new@example.com'], ['else@example.com'], sendAt],
    );
    const id = textAt(answer.body, 'id');
    assert.equal((await world.call('DELETE', `/api/mailbox/messages/${id}`, { as: mailbox.token })).status, 204);
    const consent = await world.call('GET', `/api/consents/${textAt(answer.body, 'consentId')}`, {
      as: world.other.key,
    });
    assert.deepEqual([at(consent.body, 'status'), at(consent.body, 'decision', 'reason')], ['denied', 'withdrawn']);
  });
});

describe('an answer', () => {
  test('is sent to the sender in the same thread and lists omitted people; reply-all omits nobody', async () => {
    await sent(ann, { to: [ben.address], cc: [cleo.address], subject: 'Plan' });
    const got = await newest(ben);
    const path = `/api/mailbox/messages/${textAt(got, 'id')}`;
    const reply = await send(ben, { text: 'Yes.' }, `${path}/reply`);
    assert.deepEqual(
      [at(reply.body, 'to'), at(reply.body, 'cc'), at(reply.body, 'omitted')],
      [[ann.address], [], [cleo.address]],
    );
    assert.equal(at(reply.body, 'subject'), 'Re: Plan');
    assert.equal(at(reply.body, 'threadId'), at(got, 'threadId'));
    const answer = await newest(ann);
    assert.equal(at(answer, 'inReplyTo'), at(got, 'messageId'));
    const all = await send(ben, { text: 'Yes.' }, `${path}/reply-all`);
    assert.deepEqual(
      [at(all.body, 'to'), at(all.body, 'cc'), at(all.body, 'omitted')],
      [[ann.address], [cleo.address], []],
    );
  });

  test('is sent to Reply-To if there is one, and to the original recipients for an own message', async () => {
    const own = await sent(ann, { to: [ben.address], replyTo: [cleo.address] });
    const got = await newest(ben);
    const reply = await send(ben, { text: 'x' }, `/api/mailbox/messages/${textAt(got, 'id')}/reply`);
    assert.deepEqual(at(reply.body, 'to'), [cleo.address]);
    assert.ok(own);
    const second = await sent(ann, { to: [ben.address] });
    const again = await send(ann, { text: 'x' }, `/api/mailbox/messages/${second}/reply`);
    assert.deepEqual(at(again.body, 'to'), [ben.address]);
  });

  test('forwards with the whole message attached', async () => {
    const id = await sent(ann, { to: [ben.address], subject: 'Report', text: 'Figures.' });
    const forwarded = await send(
      ann,
      { to: [cleo.address], text: 'See below.' },
      `/api/mailbox/messages/${id}/forward`,
    );
    assert.equal(at(forwarded.body, 'subject'), 'Fwd: Report');
    const got = await newest(cleo);
    assert.match(textAt(got, 'text'), /See below\.[^]*Forwarded message[^]*Figures\./);
    assert.equal(at(got, 'attachments', 0, 'contentType'), 'message/rfc822');
  });

  test('of two agents to each other stops after ten in an hour', async () => {
    const [one, two] = [await world.newMailbox(world.organization), await world.newMailbox(world.organization)];
    await sent(one, { to: [two.address], subject: 'Loop' });
    const id = textAt(await newest(two), 'id');
    let answer: Answer | undefined;
    for (let i = 0; i < 11; i++) answer = await send(two, { text: 'x' }, `/api/mailbox/messages/${id}/reply`);
    assert.equal(answer?.status, 429);
  });
});
