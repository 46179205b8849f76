/** Delivery status notifications asked for at submission (RFC 3461). */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { MESSAGE_MEMORY_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { readReport } from '#mime/read-report.ts';
import type { TestMailbox } from '#test/support/mail-world.ts';
import { type Fault, type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';
import { storedMail } from '#test/support/stored-mail.ts';
import { logIn, openSubmissionClient, startSubmitted } from '#test/support/submission-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** The relay of the first announces no DSN, that of the second does. */
let plain: OutboundWorld;
let aware: OutboundWorld;
before(async () => {
  plain = await openOutboundWorld();
  aware = await openOutboundWorld({ peer: { dsn: true } });
});
after(async () => {
  await plain?.close();
  await aware?.close();
});
beforeEach(() => {
  for (const { peer } of [plain, aware]) {
    peer.received.length = 0;
    peer.faults = [];
  }
});

let number = 0;
const listenerOf = (world: OutboundWorld) => world.mail.mail.submissionStarttls;
const mailboxOf = (world: OutboundWorld): Promise<TestMailbox> => world.mail.createMailbox(`sender${++number}`);

interface Rcpt {
  readonly to: string;
  readonly asks?: string;
}

/** Submits with these parameters and waits for the end. @returns the id */
async function submit(
  world: OutboundWorld,
  from: TestMailbox,
  recipients: readonly Rcpt[],
  mail = '',
  faults: Fault[] = [],
): Promise<string> {
  world.peer.faults = faults;
  const client = await logIn(listenerOf(world), from);
  assert.match(await client.command(`MAIL FROM:<${from.address}> ${mail}`.trim()), /^250/);
  for (const { to, asks = '' } of recipients)
    assert.match(await client.command(`RCPT TO:<${to}> ${asks}`.trim()), /^250/);
  assert.match(await client.command('DATA'), /^354/);
  const reply = await client.data(
    `From: ${from.address}\nTo: ${recipients[0]?.to}\nSubject: Notices\nMessage-ID: <n${++number}@agents.test>\n\nThe words of the body.\n`,
  );
  client.close();
  const id = await startSubmitted(world, reply);
  await world.finished(id);
  return id;
}

/** Notices in the INBOX: subject, and what each is about. */
async function notices(world: OutboundWorld, mailbox: TestMailbox) {
  return (await storedMail(world.mail, mailbox)).map((bytes) => {
    const report = readReport(bytes);
    assert.ok(report?.kind === 'status', bytes.toString());
    return {
      text: bytes.toString(),
      about: report.recipients.map(({ action, addresses }) => `${action} ${addresses.at(-1)}`),
    };
  });
}
const about = async (world: OutboundWorld, mailbox: TestMailbox) =>
  (await notices(world, mailbox)).map((notice) => notice.about.join(', ')).toSorted();

const refuse = (to: string, times = 1): Fault => ({ at: 'rcpt', reply: 550, for: to, times });

describe('at submission', () => {
  test('DSN is announced there, and not on the inbound listener', async () => {
    const client = await openSubmissionClient(listenerOf(plain));
    assert.match(await client.command('EHLO client.test'), /^250[- ]DSN$/m);
    client.close();
    const inbound = await plain.mail.connect();
    assert.doesNotMatch(await inbound.command('EHLO client.test'), /DSN/);
    inbound.close();
  });

  test('the parameters of RFC 3461 are taken, also in small letters and as xtext', async () => {
    const client = await logIn(listenerOf(plain), plain.sender);
    const from = `MAIL FROM:<${plain.sender.address}>`;
    for (const mail of ['RET=HDRS ENVID=QQ314159', 'ret=full', 'ENVID=a+2Bb+3Dc+20d', `ENVID=${'x'.repeat(100)}`]) {
      assert.match(await client.command(`${from} ${mail}`), /^250/, mail);
      await client.command('RSET');
    }
    await client.command(from);
    for (const rcpt of [
      'NOTIFY=SUCCESS ORCPT=rfc822;Bob@Example.COM',
      'NOTIFY=SUCCESS,FAILURE,DELAY',
      'notify=never',
      'ORCPT=rfc822;Dana+2Bwork@Ivory.EDU',
      'ORCPT=x400;/S+3DBob/',
      'ORCPT=utf-8;gr\u00fc\u00df@example.com',
    ])
      assert.match(await client.command(`RCPT TO:<bob@example.com> ${rcpt}`), /^250/, rcpt);
    client.close();
  });

  test('malformed parameters are answered 501 5.5.4, and the transaction continues', async () => {
    const client = await logIn(listenerOf(plain), plain.sender);
    const from = `MAIL FROM:<${plain.sender.address}>`;
    for (const mail of [
      'RET=BODY',
      'RET=',
      'RET',
      'RET=HDRS RET=FULL',
      'ENVID=',
      'ENVID=a+b',
      'ENVID=a+2b',
      'ENVID=a=b',
      'ENVID=a+0D+0Ab',
      'ENVID=a+',
      `ENVID=${'x'.repeat(101)}`,
      'NOTIFY=NEVER',
      'ORCPT=rfc822;a@example.com',
    ])
      assert.match(await client.command(`${from} ${mail}`), /^501 5\.5\.4 /, mail);
    assert.match(await client.command(from), /^250/);
    client.close();
  });

  test('so are those of a recipient', async () => {
    const client = await logIn(listenerOf(plain), plain.sender);
    await client.command(`MAIL FROM:<${plain.sender.address}>`);
    for (const rcpt of [
      'NOTIFY=',
      'NOTIFY',
      'NOTIFY=ALWAYS',
      'NOTIFY=NEVER,SUCCESS',
      'NOTIFY=SUCCESS,,DELAY',
      'NOTIFY=SUCCESS NOTIFY=DELAY',
      'ORCPT=bob@example.com',
      'ORCPT=rfc822;',
      'ORCPT=;bob@example.com',
      'ORCPT=rfc822;bob+zz@example.com',
      'ORCPT=rfc822;bob+00@example.com',
      'ORCPT=rfc822;bob+2bx@example.com',
      'ORCPT=x400;/S=Bob/',
      `ORCPT=rfc822;${'x'.repeat(494)}`,
      'RET=FULL',
      'ENVID=x',
    ])
      assert.match(await client.command(`RCPT TO:<bob@example.com> ${rcpt}`), /^501 5\.5\.4 /, rcpt);
    assert.match(await client.command('RCPT TO:<bob@example.com> NOTIFY=DELAY'), /^250/);
    client.close();
  });
});

describe('a notice', () => {
  test('of failure carries the envelope id, the original recipient and, with RET=FULL, the whole message', async () => {
    const from = await mailboxOf(plain);
    const to = 'carol@ivory.example';
    await submit(
      plain,
      from,
      [{ to, asks: 'NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;Carol+2Bwork@Ivory.EDU' }],
      'RET=FULL ENVID=QQ314159+2B1',
      [refuse(to)],
    );
    const [notice, more] = await notices(plain, from);
    assert.equal(more, undefined);
    assert.deepEqual(notice?.about, [`failed ${to}`]);
    assert.match(notice?.text ?? '', /^Original-Envelope-Id: QQ314159\+1\r$/m);
    assert.match(
      notice?.text ?? '',
      /^Original-Recipient: rfc822;Carol\+work@Ivory\.EDU\r\nFinal-Recipient: rfc822; carol@ivory\.example\r\nAction: failed\r$/m,
    );
    assert.match(notice?.text ?? '', /^Content-Type: message\/rfc822\r$/m);
    assert.match(notice?.text ?? '', /The words of the body\./);
  });

  test('of failure carries a whole large message, and who took that gets it once', async () => {
    const from = await mailboxOf(plain);
    plain.peer.faults = [refuse('bad@example.com', 1_000)];
    const client = await logIn(listenerOf(plain), from);
    await client.command(`MAIL FROM:<${from.address}> RET=FULL`);
    for (const to of ['good@example.com', 'bad@example.com']) await client.command(`RCPT TO:<${to}>`);
    await client.command('DATA');
    const body = 'A line of the body.\n'.repeat(MESSAGE_MEMORY_MAX_BYTES / 16);
    const id = await startSubmitted(plain, await client.data(`From: ${from.address}\nSubject: Large\n\n${body}`));
    client.close();
    assert.equal(await plain.finished(id), 'bounced');
    assert.deepEqual(
      plain.peer.received.map(({ to }) => to),
      [['good@example.com']],
    );
    const [notice] = await notices(plain, from);
    assert.deepEqual(notice?.about, ['failed bad@example.com']);
    assert.match(notice?.text ?? '', /A line of the body\./);
  });

  test('of failure carries the header alone, with RET=HDRS and without RET', async () => {
    for (const mail of ['RET=HDRS', '']) {
      const from = await mailboxOf(plain);
      await submit(plain, from, [{ to: 'dave@example.com' }], mail, [refuse('dave@example.com')]);
      const [notice] = await notices(plain, from);
      assert.match(notice?.text ?? '', /text\/rfc822-headers\r\n\r\n(?:.*\r\n)*Subject: Notices/);
      assert.doesNotMatch(notice?.text ?? '', /The words of the body|Original-(?:Envelope-Id|Recipient)/);
    }
  });

  test('of failure carries the header where the whole message has no room any more', async () => {
    const from = await mailboxOf(plain);
    const { db } = plain.mail.services;
    plain.peer.faults = [{ at: 'rcpt', reply: 451, times: 1_000 }];
    const client = await logIn(listenerOf(plain), from);
    await client.command(`MAIL FROM:<${from.address}> RET=FULL`);
    await client.command('RCPT TO:<large@example.com>');
    await client.command('DATA');
    const header = `From: ${from.address}\nTo: large@example.com\nSubject: Large\n`;
    const id = await startSubmitted(plain, await client.data(`${header}\n${'A line of the body.\n'.repeat(5_000)}`));
    client.close();
    await db.query(`update mailbox_counter set quota_bytes = bytes_used + 10000 where mailbox_id = $1`, [from.id]);
    plain.peer.faults = [{ at: 'rcpt', reply: 550, times: 1 }];
    assert.equal(await plain.finished(id), 'bounced');
    const [notice] = await notices(plain, from);
    assert.deepEqual(notice?.about, ['failed large@example.com']);
    assert.doesNotMatch(notice?.text ?? '', /A line of the body/);
  });

  test('of success is none unless it is asked for', async () => {
    const from = await mailboxOf(plain);
    const colleague = await plain.mail.createMailbox(`inside${++number}`);
    const id = await submit(plain, from, [
      { to: 'ann@example.com' },
      { to: 'ben@example.com', asks: 'NOTIFY=FAILURE,DELAY' },
      { to: colleague.address },
    ]);
    assert.equal(await plain.status(id), 'sent');
    assert.deepEqual(await notices(plain, from), []);
  });

  test('of success says "delivered" of a mailbox here and "relayed" of a host that reports nothing; header only', async () => {
    const from = await mailboxOf(plain);
    const colleague = await plain.mail.createMailbox(`inside${++number}`);
    await submit(
      plain,
      from,
      [
        { to: 'ann@example.com', asks: 'NOTIFY=SUCCESS' },
        { to: colleague.address, asks: 'NOTIFY=SUCCESS' },
      ],
      'RET=FULL',
    );
    assert.deepEqual(await about(plain, from), [`delivered ${colleague.address}`, 'relayed ann@example.com']);
    for (const { text } of await notices(plain, from)) assert.doesNotMatch(text, /The words of the body/);
    assert.deepEqual(plain.peer.received[0]?.parameters.slice(1), [{}]);
  });

  test('is each recipient’s own: NEVER, SUCCESS, FAILURE and nothing said, in one message', async () => {
    const from = await mailboxOf(plain);
    const recipients = ['never', 'success', 'failure', 'unsaid', 'both'].flatMap((name) =>
      ['ok', 'bad'].map((end) => ({
        to: `${name}.${end}@example.com`,
        asks: {
          never: 'NOTIFY=NEVER',
          success: 'NOTIFY=SUCCESS',
          failure: 'NOTIFY=FAILURE',
          both: 'NOTIFY=FAILURE,SUCCESS',
        }[name],
      })),
    );
    const id = await submit(
      plain,
      from,
      recipients.map(({ to, asks }) => ({ to, ...(asks === undefined ? {} : { asks }) })),
      '',
      recipients.filter(({ to }) => to.includes('.bad')).map(({ to }) => refuse(to)),
    );
    const reported = (await notices(plain, from)).flatMap((notice) => notice.about);
    assert.deepEqual(reported.toSorted(), [
      'failed both.bad@example.com',
      'failed failure.bad@example.com',
      'failed unsaid.bad@example.com',
      'relayed both.ok@example.com',
      'relayed success.ok@example.com',
    ]);
    // Results without a notice are still in the status of the message.
    const statuses = (await plain.recipients(id)).map(({ address, status }) => `${address} ${status}`);
    assert.deepEqual(
      statuses,
      recipients.map(({ to }) => `${to} ${to.includes('.bad') ? 'bounced' : 'sent'}`),
    );
    assert.deepEqual(
      plain.peer.received.flatMap(({ to }) => to).toSorted(),
      recipients.flatMap(({ to }) => (to.includes('.ok') ? [to] : [])).toSorted(),
    );
  });

  test('of delay is sent to senders that requested it or the default', async () => {
    const from = await mailboxOf(plain);
    plain.peer.faults = [{ at: 'rcpt', reply: 451, times: 1_000 }];
    const client = await logIn(listenerOf(plain), from);
    await client.command(`MAIL FROM:<${from.address}>`);
    await client.command('RCPT TO:<patient@example.com> NOTIFY=FAILURE');
    await client.command('RCPT TO:<silent@example.com> NOTIFY=NEVER');
    await client.command('RCPT TO:<curious@example.com> NOTIFY=DELAY');
    await client.command('DATA');
    const id = await startSubmitted(plain, await client.data(`From: ${from.address}\nSubject: Slow\n\nWords.\n`));
    client.close();
    await plain.mail.services.db.query(
      `update outbound_message set give_up_at = give_up_at - interval '4 hours' where id = $1`,
      [id],
    );
    const attempts = async () =>
      (
        await plain.mail.services.db.query(
          `select 1 from outbound_attempt where message_id = $1 and outcome is not null`,
          [id],
        )
      ).length;
    await waitUntil('attempts after the delay', async () => (await attempts()) >= 12);
    plain.peer.faults = [];
    assert.equal(await plain.finished(id), 'sent');
    assert.deepEqual(await about(plain, from), ['delayed curious@example.com']);
  });
});

describe('a relay that announces DSN', () => {
  test('gets what was asked, each recipient with its own, and then reports successes itself', async () => {
    const from = await mailboxOf(aware);
    const id = await submit(
      aware,
      from,
      [
        { to: 'ann@example.com', asks: 'NOTIFY=SUCCESS,DELAY ORCPT=rfc822;Ann+2Bx@Example.com' },
        { to: 'ben@example.com', asks: 'NOTIFY=NEVER' },
        { to: 'cy@example.com' },
      ],
      'RET=FULL ENVID=QQ+3D1',
    );
    assert.equal(await aware.status(id), 'sent');
    const got = new Map(aware.peer.received.map(({ to, parameters }) => [to.join(), parameters]));
    const [mail, ann] = got.get('ann@example.com') ?? [];
    assert.deepEqual([mail?.['RET'], mail?.['ENVID']], ['FULL', 'QQ=1']);
    assert.deepEqual([ann?.['NOTIFY'], ann?.['ORCPT']], ['SUCCESS,DELAY', 'rfc822;Ann+x@Example.com']);
    assert.deepEqual(got.get('ben@example.com')?.[1], { NOTIFY: 'NEVER' });
    assert.deepEqual(got.get('cy@example.com')?.[1], {});
    assert.deepEqual(await notices(aware, from), []);

    // A report to the return path is forwarded once, and only if it was requested.
    const pathOf = (to: string) => aware.peer.received.find((mail) => mail.to[0] === to)?.from ?? '';
    const report = (to: string, action: string) =>
      `From: MAILER-DAEMON@mx.example\nTo: <x@agents.test>\nSubject: Report\nMIME-Version: 1.0\n` +
      `Content-Type: multipart/report; report-type=delivery-status; boundary="r"\n\n--r\n\nDone.\n--r\n` +
      `Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822; ${to}\n` +
      `Action: ${action}\nStatus: ${action === 'failed' ? '5.2.2' : '2.0.0'}\n\n--r--\n`;
    for (const to of ['ann@example.com', 'ann@example.com', 'cy@example.com'])
      assert.match(await aware.mail.send(pathOf(to), report(to, 'delivered'), ''), /^250/);
    assert.match(await aware.mail.send(pathOf('ben@example.com'), report('ben@example.com', 'failed'), ''), /^250/);
    assert.deepEqual(await about(aware, from), ['delivered ann@example.com']);
    const [notice] = await notices(aware, from);
    assert.match(notice?.text ?? '', /^Original-Envelope-Id: QQ=1\r$/m);
    assert.match(notice?.text ?? '', /^Original-Recipient: rfc822;Ann\+x@Example\.com\r$/m);
    assert.equal(await aware.status(id), 'bounced', 'a failure nobody wants to hear of is in the state');
  });

  test('gets mail submitted without parameters as ever: one transaction, none passed on', async () => {
    const { messageId } = await aware.send(['ann@example.com', 'ben@example.com']);
    assert.equal(await aware.finished(messageId), 'sent');
    assert.deepEqual(
      aware.peer.received.map(({ to, parameters }) => [to.length, parameters.slice(1)]),
      [[2, [{}, {}]]],
    );
  });
});

test('the mail stores are sound after all of it', async () => {
  assert.deepEqual([...(await plain.mail.faults()), ...(await aware.mail.faults())], []);
});
