import assert from 'node:assert/strict';
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import { StoreUnavailable } from '@agent-mailbox/mail-store';
import { MemoryStore } from '@agent-mailbox/mail-store/memory';
import { readOnlyStore } from '@agent-mailbox/mail-store/read-only-store';
import { type Pop3Login, type Pop3Options, servePop3 } from '#pop3/serve.ts';

const MAIL = 'From: Ann <ann@example.com>\nSubject: Hi\n\n.dotted\nlast\n';

/** One client on a connection in memory. */
class Client {
  readonly #socket;
  readonly stop: () => void;
  #text = '';

  constructor(store: MemoryStore, options: Partial<Pop3Options> = {}) {
    const [near, far] = duplexPair();
    this.#socket = near;
    near.setEncoding('latin1').on('data', (text: string) => {
      this.#text += text;
    });
    const login: Pop3Login = async ({ address, token }) =>
      address === 'ann@example.com' && token === 'secret'
        ? { kind: 'ok', account: { mailboxId: 'm1', address }, store, onClosed: () => () => undefined }
        : { kind: 'refused' };
    const served = servePop3(far, { connectionId: 'c1', remoteAddress: '192.0.2.1', secure: true, login, ...options });
    this.stop = () => served.stop();
  }

  send(...lines: string[]): void {
    this.#socket.write(lines.map((line) => `${line}\r\n`).join(''));
  }

  /** What the server has sent until it ended the connection. */
  async end(): Promise<string> {
    if (!this.#socket.readableEnded) await once(this.#socket, 'end');
    return this.#text;
  }

  /** What the server has sent when its text ends like this. */
  async until(end: RegExp): Promise<string> {
    while (!end.test(this.#text)) await once(this.#socket, 'data');
    const text = this.#text;
    this.#text = '';
    return text;
  }
}

/** Logged in. */
async function loggedIn(store: MemoryStore, options: Partial<Pop3Options> = {}): Promise<Client> {
  const client = new Client(store, options);
  await client.until(/^\+OK .*\r\n$/);
  client.send('USER ann@example.com', 'PASS secret');
  await client.until(/octets\)\r\n$/);
  return client;
}

test('a session lists, reads and deletes; QUIT removes what is marked', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', MAIL);
  store.deliver('INBOX', 'Subject: two\n\nbody\n');
  const client = await loggedIn(store);
  client.send('STAT', 'UIDL', 'RETR 1', 'TOP 2 0', 'DELE 1', 'LIST', 'QUIT');
  const text = await client.until(/Bye, 1 deleted\r\n$/);
  assert.match(text, /^\+OK 2 \d+\r\n/);
  assert.match(text, /\r\n1 \d+\.1\r\n2 \d+\.2\r\n\.\r\n/);
  assert.match(text, /Subject: Hi\r\n\r\n\.\.dotted\r\nlast\r\n\.\r\n/, 'lines that begin with a dot get another');
  assert.match(text, /Subject: two\r\n\r\n\.\r\n/);
  const inbox = await store.folder('INBOX');
  assert.equal(inbox?.total, 1);
});

test('a stop deletes nothing and says so', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', MAIL);
  const client = await loggedIn(store);
  client.send('DELE 1');
  await client.until(/^\+OK[^\n]*\n$/);
  client.stop();
  assert.match(await client.until(/\r\n$/), /^-ERR \[SYS\/TEMP\] .*nothing was deleted\r\n$/);
  assert.equal((await store.folder('INBOX'))?.total, 1);
});

test('a wrong token is refused with AUTH, and the text of unknown commands is not repeated', async () => {
  const client = new Client(new MemoryStore(), { serverName: 'Example' });
  assert.equal(await client.until(/\r\n$/), '+OK Example POP3 server ready\r\n');
  client.send('USER ann@example.com', 'PASS wrong', 'hunter2 x');
  const text = await client.until(/Unknown command\r\n$/);
  assert.match(text, /-ERR \[AUTH\] /);
  assert.ok(!text.includes('hunter2'));
  client.stop();
});

test('a login that may only read deletes nothing; one that may not use POP3 is refused with AUTH', async () => {
  const store = new MemoryStore();
  store.deliver('INBOX', MAIL);
  const readOnly = await loggedIn(store, {
    login: async ({ address }) => ({
      kind: 'ok',
      account: { mailboxId: 'm1', address },
      store: readOnlyStore(store),
      onClosed: () => () => undefined,
    }),
  });
  readOnly.send('RETR 1', 'DELE 1', 'QUIT');
  const text = await readOnly.until(/Bye.*\r\n$/);
  assert.match(text, /last\r\n\.\r\n-ERR This token may only read\r\n\+OK/);
  assert.equal((await store.folder('INBOX'))?.total, 1);
  const refused = new Client(store, {
    login: async () => ({ kind: 'not-permitted', text: 'This token may only send' }),
  });
  await refused.until(/^\+OK .*\r\n$/);
  refused.send('USER ann@example.com', 'PASS secret');
  assert.equal(
    await refused.until(/-ERR .*\r\n$/),
    '+OK Send the token with PASS\r\n-ERR [AUTH] This token may only send\r\n',
  );
  refused.send('QUIT');
  await refused.until(/Bye\r\n$/);
});

test('a login whose maildrop cannot be read ends the connection, so that it takes one place only', async () => {
  const store = new MemoryStore();
  store.view = async () => {
    throw new StoreUnavailable('away');
  };
  const client = new Client(store);
  await client.until(/^\+OK .*\r\n$/);
  client.send('USER ann@example.com', 'PASS secret', 'USER ann@example.com', 'PASS secret', 'NOOP');
  const text = await client.end();
  assert.match(text, /^\+OK[^\n]*\n-ERR \[SYS\/TEMP\] The mailbox cannot be reached at the moment\r\n$/);
});
