/** Members are notified of held mail: by mail and by chat, together where much is held, and never by a link agents read. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { sweepNotices } from '#core/organizations/member-notices.ts';
import { engineStarts } from '#core/platform/engine/engine-starts.ts';
import type { Services } from '#core/platform/process/services.ts';
import { destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import { createWebhookSender, type WebhookSender } from '#core/webhooks/requests/webhook-sender.ts';
import { APPROVAL_DIGEST_MS } from '#domain/sending/approval-notices.ts';
import { passConsentGate } from '#sending/consent/consent-gate.ts';
import { sendMemberNotice } from '#sending/notices/send-member-notice.ts';
import { relayTransport } from '#sending/transports/choose-transport.ts';
import {
  type ApiWorld,
  apiWorld,
  at,
  errorCode,
  type TestOrganization,
  type TestPerson,
  textAt,
} from '#test/support/api-world.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { testLog, testTls } from '#test/support/services.ts';
import { temporalConnection } from '#test/support/temporal-connection.ts';
import { startTestWorker } from '#test/support/test-worker.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const LINK = /\/approve#(aml_[A-Za-z0-9_-]{43}[0-9a-z]{6})/g;

let peer: Peer;
let world: ApiWorld;
let receiver: Receiver;
let chat: WebhookSender;
before(async () => {
  [peer, receiver] = await Promise.all([startPeer(), startReceiver()]);
  world = await apiWorld({ OUTBOUND_TRANSPORT: 'relay', OUTBOUND_RELAY_URL: peer.url });
  chat = createWebhookSender({
    policy: destinationPolicy(world.services.settings),
    extraCa: [readFileSync(testTls().caFile, 'utf8')],
  });
});
after(async () => {
  await chat?.close();
  await world?.close();
  await receiver?.close();
  await peer?.close();
});

const later = (ms: number): Services => ({ ...world.services, now: () => Date.now() + ms });

let number = 0;
const stranger = () => `p${++number}@strangers${number}.example`;

interface Held {
  readonly id: string;
  readonly consentId: string;
}

async function hold(of: TestOrganization, body: object = {}): Promise<Held> {
  const answer = await world.call('POST', '/api/mailbox/messages', {
    as: of.mailbox.token,
    body: {
      to: [stranger()],
      subject: `Offer ${number}`,
      text: `Dear customer ${number}, this is our offer.`,
      ...body,
    },
  });
  assert.equal(answer.status, 202, answer.text);
  return { id: textAt(answer.body, 'id'), consentId: textAt(answer.body, 'consentId') };
}

const noticesOf = (of: TestOrganization, kind = 'approval_request') =>
  world.sql(
    `select id, channel, recipient, state, reply, subject, body from member_notices
      where organization_id = $1 and kind = $2 order by id`,
    [of.id, kind],
  );

/** What the workflows would send by this time. @returns when the others are due */
async function sendDue(of: TestOrganization, laterMs = 0, kind = 'approval_request'): Promise<(number | null)[]> {
  const transport = relayTransport({ url: peer.url, hostname: 'mail.test' });
  const next: (number | null)[] = [];
  for (const { id, state } of await noticesOf(of, kind))
    if (state === 'waiting')
      next.push(
        (
          await sendMemberNotice(later(laterMs), { transport, chat }, String(id), {
            heartbeat() {},
            mayBegin: () => true,
          })
        ).nextAtMs,
      );
  return next;
}

/** Text of the mails a person got, with soft line breaks undone. */
const mailsTo = (email: string): string[] =>
  peer.received
    .filter(({ to }) => to.includes(email))
    .map(({ bytes }) => bytes.toString().replaceAll('=\r\n', '').replaceAll('=3D', '='));

/** Each once: a mail has them as text and as HTML. */
const linksIn = (mail: string | undefined): string[] => [
  ...new Set([...(mail ?? '').matchAll(LINK)].map(([, token]) => token ?? '')),
];

const choose = (person: TestPerson, body: object) =>
  world.call('PUT', '/api/sessions/current/notices', { as: person.session, body });

/** Only this person is a member. */
async function alone(role: 'owner' | 'member' = 'owner'): Promise<{ of: TestOrganization; person: TestPerson }> {
  const of = await world.newOrganization('free');
  await world.sql(`delete from members where organization_id = $1`, [of.id]);
  return { of, person: await world.newPerson(of.id, role) };
}

describe('the HTML of a mail about held messages', () => {
  /** What the mail has as HTML, decoded. */
  function htmlOf(mail: string): string {
    assert.match(mail, /Content-Type: multipart\/alternative/i);
    const start = mail.indexOf('<!doctype html>');
    assert.ok(start > 0, mail);
    return mail.slice(start, mail.indexOf('</html>', start));
  }

  test('has one button, which opens the request, loads nothing, and shows the words of others as text', async () => {
    const { of, person } = await alone();
    const hostile = '<img src=https://evil.example/x> <a href=https://evil.example>Approve</a>';
    await hold(of, { subject: hostile, text: `${hostile} & more` });
    await sendDue(of);
    const [mail = ''] = mailsTo(person.email);
    const html = htmlOf(mail);
    const [token] = linksIn(mail);
    const buttons = [...html.matchAll(/<a class="button" href="([^"]*)">([^<]*)</g)];
    assert.deepEqual(
      buttons.map(([, , title]) => title),
      ['Read and decide'],
    );
    assert.ok(buttons[0]?.[1]?.endsWith(`/approve#${token}`), buttons[0]?.[1]);
    assert.ok(html.includes('&lt;img src=https://evil.example/x&gt;'), html);
    assert.doesNotMatch(html, /<(?:img|script|link|iframe|object)\b|url\(|@import/i);
    assert.deepEqual(
      [...html.matchAll(/href="(?:https?:\/\/)([^/":]+)/g)].filter(([, host]) => host === 'evil.example'),
      [],
    );
    assert.match(html, /prefers-color-scheme: dark/);
    assert.match(html, /name="viewport"/);
  });

  test('of several has a link for each, and one button to the queue', async () => {
    const { of, person } = await alone();
    await hold(of);
    await sendDue(of);
    await hold(of);
    await hold(of);
    await sendDue(of, APPROVAL_DIGEST_MS);
    const mail = mailsTo(person.email)[1] ?? '';
    const html = htmlOf(mail);
    assert.match(html, /<a class="button" href="[^"]*\/approvals">Open the approvals</);
    assert.equal([...html.matchAll(/>Read and decide</g)].length, 2);
    for (const token of linksIn(mail)) assert.ok(html.includes(token));
  });
});

describe('a mail about held messages', () => {
  test('goes to every member at once, on the smallest plan, and says what is needed to decide', async () => {
    const of = await world.newOrganization('free');
    const { consentId } = await hold(of, { subject: 'Your order', text: 'Dear Ada, it is on its way.' });
    await sendDue(of);
    for (const { email } of [of.owner, of.admin, of.member]) {
      const [mail, another] = mailsTo(email);
      assert.ok(mail !== undefined && another === undefined, email);
      for (const part of [
        'Subject: Approval needed: Your order',
        of.mailbox.address,
        `p${number}@strangers${number}.example`,
        'Dear Ada, it is on its way.',
        'A message is waiting for your approval.',
        'Expires:',
        'First contact with',
      ])
        assert.ok(mail.includes(part), `${part} in ${mail}`);
      assert.equal(linksIn(mail).length, 1);
    }
    const tokens = [of.owner, of.admin, of.member].flatMap(({ email }) => linksIn(mailsTo(email)[0]));
    assert.equal(new Set(tokens).size, 3, 'each has a link of its own');
    const listed = await world.call('GET', '/api/notices', { as: of.owner.session });
    for (const token of tokens) assert.ok(!listed.text.includes(token), 'the API does not show the credential');
    assert.ok(listed.text.includes(`/approvals?open=${consentId}`));
    const kept = await world.sql(
      `select count(*)::int as count from member_notices where organization_id = $1 and credential_sealed is not null`,
      [of.id],
    );
    assert.equal(kept[0]?.['count'], 0, 'what was sent is kept no longer');
  });

  test('contains everything held within the next five minutes, and is sent at once again after a pause', async () => {
    const { of, person } = await alone();
    await hold(of);
    await sendDue(of);
    assert.equal(mailsTo(person.email).length, 1);
    await hold(of);
    await hold(of);
    const [due] = await sendDue(of);
    assert.equal(mailsTo(person.email).length, 1);
    assert.ok(due !== null && due !== undefined && due > Date.now() && due <= Date.now() + APPROVAL_DIGEST_MS);
    await sendDue(of, APPROVAL_DIGEST_MS);
    const [, digest, another] = mailsTo(person.email);
    assert.equal(another, undefined);
    assert.match(digest ?? '', /Subject: Approval needed: 2 messages/);
    assert.equal(linksIn(digest).length, 2);
    await world.sql(`update approval_notices set send_at = send_at - interval '20 minutes' where member_id = $1`, [
      person.memberId,
    ]);
    await hold(of);
    assert.deepEqual(await sendDue(of), [null]);
    assert.equal(mailsTo(person.email).length, 3);
  });

  test('is not sent when everything was decided meanwhile', async () => {
    const { of, person } = await alone();
    const { consentId } = await hold(of);
    const denied = await world.call('POST', `/api/consents/${consentId}/deny`, { as: person.session, body: {} });
    assert.equal(denied.status, 200, denied.text);
    assert.deepEqual(await sendDue(of), [null]);
    assert.deepEqual([mailsTo(person.email), await noticesOf(of)], [[], []]);
  });

  test('reaches nobody who was removed meanwhile', async () => {
    const of = await world.newOrganization('free');
    await hold(of);
    await world.call('DELETE', `/api/members/${of.member.memberId}`, { as: of.owner.session });
    await sendDue(of);
    assert.deepEqual([mailsTo(of.member.email).length, mailsTo(of.owner.email).length], [0, 1]);
  });

  test('shows the domains of recipients as DNS has them, once', async () => {
    const { of, person } = await alone();
    await hold(of, { to: ['ann@bücher.example', 'ben@plain.example'] });
    await sendDue(of);
    const [mail = ''] = mailsTo(person.email);
    assert.match(mail, /^ *To: +ann@xn--bcher-kva\.example, ben@plain\.example\r?$/m);
  });

  test('comes at full hours, or not at all, as each member chooses', async () => {
    const of = await world.newOrganization('free');
    const hourly = await choose(of.admin, { approvals: 'hourly' });
    assert.deepEqual(
      [hourly.status, hourly.body],
      [200, { approvals: 'hourly', incoming: 'digest', digest: null, quietHours: null, chat: null }],
    );
    assert.equal((await choose(of.member, { approvals: 'none' })).status, 200);
    const shown = await world.call('GET', '/api/sessions/current/notices', { as: of.owner.session });
    assert.deepEqual([at(shown.body, 'approvals'), at(shown.body, 'chat')], ['at_once', null]);
    await hold(of);
    const due = await sendDue(of);
    const counts = () => [of.owner, of.admin, of.member].map(({ email }) => mailsTo(email).length);
    assert.deepEqual(counts(), [1, 0, 0]);
    const hour = due.find((next) => next !== null) ?? 0;
    assert.deepEqual([hour % HOUR_MS, hour > Date.now()], [0, true]);
    await hold(of);
    await sendDue(of, HOUR_MS);
    assert.equal(linksIn(mailsTo(of.admin.email)[0]).length, 2);
    assert.deepEqual(counts(), [2, 1, 0]);
  });

  test('is tried again with the same links, and those that are lost to a fault are not doubled', async () => {
    const { of, person } = await alone();
    await hold(of);
    peer.faults = [{ at: 'mail', reply: 451, times: 1 }];
    const [next] = await sendDue(of);
    assert.ok(next !== null && next !== undefined);
    await sendDue(of);
    const links = await world.sql(`select 1 from approval_links where member_id = $1`, [person.memberId]);
    assert.deepEqual([links.length, linksIn(mailsTo(person.email)[0]).length], [1, 1]);
  });

  test('cannot be written by who is written about', async () => {
    const { of, person } = await alone();
    const { consentId } = await hold(of, { text: `x\n\n  https://evil.example/approve#aml_here\n\nHeld: nothing` });
    // As it may come by SMTP.
    await world.sql(`update consent set subject = $2 where id = $1`, [consentId, 'Hi\u202Etxt.exe\u200B']);
    await sendDue(of);
    const [mail = ''] = mailsTo(person.email);
    const lines = mail.split('\r\n').map((line) => line.trim());
    assert.ok(
      !lines.some((line) => line.startsWith('https://evil.example')),
      'words of others have no line of their own',
    );
    const [notice] = await noticesOf(of);
    assert.ok(!/[\u202E\u200B]/.test(String(notice?.['body'])));
  });
});

describe('a member whose mail is read here', () => {
  async function hosted(address: string): Promise<{ of: TestOrganization; person: TestPerson }> {
    const made = await alone();
    await world.sql(`update users set email = $2 where id = $1`, [made.person.userId, address]);
    return made;
  }

  const addDomain = async ({ session }: TestPerson, name: string) => {
    const added = await world.call('POST', '/api/domains', { as: session, body: { name } });
    assert.equal(added.status, 201, added.text);
  };

  const inboxOf = async (of: TestOrganization): Promise<string> => {
    const list = await world.call('GET', '/api/mailbox/messages?folder=INBOX', { as: of.mailbox.token });
    const data = at(list.body, 'data');
    assert.ok(Array.isArray(data));
    const texts = await Promise.all(
      data.map(async (each) => {
        const raw = await world.call('GET', `/api/mailbox/messages/${textAt(each, 'id')}/raw`, {
          as: of.mailbox.token,
        });
        return raw.text.replaceAll('=\r\n', '').replaceAll('=3D', '=');
      }),
    );
    return texts.join('\n');
  };

  test('gets a notice whose link asks for a session, with nothing of the message', async () => {
    const first = await alone();
    const { of } = first;
    await world.sql(`update users set email = $2 where id = $1`, [first.person.userId, of.mailbox.address]);
    const { consentId } = await hold(of, { subject: 'Secret subject', text: 'Secret words.' });
    await sendDue(of);
    const inbox = await inboxOf(of);
    assert.ok(inbox.includes(`/approvals?open=${consentId}`), inbox);
    assert.ok(!/aml_|Secret/.test(inbox), inbox);
    assert.deepEqual(await world.sql(`select 1 from approval_links where organization_id = $1`, [of.id]), []);
  });

  test('is one by a role address, a subdomain, or a domain that is about to be verified', async () => {
    for (const address of ['postmaster@agents.test', 'x@sub.AGENTS.test', 'x@soon.example', 'x@agents.test.']) {
      const { of, person } = await hosted(address.toLowerCase());
      if (address.endsWith('soon.example')) await addDomain(person, 'soon.example');
      await hold(of);
      await sendDue(of);
      assert.deepEqual(
        await world.sql(`select 1 from approval_links where member_id = $1`, [person.memberId]),
        [],
        address,
      );
      for (const mail of mailsTo(address)) assert.deepEqual(linksIn(mail), []);
    }
  });

  test('is noticed when the domain is added between two attempts: the links of the first are dead', async () => {
    const { of, person } = await hosted('owner@moves.example');
    await hold(of);
    peer.faults = [{ at: 'mail', reply: 451, times: 1 }];
    await sendDue(of);
    assert.equal((await world.sql(`select 1 from approval_links where member_id = $1`, [person.memberId])).length, 1);
    await addDomain(person, 'moves.example');
    await sendDue(of);
    assert.deepEqual(await world.sql(`select 1 from approval_links where member_id = $1`, [person.memberId]), []);
    for (const mail of mailsTo('owner@moves.example')) assert.deepEqual(linksIn(mail), []);
  });
});

describe('a request that nobody decides', () => {
  const noStarts = async () => {};

  test('causes one reminder a day before it expires, and a notice when it has expired', async () => {
    const { of, person } = await alone();
    const { id, consentId } = await hold(of);
    const first = await passConsentGate(world.services, id, noStarts);
    assert.ok(first.kind === 'held' && first.remindAtMs === first.expiresAtMs - DAY_MS);
    const untilReminderMs = (first.remindAtMs ?? 0) - Date.now() + 1_000;
    for (const _ of [1, 2]) {
      const gate = await passConsentGate(later(untilReminderMs), id, noStarts);
      assert.deepEqual(gate, { kind: 'held', expiresAtMs: first.expiresAtMs });
    }
    await sendDue(of, untilReminderMs, 'approval_reminder');
    const reminders = mailsTo(person.email).filter((mail) => mail.includes('Approval needed within a day'));
    assert.deepEqual([reminders.length, linksIn(reminders[0]).length], [1, 1]);
    const started: string[] = [];
    const gate = await passConsentGate(later(untilReminderMs + DAY_MS), id, async (notices) => {
      started.push(...notices.map(({ kind }) => kind));
    });
    assert.deepEqual([gate.kind, started.includes('approval_expired')], ['ended', true]);
    await sendDue(of, untilReminderMs + DAY_MS, 'approval_expired');
    const expired = mailsTo(person.email).filter((mail) => mail.includes('Expired without approval'));
    assert.deepEqual([expired.length, linksIn(expired[0])], [1, []]);
    assert.ok(expired[0]?.includes(consentId));
  });

  test('causes no reminder if it expires within a day of its start', async () => {
    const { of } = await alone();
    const { id, consentId } = await hold(of);
    await world.sql(`update consent set expires_at = created_at + interval '23 hours' where id = $1`, [consentId]);
    for (const laterMs of [0, 22 * HOUR_MS]) {
      const gate = await passConsentGate(later(laterMs), id, noStarts);
      assert.ok(gate.kind === 'held' && gate.remindAtMs === undefined);
    }
    assert.deepEqual(await noticesOf(of, 'approval_reminder'), []);
  });

  test('is reminded of by its workflow with the engine away for a while: the sweep starts the notices', async () => {
    const { of } = await alone();
    await hold(of);
    const [{ id } = { id: '' }] = await noticesOf(of);
    const handle = world.temporal.client.workflow.getHandle(`notice/${String(id)}`);
    await assert.rejects(handle.describe());
    await sweepNotices(later(600_000), world.temporal, engineStarts(testLog()));
    assert.equal((await handle.describe()).status.name, 'RUNNING');
    await handle.terminate();
  });
});

describe('a chat webhook', () => {
  test('is refused where it leads inside, is a secret, and is tried on demand', async () => {
    const { of, person } = await alone('member');
    const inside = await choose(person, { approvals: 'none', chat: { form: 'slack', url: 'https://10.0.0.1/hook' } });
    assert.equal(errorCode(inside), 'unsafe_destination');
    const plain = await choose(person, { approvals: 'none', chat: { form: 'slack', url: 'http://127.0.0.1/hook' } });
    assert.equal(errorCode(plain), 'invalid_url');
    const without = await world.call('POST', '/api/sessions/current/notices/test', { as: person.session });
    assert.equal(errorCode(without), 'conflict');
    const url = `${receiver.url}?secret=abcdef`;
    const saved = await choose(person, { approvals: 'none', chat: { form: 'slack', url } });
    assert.deepEqual(at(saved.body, 'chat'), { form: 'slack', host: `localhost:${receiver.port}`, last: null });
    const [row] = await world.sql(`select chat_url_sealed from member_notice_settings where member_id = $1`, [
      person.memberId,
    ]);
    assert.ok(!String(row?.['chat_url_sealed']).includes('abcdef'));
    const kept = await choose(person, { approvals: 'hourly' });
    assert.equal(at(kept.body, 'chat', 'form'), 'slack');
    receiver.answer(404);
    assert.equal((await world.call('POST', '/api/sessions/current/notices/test', { as: person.session })).status, 202);
    await sendDue(of, 0, 'chat_test');
    const failed = await world.call('GET', '/api/sessions/current/notices', { as: person.session });
    assert.deepEqual(
      [at(failed.body, 'chat', 'last', 'state'), at(failed.body, 'chat', 'last', 'reply')],
      ['failed', 'answered 404'],
    );
    receiver.answer(200);
    await world.call('POST', '/api/sessions/current/notices/test', { as: person.session });
    await sendDue(of, 0, 'chat_test');
    const sent = await world.call('GET', '/api/sessions/current/notices', { as: person.session });
    assert.equal(at(sent.body, 'chat', 'last', 'state'), 'sent');
    const listed = await world.call('GET', '/api/audit', { as: of.key });
    assert.ok(!listed.text.includes('abcdef'));
    const none = await choose(person, { approvals: 'hourly', chat: null });
    assert.equal(at(none.body, 'chat'), null);
  });

  for (const form of ['slack', 'teams'] as const)
    test(`of ${form} gets what is held, with a link that asks for a session`, async () => {
      const { of, person } = await alone('member');
      await choose(person, { approvals: 'none', chat: { form, url: receiver.url } });
      receiver.answer(503, 200);
      const before = receiver.requests.length;
      const { consentId } = await hold(of, { subject: '<!channel> *pay* [now](https://evil.example)', text: 'Words' });
      const [retry] = await sendDue(of);
      assert.ok(retry !== null && retry !== undefined, 'a 503 is tried again');
      await sendDue(of);
      const request = receiver.requests.at(-1);
      assert.equal(receiver.requests.length, before + 2);
      const body: unknown = JSON.parse(request?.body ?? '');
      assert.ok(request?.body.includes(`/approvals?open=${consentId}`));
      assert.ok(!request?.body.includes('aml_'), 'a channel has many readers');
      assert.equal(request?.headers['webhook-signature'], undefined);
      if (form === 'slack') {
        const text = textAt(body, 'text');
        assert.ok(text.includes('&lt;!channel&gt;') && !text.includes('<!channel>'), text);
      } else {
        assert.equal(at(body, 'attachments', 0, 'contentType'), 'application/vnd.microsoft.card.adaptive');
        assert.ok(textAt(body, 'attachments', 0, 'content', 'body', 0, 'text').includes('\\[now\\]'));
      }
      assert.deepEqual(mailsTo(person.email), []);
      const [notice] = await noticesOf(of);
      assert.deepEqual([notice?.['channel'], notice?.['state']], ['chat', 'sent']);
    });
});

test('the workflows send the notice without help: what is held is in the mail of its approver at a host outside', async () => {
  const connection = await temporalConnection();
  const worker = await startTestWorker(world.services, connection);
  try {
    const { of, person } = await alone();
    await hold(of);
    await waitUntil('the mail of the approver', () => mailsTo(person.email).length === 1);
    const [token = ''] = linksIn(mailsTo(person.email)[0]);
    const opened = await world.call('GET', '/api/approval', { headers: { authorization: `Bearer ${token}` } });
    assert.equal(opened.status, 200, opened.text);
  } finally {
    await worker.close();
    await connection.close();
  }
});
