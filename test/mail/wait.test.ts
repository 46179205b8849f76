/** Waiting for mail over REST. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { WATCHERS_PER_MAILBOX_MAX } from '#domain/mail/mail-limits.ts';
import { type MailListeners, startMail } from '#mail/start.ts';
import { type ApiWorld, apiWorld, at, errorCode, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { dnsStub, letter } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
let mail: MailListeners;
before(async () => {
  world = await apiWorld();
  mail = await startMail(world.services, { lookup: dnsStub({}) });
  await world.call('PATCH', '/api/organization', {
    as: world.organization.owner.session,
    body: { settings: { outboundConsent: 'off' } },
  });
});
after(async () => {
  await mail.close();
  await world.close();
});

const newBox = () => world.newMailbox(world.organization);
async function deliver(box: TestMailbox, ...messages: string[]): Promise<string[]> {
  const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
  const ids: string[] = [];
  for (const message of messages) {
    const reply = await client.send('bob@example.com', [box.address], message);
    ids.push(/msg_\w+/.exec(reply)?.[0] ?? assert.fail(reply));
  }
  client.close();
  return ids;
}
const wait = async (box: TestMailbox, query: string) => {
  const answer = await world.call('GET', `/api/mailbox/messages/wait?${query}`, { as: box.token });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};
const idsOf = (body: unknown): string[] => Object.values(Object(at(body, 'data'))).map((each) => textAt(each, 'id'));
/** What comes before the request does counts too: which of them is first is open. */
const FROM_THE_BEGINNING = 'since=2020-01-01T00:00:00.000Z';
/** Requests of this mailbox that wait: each watches its INBOX. */
async function untilWaiting(box: TestMailbox, path = '/api/mailbox/messages/wait?timeoutSeconds=60') {
  const controller = new AbortController();
  const waiting = fetch(new URL(path, world.api.url), { headers: box.token, signal: controller.signal });
  waiting.catch(() => {});
  return { waiting, abort: () => controller.abort() };
}

describe('waiting for messages', () => {
  test('ends with the message that arrives meanwhile, and returns those between two waits at once', async () => {
    const box = await newBox();
    const [first] = await deliver(box, letter('Before'));
    const waiting = wait(box, `timeoutSeconds=60&after=${first}`);
    const [second] = await deliver(box, letter('After'));
    const answer = await waiting;
    assert.deepEqual([idsOf(answer), at(answer, 'timedOut')], [[second], false]);
    const [third] = await deliver(box, letter('Between'));
    assert.deepEqual(idsOf(await wait(box, `after=${textAt(answer, 'after')}`)), [third]);
    assert.deepEqual(idsOf(await wait(box, `after=${first}&limit=1`)), [second]);
  });

  test('returns every message once and in order while many arrive concurrently', async () => {
    const box = await newBox();
    const writers = Promise.all(
      Array.from({ length: 5 }, (_, w) => deliver(box, ...Array.from({ length: 12 }, (__, i) => letter(`${w}.${i}`)))),
    );
    const received: string[] = [];
    let place = textAt(await wait(box, 'since=2020-01-01T00:00:00.000Z&timeoutSeconds=60&limit=7'), 'after');
    const all = await wait(box, 'since=2020-01-01T00:00:00.000Z&limit=1');
    received.push(...idsOf(all));
    place = textAt(all, 'after');
    while (received.length < 60) {
      const body = await wait(box, `after=${place}&timeoutSeconds=60&limit=7`);
      received.push(...idsOf(body));
      place = textAt(body, 'after');
    }
    const sent = (await writers).flat();
    assert.deepEqual(
      received.toSorted((a, b) => (a < b ? -1 : 1)),
      sent.toSorted((a, b) => (a < b ? -1 : 1)),
    );
    const order = await world.sql(`select id from message where mailbox_id = $1 order by arrived_seq, id`, [box.id]);
    assert.deepEqual(
      received,
      order.map(({ id }) => id),
    );
  });

  test('applies the filters, and own mail counts only in its folder', async () => {
    const box = await newBox();
    const waiting = wait(box, `${FROM_THE_BEGINNING}&timeoutSeconds=60&subject=wanted&from=bob`);
    const [other, wanted] = await deliver(box, letter('other'), letter('the wanted one'));
    assert.ok(other);
    assert.deepEqual(idsOf(await waiting), [wanted]);
    const inSent = wait(box, `${FROM_THE_BEGINNING}&timeoutSeconds=60&folder=Sent`);
    const own = await world.call('POST', '/api/mailbox/messages', {
      as: box.token,
      body: { to: ['ann@example.com'], subject: 'Mine', text: 'x' },
    });
    assert.deepEqual(idsOf(await inSent), [textAt(own.body, 'id')]);
    assert.deepEqual(idsOf(await wait(box, `after=${wanted}&timeoutSeconds=1`)), []);
  });

  test('gives the code and the links of a mail, also of one with HTML alone', async () => {
    const box = await newBox();
    const html =
      '<h1>Confirm your address</h1><p>Your code: <b>613 774</b></p><p><a href="https://x.example/c?t=1">Confirm</a> <a href="https://x.example/u">Unsubscribe</a></p><img src="https://t.example/p.gif">';
    const waiting = wait(box, `${FROM_THE_BEGINNING}&timeoutSeconds=60&extract=otp,links`);
    await deliver(box, letter('Welcome', 'MIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n', html));
    const body = await waiting;
    assert.equal(at(body, 'data', 0, 'otp'), '613774');
    assert.deepEqual(at(body, 'data', 0, 'otpCandidates', 0, 'code'), '613774');
    assert.ok(Number(at(body, 'data', 0, 'otpCandidates', 0, 'confidence')) >= 0.5);
    assert.deepEqual(at(body, 'data', 0, 'links'), [
      { url: 'https://x.example/c?t=1', text: 'Confirm', kind: 'confirm', confidence: 0.9 },
      { url: 'https://x.example/u', text: 'Unsubscribe', kind: 'unsubscribe', confidence: 0.9 },
    ]);
    const plain = await wait(box, 'since=2020-01-01T00:00:00.000Z');
    assert.deepEqual([at(plain, 'data', 0, 'otp'), at(plain, 'data', 0, 'links')], [null, null]);
    assert.equal(at(plain, 'data', 0, 'otpCandidates'), null);
  });

  test('gives a number that is hardly a code as a candidate only', async () => {
    const box = await newBox();
    const waiting = wait(box, `${FROM_THE_BEGINNING}&timeoutSeconds=60&extract=otp`);
    await deliver(box, letter('Flash sale', '', 'Take 20% off with code 482913 at checkout.'));
    const body = await waiting;
    assert.equal(at(body, 'data', 0, 'otp'), null);
    const candidates = at(body, 'data', 0, 'otpCandidates');
    assert.ok(Array.isArray(candidates) && candidates.every((one) => Number(at(one, 'confidence')) < 0.5));
  });

  test('finds a code that only the HTML alternative has', async () => {
    const box = await newBox();
    const waiting = wait(box, `${FROM_THE_BEGINNING}&timeoutSeconds=60&extract=otp`);
    await deliver(
      box,
      letter(
        'Sign in',
        'MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=b\n',
        '--b\nContent-Type: text/plain\n\nYour mail program shows no HTML.\n--b\nContent-Type: text/html\n\n<p>Your sign-in code</p><h1>482913</h1>\n--b--\n',
      ),
    );
    assert.equal(at(await waiting, 'data', 0, 'otp'), '482913');
  });

  test('with `since` finds mail from before places were noted too', async () => {
    const box = await newBox();
    const [id] = await deliver(box, letter('Old'));
    await world.sql(`update message set arrived_seq = 0 where mailbox_id = $1`, [box.id]);
    assert.deepEqual(idsOf(await wait(box, 'since=2020-01-01T00:00:00.000Z&timeoutSeconds=1')), [id]);
    const none = await wait(box, 'since=2020-01-01T00:00:00.000Z&subject=none&timeoutSeconds=1');
    assert.deepEqual(idsOf(await wait(box, `after=${textAt(none, 'after')}&timeoutSeconds=1`)), [id]);
  });

  test('is empty when nothing came in time', async () => {
    const box = await newBox();
    const body = await wait(box, 'timeoutSeconds=1');
    assert.deepEqual([idsOf(body), at(body, 'timedOut')], [[], true]);
    assert.match(textAt(body, 'hint'), /since/);
    const [id] = await deliver(box, letter('later'));
    assert.deepEqual(idsOf(await wait(box, `after=${textAt(body, 'after')}`)), [id]);
  });

  test('refuses places that are none, and messages of others', async () => {
    const box = await newBox();
    const [foreign] = await deliver(await newBox(), letter('foreign'));
    for (const place of [foreign, 'AAAA', Buffer.from('1:msg').toString('base64url')]) {
      const answer = await world.call('GET', `/api/mailbox/messages/wait?after=${place}`, { as: box.token });
      assert.equal(errorCode(answer), 'invalid_request');
    }
  });

  test('is limited per mailbox, and a disconnecting client makes room', async () => {
    const box = await newBox();
    const tooMany = 3;
    const open = await Promise.all(Array.from({ length: WATCHERS_PER_MAILBOX_MAX + tooMany }, () => untilWaiting(box)));
    const refused = new Set<number>();
    for (const [i, { waiting }] of open.entries())
      waiting.then(
        ({ status, headers }) => {
          if (status === 429 && headers.get('retry-after') === '1') refused.add(i);
        },
        () => {},
      );
    await waitUntil('the refusals', async () => refused.size === tooMany);
    const waiting = open.filter((_, i) => !refused.has(i));
    waiting[0]?.abort();
    await waitUntil('room', async () => {
      const answer = await world.call('GET', '/api/mailbox/messages/wait?timeoutSeconds=1', { as: box.token });
      return answer.status === 200;
    });
    await deliver(box, letter('for all of them'));
    for (const each of waiting.slice(1)) assert.equal((await each.waiting).status, 200);
  });

  test('returns nothing to a revoked API key', async () => {
    const box = await newBox();
    const key = await world.newKey(world.organization.id, ['mailbox:read']);
    const { waiting } = await untilWaiting({ ...box, token: key }, `/api/mailboxes/${box.id}/messages/wait`);
    await world.sql(`delete from api_keys where id = (select max(id) from api_keys where organization_id = $1)`, [
      world.organization.id,
    ]);
    await deliver(box, letter('x'));
    assert.equal((await waiting).status, 401);
  });

  for (const [what, end] of [
    [
      'its token is replaced',
      (box: TestMailbox) =>
        world.call('POST', `/api/mailboxes/${box.id}/rotate-token`, { as: world.organization.key, body: {} }),
    ],
    [
      'the mailbox is suspended',
      (box: TestMailbox) =>
        world.call('PATCH', `/api/mailboxes/${box.id}`, { as: world.organization.key, body: { status: 'suspended' } }),
    ],
    [
      'the mailbox is deleted',
      (box: TestMailbox) => world.call('DELETE', `/api/mailboxes/${box.id}`, { as: world.organization.key }),
    ],
  ] as const)
    test(`ends when ${what}`, async () => {
      const box = await newBox();
      const { waiting } = await untilWaiting(box, `/api/mailbox/messages/wait?${FROM_THE_BEGINNING}&timeoutSeconds=60`);
      await deliver(box, letter('x'));
      assert.equal((await waiting).status, 200);
      const second = await untilWaiting(box);
      await end(box);
      assert.ok([401, 403].includes((await second.waiting).status));
    });
});
