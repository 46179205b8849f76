/** A client that ends its side after its last command still gets every answer: real sockets, TLS, deflated streams. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, test } from 'node:test';
import tls from 'node:tls';
import { constants, createInflateRaw, deflateRawSync, type InflateRaw } from 'node:zlib';
import { openMailWorld } from '#test/support/mail-world.ts';

const world = await openMailWorld();
after(() => world.close());
const { address, token } = await world.createMailbox('halfclose');

const WORDS = 'many words '.repeat(200_000);
const MESSAGE = `Subject: large\r\n\r\n${WORDS}\r\n`;

/** A socket that stays open for reading when its own side is ended. */
async function connect(port: number, secure: boolean): Promise<net.Socket> {
  const plain = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(plain, 'connect');
  if (!secure) return plain;
  const socket = tls.connect({ socket: plain, rejectUnauthorized: false, servername: 'localhost' });
  await once(socket, 'secureConnect');
  return socket;
}

/** Everything up to the end of the connection. */
async function everything(socket: net.Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'end');
  socket.destroy();
  return Buffer.concat(chunks).toString('latin1');
}

async function until(socket: net.Socket, pattern: RegExp): Promise<string> {
  let text = '';
  while (!pattern.test(text)) {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) await once(socket, 'readable');
    else text += chunk.toString('latin1');
  }
  return text;
}

const LOGIN = `l LOGIN ${address} ${token}\r\n`;
const COMMANDS = `${LOGIN}s SELECT INBOX\r\nf FETCH 1 BODY.PEEK[]\r\ni IDLE\r\nDONE\r\n`;

function assertAnswered(text: string, last: string): void {
  for (const tag of ['s', 'f', 'i']) assert.match(text, new RegExp(`^${tag} OK`, 'm'), `${tag}: ${text.slice(-200)}`);
  assert.ok(text.includes(WORDS), 'the message is whole');
  assert.match(text, new RegExp(`^${last}`, 'm'), text.slice(-200));
}

test('IMAP by TLS and by STARTTLS: commands in one go, then the end', async () => {
  const first = await connect(world.mail.imap.port, true);
  first.end(`${LOGIN}a APPEND INBOX {${MESSAGE.length}+}\r\n${MESSAGE}\r\n`);
  assert.match(await everything(first), /^a OK \[APPENDUID/m);

  const withLogout = await connect(world.mail.imap.port, true);
  withLogout.end(`${COMMANDS}o LOGOUT\r\n`);
  assertAnswered(await everything(withLogout), 'o OK LOGOUT');

  const without = await connect(world.mail.imap.port, true);
  without.end(`${COMMANDS}n NOOP\r\n`);
  assertAnswered(await everything(without), 'n OK NOOP');

  const plain = await connect(world.mail.imapStarttls.port, false);
  plain.end('c CAPABILITY\r\no LOGOUT\r\n');
  assert.match(await everything(plain), /^o OK LOGOUT/m);

  const started = await connect(world.mail.imapStarttls.port, false);
  started.write('t STARTTLS\r\n');
  await until(started, /^t OK.*\r\n/m);
  const secured = tls.connect({ socket: started, rejectUnauthorized: false, servername: 'localhost' });
  await once(secured, 'secureConnect');
  secured.end(`${COMMANDS}o LOGOUT\r\n`);
  assertAnswered(await everything(secured), 'o OK LOGOUT');
});

for (const finished of [true, false])
  test(`IMAP under COMPRESS=DEFLATE, the deflated stream ${finished ? 'finished' : 'only flushed'}`, async () => {
    const socket = await connect(world.mail.imap.port, true);
    socket.write(`${LOGIN}c COMPRESS DEFLATE\r\n`);
    await until(socket, /^c OK.*\r\n/m);
    const commands = `s SELECT INBOX\r\nf FETCH 1 BODY.PEEK[]\r\ni IDLE\r\nDONE\r\n${'n NOOP\r\n'.repeat(2_000)}o LOGOUT\r\n`;
    socket.end(deflateRawSync(commands, { finishFlush: finished ? constants.Z_FINISH : constants.Z_SYNC_FLUSH }));
    const inflate: InflateRaw = createInflateRaw({ finishFlush: constants.Z_SYNC_FLUSH });
    socket.pipe(inflate);
    let text = '';
    inflate.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    await once(inflate, 'end');
    assertAnswered(text, 'o OK LOGOUT');
    assert.equal(text.match(/^n OK/gm)?.length, 2_000);
    socket.destroy();
  });

for (const secure of [true, false])
  test(`POP3 ${secure ? 'under TLS' : 'before TLS'}: QUIT is answered and deletes, an end without QUIT deletes nothing`, async () => {
    const port = secure ? world.mail.pop3.port : world.mail.pop3Starttls.port;
    if (!secure) {
      const plain = await connect(port, false);
      plain.end('CAPA\r\nQUIT\r\n');
      assert.match(await everything(plain), /^\+OK Bye/m);
      return;
    }
    const login = `USER ${address}\r\nPASS ${token}\r\n`;
    const lost = await connect(port, true);
    lost.end(`${login}RETR 1\r\nDELE 1\r\n`);
    const answers = await everything(lost);
    assert.ok(answers.includes(WORDS));
    assert.match(answers, /^\+OK.*\r\n$/m);
    const quit = await connect(port, true);
    quit.end(`${login}STAT\r\nRETR 1\r\nDELE 1\r\nQUIT\r\n`);
    const text = await everything(quit);
    assert.match(text, /^\+OK 1 /m);
    assert.ok(text.includes(WORDS));
    assert.match(text, /\+OK Bye, 1 deleted\r\n$/);
  });

test('a client that closes its side silently is not waited for', async () => {
  for (const [port, secure] of [
    [world.mail.imap.port, true],
    [world.mail.imapStarttls.port, false],
    [world.mail.pop3.port, true],
    [world.mail.pop3Starttls.port, false],
  ] as const) {
    const socket = await connect(port, secure);
    socket.end();
    await everything(socket);
  }
});
