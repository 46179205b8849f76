/** The end of DATA is CRLF.CRLF and nothing else; commands pipelined behind DATA wait for its answer (RFC 5321 §4.1.1.4). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { testTls } from '#test/support/services.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { storedMail } from '#test/support/stored-mail.ts';

const world = await openMailWorld();
after(() => world.close());

const LISTENERS = ['inbound', 'submission'] as const;
type Listener = (typeof LISTENERS)[number];

/** Greeted, and on the submission listener logged in. */
async function open(listener: Listener, sender: TestMailbox): Promise<SmtpClient> {
  if (listener === 'inbound') {
    const client = await world.connect();
    await client.command('EHLO client.test');
    return client;
  }
  const { host, port } = world.mail.submissionStarttls;
  const client = await SmtpClient.open(host, port);
  await client.command('EHLO client.test');
  await client.startTls(readFileSync(testTls().caFile));
  await client.command('EHLO client.test');
  const credentials = Buffer.from(`\0${sender.address}\0${sender.token}`).toString('base64');
  assert.match(await client.command(`AUTH PLAIN ${credentials}`), /^235 /);
  return client;
}

const FALSE_ENDS = [
  '\n.\n',
  '\r\n.\n',
  '\n.\r\n',
  '\r.\r',
  '\r.\r\n',
  '\r\n.\r',
  '\n.\r',
  '\r\n.\r\r\n',
  '\r\n.\0\r\n',
];

for (const listener of LISTENERS) {
  test(`${listener}: no other line with a dot ends DATA, so nothing after it is a command`, async () => {
    const [sender, receiver] = [
      await world.createMailbox(`${listener}-ends`),
      await world.createMailbox(`${listener}-ends-to`),
    ];
    const client = await open(listener, sender);
    for (const [i, end] of FALSE_ENDS.entries()) {
      for (const line of [`MAIL FROM:<${sender.address}>`, `RCPT TO:<${receiver.address}>`, 'DATA'])
        assert.match(await client.command(line), /^[23]/);
      const header = `From: ${sender.address}\r\nSubject: ${i}\r\nMessage-ID: <${listener}.${i}@agents.test>\r\n\r\n`;
      client.socket.write(`${header}before${end}MAIL FROM:<evil@example.com>\r\nRSET\r\n`);
      client.socket.write('behind\r\n.\r\n');
      assert.match(await client.reply(), /^250 /, JSON.stringify(end));
      assert.match(await client.command('NOOP'), /^250 /, JSON.stringify(end));
      const mail = (await storedMail(world, receiver)).at(-1)?.toString('latin1') ?? '';
      assert.match(mail, new RegExp(`^Subject: ${i}\\r$`, 'm'));
      assert.match(mail, /before[^]*MAIL FROM:<evil@example\.com>\r\nRSET\r\nbehind\r\n$/, JSON.stringify(end));
    }
    client.close();
    assert.equal((await storedMail(world, receiver)).length, FALSE_ENDS.length);
  });

  test(`${listener}: the end is found however it is cut, and a stuffed dot is none`, async () => {
    const [sender, receiver] = [
      await world.createMailbox(`${listener}-cuts`),
      await world.createMailbox(`${listener}-cuts-to`),
    ];
    const client = await open(listener, sender);
    const body = 'one\r\n..\r\n..two\r\nthree\r\n.\r\n';
    for (let cut = 1; cut <= body.length; cut++) {
      for (const line of [`MAIL FROM:<${sender.address}>`, `RCPT TO:<${receiver.address}>`, 'DATA'])
        assert.match(await client.command(line), /^[23]/);
      client.socket.write(
        `From: ${sender.address}\r\nMessage-ID: <${listener}.cut.${cut}@agents.test>\r\n\r\n${body.slice(0, cut)}`,
      );
      await new Promise((resolve) => setImmediate(resolve));
      client.socket.write(body.slice(cut));
      assert.match(await client.reply(), /^250 /);
      const mail = (await storedMail(world, receiver)).at(-1)?.toString('latin1') ?? '';
      assert.ok(mail.endsWith('\r\n\r\none\r\n.\r\n.two\r\nthree\r\n'), `${cut}: ${mail}`);
    }
    client.close();
  });

  test(`${listener}: commands pipelined after DATA wait for its answer`, async () => {
    const [sender, receiver] = [
      await world.createMailbox(`${listener}-pipe`),
      await world.createMailbox(`${listener}-pipe-to`),
    ];
    const client = await open(listener, sender);
    const transaction = (subject: string) =>
      `MAIL FROM:<${sender.address}>\r\nRCPT TO:<${receiver.address}>\r\nDATA\r\n` +
      `From: ${sender.address}\r\nSubject: ${subject}\r\nMessage-ID: <${listener}.${subject}@agents.test>\r\n\r\ntext\r\n.\r\n`;
    client.socket.write(`${transaction('first')}NOOP\r\n${transaction('second')}QUIT\r\n`);
    const replies: string[] = [];
    for (let count = 0; count < 10; count++) replies.push(await client.reply());
    assert.deepEqual(
      replies.map((reply) => reply.slice(0, 3)),
      ['250', '250', '354', '250', '250', '250', '250', '354', '250', '221'],
    );
    assert.match(replies[3] ?? '', /msg_/);
    assert.match(replies[8] ?? '', /msg_/);
    assert.equal((await storedMail(world, receiver)).length, 2);
    client.close();
  });
}

test('the stored messages pass the store check', async () => {
  assert.deepEqual(await world.faults(), []);
});
