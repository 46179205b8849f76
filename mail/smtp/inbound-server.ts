/**
 * smtp-server, fed with connections by a door, with what inbound mail needs beyond its options: enhanced status codes of our choice (the package derives
 * one from the reply code alone), and a stop that ends idle connections at once but lets messages in flight finish.
 */
import type net from 'node:net';
import type tls from 'node:tls';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';

const OWN_ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;

export class InboundConnection extends SMTPConnection {
  /** A text that begins with an enhanced status code is sent as it is. */
  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    const own = typeof data === 'string' && OWN_ENHANCED_CODE.test(data);
    // AUTH is announced under TLS only; before it, the package refuses it with 538.
    const shown = Array.isArray(data) && !this.secure ? data.filter((line) => !line.startsWith('AUTH ')) : data;
    super.send(code, shown, own ? false : context);
  }

  /**
   * Answers MAIL a moment later: a transaction that came in one piece behind another one would otherwise run to its end
   * within the package's `continue()`, which then forgets to go on behind it, and the line would hang.
   */
  override handler_MAIL(command: Buffer, callback: () => void): void {
    super.handler_MAIL(command, () => queueMicrotask(callback));
  }

  get receiving(): boolean {
    return Boolean(this._dataStream);
  }

  drop(): void {
    this._socket.destroy();
  }

  /** @param text behind 421, with its enhanced status code */
  end(text: string): void {
    this.send(421, text);
    this.close();
  }
}

export class InboundServer extends SMTPServer {
  #inbound = new Set<InboundConnection>();
  #draining = false;
  /** To be ended after the message they are sending, with these words. */
  #ending = new Map<InboundConnection, string>();

  constructor(options: SMTPServerOptions) {
    super(options);
  }

  override connect(socket: net.Socket | tls.TLSSocket, socketOptions?: SMTPConnectionOptions | null): void {
    const connection = this.connectionOf(socket, socketOptions);
    this.connections.add(connection);
    this.#inbound.add(connection);
    socket.once('close', () => {
      this.#inbound.delete(connection);
      this.#ending.delete(connection);
    });
    connection.on('error', (error: Error) => this.emit('error', error));
    connection.init();
  }

  protected connectionOf(
    socket: net.Socket | tls.TLSSocket,
    options?: SMTPConnectionOptions | null,
  ): InboundConnection {
    return new InboundConnection(this, socket, options);
  }

  /** Cuts a connection without a word, where reading on would only feed an attacker. */
  drop(session: SMTPServerSession): void {
    for (const connection of this.#inbound) if (connection.session === session) connection.drop();
  }

  /** Says goodbye to a connection: at once, or after the message it is just sending. */
  end(session: SMTPServerSession, text: string): void {
    for (const connection of this.#inbound) {
      if (connection.session !== session) continue;
      if (connection.receiving) this.#ending.set(connection, text);
      else connection.end(text);
    }
  }

  /** Call when a message was answered: while draining, its connection ends there. */
  afterMessage(): void {
    for (const [connection, text] of this.#ending)
      setImmediate(() => {
        if (!connection.receiving) connection.end(text);
      });
    this.#ending.clear();
    if (this.#draining) setImmediate(() => this.#endIdle());
  }

  /** Ends connections without a message in flight, and the others after theirs. The listener is somebody else's. */
  drain(): void {
    this.#draining = true;
    this.#endIdle();
  }

  #endIdle(): void {
    for (const connection of this.#inbound) {
      if (connection.receiving) continue;
      connection.end('4.3.2 Shutting down, try again in a moment');
    }
  }
}
