/** Limits of sending: the same by REST and by SMTP, counted together. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { MESSAGE_MAX_BYTES, RECIPIENTS_PER_MESSAGE_MAX } from '#domain/mail/mail-limits.ts';
import { PLANS } from '#domain/organizations/plans.ts';
import { SENDS_PER_THREAD_HOUR_MAX } from '#domain/sending/outbound.ts';
import { SENDING_RATE_WINDOW_MS } from '#domain/sending/sending-brakes.ts';
import { at, type TestMailbox, type TestOrganization } from '#test/support/api-world.ts';
import { logIn } from '#test/support/submission-client.ts';
import {
  type Answered,
  openSendingWorld,
  passwordOf,
  SENDING_ENTRY_POINTS,
  type SendingEntryPoint,
  type SendingWorld,
} from './sending-world.ts';

let world: SendingWorld;
before(async () => {
  world = await openSendingWorld();
});
after(() => world?.close());

async function organizationOf(plan: 'free' | 'unlimited'): Promise<TestOrganization> {
  const organization = await world.api.newOrganization(plan);
  const answer = await world.api.call('PATCH', '/api/organization', {
    as: organization.owner.session,
    body: { settings: { outboundConsent: 'off' } },
  });
  assert.equal(answer.status, 200, answer.text);
  return organization;
}

const HOUR_MS = 3_600_000;

/** As if so much had been sent already. */
const use = (id: string, used: number, windowMs = HOUR_MS) =>
  world.api.sql(
    `insert into rate_limits (key, used, resets_at_ms) values ($1, $2, $3)
     on conflict (key) do update set used = $2, resets_at_ms = $3`,
    [`sends:${id}`, used, Date.now() + windowMs],
  );

const refusals = (mailbox: TestMailbox) =>
  world.api
    .sql(`select payload from events where type = 'email_blocked' and mailbox_id = $1 order by id`, [mailbox.id])
    .then((rows) =>
      rows.map(({ payload }) => {
        const { data } = JSON.parse(String(payload));
        return `${data.reason} ${data.rule}`;
      }),
    );

/** 429 with the time to wait by REST, 451 4.7.1 by SMTP. */
function isTooMuch(entry: SendingEntryPoint, answer: Answered, rule: string): void {
  assert.equal(answer.kind, 'refused', answer.words);
  assert.match(answer.words, entry === 'REST' ? /^429 .*rate_limited/s : /^451 4\.7\.1 /);
  assert.match(answer.words, new RegExp(`${rule}\\).*Try again in \\d+ s`));
  if (entry === 'REST') assert.ok((answer.retryAfter ?? 0) > 0);
}
const isTaken = (answer: Answered) => assert.equal(answer.kind, 'accepted', answer.words);
const otherEntryPoint = (entry: SendingEntryPoint): SendingEntryPoint => (entry === 'REST' ? 'SMTP' : 'REST');

let number = 0;
const stranger = () => `p${++number}@d${number}.example`;

for (const entry of SENDING_ENTRY_POINTS)
  describe(`by ${entry}`, () => {
    test('the hourly limit of a mailbox counts both protocols together; other mailboxes are not affected', async () => {
      const organization = await organizationOf('free');
      const { mailbox } = organization;
      const max = PLANS.free.sendsPerMailboxHour ?? 0;
      await use(mailbox.id, max - 2);
      isTaken(await world.send(otherEntryPoint(entry), mailbox, { to: [stranger()] }));
      isTaken(await world.send(entry, mailbox, { to: [stranger()] }));
      for (let time = 0; time < 2; time++)
        isTooMuch(entry, await world.send(entry, mailbox, { to: [stranger()] }), 'sendsPerMailboxHour');
      isTooMuch(
        otherEntryPoint(entry),
        await world.send(otherEntryPoint(entry), mailbox, { to: [stranger()] }),
        'sendsPerMailboxHour',
      );
      assert.deepEqual(
        await refusals(mailbox),
        ['plan_limit sendsPerMailboxHour'],
        'recorded once, not for each message',
      );
      isTaken(await world.send(entry, await world.api.newMailbox(organization), { to: [stranger()] }));
      await use(mailbox.id, max + 3, -1);
      isTaken(await world.send(entry, mailbox, { to: [stranger()] }));
    });

    test('the daily limit of an organization counts all its mailboxes', async () => {
      const organization = await organizationOf('free');
      const other = await world.api.newMailbox(organization);
      await use(organization.id, (PLANS.free.sendsPerOrganizationDay ?? 0) - 1, 24 * HOUR_MS);
      isTaken(await world.send(entry, organization.mailbox, { to: [stranger()] }));
      for (const mailbox of [organization.mailbox, other])
        isTooMuch(entry, await world.send(entry, mailbox, { to: [stranger()] }), 'sendsPerOrganizationDay');
      const elsewhere = await organizationOf('free');
      isTaken(await world.send(entry, elsewhere.mailbox, { to: [stranger()] }));
    });

    test('two agents that answer each other are stopped after ten in a thread and hour; other threads continue', async () => {
      const { mailbox } = await organizationOf('unlimited');
      const first = await world.send(entry, mailbox, { to: [stranger()], subject: `Loop ${entry}` });
      isTaken(first);
      const [row] = await world.api.sql(`select message_id_header as header from outbound_message where id = $1`, [
        first.id,
      ]);
      const answers = { id: first.id, header: String(row?.['header']) };
      for (let sent = 0; sent < SENDS_PER_THREAD_HOUR_MAX; sent++)
        isTaken(await world.send(entry, mailbox, { to: [stranger()], answers }));
      isTooMuch(entry, await world.send(entry, mailbox, { to: [stranger()], answers }), 'sendsPerThreadHour');
      assert.deepEqual(await refusals(mailbox), ['plan_limit sendsPerThreadHour']);
      isTaken(await world.send(entry, mailbox, { to: [stranger()], subject: 'Another thread' }));
    });

    test('a mailbox with too many bounces is paused with its reason; a person resumes it', async () => {
      const organization = await organizationOf('unlimited');
      const { mailbox } = organization;
      const answer = await world.send(entry, mailbox, { to: [stranger()] });
      await world.reaches(mailbox, answer.id, 'sent');
      await world.api.sql(
        `insert into outbound_recipient (message_id, number, address, local, status)
         select $1, n, 'r' || n || '@many.example', false, case when n <= 12 then 'bounced' else 'sent' end
           from generate_series(1, 120) n`,
        [answer.id],
      );
      const to = stranger();
      world.peer.faults = [{ at: 'rcpt', reply: 550, times: 1, for: to }];
      const bad = await world.send(entry, mailbox, { to: [to] });
      await world.reaches(mailbox, bad.id, 'bounced');
      const shown = async () =>
        at((await world.api.call('GET', `/api/mailboxes/${mailbox.id}`, { as: organization.key })).body, 'sending');
      assert.equal(at(await shown(), 'state'), 'paused');
      const refused = await world.send(entry, mailbox, { to: [stranger()] });
      assert.match(refused.words, entry === 'REST' ? /^403 / : /^550 5\.7\.1 /);
      assert.match(refused.words, /13 of 122 recipients of the last 24 hours bounced/);
      assert.match((await refusals(mailbox)).at(-1) ?? '', /^sending_paused 13 of 122/);
      isTaken(await world.send(entry, mailbox, { to: [organization.mailbox.address] }));
      const resume = () =>
        world.api.call('POST', `/api/mailboxes/${mailbox.id}/resume-sending`, { as: organization.owner.session });
      assert.equal((await resume()).status, 200);
      isTaken(await world.send(entry, mailbox, { to: [stranger()] }));
    });
  });

test('a flag for bounces ends a day after the last failure; a pause does not', async () => {
  const organization = await organizationOf('unlimited');
  const { id } = organization.mailbox;
  const state = async () =>
    at((await world.api.call('GET', `/api/mailboxes/${id}`, { as: organization.key })).body, 'sending', 'state');
  const reviewed = (kind: string, agoMs: number) =>
    world.api.sql(
      `insert into mailbox_sending (mailbox_id, state, reason, reviewed_at) values ($1, $2, 'Too much.', $3)
       on conflict (mailbox_id) do update set state = $2, reviewed_at = $3`,
      [id, kind, new Date(Date.now() - agoMs)],
    );
  await reviewed('flagged', SENDING_RATE_WINDOW_MS - HOUR_MS);
  assert.equal(await state(), 'flagged');
  isTaken(await world.send('REST', organization.mailbox, { to: [stranger()] }));
  await reviewed('flagged', SENDING_RATE_WINDOW_MS + 1_000);
  assert.equal(await state(), 'ok');
  await reviewed('paused', 10 * SENDING_RATE_WINDOW_MS);
  assert.equal(await state(), 'paused');
});

describe('a message', () => {
  const addresses = (count: number) => Array.from({ length: count }, (_, i) => `r${i}@many.example`);

  test('has 100 recipients: REST refuses one more, SMTP accepts the first hundred', async () => {
    const { mailbox } = await organizationOf('unlimited');
    const tooMany = addresses(RECIPIENTS_PER_MESSAGE_MAX + 1);
    const refused = await world.send('REST', mailbox, { to: tooMany });
    assert.match(refused.words, /^400 .*invalid_request/s);
    isTaken(await world.send('REST', mailbox, { to: tooMany.slice(1) }));

    const client = await logIn(world.mail.submissionStarttls, { address: mailbox.address, token: passwordOf(mailbox) });
    await client.command(`MAIL FROM:<${mailbox.address}>`);
    const replies: string[] = [];
    for (const address of tooMany) replies.push(await client.command(`RCPT TO:<${address}>`));
    assert.ok(replies.slice(0, -1).every((reply) => reply.startsWith('250')));
    assert.match(replies.at(-1) ?? '', /^452 4\.5\.3 /);
    await client.command('DATA');
    const [, id = ''] = /(msg_\w+)/.exec(await client.data(`From: ${mailbox.address}\nSubject: Many\n\nx\n`)) ?? [];
    client.close();
    await world.reaches(mailbox, id, 'sent');
    const { body } = await world.api.call('GET', `/api/mailbox/messages/${id}/status`, { as: mailbox.token });
    assert.equal(Object.keys(Object(at(body, 'recipients'))).length, RECIPIENTS_PER_MESSAGE_MAX);
  });

  test('has at most 30 MiB: refused at MAIL with SIZE, after DATA without, and by REST; the connection stays open', async () => {
    const { mailbox } = await organizationOf('unlimited');
    const client = await logIn(world.mail.submissionStarttls, { address: mailbox.address, token: passwordOf(mailbox) });
    const mail = `MAIL FROM:<${mailbox.address}>`;
    assert.match(await client.command(`${mail} SIZE=${MESSAGE_MAX_BYTES + 1}`), /^552 5\.3\.4 /);
    assert.match(await client.command(`${mail} SIZE=${MESSAGE_MAX_BYTES}`), /^250/);
    await client.command('RCPT TO:<large@example.com>');
    await client.command('DATA');
    const header = `From: ${mailbox.address}\r\nSubject: Large\r\n\r\n`;
    const line = `${'x'.repeat(998)}\r\n`;
    const large = Buffer.from(header + line.repeat(Math.ceil(MESSAGE_MAX_BYTES / line.length)));
    assert.match(await client.data(large), /^552 5\.3\.4 /);
    assert.match(await client.command('NOOP'), /^250/);
    client.close();
    const refused = await world.send('REST', mailbox, { to: [stranger()], text: 'x'.repeat(MESSAGE_MAX_BYTES) });
    assert.match(refused.words, /^413 .*payload_too_large/s);
    assert.equal((await world.folder(mailbox, 'Sent')).length, 0);
  });
});
