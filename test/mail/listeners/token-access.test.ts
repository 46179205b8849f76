/** Tokens of one mailbox that may only read, or only send, and tokens that end, by the protocols of mail clients. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createMailboxToken, listMailboxTokens, revokeMailboxToken } from '#core/mailboxes/mailbox-tokens.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { TokenAccess } from '#domain/organizations/mailboxes.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { LineClient } from '#test/support/line-client.ts';
import { letter, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const world = await openMailWorld({ clients: { failureDelayMs: () => 10 } });
after(() => world.close());
const caller: Caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };

async function tokenOf(mailbox: TestMailbox, access: TokenAccess, expiresAt: Date | null = null) {
  const input = { name: access, access, expiresAt };
  const { row, token } = await createMailboxToken(world.services, world.organizationId, mailbox.id, caller, input);
  return { id: row.id, address: mailbox.address, token };
}

type Credentials = Pick<TestMailbox, 'address' | 'token'>;

async function imap({ address, token }: Credentials) {
  const client = await LineClient.open(world.mail.imap.port, { secure: true });
  await client.line();
  let count = 0;
  const command = async (text: string) => {
    const tag = `t${++count}`;
    client.send(`${tag} ${text}\r\n`);
    for (let line = await client.line(); line !== undefined; line = await client.line())
      if (line.startsWith(`${tag} `)) return line.slice(tag.length + 1);
    return 'closed';
  };
  return { client, command, reply: await command(`LOGIN ${address} "${token}"`) };
}

async function pop3({ address, token }: Credentials) {
  const client = await LineClient.open(world.mail.pop3.port, { secure: true });
  await client.line();
  await client.command(`USER ${address}`);
  return { client, reply: await client.command(`PASS ${token}`) };
}

async function submission({ address, token }: Credentials, mechanism: 'PLAIN' | 'XOAUTH2' = 'PLAIN') {
  const client = await LineClient.open(world.mail.submission.port, { secure: true });
  await client.line();
  client.send('EHLO test\r\n');
  for (let line = await client.line(); line?.startsWith('250-') === true; line = await client.line());
  const text =
    mechanism === 'PLAIN' ? `\0${address}\0${token}` : `user=${address}\u0001auth=Bearer ${token}\u0001\u0001`;
  const reply = await client.command(`AUTH ${mechanism} ${Buffer.from(text).toString('base64')}`);
  // A refusal of XOAUTH2 comes after the client has read its reason.
  return { client, reply: reply?.startsWith('334') === true ? await client.command('') : reply };
}

test('a token with access read opens folders read-only, deletes nothing by POP3 and does not send', async () => {
  const mailbox = await world.createMailbox('reads');
  await world.send(mailbox.address, letter('kept'));
  const reader = await tokenOf(mailbox, 'read');
  const mail = await imap(reader);
  assert.match(mail.reply, /^OK/);
  assert.match(await mail.command('SELECT INBOX'), /^OK \[READ-ONLY\]/);
  assert.match(await mail.command('FETCH 1 BODY[]'), /^OK/);
  assert.match(await mail.command('STORE 1 +FLAGS (\\Deleted)'), /^NO \[READ-ONLY\]/);
  assert.match(await mail.command('COPY 1 Archive'), /^NO \[NOPERM\] This token may only read/);
  assert.match(await mail.command('MOVE 1 Archive'), /^NO/);
  mail.client.close();
  const drop = await pop3(reader);
  assert.match(drop.reply ?? '', /^\+OK 1 messages/);
  assert.equal(await drop.client.command('DELE 1'), '-ERR This token may only read');
  assert.match((await drop.client.command('QUIT')) ?? '', /^\+OK/);
  drop.client.close();
  for (const mechanism of ['PLAIN', 'XOAUTH2'] as const) {
    const sender = await submission(reader, mechanism);
    assert.equal(sender.reply, '535 5.7.8 This token may only read', mechanism);
    assert.match((await sender.client.command(`MAIL FROM:<${mailbox.address}>`)) ?? '', /^5/);
    sender.client.close();
  }
  const [row] = await world.services.db.query(
    `select f.total, f.unseen from folder f where f.mailbox_id = $1 and f.name = 'INBOX'`,
    [mailbox.id],
  );
  assert.deepEqual(row, { total: 1, unseen: 1 });
  assert.deepEqual(await world.faults(), []);
});

test('a token with access send sends by submission, and opens no mail', async () => {
  const mailbox = await world.createMailbox('sends');
  const sender = await tokenOf(mailbox, 'send');
  for (const mechanism of ['PLAIN', 'XOAUTH2'] as const) {
    const accepted = await submission(sender, mechanism);
    assert.match(accepted.reply ?? '', /^235/, mechanism);
    assert.match((await accepted.client.command(`MAIL FROM:<${mailbox.address}>`)) ?? '', /^250/);
    accepted.client.close();
  }
  const mail = await imap(sender);
  assert.equal(mail.reply, 'NO [AUTHORIZATIONFAILED] This token may only send');
  mail.client.close();
  const drop = await pop3(sender);
  assert.equal(drop.reply, '-ERR [AUTH] This token may only send');
  drop.client.close();
});

test('sessions end when their token is revoked or expires; those of other tokens continue, and uses are recorded', async () => {
  const mailbox = await world.createMailbox('ends-tokens');
  const [revoked, expiring, kept] = [
    await tokenOf(mailbox, 'full'),
    await tokenOf(mailbox, 'full', new Date(world.services.now() + 3_600_000)),
    await tokenOf(mailbox, 'full'),
  ];
  const [first, second, third] = [await pop3(revoked), await pop3(expiring), await pop3(kept)];
  for (const { reply } of [first, second, third]) assert.match(reply ?? '', /^\+OK/);
  await waitUntil('the uses are noted', async () => {
    const tokens = await listMailboxTokens(world.services.db, world.organizationId, mailbox.id);
    return tokens.filter(({ lastUsedAt }) => lastUsedAt !== null).length === 3;
  });
  await world.services.db.query(`update mailbox_token set expires_at = now() - interval '1 minute' where id = $1`, [
    expiring.id,
  ]);
  // Its announcement makes the process read all tokens of the mailbox again.
  await revokeMailboxToken(world.services, world.organizationId, mailbox.id, revoked.id, caller);
  for (const { client } of [first, second]) {
    assert.match((await client.line()) ?? '', /^-ERR \[SYS\/TEMP\] The mailbox or its token has changed/);
    await client.ended();
  }
  assert.match((await third.client.command('NOOP')) ?? '', /^\+OK/);
  third.client.close();
  for (const token of [revoked, expiring]) {
    const again = await pop3(token);
    assert.match(again.reply ?? '', /^-ERR \[AUTH\] The address or the token is wrong/);
    again.client.close();
  }
});

test('a session ends when its token expires', async () => {
  const mailbox = await world.createMailbox('expires');
  const short = await tokenOf(mailbox, 'full', new Date(world.services.now() + 3_000));
  const { client, reply } = await pop3(short);
  // On a machine that stalled for seconds the token had expired before the login.
  assert.match(reply ?? '', /^(?:\+OK|-ERR \[AUTH\])/);
  if (reply?.startsWith('+OK') === true)
    assert.match((await client.line()) ?? '', /^-ERR \[SYS\/TEMP\] The mailbox or its token has changed/);
  client.close();
});
