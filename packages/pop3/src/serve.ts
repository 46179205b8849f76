/**
 * The POP3 engine's public interface: with a socket and a login function it speaks POP3 until the connection ends (RFC
 * 1939, 2449, 2595, 5034, 6856).
 *
 *   AUTHORIZATION ──USER+PASS, AUTH──▶ TRANSACTION ──QUIT──▶ UPDATE (marked messages are deleted) ──▶ end
 *        └─STLS─▶ (again, under TLS)         └─ lost line, autologout, stop, rotated token ─▶ end, nothing is deleted
 *
 * Commands run one after another in the order they came; input is read a little ahead, answers are gathered while
 * further commands wait, and a client that does not read delays nobody but itself: what it asked for is read from the
 * store in slices, as fast as it takes them.
 */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { StoreUnavailable } from '@agent-mailbox/mail-store';
import { type EngineLog, NO_LOG } from '@agent-mailbox/mail-store/engine-log';
import {
  BAD_COMMANDS_MAX,
  LOGIN_TIMEOUT_MS,
  STUCK_READER_TIMEOUT_MS,
  WRITE_AHEAD_MAX_BYTES,
} from '@agent-mailbox/mail-store/limits';
import { bad, ok, type Pop3Login, type Pop3Session, pop3Commands, type Reply, refused } from './commands.ts';
import { AUTH_LINE_MAX_BYTES, IDLE_TIMEOUT_MS, LINE_MAX_BYTES } from './limits.ts';
import { LineReader, MultilineEncoder } from './lines.ts';
import { Maildrop } from './maildrop.ts';

export type { Pop3Login } from './commands.ts';
export type { MaildropStore } from './maildrop.ts';

export interface Pop3Connection {
  /** Ends the connection after the current command; nothing is deleted. */
  stop(): void;
}

/** Serves a connection from the greeting to its end. The socket's errors are the caller's to log. */
export function servePop3(socket: Duplex, options: Pop3Options): Pop3Connection {
  const connection = new Connection(socket, options);
  void connection.run();
  return { stop: () => connection.stop('The server is shutting down') };
}

/** What a host gives the engine for one connection. */
export interface Pop3Options {
  /** For log lines. */
  readonly connectionId: string;
  readonly remoteAddress: string;
  /** Whether the socket is under TLS. */
  readonly secure: boolean;
  /** The server's side of TLS over the socket, unread input discarded; absent: STLS is not offered. */
  readonly startTls?: () => Promise<Duplex>;
  readonly login: Pop3Login;
  /** What the server calls itself in the greeting. Default: it does not. */
  readonly serverName?: string;
  /** Default: none. */
  readonly log?: EngineLog;
  /** Milliseconds to log in. Default: 1 min. */
  readonly loginTimeoutMs?: number;
  /** Milliseconds without a command (autologout timer, RFC 1939 §3). Default: 10 min; never less. */
  readonly idleTimeoutMs?: number;
  /** Milliseconds until a client is disconnected that does not read its answers. Default: 5 min. */
  readonly stuckReaderTimeoutMs?: number;
}

/** Time for the client to read the last answer. */
const LINGER_MS = 2_000;
const NOTHING_DELETED = 'nothing was deleted';

/** The client has disconnected. */
class Disconnected extends Error {}

class Connection implements Pop3Session {
  user: string | undefined;
  maildrop: Maildrop | undefined;
  secure: boolean;
  #socket: Duplex;
  #options: Pop3Options;
  readonly #log: EngineLog;
  #reader = new LineReader();
  #unsent: Uint8Array[] = [];
  #unsentBytes = 0;
  #sentBytes = 0;
  #badCommands = 0;
  #startedAt = performance.now();
  #mailboxId: string | undefined;
  /** Said to the client before the end; set by `stop`. */
  #stopReason: string | undefined;
  /** The client has closed its side: earlier commands are still answered. */
  #inputEnded = false;
  #ended = false;
  #wake: (() => void) | undefined;
  #unwatch: (() => void) | undefined;

  constructor(socket: Duplex, options: Pop3Options) {
    this.#socket = socket;
    this.#options = options;
    this.#log = options.log ?? NO_LOG;
    this.secure = options.secure;
    this.#attach(socket);
  }

  get serverName(): string | undefined {
    return this.#options.serverName;
  }

  get canStartTls(): boolean {
    return !this.secure && this.#options.startTls !== undefined && this.maildrop === undefined;
  }

  stop(reason: string): void {
    this.#stopReason ??= reason;
    this.#wake?.();
  }

  async run(): Promise<void> {
    try {
      this.#send(`+OK ${this.serverName === undefined ? '' : `${this.serverName} `}POP3 server ready\r\n`);
      for (;;) {
        const line = await this.#line(LINE_MAX_BYTES);
        if (line === undefined || !(await this.#obey(line))) break;
      }
      if (this.#stopReason !== undefined && !this.#ended)
        this.#send(`-ERR [SYS/TEMP] ${this.#stopReason}, ${NOTHING_DELETED}\r\n`);
      await this.#flush();
    } catch (error) {
      if (!(error instanceof Disconnected)) {
        this.#log.error({ ...this.#place(), error: describe(error) }, 'a POP3 connection failed');
        this.#socket.destroy();
      }
    } finally {
      this.#unwatch?.();
      this.maildrop = undefined;
      this.#end();
    }
  }

  /** @returns whether the connection continues */
  async #obey(line: { readonly text: string } | 'too-long'): Promise<boolean> {
    const startedAt = performance.now();
    const sentBefore = this.#sentBytes + this.#unsentBytes;
    const [verb, reply] = await this.#run(line);
    await this.#answer(reply);
    this.#log.debug(
      {
        ...this.#place(),
        verb,
        bytes: this.#sentBytes + this.#unsentBytes - sentBefore,
        ms: Math.round(performance.now() - startedAt),
      },
      'POP3 command',
    );
    if (reply.kind === 'bad' && ++this.#badCommands >= BAD_COMMANDS_MAX) {
      this.#send('-ERR Too many invalid commands\r\n');
      return false;
    }
    return reply.kind === 'bad' || reply.then !== 'end';
  }

  async #run(line: { readonly text: string } | 'too-long'): Promise<[verb: string, Reply]> {
    if (line === 'too-long') return ['', bad('The line is too long')];
    const space = line.text.indexOf(' ');
    const verb = (space < 0 ? line.text : line.text.slice(0, space)).toUpperCase();
    const argument = space < 0 ? '' : line.text.slice(space + 1);
    const command = pop3Commands.get(verb);
    // Text that is not a command may contain a secret: it is not repeated in answers or logs.
    if (command === undefined) return ['', bad('Unknown command')];
    const state = this.maildrop === undefined ? 'authorization' : 'transaction';
    if (!command.states.includes(state))
      return [verb, bad(state === 'authorization' ? 'Log in first' : 'You are logged in already')];
    try {
      return [verb, await command.run(this, verb === 'PASS' ? argument : argument.trim())];
    } catch (error) {
      return [verb, this.#failed(error, verb)];
    }
  }

  #failed(error: unknown, verb: string): Reply {
    if (error instanceof Disconnected) throw error;
    const text =
      error instanceof StoreUnavailable ? 'The mailbox cannot be reached at the moment' : this.#reportFault(error);
    // Logged in without a maildrop: another login on this connection would take a second place of the mailbox.
    const ends = verb === 'QUIT' || (this.#mailboxId !== undefined && this.maildrop === undefined);
    return refused(verb === 'QUIT' ? `${text}; ${NOTHING_DELETED}` : text, {
      code: 'SYS/TEMP',
      ...(ends ? { then: 'end' as const } : {}),
    });
  }

  /** An internal error: the answer contains an id that is also in the log. */
  #reportFault(error: unknown): string {
    const requestId = `req_${randomBytes(8).toString('hex')}`;
    this.#log.error({ ...this.#place(), requestId, error: describe(error) }, 'a POP3 command failed');
    return `Internal error, logged as ${requestId}`;
  }

  async #answer(reply: Reply): Promise<void> {
    if (reply.kind !== 'ok') {
      const code = reply.kind === 'error' && reply.code !== undefined ? `[${reply.code}] ` : '';
      this.#send(`-ERR ${code}${reply.text}\r\n`);
      return;
    }
    if (reply.content !== undefined) return this.#answerContent(reply.text, reply.content);
    this.#send(`+OK ${reply.text}\r\n`);
    if (reply.lines !== undefined) {
      for (const line of reply.lines) {
        this.#send(`${line}\r\n`);
        if (this.#unsentBytes >= WRITE_AHEAD_MAX_BYTES) await this.#flush();
      }
      this.#send('.\r\n');
    }
    if (reply.then === 'start-tls') await this.#startTls();
  }

  async #answerContent(text: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    this.#send(`+OK ${text}\r\n`);
    const encoder = new MultilineEncoder();
    // An error from here on cannot be reported any more: the connection ends, and the client tries again.
    for await (const slice of content) {
      this.#send(encoder.push(slice));
      if (this.#unsentBytes >= WRITE_AHEAD_MAX_BYTES) await this.#flush();
    }
    this.#send(encoder.end());
  }

  async challenge(text: string): Promise<string | undefined> {
    this.#send(`+ ${text}\r\n`);
    const line = await this.#line(AUTH_LINE_MAX_BYTES);
    if (line === undefined) throw new Disconnected();
    return line === 'too-long' ? undefined : line.text;
  }

  async login(address: string, token: string): Promise<Reply> {
    const { login, remoteAddress } = this.#options;
    const result = await login({ protocol: 'pop3', address, token, remoteAddress });
    switch (result.kind) {
      case 'refused':
        return refused('The address or the token is wrong', { code: 'AUTH' });
      case 'not-permitted':
        return refused(result.text, { code: 'AUTH' });
      case 'throttled':
        return refused(`Too many failed logins; try again in ${result.retryAfterSeconds} s`, {
          code: 'SYS/TEMP',
          then: 'end',
        });
      case 'too-many-connections':
        return refused('The mailbox has too many POP3 connections', { code: 'IN-USE' });
      case 'ok': {
        this.#mailboxId = result.account.mailboxId;
        this.#unwatch = result.onClosed(() => this.stop('The mailbox or its token has changed'));
        this.maildrop = await Maildrop.open(result.store);
        const { count, bytes } = this.maildrop.totals();
        this.#log.info({ ...this.#place(), messages: count }, 'POP3 login');
        return ok(`${count} messages (${bytes} octets)`);
      }
    }
  }

  #place(): object {
    return {
      protocol: 'pop3',
      connection: this.#options.connectionId,
      ...(this.#mailboxId === undefined ? {} : { mailbox: this.#mailboxId }),
    };
  }

  /** The next line, or undefined at the end. */
  async #line(maxBytes: number): Promise<{ readonly text: string } | 'too-long' | undefined> {
    for (;;) {
      if (this.#ended || this.#stopReason !== undefined) return undefined;
      const line = this.#reader.next(maxBytes);
      if (line !== undefined && this.#unsentBytes < WRITE_AHEAD_MAX_BYTES) return line;
      // Input may arrive while this waits, so it is checked again.
      if (this.#unsentBytes > 0) await this.#flush();
      else if (this.#inputEnded && line === undefined) return undefined;
      else await this.#moreInput();
      if (line !== undefined) return line;
    }
  }

  /** Waits for input, the end, or a stop. The autologout closes without a word (RFC 1939 §3). */
  async #moreInput(): Promise<void> {
    if (this.#ended || this.#stopReason !== undefined) return;
    if (this.#socket.isPaused()) this.#socket.resume();
    const { loginTimeoutMs = LOGIN_TIMEOUT_MS, idleTimeoutMs = IDLE_TIMEOUT_MS } = this.#options;
    const waitMs = this.maildrop === undefined ? loginTimeoutMs - (performance.now() - this.#startedAt) : idleTimeoutMs;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(
        () => {
          this.#socket.destroy();
          resolve();
        },
        Math.max(0, waitMs),
      );
    });
    clearTimeout(timer);
    this.#wake = undefined;
  }

  #onData = (chunk: Buffer): void => {
    this.#reader.push(chunk);
    if (this.#reader.waiting > WRITE_AHEAD_MAX_BYTES) this.#socket.pause();
    this.#wake?.();
  };

  #onEnd = (): void => {
    this.#inputEnded = true;
    this.#wake?.();
  };

  #onClose = (): void => {
    this.#ended = true;
    this.#wake?.();
  };

  #attach(socket: Duplex): void {
    socket.on('data', this.#onData).on('close', this.#onClose).on('end', this.#onEnd);
  }

  /** Input before the handshake is not interpreted: somebody else may have injected it. */
  async #startTls(): Promise<void> {
    const { startTls } = this.#options;
    if (startTls === undefined) return;
    await this.#flush();
    this.#socket.off('data', this.#onData).off('close', this.#onClose).off('end', this.#onEnd);
    if (this.#reader.waiting > 0) this.#log.info(this.#place(), 'input after STLS was discarded');
    this.#reader.discard();
    this.user = undefined;
    this.#socket = await startTls().catch(() => {
      throw new Disconnected();
    });
    this.#attach(this.#socket);
    this.secure = true;
  }

  #send(data: string | Uint8Array): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    this.#unsent.push(bytes);
    this.#unsentBytes += bytes.length;
  }

  /** Sends the rest; waits while the client is slow. */
  async #flush(): Promise<void> {
    if (this.#unsentBytes === 0) return;
    const bytes = Buffer.concat(this.#unsent, this.#unsentBytes);
    this.#unsent = [];
    this.#unsentBytes = 0;
    this.#sentBytes += bytes.length;
    const socket = this.#socket;
    if (this.#ended || !socket.writable) throw new Disconnected();
    if (socket.write(bytes)) return;
    const { stuckReaderTimeoutMs = STUCK_READER_TIMEOUT_MS } = this.#options;
    const stuck = setTimeout(() => socket.destroy(), stuckReaderTimeoutMs);
    const settled = new AbortController();
    await Promise.race([
      once(socket, 'drain', { signal: settled.signal }),
      once(socket, 'close', { signal: settled.signal }),
    ]).catch(() => {});
    settled.abort();
    clearTimeout(stuck);
    if (socket.destroyed) throw new Disconnected();
  }

  #end(): void {
    this.#ended = true;
    const socket = this.#socket;
    socket.off('data', this.#onData);
    if (socket.destroyed) return;
    socket.end();
    socket.resume(); // what still comes is not read, but would turn the last answer into a reset
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
}

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
