/**
 * While the database is away, read-only or full, SMTP answers 452 4.3.1 to what it cannot store: never 250, never a refusal
 * for good, and the connection takes the same message afterwards (RFC 5321 §4.2.1: the client tries again).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { smtpAnswersTotal } from '#core/platform/log/metrics.ts';
import { openDatabase } from '#db/database.ts';
import { letter, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { createTestDatabase, testTls } from '#test/support/services.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { storedMail } from '#test/support/stored-mail.ts';
import { tcpProxy } from '#test/support/tcp-proxy.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const database = await createTestDatabase();
const url = new URL(database.url);
const proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) });
url.port = String(proxy.port);
const world = await openMailWorld({ settings: { DATABASE_URL: url.href } });
/** Another way to the database, which no fault is on. */
const administration = await openDatabase({ url: database.url, poolMax: 1 });
after(async () => {
  await world.close();
  await administration.close();
  await proxy.close();
  await database.drop();
});

interface Fault {
  readonly name: string;
  begin(): Promise<void>;
  end(): Promise<void>;
}

const databaseName = url.pathname.slice(1);
/** Settings of a database are those of connections made later: the ones there are ended. */
const setReadOnly = async (value: 'on' | 'off'): Promise<void> => {
  await administration.query(`set default_transaction_read_only = off`);
  await administration.query(`alter database "${databaseName}" set default_transaction_read_only = ${value}`);
  proxy.cut();
  proxy.restore();
};

const FAULTS: readonly Fault[] = [
  { name: 'away', begin: async () => proxy.cut(), end: async () => proxy.restore() },
  { name: 'read-only', begin: () => setReadOnly('on'), end: () => setReadOnly('off') },
  {
    name: 'full',
    async begin() {
      await administration.query(
        `create function disk_full() returns trigger language plpgsql as
         $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$`,
      );
      for (const table of ['message', 'outbound_message'])
        await administration.query(
          `create trigger disk_full before insert on ${table} for each statement execute function disk_full()`,
        );
    },
    async end() {
      await administration.query('drop function disk_full cascade');
    },
  },
];

/** Answers of the inbound listener that were a fault here: what the objective "mail accepted" counts. */
async function failedAnswers(): Promise<number> {
  const { values } = await smtpAnswersTotal.get();
  return values.reduce((sum, { labels, value }) => sum + (Object.values(labels).includes('failed') ? value : 0), 0);
}

type Listener = 'inbound' | 'submission';

async function connect(listener: Listener, sender: TestMailbox): Promise<SmtpClient> {
  if (listener === 'inbound') {
    const client = await world.connect();
    await client.command('EHLO client.test');
    return client;
  }
  const client = await SmtpClient.open('127.0.0.1', world.mail.submissionStarttls.port);
  await client.command('EHLO client.test');
  await client.startTls(readFileSync(testTls().caFile));
  await client.command('EHLO client.test');
  const credentials = Buffer.from(`\0${sender.address}\0${sender.token}`).toString('base64');
  assert.match(await client.command(`AUTH PLAIN ${credentials}`), /^235 /);
  return client;
}

for (const fault of FAULTS)
  for (const listener of ['inbound', 'submission'] as const)
    test(`${listener}, the database ${fault.name}: 452 4.3.1, and 250 on the same connection afterwards`, async () => {
      const key = `${listener}-${fault.name}`;
      const [sender, receiver] = [await world.createMailbox(key), await world.createMailbox(`${key}-to`)];
      const client = await connect(listener, sender);
      const message = letter(key).replace('bob@example.com', sender.address);
      const replies: string[] = [];
      const failedBefore = await failedAnswers();
      await fault.begin();
      try {
        for (let count = 0; count < 3; count++) {
          replies.push(await client.send(sender.address, [receiver.address], message));
          await client.command('RSET');
        }
      } finally {
        await fault.end();
      }
      for (const reply of replies) assert.match(reply, /^452 4\.3\.1 /);
      if (listener === 'inbound') assert.equal((await failedAnswers()) - failedBefore, replies.length);
      assert.deepEqual(
        await waitUntil('the database to be back', () => storedMail(world, receiver).catch(() => undefined)),
        [],
      );
      await waitUntil('the message to be taken', async () =>
        (await client.send(sender.address, [receiver.address], message)).startsWith('250 '),
      );
      client.close();
      assert.equal((await storedMail(world, receiver)).length, 1);
    });

test('a login while the database is away is 454 4.7.0, and works on the same connection afterwards', async () => {
  const mailbox = await world.createMailbox('login-away');
  const client = await SmtpClient.open('127.0.0.1', world.mail.submissionStarttls.port);
  await client.command('EHLO client.test');
  await client.startTls(readFileSync(testTls().caFile));
  await client.command('EHLO client.test');
  const line = `AUTH PLAIN ${Buffer.from(`\0${mailbox.address}\0${mailbox.token}`).toString('base64')}`;
  proxy.cut();
  assert.match(await client.command(line), /^454 4\.7\.0 /);
  proxy.restore();
  await waitUntil('the login to work', async () => (await client.command(line)).startsWith('235 '));
  client.close();
});

test('messages stored meanwhile pass the store check', async () => {
  assert.deepEqual(await world.faults(), []);
});
