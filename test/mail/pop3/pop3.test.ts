import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { StoreUnavailable } from '@agent-mailbox/mail-store';
import fc from 'fast-check';
import { waitUntil } from '#test/support/wait-until.ts';
import { memoryMaildrop, UID_VALIDITY } from './memory-maildrop.ts';
import { ADDRESS, startPop3, TOKEN } from './pop3-server.ts';

const FIRST = 'Subject: one\r\n\r\nHello\r\n';
const SECOND = 'Subject: two\r\n\r\n.dot first\r\n..two dots\r\n\r\n.\r\nlast\r\n';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const uidl = (uid: number) => `${UID_VALIDITY}.${uid}`;

async function opened(
  messages: readonly (string | Buffer)[] = [FIRST, SECOND],
  options: Parameters<typeof startPop3>[1] = {},
) {
  const maildrop = memoryMaildrop(messages);
  const server = await startPop3(maildrop, options);
  after(() => server.close());
  return { maildrop, server };
}

test('a session as in RFC 1939 §10: STAT, LIST, RETR, DELE, QUIT', async () => {
  const { maildrop, server } = await opened();
  const client = await server.connect();
  assert.match((await client.command(`USER ${ADDRESS}`)) ?? '', /^\+OK/);
  assert.equal(await client.command(`PASS ${TOKEN}`), `+OK 2 messages (${FIRST.length + SECOND.length} octets)`);
  assert.equal(await client.command('STAT'), `+OK 2 ${FIRST.length + SECOND.length}`);
  assert.match((await client.command('LIST')) ?? '', /^\+OK/);
  assert.deepEqual(await client.body(), [`1 ${FIRST.length}`, `2 ${SECOND.length}`]);
  assert.equal(await client.command('list 2'), `+OK 2 ${SECOND.length}`);
  assert.match((await client.command('LIST 3')) ?? '', /^-ERR/);
  assert.equal(await client.command('RETR 1'), `+OK ${FIRST.length} octets`);
  assert.deepEqual(await client.body(), ['Subject: one', '', 'Hello']);
  assert.match((await client.command('DELE 1')) ?? '', /^\+OK/);
  assert.match((await client.command('DELE 1')) ?? '', /^-ERR Message 1 is deleted/);
  assert.match((await client.command('RETR 1')) ?? '', /^-ERR/);
  assert.equal(await client.command('STAT'), `+OK 1 ${SECOND.length}`);
  assert.match((await client.command('NOOP')) ?? '', /^\+OK/);
  assert.match((await client.command('QUIT')) ?? '', /^\+OK/);
  await client.ended();
  assert.deepEqual(maildrop.expunged, [[7]]);
});

test('UIDL is <uidvalidity>.<uid>; all messages are listed, marked ones are not', async () => {
  const { server } = await opened();
  const client = await server.login();
  await client.command('UIDL');
  assert.deepEqual(await client.body(), [`1 ${uidl(7)}`, `2 ${uidl(8)}`]);
  assert.equal(await client.command('UIDL 2'), `+OK 2 ${uidl(8)}`);
  await client.command('DELE 1');
  await client.command('UIDL');
  assert.deepEqual(await client.body(), [`2 ${uidl(8)}`]);
  client.close();
});

test('lines that begin with a dot are stuffed, also the first, and come out as they went in', async () => {
  const { server } = await opened([SECOND, '.first line\r\n..\r\n']);
  const client = await server.login();
  client.send('RETR 1\r\n');
  await client.line();
  const raw: string[] = [];
  for (let line = await client.line(); line !== '.'; line = await client.line()) raw.push(line ?? '');
  assert.deepEqual(raw, ['Subject: two', '', '..dot first', '...two dots', '', '..', 'last']);
  await client.command('RETR 2');
  assert.deepEqual(await client.body(), ['.first line', '..']);
  client.close();
});

test('LIST sizes equal the octets sent before dot-stuffing: bare line feeds leave as CRLF and count so', async () => {
  const messages = ['A: b\n\nx\n.y\r\nz', 'no line end', '\n', '', 'a\rb\r\n', '\r\n\r\n'];
  const { server } = await opened(messages);
  const client = await server.login();
  await client.command('LIST');
  const sizes = (await client.body()).map((line) => Number(line.split(' ')[1]));
  for (const [index, size] of sizes.entries()) {
    assert.equal(await client.command(`RETR ${index + 1}`), `+OK ${size} octets`);
    const lines = await client.body();
    assert.equal(
      lines.map((line) => `${line}\r\n`).join('').length,
      size,
      `message ${index + 1}: ${JSON.stringify(messages[index])}`,
    );
  }
  client.close();
});

test('TOP 0 ends after the blank line, TOP n gives n lines of the body', async () => {
  const { server } = await opened(['A: 1\r\nB: 2\r\n\r\none\r\n.two\r\nthree\r\n', 'A: only header\r\n']);
  const client = await server.login();
  const top = async (argument: string) => {
    assert.match((await client.command(`TOP ${argument}`)) ?? '', /^\+OK/);
    return client.body();
  };
  assert.deepEqual(await top('1 0'), ['A: 1', 'B: 2', '']);
  assert.deepEqual(await top('1 2'), ['A: 1', 'B: 2', '', 'one', '.two']);
  assert.deepEqual(await top('1 99'), ['A: 1', 'B: 2', '', 'one', '.two', 'three']);
  assert.deepEqual(await top('2 5'), ['A: only header']);
  for (const wrong of ['1', '1 -1', 'x 1', '1 2 3', '0 1', '3 1'])
    assert.match((await client.command(`TOP ${wrong}`)) ?? '', /^-ERR/, wrong);
  client.close();
});

test('a lost connection removes nothing; DELE takes effect at QUIT only, RSET removes marks', async () => {
  const { maildrop, server } = await opened();
  const dropped = await server.login();
  await dropped.command('DELE 1');
  dropped.close();
  const client = await server.login();
  assert.equal(await client.command('STAT'), `+OK 2 ${FIRST.length + SECOND.length}`);
  await client.command('DELE 1');
  await client.command('DELE 2');
  assert.equal(await client.command('RSET'), `+OK 2 messages (${FIRST.length + SECOND.length} octets)`);
  await client.command('QUIT');
  await client.ended();
  assert.deepEqual(maildrop.expunged, []);
});

test('two concurrent clients are allowed; the list is a snapshot; RETR of a removed message is -ERR', async () => {
  const { maildrop, server } = await opened();
  const [one, two] = [await server.login(), await server.login()];
  maildrop.add('Subject: later\r\n\r\n');
  maildrop.remove(7);
  for (const client of [one, two]) {
    assert.equal(await client.command('STAT'), `+OK 2 ${FIRST.length + SECOND.length}`);
    assert.match((await client.command('RETR 1')) ?? '', /^-ERR Message 1 has been removed/);
    assert.match((await client.command('TOP 1 0')) ?? '', /^-ERR/);
    assert.equal(await client.command('RETR 2'), `+OK ${SECOND.length} octets`);
    await client.body();
    client.close();
  }
});

test('CAPA announces USER and SASL under TLS only, STLS before it only', async () => {
  const { server } = await opened();
  const both = ['TOP', 'UIDL', 'RESP-CODES', 'AUTH-RESP-CODE', 'PIPELINING'];
  const rest = ['EXPIRE NEVER', 'UTF8', 'IMPLEMENTATION Agent-Mailbox'];
  const plain = await server.connectPlain();
  await plain.command('CAPA');
  assert.deepEqual(await plain.body(), [...both, 'STLS', ...rest]);
  const secure = await server.connect();
  await secure.command('CAPA');
  const underTls = [...both, 'USER', 'SASL PLAIN XOAUTH2', ...rest];
  assert.deepEqual(await secure.body(), underTls);
  assert.match((await plain.command('STLS')) ?? '', /^\+OK/);
  await plain.startTls();
  await plain.command('CAPA');
  assert.deepEqual(await plain.body(), underTls);
  assert.match((await plain.command('STLS')) ?? '', /^-ERR/);
  plain.close();
  secure.close();
});

test('no token is taken without TLS', async () => {
  const { server } = await opened();
  const client = await server.connectPlain();
  for (const line of [`USER ${ADDRESS}`, `PASS ${TOKEN}`, `AUTH PLAIN ${base64(`\0${ADDRESS}\0${TOKEN}`)}`])
    assert.match((await client.command(line)) ?? '', /^-ERR/, line);
  assert.deepEqual(server.logins, []);
  client.close();
});

test('nothing sent before the handshake survives STLS', async () => {
  const { server } = await opened();
  const client = await server.connectPlain();
  client.send(`STLS\r\nUSER ${ADDRESS}\r\nNOOP\r\n`);
  assert.match((await client.line()) ?? '', /^\+OK/);
  await client.startTls();
  assert.match((await client.command(`PASS ${TOKEN}`)) ?? '', /^-ERR Send USER first/);
  assert.deepEqual(server.logins, []);
  client.close();
});

test('AUTH PLAIN and XOAUTH2, with and without initial response; * gives up', async () => {
  const { server } = await opened();
  const plain = base64(`\0${ADDRESS}\0${TOKEN}`);
  const bearer = base64(`user=${ADDRESS}\x01auth=Bearer ${TOKEN.replace(' ', '')}\x01\x01`);
  const attempts: readonly (readonly [string, string | undefined, RegExp])[] = [
    [`AUTH PLAIN ${plain}`, undefined, /^\+OK 2 messages/],
    ['AUTH plain', plain, /^\+OK 2 messages/],
    ['AUTH PLAIN', '*', /^-ERR/],
    ['AUTH PLAIN', 'not base64!', /^-ERR/],
    [`AUTH PLAIN ${base64(`other@agents.test\0${ADDRESS}\0${TOKEN}`)}`, undefined, /^-ERR/],
    ['AUTH CRAM-MD5', undefined, /^-ERR/],
    ['AUTH', undefined, /^-ERR/],
  ];
  for (const [command, answer, expected] of attempts) {
    const client = await server.connect();
    let reply = await client.command(command);
    if (answer !== undefined) {
      assert.equal(reply, '+ ');
      reply = await client.command(answer);
    }
    assert.match(reply ?? '', expected, command);
    client.close();
  }
  const client = await server.connect();
  assert.match((await client.command(`AUTH XOAUTH2 ${bearer}`)) ?? '', /^\+ /);
  assert.match((await client.command('')) ?? '', /^-ERR \[AUTH\]/);
  assert.deepEqual(server.logins.at(-1), { address: ADDRESS, token: TOKEN.replace(' ', '') });
  client.close();
});

test('a wrong token is -ERR [AUTH], too many failures are -ERR [SYS/TEMP] and the end', async () => {
  const { server } = await opened();
  const client = await server.connect();
  await client.command(`USER ${ADDRESS}`);
  assert.match((await client.command('PASS wrong')) ?? '', /^-ERR \[AUTH\]/);
  assert.match((await client.command(`PASS ${TOKEN}`)) ?? '', /^-ERR Send USER first/);
  client.close();
  const throttled = await opened([], { answer: { kind: 'throttled', retryAfterSeconds: 42 } });
  const refused = await throttled.server.connect();
  await refused.command(`USER ${ADDRESS}`);
  assert.match((await refused.command(`PASS ${TOKEN}`)) ?? '', /^-ERR \[SYS\/TEMP\] .*42 s/);
  await refused.ended();
});

test('commands of the other state, unknown ones and too long lines are -ERR; twenty of them end the connection', async () => {
  const { server } = await opened();
  const client = await server.connect();
  assert.match((await client.command('STAT')) ?? '', /^-ERR Log in first/);
  assert.match((await client.command('XYZZY')) ?? '', /^-ERR Unknown command/);
  assert.equal(await client.command(`NOOP ${'x'.repeat(600)}`), '-ERR The line is too long');
  assert.equal(await client.command('x'.repeat(200_000)), '-ERR The line is too long');
  for (let count = 4; count < 20; count++) assert.match((await client.command('')) ?? '', /^-ERR/);
  assert.equal(await client.line(), '-ERR Too many invalid commands');
  await client.ended();
  const loggedIn = await server.login();
  assert.match((await loggedIn.command(`USER ${ADDRESS}`)) ?? '', /^-ERR You are logged in/);
  loggedIn.close();
});

test('pipelined commands are answered in order, in any portions of bytes', async () => {
  const { server } = await opened();
  const client = await server.connect();
  const input = `USER ${ADDRESS}\r\nPASS ${TOKEN}\r\nSTAT\r\nRETR 1\r\nNOOP\nQUIT\r\n`;
  for (const byte of input) client.send(byte);
  const replies: string[] = [];
  for (let line = await client.line(); line !== undefined; line = await client.line()) replies.push(line);
  assert.deepEqual(
    replies.map((line) => line.slice(0, 5)),
    ['+OK S', '+OK 2', '+OK 2', '+OK 2', 'Subje', '', 'Hello', '.', '+OK S', '+OK B'],
  );
});

test('whatever is sent, each line is answered or the connection ends, and the server keeps running', async () => {
  const { server } = await opened();
  const words = [
    'USER',
    'PASS',
    'AUTH',
    'PLAIN',
    'STAT',
    'LIST',
    'UIDL',
    'RETR',
    'TOP',
    'DELE',
    'RSET',
    'NOOP',
    'CAPA',
    'UTF8',
    'STLS',
    '1',
    '2',
    '-1',
    '99999999999',
    '=',
    '*',
    '\0',
    'ü',
    '\t',
    ADDRESS,
    '',
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          fc.array(fc.constantFrom(...words), { maxLength: 4 }).map((each) => each.join(' ')),
          fc.string(),
        ),
        {
          maxLength: 12,
        },
      ),
      fc.boolean(),
      async (lines, loggedIn) => {
        const client = loggedIn ? await server.login() : await server.connect();
        client.send(`${lines.join('\r\n')}\r\n*\r\nQUIT\r\nQUIT\r\n`);
        await client.ended();
        client.close();
      },
    ),
    { numRuns: 200 },
  );
});

test('ten thousand pipelined commands are all answered', async () => {
  const { server } = await opened();
  const client = await server.login();
  client.send('NOOP\r\n'.repeat(10_000));
  for (let count = 0; count < 10_000; count++) assert.match((await client.line()) ?? '', /^\+OK/);
  client.close();
});

test('a big message is sent as fast as the client reads it, and completely', async () => {
  const line = `${'.'.repeat(70)}\r\n`;
  const big = `Subject: big\r\n\r\n${line.repeat(200_000)}`;
  const { server } = await opened([big]);
  const client = await server.login();
  client.socket.pause();
  client.send('RETR 1\r\n');
  client.socket.resume();
  assert.equal(await client.line(), `+OK ${big.length} octets`);
  let bytes = 0;
  for (const each of await client.body()) bytes += each.length + 2;
  assert.equal(bytes, big.length);
  client.close();
});

test('a client that does not read is disconnected, and keeps no message in memory', async () => {
  const { server } = await opened([`Subject: big\r\n\r\n${'x'.repeat(20_000_000)}\r\n`], { stuckReaderTimeoutMs: 100 });
  const client = await server.login();
  client.socket.pause();
  client.send('RETR 1\r\n'.repeat(3));
  // It is dropped while it does not read; what was in flight may still come.
  await waitUntil('the connection dropped', () => server.connections.size === 0);
  client.socket.resume();
  await client.ended();
});

test('an idle client is closed without a word, and nothing is deleted', async () => {
  const { maildrop, server } = await opened([FIRST], { idleTimeoutMs: 50, loginTimeoutMs: 5_000 });
  const client = await server.login();
  await client.command('DELE 1');
  assert.equal(await client.line(), undefined);
  assert.deepEqual(maildrop.expunged, []);
});

test('a client that does not log in within the time is disconnected', async () => {
  const { server } = await opened([FIRST], { loginTimeoutMs: 1_500 });
  const client = await server.connect();
  assert.equal(await client.line(), undefined);
});

test('a rotated token ends the session; nothing is deleted', async () => {
  const { maildrop, server } = await opened();
  const client = await server.login();
  await client.command('DELE 1');
  server.endSessions();
  assert.match((await client.line()) ?? '', /^-ERR \[SYS\/TEMP\] The mailbox or its token has changed/);
  await client.ended();
  assert.deepEqual(maildrop.expunged, []);
});

test('while the database is unreachable commands are -ERR [SYS/TEMP] and the connection stays open; QUIT says nothing was deleted', async () => {
  const { maildrop, server } = await opened();
  const client = await server.login();
  await client.command('DELE 1');
  maildrop.fail(new StoreUnavailable('away'));
  assert.match((await client.command('RETR 2')) ?? '', /^-ERR \[SYS\/TEMP\]/);
  maildrop.fail(undefined);
  assert.equal(await client.command('RETR 2'), `+OK ${SECOND.length} octets`);
  await client.body();
  maildrop.fail(new Error('a fault with secrets in it'));
  assert.match((await client.command('RETR 2')) ?? '', /^-ERR \[SYS\/TEMP\] .*req_[0-9a-f]+$/);
  assert.match((await client.command('QUIT')) ?? '', /^-ERR \[SYS\/TEMP\] .*nothing was deleted$/);
  await client.ended();
  maildrop.fail(undefined);
  assert.deepEqual(maildrop.expunged, []);
});

test('an error in the middle of a message closes the connection: a part must not look like the whole', async () => {
  const maildrop = memoryMaildrop([`Subject: big\r\n\r\n${'x\r\n'.repeat(100_000)}`]);
  const { slice } = maildrop.store;
  const store: typeof maildrop.store = {
    ...maildrop.store,
    slice: (messageId, from, length) =>
      from === 0 ? slice(messageId, from, length) : Promise.reject(new StoreUnavailable('away')),
  };
  const server = await startPop3({ ...maildrop, store });
  after(() => server.close());
  const client = await server.login();
  client.send('RETR 1\r\nNOOP\r\n');
  const lines: string[] = [];
  for (let line = await client.line(); line !== undefined; line = await client.line()) lines.push(line);
  assert.ok(!lines.includes('.') && !lines.some((line) => line.startsWith('+OK Still')));
});

test('on stop POP3 in transaction state removes nothing', async () => {
  const { maildrop, server } = await opened();
  const client = await server.login();
  await client.command('DELE 1');
  await server.close();
  await client.ended();
  assert.deepEqual(maildrop.expunged, []);
});

test('UTF8 is taken before login only', async () => {
  const { server } = await opened();
  const client = await server.connect();
  assert.match((await client.command('UTF8')) ?? '', /^\+OK/);
  const loggedIn = await server.login();
  assert.match((await loggedIn.command('UTF8')) ?? '', /^-ERR/);
  client.close();
  loggedIn.close();
});
