/** A client of SMTP without own logic, so that tests can break the rules too. */
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';

export class SmtpClient {
  socket: net.Socket;
  #buffer = '';
  #lines: string[] = [];
  #waiting: ((line: string) => void)[] = [];
  #lost = false;

  private constructor(socket: net.Socket) {
    this.socket = socket;
    this.#listen();
  }

  static async open(host: string, port: number): Promise<SmtpClient> {
    const socket = net.connect(port, host);
    const client = new SmtpClient(socket);
    await once(socket, 'connect');
    await client.reply();
    return client;
  }

  #listen(): void {
    this.socket.on('data', (chunk: Buffer) => {
      this.#buffer += chunk.toString('latin1');
      for (let end = this.#buffer.indexOf('\r\n'); end >= 0; end = this.#buffer.indexOf('\r\n')) {
        this.#deliver(this.#buffer.slice(0, end));
        this.#buffer = this.#buffer.slice(end + 2);
      }
    });
    const lost = () => {
      this.#lost = true;
      for (const waiting of this.#waiting.splice(0)) waiting('000 connection lost');
    };
    this.socket.on('close', lost).on('error', lost);
  }

  #deliver(line: string): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#lines.push(line);
    else waiting(line);
  }

  #line(): Promise<string> {
    const line = this.#lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.#lost) return Promise.resolve('000 connection lost');
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Whole reply; the lines of a long one are joined by line feeds. */
  async reply(): Promise<string> {
    const lines = [await this.#line()];
    while (lines.at(-1)?.[3] === '-') lines.push(await this.#line());
    return lines.join('\n');
  }

  command(line: string): Promise<string> {
    this.socket.write(`${line}\r\n`);
    return this.reply();
  }

  async startTls(caFile: Buffer): Promise<void> {
    await this.command('STARTTLS');
    this.socket.removeAllListeners('data').removeAllListeners('close').removeAllListeners('error');
    const secure = tls.connect({ socket: this.socket, ca: caFile, servername: 'localhost' });
    await once(secure, 'secureConnect');
    this.socket = secure;
    this.#listen();
  }

  /** MAIL, RCPT, DATA and the message, dot-stuffed; stops at the first refusal and answers it. */
  async send(from: string, to: readonly string[], message: string | Buffer): Promise<string> {
    for (const line of [
      'EHLO client.test',
      `MAIL FROM:<${from}>${/^[ -~]*$/.test([from, ...to].join('')) ? '' : ' SMTPUTF8'}`,
      ...to.map((each) => `RCPT TO:<${each}>`),
      'DATA',
    ]) {
      const reply = await this.command(line);
      if (!/^[23]/.test(reply)) return reply;
    }
    return this.data(message);
  }

  data(message: string | Buffer): Promise<string> {
    const text = typeof message === 'string' ? message.replace(/\r?\n/g, '\r\n') : message.toString('latin1');
    const stuffed = text.replace(/^\./gm, '..');
    this.socket.write(
      Buffer.from(
        `${stuffed}${stuffed.endsWith('\r\n') ? '' : '\r\n'}.\r\n`,
        typeof message === 'string' ? 'utf8' : 'latin1',
      ),
    );
    return this.reply();
  }

  close(): void {
    this.socket.end();
  }
}
