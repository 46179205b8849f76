/**
 * Combines lines and literals into commands. Messages of APPEND and REPLACE stream into the spool of the store; other
 * literals are kept in memory within limits. Sizes are checked before `+` is sent; a refused literal that the client
 * sends without waiting is read and discarded, like the rest of its command.
 */
import type { MailboxStore, Spool } from '@agent-mailbox/mail-store';
import type { ConnectionLimits } from '#imap/limits.ts';
import { bad, type Completion, no } from './completion.ts';
import { LITERAL_MARK, type Literal } from './parser.ts';
import type { Line, LiteralHeader, Tokenizer } from './transport.ts';

export type Incoming =
  | { readonly kind: 'command'; readonly text: string; readonly literals: readonly Literal[] }
  /** Not to be run: the answer is known already. */
  | { readonly kind: 'refused'; readonly tag: string; readonly completion: Completion }
  /** The stream cannot be followed any further. */
  | { readonly kind: 'hopeless'; readonly reason: string }
  | { readonly kind: 'ended' };

/** The parts of the connection that the reader uses. */
export interface ReaderHost {
  /** Resolves when there may be more input; false when there will be none. */
  moreInput(): Promise<boolean>;
  /** Sends `+` and flushes. */
  continuation(text: string): void;
  /** @throws if the client is gone: work for it would be outside every limit */
  requireClient(): void;
  readonly store: MailboxStore | null;
  readonly folderSelected: boolean;
}

const TAG = /^([^\x00-\x20\x7f-\uffff(){%*"\\+]{1,128})(?: |$)/;
/** Longer than a tag may be: what follows it would not be within `BEGINNING_CHARACTERS`. */
const LONG_TAG = /^[^ ]{129}/;
const MESSAGE_VERB = /^[^ ]+ (?:APPEND|(?:UID )?REPLACE) /i;
/** Here the literal is the name of the folder. */
const BEFORE_NAME = /^[^ ]+ (?:APPEND|(?:UID )?REPLACE [^ ]+) $/i;
const REPLACE_VERB = /^[^ ]+ (?:UID )?REPLACE /i;
/** Tag, verb and number of a message have room here. Of longer text a look for each literal would cost its square. */
const BEGINNING_CHARACTERS = 300;

interface Gathering {
  text: string;
  /** Of the text, known from the first literal on. */
  beginning?: string;
  readonly literals: Literal[];
  literalBytes: number;
  messages: number;
  messageBytes: number;
}

type Verdict = { readonly kind: 'memory' | 'message' } | { readonly kind: 'refuse'; readonly completion: Completion };

/** RFC 9051 §4.3: NUL is allowed only in a literal8, which APPEND and REPLACE accept (RFC 3516 §4.4). */
const NUL_IN_LITERAL = bad('A literal with NUL must be sent as a literal8, ~{n}, and only where a message is expected');

const MEMORY: Verdict = { kind: 'memory' };
const refuse = (completion: Completion): Verdict => ({ kind: 'refuse', completion });

export class CommandReader {
  readonly #tokenizer: Tokenizer;
  readonly #host: ReaderHost;
  readonly #limits: ConnectionLimits;

  constructor(tokenizer: Tokenizer, host: ReaderHost, limits: ConnectionLimits) {
    this.#tokenizer = tokenizer;
    this.#host = host;
    this.#limits = limits;
  }

  /** A line outside of commands: answers to `+`. */
  async line(): Promise<Line | undefined> {
    for (;;) {
      const line = this.#tokenizer.nextLine();
      if (line !== undefined) return line;
      if (!(await this.#host.moreInput())) return undefined;
    }
  }

  async next(): Promise<Incoming> {
    const gathering: Gathering = { text: '', literals: [], literalBytes: 0, messages: 0, messageBytes: 0 };
    let handedOver = false;
    try {
      const incoming = await this.#gather(gathering);
      handedOver = incoming.kind === 'command';
      return incoming;
    } finally {
      if (!handedOver) await discardMessages(gathering.literals);
    }
  }

  async #gather(gathering: Gathering): Promise<Incoming> {
    let refused: Completion | undefined;
    let tag = '';
    for (;;) {
      const line = await this.line();
      if (line === undefined) return { kind: 'ended' };
      if (refused === undefined) gathering.text += line.text;
      // Only then: a look at the whole text for each literal would cost its square.
      const isFirstLine = tag === '';
      tag ||= TAG.exec(gathering.text)?.[1] ?? '*';
      if (refused === undefined && (line.tooLong || gathering.text.length > this.#tokenizer.lineMaxBytes))
        refused = bad('The command line is too long');
      if (isFirstLine && refused === undefined && LONG_TAG.test(gathering.text))
        refused = bad('A tag has at most 128 characters');
      const { literal } = line;
      if (literal === null) {
        if (refused !== undefined) return { kind: 'refused', tag, completion: refused };
        return { kind: 'command', text: gathering.text, literals: gathering.literals };
      }
      if (refused === undefined) {
        const verdict = await this.#check(gathering, literal);
        if (verdict.kind === 'refuse') refused = verdict.completion;
        else {
          const received = await this.#receive(gathering, literal, verdict.kind);
          if (received === 'ended') return { kind: 'ended' };
          if (received === 'nul') refused = NUL_IN_LITERAL;
          continue;
        }
      }
      if (refused !== undefined) {
        // The client waits for `+` and gets the answer instead: the command ends here.
        if (!literal.nonSync) return { kind: 'refused', tag, completion: refused };
        if (literal.size > this.#limits.absurdLiteralBytes)
          return { kind: 'hopeless', reason: 'The literal is far too large' };
        if (!(await this.#chunks(literal.size, () => undefined))) return { kind: 'ended' };
      }
    }
  }

  async #check(gathering: Gathering, literal: LiteralHeader): Promise<Verdict> {
    const { store } = this.#host;
    const limits = this.#limits;
    // Literals follow the first line, so the beginning is complete at the first of them.
    const beginning = (gathering.beginning ??= gathering.text.slice(0, BEGINNING_CHARACTERS));
    const isName = gathering.text.length <= BEGINNING_CHARACTERS && BEFORE_NAME.test(gathering.text);
    if (store !== null && MESSAGE_VERB.test(beginning) && !isName) {
      if (REPLACE_VERB.test(beginning) && !this.#host.folderSelected) return refuse(bad('No folder is selected'));
      if (literal.size > limits.messageMaxBytes)
        return refuse(no(`A message has at most ${limits.messageMaxBytes} bytes`, 'TOOBIG'));
      if (gathering.messages >= limits.appendMessagesMax)
        return refuse(no(`At most ${limits.appendMessagesMax} messages in one command`, 'LIMIT'));
      const total = gathering.messageBytes + literal.size;
      this.#host.requireClient();
      try {
        const { usedBytes, limitBytes } = await store.quota();
        if (usedBytes + total > limitBytes) return refuse(no('The mailbox is full', 'OVERQUOTA'));
      } catch {
        return refuse(no('The store cannot be reached now', 'UNAVAILABLE'));
      }
      return { kind: 'message' };
    }
    if (literal.binary) return refuse(bad('A literal8 is accepted only where a message is expected'));
    const most = store === null ? limits.literalBeforeLoginMaxBytes : limits.literalMaxBytes;
    if (literal.size > most) return refuse(bad(`A literal has at most ${most} bytes here`));
    if (gathering.literalBytes + literal.size > limits.literalsPerCommandMaxBytes)
      return refuse(bad('The literals of the command are too large together'));
    return MEMORY;
  }

  /** @returns 'ended' if the connection ended meanwhile; 'nul' if it was read but contains NUL */
  async #receive(
    gathering: Gathering,
    literal: LiteralHeader,
    kind: 'memory' | 'message',
  ): Promise<'complete' | 'nul' | 'ended'> {
    const { size, binary } = literal;
    const { store } = this.#host;
    let spool: Spool | undefined;
    const pieces: Uint8Array[] = [];
    if (kind === 'message' && store !== null) spool = store.spool(size);
    if (!literal.nonSync) this.#host.continuation('Ready for the literal');
    let complete = false;
    let nul = false;
    try {
      complete = await this.#chunks(size, (chunk) => {
        nul ||= !binary && chunk.includes(0);
        if (nul) return undefined;
        if (spool !== undefined) return spool.write(chunk);
        pieces.push(chunk);
        return undefined;
      });
      complete &&= !nul;
      if (complete && spool !== undefined)
        gathering.literals.push({ kind: 'message', message: await spool.end(), binary });
    } finally {
      if (!complete) await spool?.discard();
    }
    if (nul) return 'nul';
    if (!complete) return 'ended';
    if (spool === undefined) {
      gathering.literals.push({ kind: 'memory', bytes: Buffer.concat(pieces), binary });
      gathering.literalBytes += size;
    } else {
      gathering.messages++;
      gathering.messageBytes += size;
    }
    gathering.text += LITERAL_MARK;
    return 'complete';
  }

  async #chunks(size: number, take: (chunk: Uint8Array) => Promise<void> | undefined): Promise<boolean> {
    let left = size;
    while (left > 0) {
      const chunk = this.#tokenizer.nextChunk(left);
      if (chunk === undefined) {
        if (!(await this.#host.moreInput())) return false;
        continue;
      }
      left -= chunk.length;
      await take(chunk);
    }
    return true;
  }
}

/** Removes the spooled messages of a command. */
export async function discardMessages(literals: readonly Literal[]): Promise<void> {
  for (const literal of literals) if (literal.kind === 'message') await literal.message.discard();
}
