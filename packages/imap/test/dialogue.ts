/**
 * Plays dialogues written as in the RFCs:
 *
 *     C: a1 NOOP
 *     S: * 3 EXISTS
 *     S: a1 OK NOOP completed
 *
 * `S:` lines must arrive exactly so, in this order; `...` stands for any text within the line, and a tagged answer may
 * be cut after its status or code. `C2:`/`S2:` speak over a second connection to the same mailbox. Text after the last
 * `S:` line of a client's command is not expected. `S: *** text` passes over lines until that one comes. Spaces at the
 * beginning of a line do not count.
 */
import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import type { Login, MailboxStore } from '@agent-mailbox/mail-store';
import { type ImapConnection, type ImapOptions, serveImap } from '#imap/serve.ts';
import type { MemoryStore } from './memory-store.ts';
import { DialogueRecorder } from './recorded-dialogues.ts';

const ANSWER_MS = 5_000;
export const TOKEN = 'mbx_secret';
export const ADDRESS = 'agent@example.com';

/** Both ends of a connection in memory. */
class End extends Duplex {
  other: End | null = null;
  override _read(): void {
    this.resumeOther?.();
  }
  resumeOther: (() => void) | null = null;
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const { other } = this;
    if (other === null || other.destroyed || other.readableEnded) {
      done();
      return;
    }
    if (other.push(chunk)) done();
    else
      other.resumeOther = () => {
        other.resumeOther = null;
        done();
      };
  }
  override _final(done: () => void): void {
    if (this.other !== null && !this.other.destroyed) this.other.push(null);
    done();
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { other } = this;
    if (other !== null && !other.destroyed && !other.readableEnded) other.push(null);
    done(error);
  }
}

export function pair(): [End, End] {
  const a = new End();
  const b = new End();
  a.other = b;
  b.other = a;
  return [a, b];
}

export class Client {
  readonly socket: Duplex;
  readonly #far: Duplex;
  readonly connection: ImapConnection;
  readonly #received: string[] = [];
  #rest = '';
  #wake: (() => void) | null = null;
  readonly #recorder = new DialogueRecorder();
  ended = false;

  constructor(store: MailboxStore, options: Partial<ImapOptions> & { loggedInBy?: Login } = {}) {
    const [near, far] = pair();
    this.socket = near;
    this.#far = far;
    this.connection = serveImap(far, {
      tls: true,
      login: loginTo(store),
      remoteAddress: '192.0.2.1',
      hostname: 'mail.example.com',
      serverName: 'Agent Mailbox',
      messageMaxBytes: 26_214_400,
      ...options,
    });
    near.on('data', (chunk: Buffer) => this.receive(chunk));
    near.on('end', () => {
      this.ended = true;
      this.#wake?.();
    });
    near.on('error', () => undefined);
  }

  /** As the network does it: the connection is gone on the side of the server, whatever was sent before. */
  breakOff(): void {
    this.#far.destroy();
  }

  receive(chunk: Buffer): void {
    this.#rest += chunk.toString('latin1');
    for (let lf = this.#rest.indexOf('\n'); lf >= 0; lf = this.#rest.indexOf('\n')) {
      const line = this.#rest.slice(0, lf).replace(/\r$/, '');
      this.#recorder.heard(line);
      this.#received.push(line);
      this.#rest = this.#rest.slice(lf + 1);
    }
    this.#wake?.();
  }

  /** Text in UTF-8. */
  send(text: string): void {
    this.#recorder.sent(text);
    this.socket.write(Buffer.from(text, 'utf8'));
  }

  /** The next line from the server; undefined when the connection ended. */
  async line(): Promise<string | undefined> {
    const end = performance.now() + ANSWER_MS;
    while (this.#received.length === 0 && !this.ended) {
      const left = end - performance.now();
      assert.ok(left > 0, `no answer within ${ANSWER_MS} ms; rest: ${JSON.stringify(this.#rest)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = null;
    }
    return this.#received.shift();
  }

  /** All lines up to the tagged answer, that one included. */
  async command(tag: string, text: string): Promise<string[]> {
    this.send(`${tag} ${text}\r\n`);
    const lines: string[] = [];
    for (;;) {
      const line = await this.line();
      if (line === undefined) return lines;
      lines.push(line);
      if (line.startsWith(`${tag} `)) return lines;
    }
  }

  get waiting(): readonly string[] {
    return this.#received;
  }

  async close(): Promise<void> {
    this.socket.destroy();
    await this.connection.done;
  }
}

export const loginTo =
  (store: MailboxStore, closers: Set<() => void> = new Set()): Login =>
  async ({ address, token }) => {
    if (address.toLowerCase() !== ADDRESS || token !== TOKEN) return { kind: 'refused' };
    return {
      kind: 'ok',
      account: { mailboxId: 'mbx_1', address: ADDRESS },
      store,
      onClosed(listener) {
        closers.add(listener);
        return () => closers.delete(listener);
      },
    };
  };

/** A client past the greeting. */
export async function connect(store: MailboxStore, options: Partial<ImapOptions> = {}): Promise<Client> {
  const client = new Client(store, options);
  assert.match((await client.line()) ?? '', /^\* OK /);
  return client;
}

export async function loggedIn(store: MailboxStore, options: Partial<ImapOptions> = {}): Promise<Client> {
  const client = await connect(store, options);
  const lines = await client.command('login', `LOGIN ${ADDRESS} ${TOKEN}`);
  assert.match(lines.at(-1) ?? '', /^login OK/);
  return client;
}

function expectation(text: string): RegExp {
  const source = text
    .split('...')
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
    .join('.*');
  // Of a tagged answer the human text may be left out.
  const tagged = /^\S+ (?:OK|NO|BAD)(?: \[[^\]]*\])?$/.test(text) && !text.startsWith('* ');
  const untagged = /^\* (?:OK|BYE)(?: \[.*\])?$/.test(text);
  return new RegExp(`^${source}${tagged || untagged ? '(?: .*)?' : ''}$`, 's');
}

/**
 * Plays a dialogue over logged-in connections and checks every line.
 *
 * @param script lines `C:`/`S:`, `C2:`/`S2:`; blank lines and `--` comments are passed over
 */
export async function play(store: MemoryStore, script: string, options: Partial<ImapOptions> = {}): Promise<void> {
  const clients = new Map<string, Client>();
  try {
    await playOn(clients, (name) => clients.get(name) ?? undefined, store, script, options);
  } finally {
    for (const client of clients.values()) await client.close();
  }
  assert.equal(store.watchers, 0, 'a folder is still watched');
  assert.equal(store.openSpools, 0, 'a spool was left');
}

async function playOn(
  clients: Map<string, Client>,
  known: (name: string) => Client | undefined,
  store: MemoryStore,
  script: string,
  options: Partial<ImapOptions>,
): Promise<void> {
  const lines = script
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('--'));
  for (const [i, line] of lines.entries()) {
    const [, side = '', name = '', text = ''] =
      /^([CS])(\d*): ?(.*)$/s.exec(line) ?? assert.fail(`not a line: ${line}`);
    let client = known(name);
    if (client === undefined) {
      client = await loggedIn(store, options);
      clients.set(name, client);
    }
    if (side === 'C') {
      // What another connection did is seen before this one speaks.
      assert.deepEqual(client.waiting, [], `unexpected before line ${i + 1}: ${line}`);
      client.send(`${text}\r\n`);
    } else {
      // `*** text`: all lines up to a line of this text.
      const skipping = text.startsWith('*** ');
      const wanted = expectation(skipping ? text.slice(4) : text);
      let got = await client.line();
      while (skipping && got !== undefined && !wanted.test(got)) got = await client.line();
      assert.ok(got !== undefined, `the connection ended before: ${line}`);
      const shown = Buffer.from(got, 'latin1').toString('utf8').trimStart();
      assert.match(shown, wanted, `line ${i + 1}`);
    }
  }
  for (const client of clients.values()) assert.deepEqual(client.waiting, [], 'unexpected at the end');
}
