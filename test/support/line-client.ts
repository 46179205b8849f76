/** A client of line protocols without own logic, so that tests can break the rules too. */
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';

export class LineClient {
  socket: net.Socket;
  #buffer = Buffer.alloc(0);
  #ended = false;
  #wake: (() => void) | undefined;

  private constructor(socket: net.Socket) {
    this.socket = socket;
    this.#listen();
  }

  static async open(port: number, options: { secure?: boolean; localAddress?: string } = {}): Promise<LineClient> {
    const { secure = false, localAddress } = options;
    const plain = net.connect({ port, host: '127.0.0.1', ...(localAddress === undefined ? {} : { localAddress }) });
    await once(plain, 'connect');
    if (!secure) return new LineClient(plain);
    const client = new LineClient(plain);
    await client.startTls();
    return client;
  }

  #listen(): void {
    const ended = () => {
      this.#ended = true;
      this.#wake?.();
    };
    this.socket
      .on('data', (chunk: Buffer) => {
        this.#buffer = Buffer.concat([this.#buffer, chunk]);
        this.#wake?.();
      })
      .on('end', ended)
      .on('close', ended)
      .on('error', ended);
  }

  async startTls(): Promise<void> {
    this.socket.removeAllListeners('data').removeAllListeners('end').removeAllListeners('close');
    const secure = tls.connect({ socket: this.socket, rejectUnauthorized: false, servername: 'localhost' });
    await once(secure, 'secureConnect');
    this.socket = secure;
    this.#listen();
  }

  send(data: string | Buffer): void {
    this.socket.write(data);
  }

  /** The next line without its end; undefined when the connection has ended. */
  async line(): Promise<string | undefined> {
    for (;;) {
      const end = this.#buffer.indexOf('\r\n');
      if (end >= 0) {
        const line = this.#buffer.toString('latin1', 0, end);
        this.#buffer = this.#buffer.subarray(end + 2);
        return line;
      }
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }

  async command(text: string): Promise<string | undefined> {
    this.send(`${text}\r\n`);
    return this.line();
  }

  /** Of IMAP: all lines up to the tagged answer, that one included, or to the end of the connection. */
  async tagged(tag: string, text: string): Promise<string[]> {
    this.send(`${tag} ${text}\r\n`);
    const lines: string[] = [];
    for (let line = await this.line(); line !== undefined; line = await this.line()) {
      lines.push(line);
      if (line.startsWith(`${tag} `)) break;
    }
    return lines;
  }

  /** Lines up to the dot that ends them, with their dots unstuffed. */
  async body(): Promise<string[]> {
    const lines: string[] = [];
    for (let line = await this.line(); line !== '.'; line = await this.line()) {
      if (line === undefined) throw new Error('the connection ended within an answer');
      lines.push(line.startsWith('.') ? line.slice(1) : line);
    }
    return lines;
  }

  /** Resolves when the server has ended the connection. */
  async ended(): Promise<void> {
    while ((await this.line()) !== undefined);
  }

  close(): void {
    this.socket.destroy();
  }
}
