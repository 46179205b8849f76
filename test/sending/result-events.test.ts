/** The results of outgoing mail as events, for endpoints that subscribed to them. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule, { type FormatsPlugin } from 'ajv-formats';
import { webhookEvents } from '#api/webhooks/event-schemas.ts';
import { SUBSCRIBED_ONLY_TYPES } from '#domain/webhooks/event-types.ts';
import { rowsOf } from '#test/support/delivery-world.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';

// The package is CommonJS with an ES default: under nodenext the namespace is typed, the function is what runs.
const addFormats = addFormatsModule as unknown as FormatsPlugin;

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld();
});
after(() => world?.close());
beforeEach(async () => {
  world.peer.received.length = 0;
  world.peer.faults = [];
  await world.mail.services.db.query('delete from events');
  await world.mail.services.db.query('update webhook_endpoints set active = false');
});

let number = 0;
const stranger = () => `p${++number}@d${number}.example`;

/** An endpoint of the organization, or of a mailbox. */
const subscribe = (eventTypes: readonly (typeof SUBSCRIBED_ONLY_TYPES)[number][], mailboxId?: string) =>
  rowsOf(world.mail.services).endpoint(
    { id: world.mail.organizationId, name: 'O', slug: 'o' },
    { url: 'https://hooks.example/', eventTypes, ...(mailboxId === undefined ? {} : { mailboxId }) },
  );

/** Of each type, the recipients that its events name. */
async function told(): Promise<Record<string, unknown[]>> {
  const ajv = new Ajv2020({ allErrors: true, strict: true });
  addFormats(ajv);
  const all: Record<string, unknown[]> = {};
  for (const type of SUBSCRIBED_ONLY_TYPES) {
    const validate = ajv.compile(webhookEvents.find((each) => each.type === type)?.schema ?? {});
    for (const event of await world.events(type)) {
      assert.ok(validate(event), `${type}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(event)}`);
      const recipients = event.data['recipients'] as readonly (string | { readonly address: string })[];
      (all[type] ??= []).push(...recipients.map((each) => (typeof each === 'string' ? each : each.address)));
    }
  }
  return all;
}

const status = (address: string, code: string) =>
  `From: MAILER-DAEMON@d.example\nTo: <x@agents.test>\nSubject: Report ${++number}\nMIME-Version: 1.0\n` +
  `Content-Type: multipart/report; report-type=delivery-status; boundary="r"\n\n--r\nContent-Type: text/plain\n\nSorry.\n` +
  `--r\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.d.example\n\nFinal-Recipient: rfc822; ${address}\n` +
  `Action: failed\nStatus: ${code}\nDiagnostic-Code: smtp; 550 ${code} gone\n\n--r--\n`;
const complaint = () =>
  `From: fbl@d.example\nTo: <x@agents.test>\nSubject: Report ${++number}\nMIME-Version: 1.0\n` +
  `Content-Type: multipart/report; report-type=feedback-report; boundary="r"\n\n--r\nContent-Type: text/plain\n\nSorry.\n` +
  `--r\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\nUser-Agent: Test/1\nVersion: 1\n\n--r--\n`;

test('without a subscriber nothing of them is recorded; with one, only what it subscribed to', async () => {
  const silent = await world.send([stranger()]);
  await world.finished(silent.messageId);
  assert.deepEqual(await told(), {});
  assert.equal((await world.events('email_sent')).length, 1);

  await subscribe(['email_bounced']);
  const [good, bad] = [stranger(), stranger()];
  world.peer.faults = [{ at: 'rcpt', reply: 550, words: '5.1.1 no such user', for: bad, times: 1 }];
  await world.finished((await world.send([good])).messageId);
  await world.finished((await world.send([bad])).messageId);
  assert.deepEqual(await told(), { email_bounced: [bad] });
});

test('each recipient that is reached or refused is named once, with the answer of the other host', async () => {
  await subscribe(['email_delivered', 'email_bounced']);
  const [good, late, bad, full] = [stranger(), stranger(), stranger(), stranger()];
  world.peer.faults = [
    { at: 'rcpt', reply: 550, words: '5.1.1 no such user', for: bad, times: 1 },
    { at: 'rcpt', reply: 552, words: '5.2.2 mailbox full', for: full, times: 1 },
    { at: 'rcpt', reply: 451, words: '4.7.1 later', for: late, times: 1 },
  ];
  const { messageId } = await world.send([good, late, bad, full]);
  await world.finished(messageId);
  const { email_delivered: delivered = [], email_bounced: bounced = [] } = await told();
  assert.deepEqual(new Set(delivered), new Set([good, late]));
  assert.deepEqual(new Set(bounced), new Set([bad, full]));
  assert.deepEqual([delivered.length, bounced.length], [2, 2]);
  const ends = (await world.events('email_bounced')).flatMap(
    ({ data }) => data['recipients'] as { address: string; bounce: string; code: string; reply: string }[],
  );
  assert.deepEqual(
    [bad, full].map((address) => ends.find((each) => each.address === address)?.bounce),
    ['hard', 'soft'],
  );
  assert.match(ends.find(({ address }) => address === bad)?.reply ?? '', /no such user/);
  for (const { data, actor } of await world.events('email_delivered'))
    assert.deepEqual([data['messageId'], data['via'], actor['type']], [messageId, 'relay', 'system']);
});

test('a mailbox here is reached or refuses too', async () => {
  await subscribe(['email_delivered', 'email_bounced']);
  const [colleague, full] = [await world.mail.createMailbox('colleague'), await world.mail.createMailbox('full')];
  await world.mail.services.db.query(`update mailbox_counter set quota_bytes = 1 where mailbox_id = $1`, [full.id]);
  await world.finished((await world.send([colleague.address, full.address])).messageId);
  assert.deepEqual(await told(), { email_delivered: [colleague.address], email_bounced: [full.address] });
  assert.equal((await world.events('email_delivered'))[0]?.data['via'], 'local');
});

test('a failure that is reported later, and a complaint, are events once', async () => {
  await subscribe(['email_bounced', 'email_complained']);
  const [gone, angry] = [stranger(), stranger()];
  for (const to of [gone, angry]) {
    const { messageId } = await world.send([to]);
    assert.equal(await world.finished(messageId), 'sent');
    const path = world.peer.received.at(-1)?.from ?? '';
    for (let time = 0; time < 2; time++)
      await (to === gone
        ? world.mail.send(path, status(gone, '5.1.1'), '')
        : world.mail.send(path, complaint(), 'fbl@d.example'));
  }
  assert.deepEqual(await told(), { email_bounced: [gone], email_complained: [angry] });
  assert.equal((await world.events('email_bounced'))[0]?.data['source'], 'report');
  assert.equal((await world.events('email_complained'))[0]?.data['feedbackType'], 'abuse');
});

test('an endpoint of a mailbox receives those of its mailbox alone', async () => {
  const other = await world.mail.createMailbox('other');
  const own = await subscribe(['email_delivered'], other.id);
  await world.finished((await world.send([stranger()])).messageId);
  const to = stranger();
  await world.finished((await world.send([to], { from: other })).messageId);
  assert.deepEqual(await told(), { email_delivered: [to] });
  assert.equal((await rowsOf(world.mail.services).deliveries(own.id)).length, 1);
});
