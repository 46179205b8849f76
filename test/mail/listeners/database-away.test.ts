import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { rotateMailboxToken } from '#core/mailboxes/update-mailbox.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { LineClient } from '#test/support/line-client.ts';
import { letter, openMailWorld } from '#test/support/mail-world.ts';
import { createTestDatabase } from '#test/support/services.ts';
import { tcpProxy } from '#test/support/tcp-proxy.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const database = await createTestDatabase();
const url = new URL(database.url);
const proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) });
url.port = String(proxy.port);
const world = await openMailWorld({ settings: { DATABASE_URL: url.href } });
after(async () => {
  await world.close();
  await proxy.close();
  await database.drop();
});
const { imap, pop3 } = world.mail;

const connect = async (port: number) => {
  const client = await LineClient.open(port, { secure: true });
  await client.line();
  return client;
};

/** Sends an IMAP command; its tagged answer. */
async function tagged(client: LineClient, command: string): Promise<string> {
  client.send(`t ${command}\r\n`);
  for (;;) {
    const line = await client.line();
    if (line === undefined || line.startsWith('t ')) return line ?? 'closed';
  }
}

test('while PostgreSQL is unreachable IMAP answers NO [UNAVAILABLE], POP3 -ERR [SYS/TEMP], and connections stay open', async () => {
  const mailbox = await world.createMailbox('away');
  await world.send(mailbox.address, letter());
  const [reader, popper, guest, popGuest] = [
    await connect(imap.port),
    await connect(pop3.port),
    await connect(imap.port),
    await connect(pop3.port),
  ];
  assert.match(await tagged(reader, `LOGIN ${mailbox.address} ${mailbox.token}`), /^t OK/);
  assert.match(await tagged(reader, 'SELECT INBOX'), /^t OK/);
  await popper.command(`USER ${mailbox.address}`);
  assert.match((await popper.command(`PASS ${mailbox.token}`)) ?? '', /^\+OK 1/);
  proxy.cut();
  assert.match(await tagged(reader, 'STATUS Sent (MESSAGES)'), /^t NO \[UNAVAILABLE\]/);
  assert.match((await popper.command('RETR 1')) ?? '', /^-ERR \[SYS\/TEMP\]/);
  assert.match(await tagged(guest, `LOGIN ${mailbox.address} ${mailbox.token}`), /^t NO \[UNAVAILABLE\]/);
  await popGuest.command(`USER ${mailbox.address}`);
  assert.match((await popGuest.command(`PASS ${mailbox.token}`)) ?? '', /^-ERR \[SYS\/TEMP\]/);
  proxy.restore();
  await waitUntil('the database to be back', async () =>
    (await tagged(reader, 'STATUS Sent (MESSAGES)')).startsWith('t OK'),
  );
  assert.match((await popper.command('RETR 1')) ?? '', /^\+OK/);
  await popper.body();
  assert.match(await tagged(guest, `LOGIN ${mailbox.address} ${mailbox.token}`), /^t OK/);
  await popGuest.command(`USER ${mailbox.address}`);
  assert.match((await popGuest.command(`PASS ${mailbox.token}`)) ?? '', /^\+OK 1/);
  for (const client of [reader, popper, guest, popGuest]) client.close();
});

test('a token rotated during an outage of notifications ends its sessions when the database is back', async () => {
  const mailbox = await world.createMailbox('away-rotated');
  const client = await connect(pop3.port);
  await client.command(`USER ${mailbox.address}`);
  assert.match((await client.command(`PASS ${mailbox.token}`)) ?? '', /^\+OK/);
  proxy.cut();
  // By somebody whose way to the database is another one.
  const other = await openMailWorld({ settings: { DATABASE_URL: database.url } });
  await rotateMailboxToken(other.services, world.organizationId, mailbox.id, {
    actor: SYSTEM_ACTOR,
    ipAddress: null,
    requestId: null,
  });
  await other.close();
  proxy.restore();
  assert.match((await client.line()) ?? '', /^-ERR \[SYS\/TEMP\] The mailbox or its token has changed/);
  await client.ended();
});
