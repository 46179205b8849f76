/** A client that closes its side behind its last command still gets every answer (RFC 9293 §3.6), with TLS and without. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, test } from 'node:test';
import tls from 'node:tls';
import { letter, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { storedMail } from '#test/support/stored-mail.ts';

const world = await openMailWorld();
after(() => world.close());

type Way = 'inbound' | 'inbound after STARTTLS' | 'submission by TLS' | 'submission after STARTTLS';
const WAYS: readonly Way[] = ['inbound', 'inbound after STARTTLS', 'submission by TLS', 'submission after STARTTLS'];

/** Reads replies; lines of one reply are one. */
class Replies {
  readonly #socket: net.Socket;
  #text = '';
  constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString();
    });
  }
  /** Waits for so many complete replies. */
  async take(count: number): Promise<string[]> {
    for (;;) {
      const replies = this.#text.match(/(?:\d{3}-[^\n]*\n)*\d{3} [^\n]*\n/g) ?? [];
      if (replies.length >= count) {
        this.#text = this.#text.slice(replies.slice(0, count).join('').length);
        return replies.slice(0, count);
      }
      await once(this.#socket, 'data');
    }
  }
  /** Everything up to the server's end. */
  async rest(): Promise<string> {
    if (!this.#socket.readableEnded) await once(this.#socket, 'end');
    return this.#text;
  }
}

/** Greeted, secured and logged in as the way says. */
async function connect(way: Way, { address, token }: TestMailbox): Promise<net.Socket> {
  const { smtp, submission, submissionStarttls } = world.mail;
  const { port } = way.startsWith('inbound') ? smtp : way === 'submission by TLS' ? submission : submissionStarttls;
  let socket: net.Socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const secure = async () => {
    socket.removeAllListeners('data');
    socket = tls.connect({ socket, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
  };
  if (way === 'submission by TLS') await secure();
  let replies = new Replies(socket);
  await replies.take(1);
  if (way.endsWith('STARTTLS')) {
    socket.write('EHLO client.test\r\nSTARTTLS\r\n');
    await replies.take(2);
    await secure();
    replies = new Replies(socket);
  }
  socket.write('EHLO client.test\r\n');
  await replies.take(1);
  if (!way.startsWith('submission')) return socket;
  socket.write(`AUTH PLAIN ${Buffer.from(`\0${address}\0${token}`).toString('base64')}\r\n`);
  assert.match((await replies.take(1)).join(''), /^235 /);
  return socket;
}

const bytesOf = (sender: TestMailbox): string =>
  letter('half closed').replace('bob@example.com', sender.address).replace(/\n/g, '\r\n');

for (const way of WAYS) {
  const key = way.replaceAll(' ', '-').toLowerCase();

  test(`${way}: behind the dot`, async () => {
    const [sender, receiver] = [await world.createMailbox(`${key}-dot`), await world.createMailbox(`${key}-dot-to`)];
    const socket = await connect(way, sender);
    const replies = new Replies(socket);
    socket.write(`MAIL FROM:<${sender.address}>\r\nRCPT TO:<${receiver.address}>\r\nDATA\r\n`);
    await replies.take(3);
    socket.end(`${bytesOf(sender)}.\r\n`);
    assert.match(await replies.rest(), /^250 [^\n]*\n$/);
    assert.equal((await storedMail(world, receiver)).length, 1);
  });

  test(`${way}: behind QUIT and everything before it, in one piece`, async () => {
    const [sender, receiver] = [await world.createMailbox(`${key}-quit`), await world.createMailbox(`${key}-quit-to`)];
    const socket = await connect(way, sender);
    const replies = new Replies(socket);
    const transaction = `MAIL FROM:<${sender.address}>\r\nRCPT TO:<${receiver.address}>\r\nDATA\r\n`;
    socket.end(`${transaction}${bytesOf(sender)}.\r\n${transaction}${bytesOf(sender)}.\r\nNOOP\r\nQUIT\r\n`);
    const answers = (await replies.rest()).match(/^\d{3}/gm);
    assert.deepEqual(answers, ['250', '250', '354', '250', '250', '250', '354', '250', '250', '221']);
    assert.equal((await storedMail(world, receiver)).length, 2);
  });

  test(`${way}: within a message, which is not stored then`, async () => {
    const [sender, receiver] = [await world.createMailbox(`${key}-cut`), await world.createMailbox(`${key}-cut-to`)];
    const socket = await connect(way, sender);
    const replies = new Replies(socket);
    socket.on('error', () => {});
    socket.write(`MAIL FROM:<${sender.address}>\r\nRCPT TO:<${receiver.address}>\r\nDATA\r\n`);
    await replies.take(3);
    socket.end(bytesOf(sender));
    await once(socket, 'close');
    assert.deepEqual(await storedMail(world, receiver), []);
  });
}
