/**
 * smtp-server, fed with connections by a listener, with what inbound mail needs beyond its options:
 *
 * - enhanced status codes of our choice (the package derives one from the reply code alone);
 * - a stop that ends idle connections at once but lets messages in flight finish;
 * - sources that were patient: a program that talks before it is greeted does not read answers (RFC 5321 §3.1), so it is a
 *   robot. To find out costs every connection a wait; a source that waited once is greeted at once from then on, until it
 *   talks too soon or is not seen for a while;
 * - replies to pipelined commands as a unit (RFC 2920 §3.2): MAIL, RCPT and DATA that came together are answered in one
 *   packet. A reply waits only while a command that arrived with its own is carried out;
 * - a call for each reply that refuses something, from whichever part of the package: for the mail log.
 */
import type net from 'node:net';
import type { Writable } from 'node:stream';
import tls from 'node:tls';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import { sourceOf } from '#core/platform/addresses/source-address.ts';
import {
  SMTP_BAD_COMMANDS_MAX,
  SMTP_COMMANDS_WITHOUT_MESSAGE_MAX,
  SMTP_PATIENT_SOURCE_MS,
  SMTP_PATIENT_SOURCES_MAX,
} from '#domain/mail/mail-limits.ts';
import { endWithClient } from '#mail/tls.ts';
import {
  type AddressCommand,
  type KnownParameters,
  parameterFault,
  plainPath,
  readAddress,
  readAddressCommand,
} from './address-command.ts';

/** RFC 5321 §4.2.3: how a connection above the limits is refused. */
export const smtpConnectionRefusal =
  (hostname: string) =>
  (reason: string): string =>
    `421 4.7.0 ${hostname} ${reason}\r\n`;

/** A reply from 400 on. */
export interface RefusalReply {
  /** Before the greeting it is empty. */
  readonly session: SMTPServerSession;
  readonly remoteAddress: string;
  /** The command that was refused; `greeting` if it came before the greeting. */
  readonly step: string;
  /** The address of MAIL or RCPT, as the client wrote it. */
  readonly address: string | undefined;
  readonly code: number;
  /** Whole, code included. */
  readonly text: string;
}

/** Others may be secrets, or anything. */
const STEPS: ReadonlySet<string> = new Set(['HELO', 'EHLO', 'STARTTLS', 'AUTH', 'MAIL', 'RCPT', 'DATA']);
const PATH = /<([^<>]*)>/;
/** The end of a connection that refuses nothing: shutdown and idle connections. */
const ENDS_ONLY = /^(4\.3\.2 |Timeout|Server shutting down)/;

const OWN_ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;

export class InboundConnection extends SMTPConnection {
  /** What waits for the end of the TCP connection, from before its protocol began. */
  #closeListeners: ReturnType<net.Socket['listeners']> = [];
  #messages = 0;
  /** Since the last message. */
  #commands = 0;
  #badCommands = 0;
  #tooSoon = false;
  /** Of the command that is carried out. */
  #step = 'other';
  #address: string | undefined;
  readonly #patient: PatientSources;
  readonly #replies = new PipelinedReplies();
  readonly #onRefusal: (refusal: RefusalReply) => void;

  constructor(
    server: InboundServer,
    socket: net.Socket | tls.TLSSocket,
    options: SMTPConnectionOptions | null | undefined,
  ) {
    super(server, socket, options);
    this.#patient = server.patientSources;
    this.#onRefusal = server.onRefusal;
  }

  /** The package greets every client 100 ms late, to notice those that talk before; here only those not known yet. */
  override init(): void {
    this.#closeListeners = this._socket.listeners('close');
    if (!this.#patient.has(this.remoteAddress)) super.init();
    else this._setListeners(() => setImmediate(() => this.connectionReady()));
  }

  override connectionReady(next?: () => void): void {
    if (!this.#tooSoon && !this._closed) this.#patient.add(this.remoteAddress);
    super.connectionReady(next);
  }

  /** The package removes all listeners of the TCP socket, also those by which connections are counted. */
  override upgrade(...given: Parameters<SMTPConnection['upgrade']>): void {
    const socket = this._socket;
    this.#replies.flush();
    super.upgrade(...given);
    for (const listener of this.#closeListeners)
      socket.once('close', (hadError) => Reflect.apply(listener, socket, [hadError]));
  }

  /** The package gives the socket of TLS here, before its handshake, and nowhere else. */
  override _armTimeout(socket?: net.Socket): void {
    super._armTimeout(socket);
    if (this._upgrading && socket instanceof tls.TLSSocket) endWithClient(socket);
  }

  /** A text that begins with an enhanced status code is sent as it is. */
  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    const socket = this._socket;
    if (socket.readyState === 'writeOnly')
      Object.defineProperty(socket, 'readyState', { get: () => (socket.writable ? 'open' : 'closed') });
    const own = typeof data === 'string' && OWN_ENHANCED_CODE.test(data);
    // AUTH is announced under TLS only; before it, the package refuses it with 538.
    const shown = Array.isArray(data) && !this.secure ? data.filter((line) => !line.startsWith('AUTH ')) : data;
    super.send(code, shown, own ? false : context);
    this.#replies.written();
    const text = String(data ?? '');
    if (code >= 400 && !ENDS_ONLY.test(text)) {
      const { session, remoteAddress } = this;
      const refused = { session, remoteAddress, step: this.#step, address: this.#address };
      this.#onRefusal({ ...refused, code, text: `${code} ${text}` });
    }
    if (code < 500 || code > 504) return;
    this.#badCommands++;
    if (this.#badCommands === SMTP_BAD_COMMANDS_MAX) this.end('4.7.0 Too many commands that make no sense');
  }

  /** Bounds what a client may ask without sending a message: each command costs, some a look into the database. */
  override _onCommand(command: Buffer, callback?: () => void): void {
    if (this.#messages !== this._transactionCounter) {
      this.#messages = this._transactionCounter;
      this.#commands = this.#badCommands = 0;
    }
    this.#noteStep(command);
    if (!this._ready) {
      this.#tooSoon = true;
      this.#patient.delete(this.remoteAddress);
    }
    this.#commands++;
    if (this.#commands > SMTP_COMMANDS_WITHOUT_MESSAGE_MAX) this.end('4.7.0 Too many commands without a message');
    else {
      const done = this.#replies.begin(this._socket);
      super._onCommand(command, () => {
        callback?.();
        done();
      });
    }
  }

  /** A line that continues AUTH is a secret. */
  #noteStep(command: Buffer): void {
    if (this._nextHandler) return;
    const line = command.toString();
    const verb = /^[A-Za-z]+/.exec(line)?.[0].toUpperCase() ?? '';
    this.#step = this._ready ? (STEPS.has(verb) ? verb : 'other') : 'greeting';
    this.#address = this.#step === 'MAIL' || this.#step === 'RCPT' ? PATH.exec(line)?.[1] : undefined;
  }

  /** Parameters of MAIL and RCPT that EHLO announces. */
  protected knownParameters(): KnownParameters {
    // HELO announces no extension.
    return this.openingCommand === 'HELO' ? { MAIL: [], RCPT: [] } : { MAIL: ['SIZE', 'BODY', 'SMTPUTF8'], RCPT: [] };
  }

  /** Whether the line was refused. */
  #refuse(command: Buffer): boolean {
    const read = readAddressCommand(command.toString());
    const isUtf8 = Reflect.get(this.session.envelope, 'smtpUtf8') === true;
    const fault = read === undefined ? undefined : parameterFault(read, this.knownParameters(), isUtf8);
    if (fault !== undefined) this.send(...fault);
    return fault !== undefined;
  }

  /** The package reads neither quoted local parts nor leaves domains as they are in DNS. */
  override _parseAddressCommand(
    name: string,
    command: Buffer | string,
  ): ReturnType<SMTPConnection['_parseAddressCommand']> {
    const read: AddressCommand | undefined = readAddressCommand(command.toString());
    if (read === undefined) return super._parseAddressCommand(name, command);
    const path = plainPath(read);
    const parsed = path === undefined ? false : super._parseAddressCommand(name, path.line);
    if (parsed === false || path === undefined) return false;
    return { ...parsed, address: readAddress(parsed.address, path.quoted) };
  }

  override handler_RCPT(command: Buffer, callback: () => void): void {
    if (this.#refuse(command)) callback();
    else super.handler_RCPT(command, callback);
  }

  /**
   * Answers MAIL a moment later: a transaction that came in one piece behind another one would otherwise run to its end
   * within the package's `continue()`, which then forgets to go on behind it, and the line would hang.
   */
  override handler_MAIL(command: Buffer, callback: () => void): void {
    if (this.#refuse(command)) callback();
    else super.handler_MAIL(command, () => queueMicrotask(callback));
  }

  /**
   * A client may close its side behind its last command and still wait for the answers (RFC 9293 §3.6). The package writes
   * only while both sides are open, and the parser has finished when everything before the end was answered.
   */
  override _createParser(): ReturnType<SMTPConnection['_createParser']> {
    const parser = super._createParser();
    parser.once('finish', () => {
      if (this._parser !== parser) return; // STARTTLS went on with another one
      // Within DATA the message is cut short: its reader is to hear that.
      if (this.receiving) this._socket.destroy();
      else setImmediate(() => this.close());
    });
    return parser;
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
  readonly patientSources = new PatientSources();
  /** Called for each reply that refuses something. */
  readonly onRefusal: (refusal: RefusalReply) => void;
  #inbound = new Set<InboundConnection>();
  #draining = false;
  /** To be ended after the message they are sending, with these words. */
  #ending = new Map<InboundConnection, string>();

  constructor(options: SMTPServerOptions, onRefusal: (refusal: RefusalReply) => void) {
    super(options);
    this.onRefusal = onRefusal;
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
        // Another one's message was answered.
        if (connection.receiving) return;
        this.#ending.delete(connection);
        connection.end(text);
      });
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

export class PatientSources {
  /** When each was patient last, the longest ago first. */
  readonly #seenAt = new Map<string, number>();
  readonly #now: () => number;

  /** @param now milliseconds since an arbitrary moment */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  has(address: string): boolean {
    const seenAt = this.#seenAt.get(sourceOf(address));
    return seenAt !== undefined && this.#now() - seenAt < SMTP_PATIENT_SOURCE_MS;
  }

  add(address: string): void {
    const source = sourceOf(address);
    this.#seenAt.delete(source);
    this.#seenAt.set(source, this.#now());
    if (this.#seenAt.size <= SMTP_PATIENT_SOURCES_MAX) return;
    const [oldest] = this.#seenAt.keys();
    if (oldest !== undefined) this.#seenAt.delete(oldest);
  }

  delete(address: string): void {
    this.#seenAt.delete(sourceOf(address));
  }
}

/** More is sent at once: the package stops reading commands while a socket has much to write. */
const GATHERED_MAX_BYTES = 2_048;

export class PipelinedReplies {
  #corked: Writable | null = null;
  /** Commands that are carried out. */
  #commands = 0;
  #flushing = false;

  /** A command begins. @returns to be called when its reply is written and the next command may begin */
  begin(socket: Writable): () => void {
    this.#commands++;
    if (this.#corked === null) {
      this.#corked = socket;
      socket.cork();
    }
    return () => {
      this.#commands--;
      if (this.#flushing) return;
      this.#flushing = true;
      // A command that waits in the parser begins before that.
      process.nextTick(() => {
        this.#flushing = false;
        if (this.#commands === 0) this.flush();
      });
    };
  }

  /** Call after a reply. */
  written(): void {
    if (this.#corked !== null && this.#corked.writableLength > GATHERED_MAX_BYTES) this.flush();
  }

  flush(): void {
    this.#corked?.uncork();
    this.#corked = null;
  }
}
