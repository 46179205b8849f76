/** Addresses beyond ASCII, sent to a host that does not announce SMTPUTF8; what the own report says about it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkSender } from '#mail/smtp/sender-checks.ts';
import { readReport } from '#mime/read-report.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld({ peer: { smtpUtf8: false } });
});
after(() => world?.close());

const UTF8 = '用户@example.com';
const ANN = 'ann@example.com';

/** The newest notice in the INBOX of the sender. */
async function notice(): Promise<string> {
  const [row] = await world.mail.services.db.query<{ bytes: Buffer }>(
    `select b.bytes from message m join blob b on b.sha256 = m.blob where m.origin = 'system' order by m.id desc limit 1`,
  );
  return row?.bytes.toString() ?? '';
}

test('that recipient fails with 5.6.7, the other one gets the message, signed, with an ASCII header', async () => {
  const { messageId } = await world.send([UTF8, ANN], { subject: 'Grüße' });
  await world.finished(messageId);
  const statuses = (await world.recipients(messageId)).map(({ address, status, code }) => [address, status, code]);
  assert.deepEqual(statuses, [
    [UTF8, 'bounced', '5.6.7'],
    [ANN, 'sent', '2.0.0'],
  ]);
  const [mail] = world.peer.received;
  assert.deepEqual(mail?.to, [ANN]);
  const text = mail?.bytes.toString('latin1') ?? '';
  assert.match(text.slice(0, text.indexOf('\r\n\r\n')), /^[\x00-\x7f]*$/);
  const [key] = await world.mail.services.db.query<{ selector: string; public_key: string }>(
    `select selector, public_key from dkim_key where domain = 'agents.test'`,
  );
  const { results } = await checkSender(
    {
      received: mail?.bytes ?? Buffer.alloc(0),
      remoteAddress: '127.0.0.1',
      helo: 'mail.test',
      envelopeFrom: world.sender.address,
      hostname: 'mx.example.com',
    },
    dnsStub({ [`${key?.selector}._domainkey.agents.test`]: `v=DKIM1; k=rsa; p=${key?.public_key}` }),
  );
  assert.equal(results.dkim.result, 'pass');
  const report = await notice();
  assert.match(report, /Remote-MTA: dns; \[127\.0\.0\.1\]\r\n/);
  assert.match(report, /Final-Recipient: utf-8; \\x\{7528\}\\x\{6237\}@example\.com\r\n/);
  const read = readReport(Buffer.from(report));
  assert.deepEqual(read?.kind === 'status' && read.recipients.map(({ addresses }) => addresses), [[UTF8]]);
});

test('it is not sent again, and is no reason to suppress the address', async () => {
  const { messageId } = await world.send([UTF8]);
  assert.equal(await world.finished(messageId), 'bounced');
  const attempts = await world.mail.services.db.query(`select 1 from outbound_attempt where message_id = $1`, [
    messageId,
  ]);
  const suppressed = await world.mail.services.db.query(`select 1 from suppression where address = $1`, [UTF8]);
  assert.deepEqual([attempts.length, suppressed.length], [1, 0]);
});

test('the own report names the host that answered (RFC 3464 §2.3.5)', async () => {
  world.peer.faults = [{ at: 'rcpt', reply: 550, times: 1, words: '5.1.1 unknown' }];
  const { messageId } = await world.send(['cy@example.com']);
  assert.equal(await world.finished(messageId), 'bounced');
  assert.match(
    await notice(),
    /Final-Recipient: rfc822; cy@example\.com\r\nAction: failed\r\nStatus: 5\.1\.1\r\nRemote-MTA: dns; \[127\.0\.0\.1\]\r\n/,
  );
});
