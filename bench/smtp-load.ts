/**
 * Load on the inbound SMTP listener: some connections, each sending its next message when the last one was answered, or
 * ending after some messages, with a new one in its place.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';

export interface SmtpLoad {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  readonly messages: number;
  /** A connection ends after so many messages, and the next one begins; default: all of them over the same ones. */
  readonly messagesPerConnection?: number;
  /** Used in turn, one per message. */
  readonly recipients: readonly string[];
  /** Size of a message in bytes, header included. */
  readonly messageBytes: number;
  readonly from?: string;
  readonly subject?: (message: number) => string;
  /** Called with the place of a message before its MAIL. */
  readonly onSent?: (message: number) => void;
  /** Called with the index of a message when its 250 has arrived. */
  readonly onAccepted?: (message: number) => void;
}

export interface SmtpLoadResult {
  readonly accepted: number;
  /** Replies other than 250, with how often they came. */
  readonly refused: ReadonlyMap<string, number>;
  readonly seconds: number;
  readonly perSecond: number;
  /** From MAIL to the reply of DATA, ascending; of the first message of a new connection from its first packet on. */
  readonly latenciesMs: readonly number[];
}

class Client {
  #socket: net.Socket;
  #buffer = '';
  #waiting: ((line: string) => void)[] = [];
  #lines: string[] = [];

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1').setNoDelay(true);
    socket.on('data', (text: string) => {
      this.#buffer += text;
      for (let end = this.#buffer.indexOf('\r\n'); end >= 0; end = this.#buffer.indexOf('\r\n')) {
        const line = this.#buffer.slice(0, end);
        this.#buffer = this.#buffer.slice(end + 2);
        if (line[3] !== '-') this.#deliver(line);
      }
    });
    const lost = () => {
      for (const waiting of this.#waiting.splice(0)) waiting('000 connection lost');
    };
    socket.on('close', lost).on('error', lost);
  }

  static async open(host: string, port: number): Promise<Client> {
    const socket = net.connect(port, host);
    await once(socket, 'connect');
    const client = new Client(socket);
    await client.reply();
    await client.command('EHLO load.test');
    return client;
  }

  #deliver(line: string): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#lines.push(line);
    else waiting(line);
  }

  reply(): Promise<string> {
    const line = this.#lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.#socket.destroyed) return Promise.resolve('000 connection lost');
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  command(line: string): Promise<string> {
    this.#socket.write(`${line}\r\n`);
    return this.reply();
  }

  /** Pipelined (RFC 2920): three commands at once, then the message. */
  async send(from: string, to: string, message: string): Promise<string> {
    this.#socket.write(`MAIL FROM:<${from}>\r\nRCPT TO:<${to}>\r\nDATA\r\n`);
    const replies = [await this.reply(), await this.reply(), await this.reply()];
    const refusal = replies.find((reply) => !/^[23]/.test(reply));
    if (refusal !== undefined) {
      await this.command('RSET');
      return refusal;
    }
    return this.command(`${message}.`);
  }

  close(): void {
    this.#socket.end('QUIT\r\n');
  }
}

const LINE = `${'The quick brown fox jumps over the lazy dog near the old mill. '.repeat(1).slice(0, 70)}\r\n`;

function messageOf(load: SmtpLoad, from: string, to: string, number: number): string {
  const header =
    `Date: ${new Date().toUTCString()}\r\nFrom: Load Maker <${from}>\r\nTo: <${to}>\r\n` +
    `Subject: ${load.subject?.(number) ?? `Message ${number}`}\r\nMessage-ID: <${randomBytes(12).toString('hex')}@load.test>\r\n` +
    'MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n';
  return header + LINE.repeat(Math.max(1, Math.round((load.messageBytes - header.length) / LINE.length)));
}

export async function smtpLoad(load: SmtpLoad): Promise<SmtpLoadResult> {
  const from = load.from ?? 'load@sender.test';
  const clients = await Promise.all(Array.from({ length: load.connections }, () => Client.open(load.host, load.port)));
  const latenciesMs: number[] = [];
  const refused = new Map<string, number>();
  let next = 0;
  const startedAt = performance.now();
  await Promise.all(
    clients.map(async (first) => {
      let [client, sent] = [first, 0];
      while (next < load.messages) {
        const number = next++;
        const to = load.recipients[number % load.recipients.length] ?? '';
        const message = messageOf(load, from, to, number);
        load.onSent?.(number);
        const sentAt = performance.now();
        if (sent === load.messagesPerConnection) {
          client.close();
          [client, sent] = [await Client.open(load.host, load.port), 0];
        }
        sent++;
        const reply = await client.send(from, to, message);
        if (reply.startsWith('250')) {
          latenciesMs.push(performance.now() - sentAt);
          load.onAccepted?.(number);
        } else refused.set(reply, (refused.get(reply) ?? 0) + 1);
        if (reply.startsWith('000') || reply.startsWith('421')) return;
      }
      client.close();
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    accepted: latenciesMs.length,
    refused,
    seconds,
    perSecond: latenciesMs.length / seconds,
    latenciesMs: latenciesMs.sort((a, b) => a - b),
  };
}
