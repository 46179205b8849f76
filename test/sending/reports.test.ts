import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { pruneMailStore } from '#mailstore/upkeep/housekeeping.ts';
import { letter } from '#test/support/mail-world.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld();
});
after(() => world?.close());
beforeEach(() => {
  world.peer.received.length = 0;
});

let number = 0;
const stranger = () => `p${++number}@d${number}.example`;

/** Sends a message that is taken. @returns its id and its return path */
async function sent(to: readonly string[]) {
  const { messageId } = await world.send(to);
  assert.equal(await world.finished(messageId), 'sent');
  const path = world.peer.received.at(-1)?.from ?? '';
  return { messageId, path };
}

const report = (type: string, fields: string, header = '') =>
  `From: MAILER-DAEMON@d.example\nTo: <x@agents.test>\nSubject: Report ${++number}\nMIME-Version: 1.0\n${header}` +
  `Content-Type: multipart/report; report-type=${type}; boundary="r"\n\n--r\nContent-Type: text/plain\n\nSorry.\n` +
  `--r\nContent-Type: message/${type}\n\n${fields}\n--r\nContent-Type: text/rfc822-headers\n\nSubject: Hello\n\n--r--\n`;

const status = (address: string, code: string, action = 'failed') =>
  report(
    'delivery-status',
    `Reporting-MTA: dns; mx.d.example\n\nFinal-Recipient: rfc822; ${address}\nAction: ${action}\nStatus: ${code}\nDiagnostic-Code: smtp; 550 ${code}\n as they say\n`,
  );

const feedback = (type: string, more = '') =>
  report('feedback-report', `Feedback-Type: ${type}\nUser-Agent: Test/1\nVersion: 1\n${more}`);

const suppressed = async (address: string) => {
  const [row] = await world.mail.services.db.query<{ reason: string; message_id: string }>(
    `select reason, message_id from suppression where organization_id = $1 and address = $2`,
    [world.mail.organizationId, address],
  );
  return row;
};
const inbox = () => world.folder(world.sender, '\\Inbox');

describe('a delivery report to the return path', () => {
  test('bounces the recipient once, with a notice, its event, and an entry on the suppression list', async () => {
    const to = stranger();
    const { messageId, path } = await sent([to]);
    assert.match(path, /^b\+[0-9a-z]{60}@agents\.test$/);
    const before = (await inbox()).length;
    for (let time = 0; time < 2; time++)
      assert.match(await world.mail.send(path.toUpperCase(), status(to, '5.1.1'), ''), /^250 .*report/);
    const [recipient] = await world.recipients(messageId);
    assert.deepEqual(
      [recipient?.status, recipient?.code, recipient?.reply],
      ['bounced', '5.1.1', '550 5.1.1 as they say'],
    );
    assert.equal(await world.status(messageId), 'bounced');
    assert.deepEqual(await suppressed(to), { reason: 'hard_bounce', message_id: messageId });
    const notices = (await inbox()).slice(before);
    assert.deepEqual(notices, ['Undelivered mail returned to sender']);
    const received = (await world.events('email_received')).at(-1);
    assert.deepEqual([received?.actor['type'], received?.data['subject']], ['system', notices[0]]);
    const again = await world.send([to]);
    assert.equal(await world.finished(again.messageId), 'suppressed');
  });

  test('of a full mailbox bounces without suppression, and names the other address of a forwarding', async () => {
    const to = stranger();
    const { messageId, path } = await sent([to]);
    assert.match(await world.mail.send(path, status('elsewhere@f.example', '5.2.2'), ''), /^250/);
    assert.equal((await world.recipients(messageId))[0]?.code, '5.2.2');
    assert.equal(await suppressed(to), undefined);
  });

  test('of a delay or a success changes nothing', async () => {
    const to = stranger();
    const { messageId, path } = await sent([to]);
    const before = await inbox();
    assert.match(await world.mail.send(path, status(to, '4.4.1', 'delayed'), ''), /^250/);
    assert.match(await world.mail.send(path, status(to, '2.0.0', 'delivered'), ''), /^250/);
    assert.equal(await world.status(messageId), 'sent');
    assert.deepEqual(await inbox(), before);
  });

  test('of several recipients bounces the one it names, and cannot suppress another', async () => {
    const [one, other] = [stranger(), stranger()];
    const { messageId, path } = await sent([one, other]);
    assert.match(await world.mail.send(path, status(other, '5.1.1'), ''), /^250/);
    assert.match(await world.mail.send(path, status('nobody@f.example', '5.1.1'), ''), /^250/);
    assert.deepEqual(
      (await world.recipients(messageId)).map((each) => each.status),
      ['sent', 'bounced'],
    );
    assert.equal(await suppressed(other), undefined);
    const shared = await world.mail.services.db.query<{ address: string }>(
      `select address from outbound_recipient where message_id = $1 and report_shared`,
      [messageId],
    );
    assert.deepEqual(shared, [{ address: other }], 'it does not count against the mailbox');
  });

  test('is recorded after the content of the message was forgotten', async () => {
    const to = stranger();
    const { messageId, path } = await sent([to]);
    const { db } = world.mail.services;
    await db.query(`update outbound_message set finished_at = now() - interval '31 days' where id = $1`, [messageId]);
    assert.equal((await pruneMailStore(db)).sentContents, 1);
    assert.match(await world.mail.send(path, status(to, '5.1.1'), ''), /^250/);
    assert.equal(await world.status(messageId), 'bounced');
    assert.equal((await inbox()).at(-1), 'Undelivered mail returned to sender');
  });

  test('that arrives before its attempt is recorded is deferred', async () => {
    const to = stranger();
    const { messageId, path } = await sent([to]);
    const set = (value: string) =>
      world.mail.services.db.query(`update outbound_recipient set status = $2 where message_id = $1`, [
        messageId,
        value,
      ]);
    await set('sending');
    assert.match(await world.mail.send(path, status(to, '5.1.1'), ''), /^451 4\.3\.0/);
    await set('sent');
    assert.match(await world.mail.send(path, status(to, '5.1.1'), ''), /^250/);
    assert.equal(await world.status(messageId), 'bounced');
  });

  test('is recorded for a suspended mailbox too', async () => {
    const to = stranger();
    const { messageId, path } = await sent([to]);
    const set = (value: string) =>
      world.mail.services.db.query(`update mailboxes set status = $2 where id = $1`, [world.sender.id, value]);
    await set('suspended');
    try {
      assert.match(await world.mail.send(path, status(to, '5.1.10'), ''), /^250/);
      assert.equal((await world.recipients(messageId))[0]?.status, 'bounced');
    } finally {
      await set('active');
    }
  });
});

describe('a complaint', () => {
  test('puts the recipient on the suppression list; other mail does not', async () => {
    const to = stranger();
    const { messageId, path } = await sent([to]);
    assert.match(await world.mail.send(path, feedback('not-spam'), 'fbl@d.example'), /^250/);
    assert.equal(await suppressed(to), undefined);
    assert.match(await world.mail.send(path, feedback('abuse'), 'fbl@d.example'), /^250 .*report/);
    assert.deepEqual(await suppressed(to), { reason: 'complaint', message_id: messageId });
    assert.equal(await world.status(messageId), 'sent');
  });
});

describe('the return path', () => {
  test('that is forged or of a message that never was is an unknown address', async () => {
    const { path } = await sent([stranger()]);
    const forged = path.replace(/.@/, (end) => (end === '0@' ? '1@' : '0@'));
    assert.match(await world.mail.send(forged, status('a@b.example', '5.1.1'), ''), /^550 5\.1\.1/);
    const elsewhere = path.replace('@agents.test', '@other.test');
    assert.match(await world.mail.send(elsewhere, status('a@b.example', '5.1.1'), ''), /^550 5\.7\.1/);
  });

  test('delivers other mail to the mailbox, and does not trust a delivery report from a sender', async () => {
    const to = stranger();
    const { messageId, path } = await sent([to]);
    assert.match(await world.mail.send(path, letter('On holiday'), ''), /^250/);
    assert.equal((await inbox()).at(-1), 'On holiday');
    assert.match(await world.mail.send(path, status(to, '5.1.1'), 'bob@example.com'), /^250/);
    assert.match((await inbox()).at(-1) ?? '', /^Report/);
    assert.equal(await world.status(messageId), 'sent');
  });

  test('accepts only itself as recipient', async () => {
    const { path } = await sent([stranger()]);
    assert.match(await world.mail.send([path, world.sender.address], letter(), ''), /^452 4\.5\.3/);
    assert.match(await world.mail.send([world.sender.address, path], letter(), ''), /^452 4\.5\.3/);
  });
});

test('the mail store is sound after all of it', async () => {
  assert.deepEqual(await world.mail.faults(), []);
});
