import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { deleteMailbox } from '#core/mailboxes/delete-mailbox.ts';
import { createMailboxToken } from '#core/mailboxes/mailbox-tokens.ts';
import { rotateMailboxToken, updateMailbox } from '#core/mailboxes/update-mailbox.ts';
import type { Caller } from '#core/platform/caller.ts';
import { connectTemporal } from '#core/platform/engine/temporal-client.ts';
import { newCredential } from '#core/platform/secrets/credentials.ts';
import { SYSTEM_ACTOR } from '#domain/webhooks/event-types.ts';
import { openAuthenticator } from '#mail/login/mailbox-login.ts';
import { type MailListeners, startMail } from '#mail/start.ts';
import { openMailNotifier } from '#mailstore/changes/notifier.ts';
import { openMailStore } from '#mailstore/mail-store.ts';
import { LineClient } from '#test/support/line-client.ts';
import { dnsStub, letter, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const FAILURE_DELAY_MS = 30;
const clients = { failureDelayMs: () => FAILURE_DELAY_MS };
const world = await openMailWorld({ clients });
after(() => world.close());
const { pop3 } = world.mail;
const caller: Caller = { actor: SYSTEM_ACTOR, ipAddress: null, requestId: null };

type Credentials = Pick<TestMailbox, 'address' | 'token'>;

/** Over POP3, the shortest of the protocols; each test from an address of its own, since failures are counted by it. */
async function login({ address, token }: Credentials, localAddress: string, port = pop3.port) {
  const client = await LineClient.open(port, { secure: true, localAddress });
  await client.line();
  await client.command(`USER ${address}`);
  return { client, reply: (await client.command(`PASS ${token}`)) ?? 'closed' };
}

test('address and mailbox token open the mailbox, in any case of letters', async () => {
  const mailbox = await world.createMailbox('opens');
  await world.send(mailbox.address, letter());
  const { client, reply } = await login({ ...mailbox, address: mailbox.address.toUpperCase() }, '127.0.1.1');
  assert.match(reply, /^\+OK 1 messages/);
  client.close();
});

test('unknown mailbox, wrong token, another mailbox’s token and suspended mailbox look alike and last the same', async () => {
  const [mailbox, other] = [await world.createMailbox('alike'), await world.createMailbox('alike-other')];
  const suspended = await world.createMailbox('alike-suspended', { status: 'suspended' });
  const attempts: Credentials[] = [
    { address: 'nobody@agents.test', token: mailbox.token },
    { address: mailbox.address, token: newCredential('mailboxToken') },
    { address: mailbox.address, token: 'not a token' },
    { address: mailbox.address, token: other.token },
    suspended,
  ];
  const replies = new Set<string>();
  for (const attempt of attempts) {
    const startedAt = performance.now();
    const { client, reply } = await login(attempt, '127.0.1.2');
    assert.ok(performance.now() - startedAt >= FAILURE_DELAY_MS - 1);
    replies.add(reply);
    client.close();
  }
  assert.deepEqual([...replies], ['-ERR [AUTH] The address or the token is wrong']);
});

test('after ten failures the credential is not read any more; from another source the correct token is accepted', async () => {
  const mailbox = await world.createMailbox('guessed');
  const wrong = { address: mailbox.address, token: newCredential('mailboxToken') };
  for (let count = 0; count < 10; count++) {
    const { client, reply } = await login(wrong, '127.0.1.3');
    assert.match(reply, /^-ERR \[AUTH\]/);
    client.close();
  }
  const throttled = await login(mailbox, '127.0.1.3');
  assert.match(throttled.reply, /^-ERR \[SYS\/TEMP\] Too many failed logins/);
  await throttled.client.ended();
  const welcome = await login(mailbox, '127.0.1.4');
  assert.match(welcome.reply, /^\+OK/);
  welcome.client.close();
});

test('a mailbox has five POP3 connections at once', async () => {
  const mailbox = await world.createMailbox('crowded');
  const logins = await Promise.all(Array.from({ length: 5 }, () => login(mailbox, '127.0.1.5')));
  for (const { reply } of logins) assert.match(reply, /^\+OK/);
  const sixth = await login(mailbox, '127.0.1.5');
  assert.match(sixth.reply, /^-ERR \[IN-USE\]/);
  sixth.client.close();
  logins[0]?.client.close();
  await waitUntil('a place is free again', async () => {
    const { client, reply } = await login(mailbox, '127.0.1.5');
    client.close();
    return reply.startsWith('+OK');
  });
  for (const { client } of logins) client.close();
});

test('a connection slot used over STLS is freed too', async () => {
  const mailbox = await world.createMailbox('stls');
  for (let count = 0; count < 12; count++) {
    const client = await LineClient.open(world.mail.pop3Starttls.port);
    await client.line();
    await client.command('STLS');
    await client.startTls();
    await client.command(`USER ${mailbox.address}`);
    assert.match((await client.command(`PASS ${mailbox.token}`)) ?? '', /^\+OK/, `login ${count + 1}`);
    await client.command('QUIT');
    await client.ended();
  }
});

test('rotation, suspension and deletion end live sessions, those of other processes too', async () => {
  const mail: MailListeners = await startMail(world.services, { lookup: dnsStub(), clients });
  after(() => mail.close());
  const temporal = connectTemporal(world.services.settings);
  after(() => temporal.close());
  const organization = { id: world.organizationId, name: 'Acme', slug: 'acme' };
  const ends: readonly [string, (id: string) => Promise<unknown>][] = [
    ['rotated', (id) => rotateMailboxToken(world.services, world.organizationId, id, caller)],
    ['suspended', (id) => updateMailbox(world.services, world.organizationId, id, caller, { status: 'suspended' })],
    ['deleted', (id) => deleteMailbox(world.services, temporal, organization, id, caller)],
  ];
  for (const [name, end] of ends) {
    const mailbox = await world.createMailbox(`ends-${name}`);
    const bystander = await login(await world.createMailbox(`stays-${name}`), '127.0.1.6');
    const here = await login(mailbox, '127.0.1.6');
    const there = await login(mailbox, '127.0.1.6', mail.pop3.port);
    await end(mailbox.id);
    for (const { client } of [here, there]) {
      assert.match((await client.line()) ?? '', /^-ERR \[SYS\/TEMP\] The mailbox or its token has changed/);
      await client.ended();
    }
    assert.match((await bystander.client.command('NOOP')) ?? '', /^\+OK/);
    bystander.client.close();
    const again = await login(mailbox, '127.0.1.6');
    assert.match(again.reply, /^-ERR \[AUTH\]/);
    again.client.close();
  }
});

test('a change of name ends no session', async () => {
  const mailbox = await world.createMailbox('renamed');
  const { client } = await login(mailbox, '127.0.1.7');
  await updateMailbox(world.services, world.organizationId, mailbox.id, caller, { name: 'Another' });
  assert.match((await client.command('NOOP')) ?? '', /^\+OK/);
  client.close();
});

/** IMAP: the greeting read, LOGIN sent; its tagged answer. */
async function imapLogin({ address, token }: Credentials, localAddress: string) {
  const client = await LineClient.open(world.mail.imap.port, { secure: true, localAddress });
  await client.line();
  const reply = (await client.command(`a LOGIN ${address} "${token}"`)) ?? 'closed';
  return { client, reply };
}

test('a rotated token ends IMAP sessions with BYE, in IDLE too', async () => {
  const mailbox = await world.createMailbox('imap-rotated');
  const [waiting, idle] = [await imapLogin(mailbox, '127.0.1.8'), await imapLogin(mailbox, '127.0.1.8')];
  await idle.client.command('b SELECT INBOX');
  for (let line: string | undefined = ''; line !== undefined && !line.startsWith('b '); )
    line = await idle.client.line();
  assert.match((await idle.client.command('c IDLE')) ?? '', /^\+/);
  await rotateMailboxToken(world.services, world.organizationId, mailbox.id, caller);
  for (const { client } of [waiting, idle]) {
    const lines: string[] = [];
    for (let line = await client.line(); line !== undefined; line = await client.line()) lines.push(line);
    assert.match(lines.at(-1) ?? '', /^\* BYE /);
  }
});

test('a mailbox has twenty IMAP connections at once', async () => {
  const mailbox = await world.createMailbox('imap-crowded');
  const logins = await Promise.all(Array.from({ length: 20 }, () => imapLogin(mailbox, '127.0.1.9')));
  for (const { reply } of logins) assert.match(reply, /^a OK/);
  const another = await imapLogin(mailbox, '127.0.1.9');
  assert.match(another.reply, /^a NO \[LIMIT\]/);
  assert.match((await another.client.line()) ?? '', /^\* BYE/);
  for (const { client } of logins) client.close();
});

test('IMAP failures are answered and throttled like those of POP3, in one bucket', async () => {
  const mailbox = await world.createMailbox('imap-guessed');
  const wrong = { address: mailbox.address, token: newCredential('mailboxToken') };
  for (let count = 0; count < 10; count++) {
    const { client, reply } = count % 2 === 0 ? await imapLogin(wrong, '127.0.1.10') : await login(wrong, '127.0.1.10');
    assert.match(reply, /AUTH/);
    client.close();
  }
  const throttled = await imapLogin(mailbox, '127.0.1.10');
  assert.match(throttled.reply, /^a NO \[LIMIT\]/);
  assert.match((await throttled.client.line()) ?? '', /^\* BYE/);
});

test('sessions of a mailbox share one store and one watch, until the last has ended', async () => {
  const notifier = openMailNotifier(world.services);
  const stored = openMailStore(world.services, notifier);
  let watches = 0;
  let opened = 0;
  const authenticator = openAuthenticator({
    services: world.services,
    notifier: {
      watchMailbox(id, wake) {
        watches++;
        const stop = notifier.watchMailbox(id, wake);
        return () => {
          watches--;
          stop();
        };
      },
    },
    openStore(account) {
      opened++;
      return stored.openMailbox(account);
    },
  });
  after(async () => {
    authenticator.close();
    await stored.close();
    await notifier.close();
  });
  const { id, address, token } = await world.createMailbox('shares');
  const reader = await createMailboxToken(world.services, world.organizationId, id, caller, {
    name: 'r',
    access: 'read',
    expiresAt: null,
  });
  const open = async (secret = token) => {
    const { login, release } = authenticator.forConnection('one');
    const result = await login({ protocol: 'imap', address, token: secret, remoteAddress: '127.0.1.9' });
    return result.kind === 'ok' ? { store: result.store, release } : assert.fail(result.kind);
  };
  const [one, other, reading] = [await open(), await open(), await open(reader.token)];
  assert.equal(one.store, other.store);
  assert.notEqual(one.store, reading.store);
  await assert.rejects(reading.store.createFolder('Mine', null), /read/);
  assert.deepEqual({ opened, watches }, { opened: 1, watches: 1 });
  one.release();
  reading.release();
  assert.equal(watches, 1);
  other.release();
  assert.equal(watches, 0);
  const later = await open();
  assert.notEqual(later.store, one.store);
  assert.deepEqual({ opened, watches }, { opened: 2, watches: 1 });
  later.release();
});

test('a session with a new token is not ended by rows that were read before the token existed', async () => {
  const { id, address, token } = await world.createMailbox('new-token');
  const reading = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let held = false;
  const { db } = world.services;
  const services = {
    ...world.services,
    db: Object.assign(Object.create(db) as typeof db, {
      // The first look at the tokens of open mailboxes is answered late.
      async query<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
        const rows = await db.query<Row>(text, values);
        if (held || !text.includes('any($1::text[])')) return rows;
        held = true;
        reading.resolve();
        await goOn.promise;
        return rows;
      },
    }),
  };
  const notifier = openMailNotifier(world.services);
  const stored = openMailStore(world.services, notifier);
  const authenticator = openAuthenticator({ services, notifier, openStore: (account) => stored.openMailbox(account) });
  after(async () => {
    authenticator.close();
    await stored.close();
    await notifier.close();
  });
  const open = async (secret: string) => {
    const { login, release } = authenticator.forConnection('two');
    const result = await login({ protocol: 'imap', address, token: secret, remoteAddress: '127.0.1.9' });
    if (result.kind !== 'ok') assert.fail(result.kind);
    const session = { ended: false, release };
    result.onClosed(() => {
      session.ended = true;
    });
    return session;
  };
  const first = await open(token);
  await reading.promise;
  const created = await createMailboxToken(world.services, world.organizationId, id, caller, {
    name: 'n',
    access: 'full',
    expiresAt: null,
  });
  const second = await open(created.token);
  goOn.resolve();
  // Both looks are over when a rotation has ended the first.
  await rotateMailboxToken(world.services, world.organizationId, id, caller);
  await waitUntil('the session of the rotated token to end', () => first.ended);
  assert.equal(second.ended, false);
  first.release();
  second.release();
});
