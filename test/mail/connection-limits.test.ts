/** Connections above the limits are refused in the words of the protocol, under TLS where the listener has it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SMTP_BAD_COMMANDS_MAX, SMTP_COMMANDS_WITHOUT_MESSAGE_MAX } from '#domain/mail/mail-limits.ts';
import { LineClient } from '#test/support/line-client.ts';
import { letter, openMailWorld } from '#test/support/mail-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const TOTAL = 4;
const PER_ADDRESS = 2;
const world = await openMailWorld({
  settings: {
    SMTP_MAX_CLIENTS: String(TOTAL),
    SUBMISSION_MAX_CLIENTS: String(TOTAL),
    IMAP_MAX_CLIENTS: String(TOTAL),
    POP3_MAX_CLIENTS: String(TOTAL),
    SMTP_CLIENTS_PER_ADDRESS: String(PER_ADDRESS),
    MAIL_CLIENTS_PER_ADDRESS: String(PER_ADDRESS),
  },
});
after(() => world.close());

const { smtp, submission, submissionStarttls, imap, imapStarttls, pop3, pop3Starttls } = world.mail;
const LISTENERS = [
  { name: 'smtp', port: smtp.port, secure: false, greeting: /^220 /, refusal: /^421 4\.7\.0 / },
  { name: 'submissions', port: submission.port, secure: true, greeting: /^220 /, refusal: /^421 4\.7\.0 / },
  { name: 'submission', port: submissionStarttls.port, secure: false, greeting: /^220 /, refusal: /^421 4\.7\.0 / },
  { name: 'imaps', port: imap.port, secure: true, greeting: /^\* OK /, refusal: /^\* BYE / },
  { name: 'imap', port: imapStarttls.port, secure: false, greeting: /^\* OK /, refusal: /^\* BYE / },
  { name: 'pop3s', port: pop3.port, secure: true, greeting: /^\+OK /, refusal: /^-ERR / },
  { name: 'pop3', port: pop3Starttls.port, secure: false, greeting: /^\+OK /, refusal: /^-ERR / },
] as const;

/** Addresses of loopback that no other test of this file uses. */
let network = 0;

for (const { name, port, secure, greeting, refusal } of LISTENERS)
  test(`${name}: so many connections of an address, so many in all, and again when some have ended`, async () => {
    const prefix = `127.0.${100 + ++network}`;
    const connect = (host: number) => LineClient.open(port, { secure, localAddress: `${prefix}.${host}` });
    const open: LineClient[] = [];
    for (let count = 0; count < TOTAL; count++) {
      const client = await connect(1 + Math.floor(count / PER_ADDRESS));
      assert.match((await client.line()) ?? '', greeting);
      open.push(client);
      if (count !== PER_ADDRESS - 1) continue;
      const tooMany = await connect(1);
      assert.match((await tooMany.line()) ?? '', new RegExp(`${refusal.source}.*from your address`));
      await tooMany.ended();
    }
    const tooMany = await connect(9);
    assert.match((await tooMany.line()) ?? '', new RegExp(`${refusal.source}.*Too many connections, try again later`));
    await tooMany.ended();
    for (const client of open) client.close();
    const again = await waitUntil('the connections to be counted off', async () => {
      const client = await connect(1);
      if (greeting.test((await client.line()) ?? '')) return client;
      client.close();
      return undefined;
    });
    again.close();
  });

const smtpClient = async (host: string): Promise<LineClient> => {
  const client = await waitUntil('a place', async () => {
    const candidate = await LineClient.open(smtp.port, { localAddress: host });
    if ((await candidate.line())?.startsWith('220 ')) return candidate;
    candidate.close();
    return undefined;
  });
  await client.command('HELO client.test');
  return client;
};

test('smtp: commands without a message are counted, and a message begins the count anew', async () => {
  const mailbox = await world.createMailbox('counted');
  const client = await smtpClient('127.0.120.1');
  for (let round = 0; round < 2; round++) {
    for (let count = 0; count < SMTP_COMMANDS_WITHOUT_MESSAGE_MAX - 10; count++)
      assert.match((await client.command('NOOP')) ?? '', /^250 /);
    await client.command('MAIL FROM:<bob@example.com>');
    await client.command(`RCPT TO:<${mailbox.address}>`);
    await client.command('DATA');
    assert.match((await client.command(`${letter().replace(/\n/g, '\r\n')}\r\n.`)) ?? '', /^250 /);
  }
  let count = 0;
  while ((await client.command('RSET'))?.startsWith('250 ')) count++;
  assert.equal(count, SMTP_COMMANDS_WITHOUT_MESSAGE_MAX);
  await client.ended();
});

test('smtp: commands that make no sense end the connection', async () => {
  const client = await smtpClient('127.0.120.2');
  for (let count = 0; count < SMTP_BAD_COMMANDS_MAX; count++)
    assert.match((await client.command('RCPT TO:<x')) ?? '', /^50\d /);
  assert.match((await client.line()) ?? '', /^421 4\.7\.0 /);
  await client.ended();
});

test('smtp: a line above 16 KiB ends the connection', async () => {
  const client = await smtpClient('127.0.120.3');
  assert.match((await client.command(`NOOP ${'x'.repeat(17_000)}`)) ?? '', /^421 /);
  await client.ended();
});
