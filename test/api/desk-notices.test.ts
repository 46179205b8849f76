/** Members are notified of held incoming mail, by digests, and not in their quiet hours. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { INCOMING_NOTICE_EVERY_MS, INCOMING_NOTICES_PER_DAY } from '#domain/sending/desk-notices.ts';
import { writeDeskNotices } from '#sending/notices/desk-notices.ts';
import { sendMemberNotice } from '#sending/notices/send-member-notice.ts';
import { relayTransport } from '#sending/transports/choose-transport.ts';
import {
  type ApiWorld,
  apiWorld,
  at,
  errorCode,
  type TestOrganization,
  type TestPerson,
} from '#test/support/api-world.ts';
import { holdMailOf } from '#test/support/held-mail.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

let peer: Peer;
let world: ApiWorld;
before(async () => {
  peer = await startPeer();
  world = await apiWorld({ OUTBOUND_TRANSPORT: 'relay', OUTBOUND_RELAY_URL: peer.url });
});
after(async () => {
  await world?.close();
  await peer?.close();
});

/** The services as they are so long after now. */
const later = (ms: number): Services => ({ ...world.services, now: () => Date.now() + ms });
/** What a clock in UTC shows then. */
const clock = (ms: number): string => new Date(Date.now() + ms).toISOString().slice(11, 16);

const look = (ms = MINUTE_MS) => writeDeskNotices(later(ms), async () => {});

interface Desk {
  readonly of: TestOrganization;
  readonly person: TestPerson;
}

/** Only this person is a member. */
async function alone(): Promise<Desk> {
  const of = await world.newOrganization('free');
  await world.sql(`delete from members where organization_id = $1`, [of.id]);
  const desk = { of, person: await world.newPerson(of.id, 'owner') };
  await look(0);
  return desk;
}

const noticesOf = ({ of }: Desk) =>
  world.sql(`select id, kind, state, subject, body from member_notices where organization_id = $1 order by id`, [
    of.id,
  ]);

const kindsOf = async (desk: Desk) => (await noticesOf(desk)).map(({ kind }) => kind);

/** @returns when those that were not sent are due */
async function send(desk: Desk, ms = MINUTE_MS): Promise<(number | null)[]> {
  const transport = relayTransport({ url: peer.url, hostname: 'mail.test' });
  const chat = { send: () => Promise.reject(new Error('no chat here')) };
  const due: (number | null)[] = [];
  for (const { id, state } of await noticesOf(desk))
    if (state === 'waiting') {
      const control = { heartbeat() {}, mayBegin: () => true };
      due.push((await sendMemberNotice(later(ms), { transport, chat }, String(id), control)).nextAtMs);
    }
  return due;
}

const mailsTo = (email: string): string[] =>
  peer.received
    .filter(({ to }) => to.includes(email))
    .map(({ bytes }) => bytes.toString().replaceAll('=\r\n', '').replaceAll('=3D', '='));

const choose = (person: TestPerson, body: object) =>
  world.call('PUT', '/api/sessions/current/notices', { as: person.session, body: { approvals: 'at_once', ...body } });

const arrive = ({ of }: Desk, author = 'bob@stranger.example') =>
  holdMailOf(world, of.id, of.mailbox, author, 'Words.');

/** The digest of the member is due by now. */
const makeDigestDue = (person: TestPerson) =>
  world.sql(`update member_desk_notice set digest_at = now() where member_id = $1`, [person.memberId]);

describe('a notice about held incoming mail', () => {
  test('comes at once for those who want it, one for all, with nothing of strangers in its subject', async () => {
    const desk = await alone();
    const { person } = desk;
    assert.equal((await choose(person, { incoming: 'at_once' })).status, 200);
    await arrive(desk, 'eve@approved.example');
    for (let each = 0; each < 4; each++) await arrive(desk, 'spam@wave.example');
    await world.sql(`update held_arrival set subject = $2 where organization_id = $1`, [
      desk.of.id,
      'Approved:\u202e <b>sign in</b> at\nhttps://evil.example',
    ]);
    await look();
    await look();
    assert.deepEqual(await kindsOf(desk), ['held_mail']);
    await send(desk);
    const [mail = '', ...others] = mailsTo(person.email);
    assert.equal(others.length, 0);
    assert.match(mail, /^Subject: Held incoming mail: 5 messages\r?$/m);
    assert.match(mail, /From: spam@wave\.example \(not proven\)/);
    assert.match(mail, /Messages: 4/);
    assert.ok(!mail.slice(mail.indexOf('<!doctype html>')).includes('<b>'), 'words of strangers are text');
    assert.ok(!mail.includes('\u202e') && !mail.includes('=E2=80=AE'), 'no hidden characters');
    assert.ok(mail.includes('/held-mail'));
    const [stored] = await noticesOf(desk);
    assert.ok(!String(stored?.['body']).includes('evil'), 'the stored notice has counts alone');
  });

  test('is followed by the next after some minutes only, about what arrived since', async () => {
    const desk = await alone();
    await choose(desk.person, { incoming: 'at_once' });
    await arrive(desk, 'first@stranger.example');
    await look();
    await send(desk);
    await arrive(desk, 'second@stranger.example');
    await world.sql(
      `update held_arrival set received_at = now() + interval '2 minutes' where author like 'second@%' and organization_id = $1`,
      [desk.of.id],
    );
    await look(5 * MINUTE_MS);
    assert.equal((await kindsOf(desk)).length, 1);
    await look(INCOMING_NOTICE_EVERY_MS + 2 * MINUTE_MS);
    await send(desk, INCOMING_NOTICE_EVERY_MS + 2 * MINUTE_MS);
    const [, mail = ''] = mailsTo(desk.person.email);
    assert.match(mail, /second@stranger\.example/);
    assert.ok(!mail.includes('first@stranger.example'));
    await look(DAY_MS / 2);
    assert.equal((await kindsOf(desk)).filter((kind) => kind === 'held_mail').length, 2, 'nothing new arrived');
  });

  test('comes some times a day at most, whatever a sender does', async () => {
    const desk = await alone();
    await choose(desk.person, { incoming: 'at_once' });
    for (let each = 1; each <= INCOMING_NOTICES_PER_DAY + 3; each++) {
      const ms = each * (INCOMING_NOTICE_EVERY_MS + MINUTE_MS);
      const id = await arrive(desk);
      await world.sql(`update held_arrival set received_at = $2 where id = $1`, [
        id,
        new Date(Date.now() + ms - MINUTE_MS),
      ]);
      await look(ms);
      await send(desk, ms);
    }
    const sent = (await kindsOf(desk)).filter((kind) => kind === 'held_mail').length;
    assert.equal(sent, INCOMING_NOTICES_PER_DAY);
  });

  test('does not come by itself to those who chose nothing, nor of a suspended organization', async () => {
    const desk = await alone();
    await arrive(desk);
    await look();
    assert.deepEqual(await kindsOf(desk), []);
    await choose(desk.person, { incoming: 'at_once' });
    await makeDigestDue(desk.person);
    await world.sql(
      `update organizations set suspended_at = now(), suspended_receive = 'defer', suspended_reason = 'test' where id = $1`,
      [desk.of.id],
    );
    await look();
    assert.deepEqual(await kindsOf(desk), []);
  });

  test('is dropped if everything was decided before it is sent', async () => {
    const desk = await alone();
    await choose(desk.person, { incoming: 'at_once' });
    const id = await arrive(desk);
    await look();
    await world.sql(`update held_arrival set state = 'spam', bytes = null, decided_at = now() where id = $1`, [id]);
    await send(desk);
    assert.deepEqual([await kindsOf(desk), mailsTo(desk.person.email).length], [[], 0]);
  });

  test('has counts alone where its address is hosted here', async () => {
    const desk = await alone();
    const email = `${newId('user')}@${desk.of.mailbox.address.split('@')[1]}`;
    await world.sql(`update users set email = $2 where id = (select user_id from members where id = $1)`, [
      desk.person.memberId,
      email,
    ]);
    await choose(desk.person, { incoming: 'at_once' });
    await arrive(desk, 'quoted@stranger.example');
    await look();
    await send(desk);
    const [notice] = await noticesOf(desk);
    assert.equal(notice?.['kind'], 'held_mail');
    assert.ok(!String(notice?.['body']).includes('quoted@'));
    assert.match(String(notice?.['body']), /^1 message arrived/);
  });
});

describe('the digest', () => {
  test('says what waits in both directions, and comes once a day over restarts and several processes', async () => {
    const desk = await alone();
    const { of, person } = desk;
    await choose(person, { approvals: 'none', digest: { timeZone: 'Europe/Berlin', hour: 8, days: 'daily' } });
    await arrive(desk);
    const answer = await world.call('POST', '/api/mailbox/messages', {
      as: of.mailbox.token,
      body: { to: ['ann@outside.example'], subject: 'An <i>offer</i>', text: 'Dear Ann' },
    });
    assert.equal(answer.status, 202, answer.text);
    const stopped = await world.newMailbox(of);
    await world.sql(`update mailboxes set sending_mode = 'stopped' where id = $1`, [stopped.id]);
    await makeDigestDue(person);
    await Promise.all([look(), look(), look()]);
    await look();
    assert.deepEqual(await kindsOf(desk), ['desk_digest']);
    await send(desk);
    const [mail = '', ...others] = mailsTo(person.email);
    assert.equal(others.length, 0);
    assert.match(mail, /^Subject: Digest: 2 messages to decide about\r?$/m);
    assert.match(mail, /To approve: 1 message\./);
    assert.match(mail, /ann@outside\.example/);
    assert.match(mail, /bob@stranger\.example \(not proven\)/);
    assert.ok(mail.includes('An &lt;i&gt;offer&lt;/i&gt;'), 'as text in the HTML');
    assert.ok(mail.includes(`Sending is stopped: ${stopped.address}`));
    assert.ok(!String((await noticesOf(desk))[0]?.['body']).includes('@'), 'counts alone are stored');
    const [{ next } = {}] = await world.sql(`select digest_at as next from member_desk_notice where member_id = $1`, [
      person.memberId,
    ]);
    assert.ok(next instanceof Date && next.getTime() > Date.now() + MINUTE_MS);
  });

  test('is not sent if nothing waits, and not for approvals alone to those who chose none', async () => {
    const desk = await alone();
    const { of, person } = desk;
    await makeDigestDue(person);
    await look();
    assert.deepEqual(await kindsOf(desk), []);
    await choose(person, { approvals: 'none' });
    await world.call('POST', '/api/mailbox/messages', {
      as: of.mailbox.token,
      body: { to: ['ben@outside.example'], subject: 'Offer', text: 'Dear Ben' },
    });
    await makeDigestDue(person);
    await look();
    assert.deepEqual(await kindsOf(desk), []);
    await arrive(desk);
    await makeDigestDue(person);
    await look();
    assert.deepEqual(await kindsOf(desk), ['desk_digest']);
  });

  test('of another hour does not come twice on a day', async () => {
    const desk = await alone();
    const { person } = desk;
    await arrive(desk);
    await world.sql(`update member_desk_notice set digested_at = now() where member_id = $1`, [person.memberId]);
    const today = new Date().toISOString().slice(0, 10);
    for (let hour = 0; hour < 24; hour += 5) {
      await choose(person, { digest: { timeZone: 'UTC', hour, days: 'daily' } });
      const [{ next } = {}] = await world.sql(
        `select to_char(digest_at at time zone 'UTC', 'YYYY-MM-DD') as next from member_desk_notice where member_id = $1`,
        [person.memberId],
      );
      assert.ok(String(next) > today, String(next));
    }
  });
});

describe('quiet hours', () => {
  const quietNow = () => ({
    timeZone: 'UTC',
    days: [1, 2, 3, 4, 5, 6, 7],
    from: clock(-30 * MINUTE_MS),
    to: clock(3 * 60 * MINUTE_MS),
  });

  test('keep mail back until their end, and it comes as one', async () => {
    const desk = await alone();
    const { of, person } = desk;
    const quietHours = quietNow();
    const saved = await choose(person, { incoming: 'at_once', quietHours });
    assert.deepEqual(at(saved.body, 'quietHours'), quietHours);
    for (const name of ['ann', 'ben', 'cleo'])
      await world.call('POST', '/api/mailbox/messages', {
        as: of.mailbox.token,
        body: { to: [`${name}@quiet.example`], subject: `To ${name}`, text: 'Dear' },
      });
    await arrive(desk);
    await look();
    assert.deepEqual(await kindsOf(desk), ['approval_request'], 'incoming mail waits too');
    const [until] = await send(desk);
    assert.ok(until !== null && until !== undefined && until > Date.now() + 2 * 60 * MINUTE_MS, String(until));
    assert.equal(mailsTo(person.email).length, 0);
    const end = 3 * 60 * MINUTE_MS + MINUTE_MS;
    await send(desk, end);
    const [mail = '', ...others] = mailsTo(person.email);
    assert.equal(others.length, 0);
    for (const name of ['ann', 'ben', 'cleo']) assert.match(mail, new RegExp(`${name}@quiet\\.example`));
    await look(end);
    assert.deepEqual(await kindsOf(desk), ['approval_request', 'held_mail']);
  });

  test('leave an hour of the day, and are in a known time zone', async () => {
    const { person } = await alone();
    const hours = { timeZone: 'UTC', days: [1], from: '08:00', to: '08:00' };
    for (const body of [
      { quietHours: hours },
      { quietHours: { ...hours, to: '07:01' } },
      { quietHours: { ...hours, to: '12:00', timeZone: 'Europe/Nowhere' } },
      { digest: { timeZone: 'Europe/Nowhere', hour: 8, days: 'daily' } },
      { digest: { timeZone: 'UTC', hour: 24, days: 'daily' } },
    ])
      assert.equal(errorCode(await choose(person, body)), 'invalid_request', JSON.stringify(body));
    await choose(person, { quietHours: { ...hours, to: '12:00' } });
    const kept = await choose(person, { incoming: 'none' });
    assert.deepEqual(at(kept.body, 'quietHours', 'to'), '12:00', 'what is left out stays');
    const none = await choose(person, { quietHours: null });
    assert.deepEqual([at(none.body, 'quietHours'), at(none.body, 'incoming')], [null, 'none']);
  });
});
