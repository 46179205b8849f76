import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { deleteMailbox } from '#core/mailboxes/delete-mailbox.ts';
import type { Sql } from '#db/database.ts';
import type { ConsentScope } from '#domain/sending/consent.ts';
import { OUTBOUND_DECIDED_OVERDUE_MS } from '#domain/sending/outbound.ts';
import { outboundWorkflowId } from '#domain/sending/outbound-workflow.ts';
import type { Actor } from '#domain/webhooks/event-types.ts';
import { passConsentGate } from '#sending/consent/consent-gate.ts';
import { approveConsent, denyConsent } from '#sending/consent/decide-consent.ts';
import type { Submitted } from '#sending/outbox/find-submitted.ts';
import { signalDecided, startOutbound, startOutboundSweep } from '#sending/submit/start-outbound.ts';
import { dnsStub, type TestMailbox } from '#test/support/mail-world.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld();
  await world.consentMode('first_contact');
});
after(() => world?.close());

const PERSON: Actor = { type: 'user', id: 'usr_1', name: 'Grace', email: 'grace@acme.test', address: null };
const CALLER = { actor: PERSON, ipAddress: null, requestId: null };

async function waitForTimer({ messageId }: Submitted): Promise<void> {
  const handle = world.temporal.client.workflow.getHandle(outboundWorkflowId(messageId));
  await waitUntil('the timer', async () =>
    (await handle.fetchHistory()).events?.some((event) => event.timerStartedEventAttributes),
  );
}

async function deleteTheMailbox({ id }: TestMailbox): Promise<void> {
  const { services, organizationId } = world.mail;
  await deleteMailbox(services, world.temporal, { id: organizationId, name: 'Acme', slug: 'acme' }, id, CALLER);
}

let number = 0;
const stranger = (domain = `d${++number}.example`) => `p${++number}@${domain}`;

async function approve({ consentId }: Submitted, scope: ConsentScope): Promise<number> {
  const { services, organizationId } = world.mail;
  const { messageIds } = await approveConsent(services, organizationId, consentId ?? '', scope, CALLER);
  await signalDecided(services, world.temporal, messageIds);
  return messageIds.length;
}

const eventsOf = async (type: string, { messageId }: Submitted) =>
  (await world.events(type)).filter(({ data }) => data['messageId'] === messageId);

describe('first contact', () => {
  test('holds the whole message: nothing filed, nobody reached, until a person approves', async () => {
    const colleague = await world.mail.createMailbox('colleague');
    const to = stranger();
    const held = await world.send([to, colleague.address], { subject: 'Held' });
    assert.equal(held.status, 'consent_pending');
    assert.deepEqual(await world.folder(world.sender, '\\Sent'), []);
    assert.deepEqual(await world.folder(colleague, '\\Inbox'), []);
    const [requested] = await eventsOf('outbound_consent_requested', held);
    assert.deepEqual(requested?.data['recipients'], [to]);
    assert.equal(requested?.data['consentId'], held.consentId);

    await approve(held, 'message');
    assert.equal(await world.finished(held.messageId), 'sent');
    assert.deepEqual(await world.folder(world.sender, '\\Sent'), ['Held']);
    assert.deepEqual(await world.folder(colleague, '\\Inbox'), ['Held']);
    assert.deepEqual(world.peer.received.at(-1)?.to, [to]);
    const [approved] = await eventsOf('outbound_consent_approved', held);
    assert.equal(approved?.actor['id'], PERSON.id);
    assert.equal((await eventsOf('email_sent', held)).length, 1);
  });

  test('approved for the message alone is asked again, but not for replies to answers in its thread', async () => {
    const to = stranger();
    const held = await world.send([to], { subject: 'Question' });
    await approve(held, 'message');
    await world.finished(held.messageId);
    assert.equal((await world.send([to], { subject: 'Another' })).status, 'consent_pending');
    const [row] = await world.mail.services.db.query<{ id: string }>(
      `select message_id_header as id from outbound_message where id = $1`,
      [held.messageId],
    );
    const references = [row?.id ?? '', `<answer@${to}>`];
    const [asked] = references;
    const unanswered = await world.send([to], { subject: 'Re: Question', references: [asked ?? ''] });
    assert.equal(unanswered.status, 'consent_pending', 'nobody answered yet');
    const [sender, own] = [world.sender.address, references[1]];
    assert.match(
      await world.mail.send(
        sender,
        `From: ${to}\nTo: ${sender}\nSubject: Re: Question\nMessage-ID: ${own}\nIn-Reply-To: ${asked}\n\nYes.\n`,
        to,
      ),
      /^250/,
    );
    const answer = await world.send([to], { subject: 'Re: Question', references });
    assert.equal(await world.finished(answer.messageId), 'sent');
    const elsewhere = await world.send([stranger()], { subject: 'Re: Question', references });
    assert.equal(elsewhere.status, 'consent_pending');
  });

  test('approved for the address releases every message held for it, and later ones pass', async () => {
    const to = stranger();
    const [first, second] = [await world.send([to]), await world.send([to])];
    const more = await world.send([to, stranger()]);
    assert.equal(await approve(first, 'address'), 2);
    assert.equal(await world.finished(first.messageId), 'sent');
    assert.equal(await world.finished(second.messageId), 'sent');
    assert.equal(await world.status(more.messageId), 'consent_pending');
    const third = await world.send([to]);
    assert.equal(await world.finished(third.messageId), 'sent');
  });

  test('approved for the domain lets everybody there pass, and nobody else', async () => {
    const domain = `whole${++number}.example`;
    await approve(await world.send([stranger(domain)]), 'domain');
    assert.notEqual((await world.send([stranger(domain)])).status, 'consent_pending');
    assert.equal((await world.send([stranger(`sub.${domain}`)])).status, 'consent_pending');
  });

  test('denied ends the message with email_blocked; nobody is reached', async () => {
    const to = stranger();
    const held = await world.send([to]);
    const { services, organizationId } = world.mail;
    const { messageIds } = await denyConsent(
      services,
      organizationId,
      held.consentId ?? '',
      'No customer of ours',
      CALLER,
    );
    await signalDecided(services, world.temporal, messageIds);
    assert.equal(await world.finished(held.messageId), 'denied');
    const [denied] = await eventsOf('outbound_consent_denied', held);
    assert.equal(Object(denied?.data['decision']).reason, 'No customer of ours');
    const [blocked] = await eventsOf('email_blocked', held);
    assert.deepEqual([blocked?.data['reason'], blocked?.data['to']], ['consent_denied', [to]]);
    assert.ok(!world.peer.received.some((mail) => mail.to.includes(to)));
    await assert.rejects(approve(held, 'message'), { code: 'conflict' }, 'a second decision');
  });

  test('that nobody decides in time is denied by the system, and cannot be approved any more', async () => {
    const held = await world.send([stranger()]);
    const { services } = world.mail;
    await services.db.query(`update consent set expires_at = now() - interval '1 second' where id = $1`, [
      held.consentId,
    ]);
    await assert.rejects(approve(held, 'message'), { code: 'conflict' });
    await signalDecided(services, world.temporal, [held.messageId]);
    assert.equal(await world.finished(held.messageId), 'denied');
    const [denied] = await eventsOf('outbound_consent_denied', held);
    assert.equal(denied?.actor['type'], 'system');
  });

  test('is a reply to everybody but the author of a received message that passed DMARC', async () => {
    const dns = dnsStub({
      'genuine.example': 'v=spf1 ip4:127.0.0.1 -all',
      '_dmarc.genuine.example': 'v=DMARC1; p=reject',
      'xn--mnchen-3ya.example': 'v=spf1 ip4:127.0.0.1 -all',
      '_dmarc.xn--mnchen-3ya.example': 'v=DMARC1; p=reject',
    });
    const other = await openOutboundWorld({ lookup: dns });
    try {
      await other.consentMode('first_contact');
      const receive = (from: string, envelope = from) =>
        other.mail.send(
          other.sender.address,
          Buffer.from(`From: ${from}\nSubject: Hi\nMessage-ID: <${from}>\n\nHi\n`),
          envelope,
        );
      const isHeld = async (to: string, answered?: string) =>
        (await other.send([to], { subject: 'Re: Hi', references: answered === undefined ? [] : [`<${answered}>`] }))
          .status === 'consent_pending';
      for (const from of ['ann@genuine.example', 'ann@unsigned.example']) assert.match(await receive(from), /^250/);
      assert.equal(await isHeld('Ann@genuine.example', 'ann@genuine.example'), false);
      assert.equal(await isHeld('Ann@genuine.example'), true, 'new mail');
      assert.equal(await isHeld('ben@genuine.example', 'ann@genuine.example'), true, 'somebody else');
      assert.equal(await isHeld('ann@unsigned.example', 'ann@unsigned.example'), true, 'without DMARC');
      // A domain is one domain in all its spellings.
      assert.match(await receive('ann@münchen.example', 'ann@xn--mnchen-3ya.example'), /^250/);
      for (const to of ['ann@münchen.example', 'ann@xn--mnchen-3ya.example'])
        assert.equal(await isHeld(to, 'ann@münchen.example'), false, to);
      // Another host says it was he: DMARC fails, and the mail is labelled.
      assert.match(await receive('cy@genuine.example', 'cy@elsewhere.example'), /^250|^550/);
      assert.equal(await isHeld('cy@genuine.example', 'cy@genuine.example'), true, 'a forged author');
    } finally {
      await other.close();
    }
  });
});

test('in mode always, known contacts are held too, and colleagues are not', async () => {
  await world.consentMode('always');
  const to = stranger();
  await approve(await world.send([to]), 'address');
  assert.equal((await world.send([to])).status, 'consent_pending');
  const colleague = await world.mail.createMailbox('inside');
  assert.equal((await world.send([colleague.address])).status, 'sent');
  await world.consentMode('first_contact');
});

test('in mode always, a decision about one contact releases nothing held for another', async () => {
  await world.consentMode('always');
  const [old, now] = [stranger(), stranger()];
  await approve(await world.send([old]), 'address');
  const held = await world.send([old]);
  const both = await world.send([old, now]);
  assert.equal(await approve(await world.send([now]), 'address'), 2);
  assert.equal(await world.finished(both.messageId), 'sent');
  assert.equal(await world.status(held.messageId), 'consent_pending');
  await world.consentMode('first_contact');
});

test('a decision in the name of another organization finds nothing, and decides nothing', async () => {
  const { services } = world.mail;
  const held = await world.send([stranger()]);
  const other = 'org_01jb000000000000000000000z';
  const consentId = held.consentId ?? '';
  const notFound = { code: 'not_found' };
  await assert.rejects(denyConsent(services, other, consentId, null, CALLER), notFound);
  await assert.rejects(approveConsent(services, other, consentId, 'message', CALLER), notFound);
  assert.equal(await world.status(held.messageId), 'consent_pending');
  await approve(held, 'message');
  assert.equal(await world.finished(held.messageId), 'sent');
});

test('content changed after the request is never released, and says so', async () => {
  const to = stranger();
  const held = await world.send([to]);
  await world.mail.services.db.query(
    `update outbound_recipient set address = 'thief@example.com' where message_id = $1`,
    [held.messageId],
  );
  await approve(held, 'message');
  assert.equal(await world.finished(held.messageId), 'denied');
  const [blocked] = await eventsOf('email_blocked', held);
  assert.equal(blocked?.data['reason'], 'content_changed');
  assert.ok(!world.peer.received.some((mail) => mail.to.includes(to) || mail.to.includes('thief@example.com')));
  // The store check would report the change.
  await world.mail.services.db.query(`update outbound_recipient set address = $2 where message_id = $1`, [
    held.messageId,
    to,
  ]);
});

describe('while a message is held', () => {
  test('its mailbox is deleted: the request ends, and nothing can be approved or sent', async () => {
    const mailbox = await world.mail.createMailbox('leaving');
    const held = await world.send([stranger()], { from: mailbox });
    await waitForTimer(held);
    const sweep = startOutboundSweep(world.mail.services, world.temporal);
    try {
      await deleteTheMailbox(mailbox);
      assert.equal(await world.finished(held.messageId), 'denied');
    } finally {
      await sweep.close();
    }
    const [denied] = await eventsOf('outbound_consent_denied', held);
    assert.equal(Object(denied?.data['decision']).reason, 'mailbox deleted');
    assert.equal((await eventsOf('email_blocked', held))[0]?.data['reason'], 'mailbox_not_active');
    await assert.rejects(approve(held, 'message'), { code: 'conflict' });
  });

  test('its mailbox is suspended: approved, it ends as denied and nobody here gets it', async () => {
    const mailbox = await world.mail.createMailbox('resting');
    const colleague = await world.mail.createMailbox('colleague-of-resting');
    const held = await world.send([stranger(), colleague.address], { from: mailbox });
    await world.mail.services.db.query(`update mailboxes set status = 'suspended' where id = $1`, [mailbox.id]);
    await approve(held, 'message');
    assert.equal(await world.finished(held.messageId), 'denied');
    assert.deepEqual(await world.folder(colleague, '\\Inbox'), []);
    assert.equal((await eventsOf('email_blocked', held))[0]?.data['reason'], 'mailbox_not_active');
  });

  test('its mailbox becomes full: approved, it ends as denied and nobody gets it', async () => {
    const mailbox = await world.mail.createMailbox('filling');
    const to = stranger();
    const held = await world.send([to], { from: mailbox });
    await world.mail.services.db.query(`update mailbox_counter set quota_bytes = bytes_used where mailbox_id = $1`, [
      mailbox.id,
    ]);
    await approve(held, 'message');
    assert.equal(await world.finished(held.messageId), 'denied');
    assert.equal((await eventsOf('email_blocked', held))[0]?.data['reason'], 'quota_exceeded');
    assert.ok(!world.peer.received.some((mail) => mail.to.includes(to)));
  });

  test('a recipient here is blocked: approved, it reaches the others only', async () => {
    const foe = await world.mail.createMailbox('foe');
    const to = stranger();
    const held = await world.send([to, foe.address]);
    await world.mail.services.db.query(
      `insert into sender_list (id, organization_id, direction, action, value) values ('lst_foe', $1, 'outbound', 'block', $2)`,
      [world.mail.organizationId, foe.address],
    );
    await approve(held, 'message');
    assert.equal(await world.finished(held.messageId), 'denied');
    assert.deepEqual(await world.folder(foe, '\\Inbox'), []);
    assert.deepEqual(world.peer.received.at(-1)?.to, [to]);
    const [blocked] = await eventsOf('email_blocked', held);
    assert.deepEqual([blocked?.data['reason'], blocked?.data['rule']], ['blocked_recipient', foe.address]);
  });
});

test('a database that fails while an approved message is released ends nothing: it is released later', async () => {
  const held = await world.send([stranger()]);
  const { services, organizationId } = world.mail;
  const { messageIds } = await approveConsent(services, organizationId, held.consentId ?? '', 'message', CALLER);
  const away = new Error('the database is away');
  let failures = 1;
  const transaction = <Result>(work: (sql: Sql) => Promise<Result>) =>
    failures-- > 0 ? Promise.reject(away) : services.db.transaction(work);
  const db = Object.create(services.db, { transaction: { value: transaction } });
  await assert.rejects(passConsentGate({ ...services, db }, held.messageId), away);
  assert.deepEqual(await eventsOf('email_blocked', held), []);
  await signalDecided(services, world.temporal, messageIds);
  assert.equal(await world.finished(held.messageId), 'sent');
});

test('a decision whose signal was lost is carried out by the sweep, though the workflow waits', async () => {
  const held = await world.send([stranger()]);
  await waitForTimer(held);
  const { services, organizationId } = world.mail;
  const later = { ...services, now: () => Date.now() + OUTBOUND_DECIDED_OVERDUE_MS };
  await approveConsent(services, organizationId, held.consentId ?? '', 'message', CALLER);
  const sweep = startOutboundSweep(later, world.temporal);
  try {
    assert.equal(await world.finished(held.messageId), 'sent');
  } finally {
    await sweep.close();
  }
});

test('a decision whose signal was lost is found when the workflow is started again', async () => {
  const held = await world.send([stranger()]);
  const { services, organizationId } = world.mail;
  await world.temporal.client.workflow.getHandle(`outbound/${held.messageId}`).terminate();
  await approveConsent(services, organizationId, held.consentId ?? '', 'message', CALLER);
  await startOutbound(services, world.temporal, held);
  assert.equal(await world.finished(held.messageId), 'sent');
});

test('the mail store is sound after all of it', async () => {
  assert.deepEqual(await world.mail.faults(), []);
});
