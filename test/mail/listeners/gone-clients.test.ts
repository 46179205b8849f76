/** Connections of clients that go away, at every moment up to the first command under TLS, are no longer counted. */
import { once } from 'node:events';
import net from 'node:net';
import { Duplex } from 'node:stream';
import { after, test } from 'node:test';
import tls from 'node:tls';
import { openMailWorld } from '#test/support/mail-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** How often each client comes and goes: some end while the server is a step further than at other times. */
const ROUNDS = 3;
const SMTP_GREETING = /^220 .*\r\n/;

/** Fills the total as well, where connections stay counted there. */
const TOTAL = 64;
const world = await openMailWorld({
  settings: {
    SMTP_MAX_CLIENTS: String(TOTAL),
    SUBMISSION_MAX_CLIENTS: String(TOTAL),
    IMAP_MAX_CLIENTS: String(TOTAL),
    POP3_MAX_CLIENTS: String(TOTAL),
    SMTP_CLIENTS_PER_ADDRESS: '1',
    MAIL_CLIENTS_PER_ADDRESS: '1',
  },
});
after(() => world.close());
const { mail } = world;

interface Listener {
  readonly name: string;
  readonly port: number;
  readonly greeting: RegExp;
  /** Commands up to the one that begins TLS, each with its answer. Absent: TLS from the first byte. */
  readonly startTls?: readonly (readonly [string, RegExp])[];
  readonly command: string;
}

const SMTP_STARTTLS = [
  ['EHLO client.test', /^250 .*\r\n/m],
  ['STARTTLS', /^220 .*\r\n/],
] as const;
const LISTENERS: readonly Listener[] = [
  { name: 'smtp', port: mail.smtp.port, greeting: SMTP_GREETING, startTls: SMTP_STARTTLS, command: 'EHLO me' },
  {
    name: 'submission',
    port: mail.submissionStarttls.port,
    greeting: SMTP_GREETING,
    startTls: SMTP_STARTTLS,
    command: 'EHLO me',
  },
  { name: 'submissions', port: mail.submission.port, greeting: SMTP_GREETING, command: 'EHLO me' },
  {
    name: 'imap',
    port: mail.imapStarttls.port,
    greeting: /^\* OK .*\r\n/,
    startTls: [['a STARTTLS', /^a OK.*\r\n/m]],
    command: 'b NOOP',
  },
  { name: 'imaps', port: mail.imap.port, greeting: /^\* OK .*\r\n/, command: 'b NOOP' },
  {
    name: 'pop3',
    port: mail.pop3Starttls.port,
    greeting: /^\+OK .*\r\n/,
    startTls: [['STLS', /^\+OK.*\r\n/]],
    command: 'CAPA',
  },
  { name: 'pop3s', port: mail.pop3.port, greeting: /^\+OK .*\r\n/, command: 'CAPA' },
];

/** What a client sends first under TLS. */
async function clientHello(): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const line = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      resolve(chunk);
      done();
    },
  });
  const client = tls.connect({ socket: line, servername: 'localhost' });
  client.on('error', () => {});
  const hello = await promise;
  client.destroy();
  line.destroy();
  return hello;
}

async function until(socket: net.Socket, pattern: RegExp): Promise<void> {
  let text = '';
  while (!pattern.test(text)) {
    const chunk: Buffer | null = socket.read();
    if (chunk !== null) text += chunk.toString('latin1');
    else if (socket.readableEnded || socket.destroyed) throw new Error(`ended behind ${text}`);
    else await Promise.race([once(socket, 'readable'), once(socket, 'end'), once(socket, 'close')]);
  }
}

async function secured(plain: net.Socket): Promise<tls.TLSSocket> {
  const socket = tls.connect({ socket: plain, rejectUnauthorized: false, servername: 'localhost' });
  await once(socket, 'secureConnect');
  socket.on('error', () => {});
  return socket;
}

type Step = (plain: net.Socket, listener: Listener) => Promise<unknown>;

const greeted: Step = (plain, { greeting }) => until(plain, greeting);
const readyForTls: Step = async (plain, listener) => {
  if (listener.startTls === undefined) return;
  await greeted(plain, listener);
  for (const [command, answer] of listener.startTls) {
    plain.write(`${command}\r\n`);
    await until(plain, answer);
  }
};

/** How far clients get before they go. */
const MOMENTS: readonly (readonly [string, Step])[] = [
  ['at once', async () => {}],
  ['behind the greeting', (plain, listener) => (listener.startTls ? greeted(plain, listener) : Promise.resolve())],
  ['before the handshake', readyForTls],
  [
    'within the first message of the handshake',
    async (plain, listener) => {
      await readyForTls(plain, listener);
      const hello = await clientHello();
      await new Promise((sent) => plain.write(hello.subarray(0, hello.length / 2), sent));
    },
  ],
  [
    'behind the first message of the handshake',
    async (plain, listener) => {
      await readyForTls(plain, listener);
      plain.write(await clientHello());
      await once(plain, 'readable');
    },
  ],
  [
    'behind the handshake',
    async (plain, listener) => {
      await readyForTls(plain, listener);
      await secured(plain);
    },
  ],
  [
    'behind a command under TLS',
    async (plain, listener) => {
      await readyForTls(plain, listener);
      const socket = await secured(plain);
      socket.write(`${listener.command}\r\n`);
      await once(socket, 'readable');
    },
  ],
];

const WAYS: readonly (readonly [string, (plain: net.Socket) => void])[] = [
  ['closes', (plain) => void plain.destroy()],
  ['resets', (plain) => void plain.resetAndDestroy()],
  ['ends its side', (plain) => void plain.end()],
];

let network = 0;

for (const listener of LISTENERS)
  test(`${listener.name}: a client that goes away is no longer counted, whenever and however it goes`, async () => {
    const { port, greeting, startTls } = listener;
    const prefix = `127.1.${++network}`;
    const connect = async (localAddress: string): Promise<net.Socket> => {
      const plain = net.connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
      plain.on('error', () => {});
      await once(plain, 'connect');
      return plain;
    };
    /** Whether a further connection of the address is served. */
    const isServed = async (address: string): Promise<boolean> => {
      const plain = await connect(address);
      try {
        await until(startTls === undefined ? await secured(plain) : plain, greeting);
        return true;
      } catch {
        return false;
      } finally {
        plain.destroy();
      }
    };
    /** A connection that has got so far; undefined while the one before it is counted. */
    const arrived = async (address: string, arrive: Step): Promise<net.Socket | undefined> => {
      const plain = await connect(address);
      try {
        await arrive(plain, listener);
        return plain;
      } catch {
        plain.destroy();
        return undefined;
      }
    };
    let host = 0;
    await Promise.all(
      MOMENTS.flatMap(([moment, arrive]) =>
        WAYS.map(async ([way, leave]) => {
          const address = `${prefix}.${++host}`;
          for (let round = 0; round < ROUNDS; round++) {
            const plain = await waitUntil(`${listener.name} ${moment}`, () => arrived(address, arrive));
            leave(plain);
            await waitUntil(`a free place behind a client that ${way} ${moment}`, () => isServed(address));
            plain.destroy();
          }
        }),
      ),
    );
  });
