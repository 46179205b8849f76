import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { CANCEL_SIGNAL, outboundWorkflowId } from '#domain/sending/outbound-workflow.ts';
import { checkSender } from '#mail/smtp/sender-checks.ts';
import { relayTransport } from '#sending/transports/choose-transport.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { type Fault, type OutboundWorld, openOutboundWorld } from '#test/support/outbound-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: OutboundWorld;
before(async () => {
  world = await openOutboundWorld({ relay: { silenceMs: 5_000 } });
});
after(() => world?.close());
beforeEach(() => {
  world.peer.received.length = 0;
  world.peer.faults = [];
});

const OUTSIDE = 'ann@example.com';
const OTHER = 'ben@example.net';

async function sendWith(faults: Fault[], to: readonly string[] = [OUTSIDE]) {
  world.peer.faults = faults;
  const { messageId } = await world.send(to);
  const status = await world.finished(messageId);
  const attempts = await world.mail.services.db.query<{ outcome: string }>(
    `select outcome from outbound_attempt where message_id = $1 order by number`,
    [messageId],
  );
  return { messageId, status, outcomes: attempts.map(({ outcome }) => outcome), received: world.peer.received.length };
}

describe('the relay', () => {
  test('gets the message once, with its recipients, signed, without Bcc', async () => {
    const { messageId } = await world.send([OUTSIDE], { bcc: [OTHER], subject: 'Once' });
    assert.equal(await world.finished(messageId), 'sent');
    const [mail] = world.peer.received;
    assert.equal(world.peer.received.length, 1);
    assert.deepEqual(mail?.to.toSorted(), [OUTSIDE, OTHER]);
    assert.match(mail?.from ?? '', /^b\+[0-9a-z]{60}@agents\.test$/);
    const text = mail?.bytes.toString() ?? '';
    assert.match(text, /^DKIM-Signature: /);
    assert.doesNotMatch(text, /^bcc:|ben@example/im);
    assert.deepEqual(await world.folder(world.sender, '\\Sent'), ['Once']);
    const sent = (await world.events('email_sent')).filter(({ data }) => data['messageId'] === messageId);
    assert.equal(sent.length, 1);
    assert.equal(sent[0]?.data['via'], 'relay');
  });

  test('gets mail whose SPF, DKIM and DMARC pass at the receiver', async () => {
    const { messageId } = await world.send([OUTSIDE], { subject: 'Grüße' });
    await world.finished(messageId);
    const [key] = await world.mail.services.db.query<{ selector: string; public_key: string }>(
      `select selector, public_key from dkim_key where domain = 'agents.test'`,
    );
    const dns = dnsStub({
      'agents.test': 'v=spf1 ip4:127.0.0.1 -all',
      '_dmarc.agents.test': 'v=DMARC1; p=reject',
      [`${key?.selector}._domainkey.agents.test`]: `v=DKIM1; k=rsa; p=${key?.public_key}`,
    });
    const received = world.peer.received[0]?.bytes ?? Buffer.alloc(0);
    const envelope = { remoteAddress: '127.0.0.1', helo: 'mail.test', envelopeFrom: world.sender.address };
    const { results } = await checkSender({ received, ...envelope, hostname: 'mx.example.com' }, dns);
    assert.deepEqual([results.spf.result, results.dkim.result, results.dmarc.result], ['pass', 'pass', 'pass']);
  });

  test('that greylists is tried again', async () => {
    const result = await sendWith([{ at: 'rcpt', reply: 451, times: 2 }]);
    assert.deepEqual([result.status, result.outcomes, result.received], ['sent', ['deferred', 'deferred', 'sent'], 1]);
  });

  test('that has trouble after DATA is tried again', async () => {
    const result = await sendWith([{ at: 'data', reply: 452, times: 1 }]);
    assert.deepEqual([result.status, result.outcomes, result.received], ['sent', ['deferred', 'sent'], 1]);
  });

  test('that refuses for good bounces into the INBOX of the sender', async () => {
    const before = (await world.folder(world.sender, '\\Inbox')).length;
    const result = await sendWith([{ at: 'rcpt', reply: 550, times: 1 }]);
    assert.deepEqual([result.status, result.outcomes, result.received], ['bounced', ['failed'], 0]);
    const inbox = await world.folder(world.sender, '\\Inbox');
    assert.equal(inbox.length, before + 1);
    assert.equal(inbox.at(-1), 'Undelivered mail returned to sender');
    const received = (await world.events('email_received')).at(-1);
    assert.equal(received?.actor['type'], 'system');
    const sent = (await world.events('email_sent')).filter(({ data }) => data['messageId'] === result.messageId);
    assert.deepEqual(sent, []);
  });

  test('that refuses the content for good bounces every recipient', async () => {
    const result = await sendWith([{ at: 'data', reply: 554, times: 1 }], [OUTSIDE, OTHER]);
    assert.deepEqual([result.status, result.outcomes], ['bounced', ['failed']]);
  });

  test('that accepts one recipient and defers another gets each exactly once', async () => {
    const result = await sendWith([{ at: 'rcpt', reply: 451, times: 1, for: OTHER }], [OUTSIDE, OTHER]);
    assert.deepEqual([result.status, result.outcomes], ['sent', ['partial', 'sent']]);
    assert.deepEqual(
      world.peer.received.map(({ to }) => to),
      [[OUTSIDE], [OTHER]],
    );
  });

  test('that accepts one recipient and refuses another bounces only that one', async () => {
    const { messageId, status } = await sendWith([{ at: 'rcpt', reply: 550, times: 1, for: OTHER }], [OUTSIDE, OTHER]);
    assert.equal(status, 'bounced');
    const recipients = await world.recipients(messageId);
    assert.deepEqual(
      recipients.map((each) => [each.address, each.status]),
      [
        [OUTSIDE, 'sent'],
        [OTHER, 'bounced'],
      ],
    );
  });

  test('whose connection drops after DATA gets the same Message-ID again, never a lost one', async () => {
    const result = await sendWith([{ at: 'data', reply: 'drop', times: 1 }]);
    assert.deepEqual([result.status, result.outcomes, result.received], ['sent', ['deferred', 'sent'], 2]);
    const ids = world.peer.received.map(({ bytes }) => /^Message-ID: (.*)$/im.exec(bytes.toString())?.[1]);
    assert.equal(ids[0], ids[1]);
  });

  test('that falls silent is left after its time and tried again', async () => {
    const result = await sendWith([{ at: 'mail', reply: 'silence', times: 1 }]);
    assert.deepEqual([result.status, result.outcomes, result.received], ['sent', ['deferred', 'sent'], 1]);
  });

  test('that refuses the connection does not fail the message', async () => {
    const result = await sendWith([{ at: 'connect', reply: 554, times: 1 }]);
    assert.deepEqual([result.status, result.outcomes, result.received], ['sent', ['deferred', 'sent'], 1]);
  });

  test('gets a message once, whatever bytes its answer contains', async () => {
    const result = await sendWith([{ at: 'data', reply: 250, words: '2.0.0 taken\0 \x07', times: 1 }]);
    assert.deepEqual([result.status, result.outcomes, result.received], ['sent', ['sent'], 1]);
    assert.equal((await world.recipients(result.messageId))[0]?.reply, '250 2.0.0 taken');
  });

  test('is given up two days after the submission', async () => {
    world.peer.faults = [{ at: 'rcpt', reply: 451, times: 1_000 }];
    const { messageId } = await world.send([OUTSIDE]);
    await waitUntil('a first attempt', async () => (await world.recipients(messageId))[0]?.code === '4.0.0');
    await world.mail.services.db.query(`update outbound_message set give_up_at = now() where id = $1`, [messageId]);
    assert.equal(await world.finished(messageId), 'bounced');
    assert.equal((await world.recipients(messageId))[0]?.code, '4.4.7');
  });

  test('gets nothing more once sending is cancelled', async () => {
    world.peer.faults = [{ at: 'rcpt', reply: 451, times: 1_000 }];
    const { messageId } = await world.send([OUTSIDE]);
    await waitUntil('a first attempt', async () => (await world.recipients(messageId))[0]?.code === '4.0.0');
    await world.temporal.client.workflow.getHandle(outboundWorkflowId(messageId)).signal(CANCEL_SIGNAL);
    assert.equal(await world.finished(messageId), 'denied');
    assert.deepEqual(world.peer.received, []);
  });
});

describe('recipients here', () => {
  test('are reached in the transaction that submits, without the relay', async () => {
    const colleague = await world.mail.createMailbox('colleague');
    const submitted = await world.send([colleague.address], { subject: 'Inside' });
    assert.equal(submitted.status, 'sent');
    assert.deepEqual(await world.folder(colleague, '\\Inbox'), ['Inside']);
    assert.equal(await world.finished(submitted.messageId), 'sent');
    assert.deepEqual(world.peer.received, []);
    const events = (await world.events('email_sent')).filter(({ data }) => data['messageId'] === submitted.messageId);
    assert.equal(events[0]?.data['via'], 'local');
  });

  test('that do not exist bounce alone', async () => {
    const submitted = await world.send(['nobody@agents.test', OUTSIDE]);
    assert.equal(await world.finished(submitted.messageId), 'bounced');
    const recipients = await world.recipients(submitted.messageId);
    assert.deepEqual(
      recipients.map(({ status, code }) => [status, code]),
      [
        ['bounced', '5.1.1'],
        ['sent', '2.0.0'],
      ],
    );
  });
});

test('mail to suppressed or blocked recipients is not sent', async () => {
  const { db } = world.mail.services;
  const organization = world.mail.organizationId;
  await db.query(
    `insert into suppression (id, organization_id, address, reason) values ('sup_1', $1, 'gone@example.com', 'hard_bounce')`,
    [organization],
  );
  const { messageId } = await world.send(['gone@example.com', OUTSIDE]);
  assert.equal(await world.finished(messageId), 'suppressed');
  assert.deepEqual(
    world.peer.received.map(({ to }) => to),
    [[OUTSIDE]],
  );
  await db.query(
    `insert into sender_list (id, organization_id, direction, action, value) values ('lst_1', $1, 'outbound', 'block', 'blocked.example')`,
    [organization],
  );
  await assert.rejects(world.send(['x@blocked.example']), { code: 'recipient_blocked' });
  const blocked = await world.events('email_blocked');
  assert.deepEqual(
    blocked.map(({ data }) => data['reason']),
    ['cancelled', 'suppressed_recipient', 'blocked_recipient'],
  );
});

test('the mail store is sound after all of it', async () => {
  assert.deepEqual(await world.mail.faults(), []);
});

/** A host that writes down the commands it is given, and takes mail. */
async function startRecorder() {
  const commands: string[] = [];
  let taken = 0;
  const server = createServer((socket) => {
    let inData = false;
    let buffered = '';
    socket.on('error', () => {});
    socket.write('220 recorder\r\n');
    socket.on('data', (chunk) => {
      buffered += chunk.toString('latin1');
      for (let end = buffered.indexOf('\r\n'); end >= 0; end = buffered.indexOf('\r\n')) {
        const line = buffered.slice(0, end);
        buffered = buffered.slice(end + 2);
        if (inData) {
          if (line !== '.') continue;
          inData = false;
          taken++;
          socket.write('250 taken\r\n');
          continue;
        }
        const [verb = ''] = line.split(' ');
        commands.push(verb);
        inData = verb === 'DATA';
        socket.write(inData ? '354 go on\r\n' : verb === 'QUIT' ? '221 bye\r\n' : '250 fine\r\n');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { commands, port: address.port, taken: () => taken, close: () => server.close() };
}

describe('a stop while mail is being handed over', () => {
  const MOMENTS = [
    ['before the connection', []],
    ['behind it', ['EHLO']],
    ['behind DATA, before the content', ['EHLO', 'MAIL', 'RCPT', 'DATA']],
  ] as const;
  for (const [number, [moment, heard]] of MOMENTS.entries())
    test(`${moment}: nothing leaves, and it counts as no attempt`, async () => {
      const recorder = await startRecorder();
      try {
        const transport = relayTransport({ url: `smtp://127.0.0.1:${recorder.port}`, hostname: 'mail.test' });
        const asked: string[][] = [];
        const send = (mayBegin: () => boolean) =>
          transport.send({
            sender: 'agent@agents.test',
            recipients: [OUTSIDE],
            bytes: Buffer.from('Subject: secret\r\n\r\nsecret\r\n'),
            mayBegin: async () => {
              asked.push([...recorder.commands]);
              return mayBegin();
            },
          });
        const [refused] = await send(() => asked.length <= number);
        assert.deepEqual([refused?.kind, refused?.comeBackInMs], ['deferred', 0]);
        assert.deepEqual(asked.at(-1), heard, 'asked as late as it can be');
        assert.equal(recorder.taken(), 0);
        const [sent] = await send(() => true);
        assert.equal(sent?.kind, 'sent');
        assert.equal(recorder.taken(), 1);
        assert.equal(asked.length, number + 1 + MOMENTS.length);
      } finally {
        recorder.close();
      }
    });
});
