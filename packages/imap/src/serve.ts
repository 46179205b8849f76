/**
 * The IMAP engine's public interface: with a socket and a login function it speaks IMAP until the connection ends.
 *
 *     not authenticated ──LOGIN, AUTHENTICATE──▶ authenticated ◀──CLOSE, UNSELECT── selected
 *                                                     └────────SELECT, EXAMINE────────▶┘
 *
 * A greeting, then commands one after another. Each is read completely, run, and followed by changes of other sessions
 * and by its tagged answer, before the next one is read; input beyond a limit stays in the socket. An internal error is
 * one `NO [SERVERBUG]` with an id that the log knows, never the end of the process. The connection ends with BYE: on
 * LOGOUT, after 60 seconds without login or 30 minutes without a command, after 20 bad commands, when the mailbox is
 * closed, when the service stops.
 */

import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { type EngineLog, NO_LOG } from '@agent-mailbox/mail-store/engine-log';
import type { Command } from './command.ts';
import { COMMANDS } from './command-table.ts';
import { connectionLimits } from './limits.ts';
import { capabilities } from './session/capabilities.ts';
import { type ConnectionControl, type ImapOptions, Session, type SessionOptions } from './session/session.ts';
import { CommandReader, discardMessages, type Incoming, type ReaderHost } from './wire/command-reader.ts';
import { BrokenAnswer, bad, type Completion, completionOf, no } from './wire/completion.ts';
import { ResponseWriter } from './wire/encoder.ts';
import { Scanner } from './wire/parser.ts';
import { ConnectionLost, Tokenizer, Transport, WakeSignal } from './wire/transport.ts';

export type { ImapLimits } from './limits.ts';
export type { CapabilityHiding } from './session/capabilities.ts';
export type { ImapOptions } from './session/session.ts';

export interface ImapConnection {
  readonly id: string;
  /** Resolves when the connection has ended and released everything. Never rejects. */
  readonly done: Promise<void>;
  /** Sends `* BYE reason` when the running command is answered, and ends the connection. */
  close(reason: string): void;
}

/** Speaks IMAP on a connection. The socket's errors are the caller's to log. */
export function serveImap(socket: Duplex, options: ImapOptions): ImapConnection {
  const { messageMaxBytes, limits, hiding = [], log = NO_LOG, ...rest } = options;
  return new Connection(socket, { ...rest, hiding, log, limits: connectionLimits(messageMaxBytes, limits) });
}

class Connection implements ImapConnection, ReaderHost, ConnectionControl {
  readonly id: string;
  readonly session: Session;
  readonly done: Promise<void>;
  readonly #options: SessionOptions;
  readonly #signal = new WakeSignal();
  readonly #tokenizer: Tokenizer;
  readonly #transport: Transport;
  readonly #reader: CommandReader;
  readonly #out: ResponseWriter;
  readonly #log: EngineLog;
  #tls: boolean;
  #afterAnswer: (() => Promise<void> | void) | null = null;
  #ending = false;
  #bye: string | null = null;
  #badCommands = 0;
  #autologout: NodeJS.Timeout;
  #keepalive: NodeJS.Timeout | null = null;
  #keepaliveDue = false;
  #stopListening: () => void = () => undefined;

  constructor(socket: Duplex, options: SessionOptions) {
    this.#options = options;
    this.id = options.connectionId ?? randomBytes(6).toString('hex');
    this.#tls = options.tls;
    this.#log = options.log.child({ protocol: 'imap', connection: this.id });
    const { limits } = options;
    this.#tokenizer = new Tokenizer(limits.lineMaxBytes);
    this.#autologout = setTimeout(() => this.close('No login within the time allowed'), limits.loginTimeMs).unref();
    this.#transport = new Transport(socket, this.#tokenizer, this.#signal, limits, () => {
      if (this.session.state !== 'not-authenticated') this.#autologout.refresh();
    });
    this.#out = new ResponseWriter(this.#transport, limits.unwrittenMaxBytes);
    this.#reader = new CommandReader(this.#tokenizer, this, limits);
    this.session = new Session(this.#out, this, { ...options, log: this.#log });
    this.done = this.#serve();
  }

  /** Ends the connection from outside: BYE once the running command is answered. */
  close(reason: string): void {
    this.#bye ??= reason;
    this.#ending = true;
    this.#signal.ring();
  }

  // Called by the reader.

  get store() {
    return this.session.storeIfLoggedIn;
  }

  get folderSelected(): boolean {
    return this.session.state === 'selected';
  }

  async moreInput(): Promise<boolean> {
    if (this.#ending) return false;
    if (this.#transport.ended) return false;
    this.#transport.resume();
    await this.#signal.wait();
    return !this.#ending && !(this.#transport.ended && this.#tokenizer.buffered === 0);
  }

  requireClient(): void {
    this.#transport.requireClient();
  }

  continuation(text: string): void {
    this.#out.line(`+ ${text}`);
    this.#out.flush();
  }

  // Called by commands.

  get tls(): boolean {
    return this.#tls;
  }

  get canStartTls(): boolean {
    return !this.#tls && this.#options.startTls !== undefined;
  }

  get compressed(): boolean {
    return this.#transport.compressed;
  }

  async readLine() {
    return this.#reader.line();
  }

  async lineOrWake() {
    const line = this.#tokenizer.nextLine();
    if (line !== undefined) {
      this.#stopKeepalive();
      return { line, ended: false, keepalive: false };
    }
    if (this.#ending || this.#transport.ended) return { ended: true, keepalive: false };
    this.#keepalive ??= setInterval(() => {
      this.#keepaliveDue = true;
      this.#signal.ring();
    }, this.#options.limits.idleKeepaliveMs).unref();
    this.#transport.resume();
    await this.#signal.wait();
    const keepalive = this.#keepaliveDue;
    this.#keepaliveDue = false;
    return { ended: false, keepalive };
  }

  #stopKeepalive(): void {
    if (this.#keepalive !== null) clearInterval(this.#keepalive);
    this.#keepalive = null;
    this.#keepaliveDue = false;
  }

  flush(): void {
    this.#out.flush();
  }

  afterAnswer(action: () => Promise<void> | void): void {
    this.#afterAnswer = action;
  }

  async startTls(): Promise<void> {
    const { startTls } = this.#options;
    if (startTls === undefined) throw new Error('no TLS here');
    await this.#transport.secure(startTls);
    this.#tls = true;
  }

  compress(): void {
    this.#transport.compress();
  }

  logout(): void {
    this.#ending = true;
  }

  byeAfterAnswer(text: string): void {
    this.#bye ??= text;
    this.#ending = true;
  }

  loggedIn(onClosed: (listener: () => void) => () => void): void {
    const { limits } = this.#options;
    this.#stopListening = onClosed(() => this.close('[ALERT] The mailbox was closed or its token changed'));
    clearTimeout(this.#autologout);
    this.#autologout = setTimeout(() => this.close('No command for a long time'), limits.autologoutMs).unref();
    this.#log.info({ mailbox: this.session.account?.mailboxId, remote: this.#options.remoteAddress }, 'imap login');
  }

  wake(): void {
    this.#signal.ring();
  }

  // The life of the connection.

  async #serve(): Promise<void> {
    try {
      this.#out.line(`* OK [CAPABILITY ${capabilities(this.session).join(' ')}] ${this.#options.hostname} is ready`);
      this.#out.flush();
      while (!this.#ending) {
        const incoming = await this.#reader.next();
        if (incoming.kind === 'ended') break;
        await this.#answer(incoming);
      }
      if (this.#bye !== null) this.#out.line(`* BYE ${this.#bye}`);
      this.#out.flush();
      this.#transport.end();
    } catch (error) {
      if (!(error instanceof ConnectionLost))
        this.#log.warn(
          { err: error instanceof BrokenAnswer ? (error.cause ?? error) : error },
          'imap connection broken',
        );
      this.#transport.destroy();
    } finally {
      clearTimeout(this.#autologout);
      this.#stopKeepalive();
      this.session.leave();
      this.#stopListening();
      this.#log.debug(
        { bytesIn: this.#transport.bytesIn, bytesOut: this.#transport.bytesOut },
        'imap connection ended',
      );
    }
  }

  async #answer(incoming: Exclude<Incoming, { kind: 'ended' }>): Promise<void> {
    if (incoming.kind === 'hopeless') {
      this.byeAfterAnswer(incoming.reason);
      return;
    }
    let tag: string;
    let completion: Completion;
    if (incoming.kind === 'refused') ({ tag, completion } = incoming);
    else {
      const startedAt = performance.now();
      const scan = new Scanner(incoming.text, incoming.literals);
      const running = new Running();
      try {
        // The place of a client that is gone is free: what it sent ahead would be work outside every limit.
        this.requireClient();
        completion = await this.#run(scan, running);
      } finally {
        await discardMessages(incoming.literals);
      }
      tag = running.tag;
      if (this.#log.isLevelEnabled('debug'))
        this.#log.debug(
          {
            mailbox: this.session.account?.mailboxId,
            verb: running.verb,
            status: completion.status,
            ms: Math.round(performance.now() - startedAt),
          },
          'imap command',
        );
    }
    const { status, code, text } = completion;
    this.#out.line(`${tag} ${status} ${code === undefined ? '' : `[${code}] `}${text}`);
    // A client that stays for days may now and then name a number that another one has just taken away.
    if (status === 'OK' && this.session.state !== 'not-authenticated') this.#badCommands = 0;
    if (status === 'BAD' && ++this.#badCommands >= this.#options.limits.badCommandsMax)
      this.byeAfterAnswer('Too many bad commands');
    this.#out.flush();
    if (this.#out.full) await this.#out.ready();
    const after = this.#afterAnswer;
    this.#afterAnswer = null;
    if (after !== null) await after();
  }

  async #run(scan: Scanner, running: Running): Promise<Completion> {
    const { session } = this;
    try {
      running.tag = scan.tag();
      scan.space();
      let verb = scan.word();
      const uid = verb === 'UID';
      if (uid) {
        scan.space();
        verb = scan.word();
      }
      const command = COMMANDS.get(verb);
      if (command === undefined || (uid && !command.uid)) return bad('Unknown command');
      running.verb = uid ? `UID ${verb}` : verb;
      if (!command.states.includes(session.state)) return bad(notNow(session.state, command));
      const run = command.prepare(scan, { uid, utf8: session.utf8 });
      if (command.needs === 'write' && session.selectedOrNull?.readOnly === true)
        return no('The folder is open for reading only', 'READ-ONLY');
      // Reading commands first report what is new, because their answer may refer to it. For writing commands, `*`
      // stays the last message that the client knows.
      if (command.readsFolder && session.selectedOrNull?.stale === true) await session.reportChanges(false, uid);
      let completion: Completion;
      try {
        completion = await run({ session, tag: running.tag, uid });
      } catch (error) {
        completion = completionOf(error, running.verb, this.#log);
      }
      // Also after a refusal: the map contains the changes that the command read from the store, so they must be
      // reported.
      const reports = command.reports(uid);
      if (reports !== 'nothing') await session.reportChanges(reports === 'all', uid);
      return completion;
    } catch (error) {
      return completionOf(error, running.verb, this.#log);
    }
  }
}

class Running {
  tag = '*';
  verb = '';
}

function notNow(state: Session['state'], { verb, states }: Command): string {
  if (state === 'not-authenticated') return 'Log in first';
  if (!states.includes('authenticated') && !states.includes('selected'))
    return `You are logged in already; ${verb} is possible only before login`;
  return 'Select a folder first';
}
