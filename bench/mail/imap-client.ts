/** A minimal mail client: it finds the end of an answer and counts bytes, so that only the server is measured. */
import { once } from 'node:events';
import tls from 'node:tls';
import type { ListenerAddress } from '#mail/client-listeners.ts';

/** Any last line of an answer fits. */
const TAIL_CHARACTERS = 4_096;

export interface ImapAnswer {
  /** From the first byte written to the tagged line read. */
  readonly ms: number;
  readonly bytes: number;
  /** The whole answer if requested, else its end. */
  readonly text: string;
}

interface Waiting {
  readonly ends: (lastLine: string) => boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export class ImapClient {
  readonly #socket: tls.TLSSocket;
  #tail = '';
  #kept: Buffer[] | undefined;
  #bytes = 0;
  #tag = 0;
  #waiting: Waiting | undefined;
  #onExists: ((total: number) => void) | undefined;

  private constructor(socket: tls.TLSSocket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    const lost = () => this.#waiting?.reject(new Error(`the connection was lost: ${this.#tail.slice(-200)}`));
    socket.on('close', lost).on('error', lost);
  }

  static async open({ host, port }: ListenerAddress): Promise<ImapClient> {
    // The measured server's own certificate; nothing secret is sent over this connection.
    const socket = tls.connect({ host, port, rejectUnauthorized: false });
    socket.setNoDelay(true);
    await once(socket, 'secureConnect');
    const client = new ImapClient(socket);
    await client.#end((line) => line.startsWith('* '));
    return client;
  }

  static async loggedIn(listener: ListenerAddress, account: { address: string; token: string }): Promise<ImapClient> {
    const client = await ImapClient.open(listener);
    await client.command(`LOGIN ${account.address} ${account.token}`);
    return client;
  }

  /** @throws when the answer is not OK */
  async command(text: string, options: { keep?: boolean; literals?: readonly Buffer[] } = {}): Promise<ImapAnswer> {
    const tag = `T${++this.#tag}`;
    this.#begin(options.keep === true);
    const startedAt = performance.now();
    const answered = this.#end((line) => line.startsWith(`${tag} `));
    if (options.literals === undefined) this.#socket.write(`${tag} ${text}\r\n`);
    else {
      // RFC 7888 and RFC 3502: several messages with literals that wait for nothing.
      const parts = options.literals.flatMap((bytes) => [Buffer.from(` {${bytes.length}+}\r\n`), bytes]);
      this.#socket.write(Buffer.concat([Buffer.from(`${tag} ${text}`), ...parts, Buffer.from('\r\n')]));
    }
    await answered;
    const ms = performance.now() - startedAt;
    if (!this.#lastLine().startsWith(`${tag} OK`)) throw new Error(`${text.slice(0, 80)}: ${this.#lastLine()}`);
    const kept = this.#kept;
    this.#kept = undefined;
    return {
      ms,
      bytes: this.#bytes,
      text: kept === undefined ? this.#tail : Buffer.concat(kept).toString('latin1'),
    };
  }

  /** Resolves when the server says that it waits. */
  async idle(onExists?: (total: number) => void): Promise<void> {
    this.#begin(false);
    this.#onExists = onExists;
    const idling = this.#end((line) => line.startsWith('+ '));
    this.#socket.write(`T${++this.#tag} IDLE\r\n`);
    await idling;
  }

  close(): void {
    this.#socket.destroy();
  }

  #begin(keep: boolean): void {
    this.#tail = '';
    this.#bytes = 0;
    this.#kept = keep ? [] : undefined;
  }

  #end(ends: (lastLine: string) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error('the connection is closed'));
      this.#waiting = { ends, resolve, reject };
    });
  }

  #lastLine(): string {
    if (!this.#tail.endsWith('\r\n')) return '';
    const before = this.#tail.lastIndexOf('\r\n', this.#tail.length - 3);
    return before < 0 ? this.#tail : this.#tail.slice(before + 2);
  }

  #take(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#kept?.push(chunk);
    const end = chunk.subarray(-TAIL_CHARACTERS).toString('latin1');
    this.#tail = chunk.length >= TAIL_CHARACTERS ? end : (this.#tail + end).slice(-TAIL_CHARACTERS);
    if (this.#onExists !== undefined)
      for (const [, total] of end.matchAll(/\* (\d+) EXISTS/g)) this.#onExists(Number(total));
    if (this.#waiting?.ends(this.#lastLine()) !== true) return;
    const { resolve } = this.#waiting;
    this.#waiting = undefined;
    resolve();
  }
}
