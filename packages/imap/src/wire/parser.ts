/**
 * Reads the arguments of one command (RFC 9051 §9). Texts have one character per byte; a literal is one character in
 * the text that no byte can be, and its bytes are in `literals`.
 */
import type { SpooledMessage } from '@agent-mailbox/mail-store';

/** Place of a literal in the text of a command. */
export const LITERAL_MARK = '\u0100';

export type Literal =
  | { readonly kind: 'memory'; readonly bytes: Uint8Array; readonly binary: boolean }
  | { readonly kind: 'message'; readonly message: SpooledMessage; readonly binary: boolean };

/** What the reading of arguments depends on. */
export interface ParseContext {
  /** The UID form of the command. */
  readonly uid: boolean;
  /** UTF8=ACCEPT or IMAP4rev2 is enabled. */
  readonly utf8: boolean;
}

/** The command is no IMAP: tagged BAD. */
export class SyntaxProblem extends Error {}

const ATOM = /[^\x00-\x20\x7f-\uffff(){%*"\\\]]+/y;
const ASTRING = /[^\x00-\x20\x7f-\uffff(){%*"\\]+/y;
const LIST_PATTERN = /[^\x00-\x20\x7f-\uffff(){"\\]+/y;
const TAG = /[^\x00-\x20\x7f-\uffff(){%*"\\+]+/y;
const NUMBER = /\d{1,16}/y;
const QUOTED = /"(?:[^\x00\r\n"\\\u0100]|\\["\\])*"/y;

export class Scanner {
  readonly #text: string;
  readonly #literals: readonly Literal[];
  #at = 0;
  #literal = 0;

  constructor(text: string, literals: readonly Literal[]) {
    this.#text = text;
    this.#literals = literals;
  }

  /** The character ahead; empty at the end. */
  peek(): string {
    return this.#text.charAt(this.#at);
  }

  get atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  fail(expected: string): never {
    throw new SyntaxProblem(this.atEnd ? `Expected ${expected} at the end` : `Expected ${expected}`);
  }

  /** Consumes the next text if it is this one, ignoring case. */
  skip(text: string): boolean {
    const ahead = this.#text.slice(this.#at, this.#at + text.length);
    if (ahead !== text && ahead.toUpperCase() !== text.toUpperCase()) return false;
    this.#at += text.length;
    return true;
  }

  expect(text: string): void {
    if (!this.skip(text)) this.fail(text === ' ' ? 'a space' : `"${text}"`);
  }

  space(): void {
    this.expect(' ');
  }

  end(): void {
    // Some clients send a space at the end.
    while (this.skip(' '));
    if (!this.atEnd) this.fail('the end of the command');
  }

  /** Consumes the match of the sticky pattern at this position. */
  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  tag(): string {
    return this.match(TAG) ?? this.fail('a tag');
  }

  /** An atom in capitals: verbs, keys, items. */
  word(): string {
    return this.atom().toUpperCase();
  }

  atom(): string {
    return this.match(ATOM) ?? this.fail('an atom');
  }

  /** @param least smallest number allowed */
  number(least = 0, most = 0xffff_ffff): number {
    const digits = this.match(NUMBER);
    const value = Number(digits);
    if (digits === undefined || value < least || value > most || !Number.isSafeInteger(value))
      return this.fail('a number');
    return value;
  }

  /** MODSEQ and other numbers up to 2^63; those above 2^53 are all the same to us. */
  number64(): number {
    const digits = this.match(/\d{1,19}/y) ?? this.fail('a number');
    return Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
  }

  /** Quoted or literal; one character per byte. */
  string(): string {
    if (this.peek() === LITERAL_MARK) return Buffer.from(this.#memoryLiteral()).toString('latin1');
    const quoted = this.match(QUOTED) ?? this.fail('a string');
    return quoted.slice(1, -1).replace(/\\(["\\])/g, '$1');
  }

  get atString(): boolean {
    const ahead = this.peek();
    return ahead === '"' || ahead === LITERAL_MARK;
  }

  astring(): string {
    return this.atString ? this.string() : (this.match(ASTRING) ?? this.fail('a string or an atom'));
  }

  /** A name or pattern of LIST: `%` and `*` may occur in it unquoted. */
  listPattern(): string {
    return this.atString ? this.string() : (this.match(LIST_PATTERN) ?? this.fail('a name or pattern'));
  }

  nstring(): string | null {
    if (this.atString) return this.string();
    if (this.skip('NIL')) return null;
    return this.fail('a string or NIL');
  }

  /** The literal ahead, of a message that went into the spool. */
  message(): SpooledMessage {
    const literal = this.#nextLiteral();
    if (literal.kind !== 'message') return this.fail('a message');
    return literal.message;
  }

  /** Whether the literal ahead is a literal8. */
  get atBinaryLiteral(): boolean {
    return this.peek() === LITERAL_MARK && this.#literals[this.#literal]?.binary === true;
  }

  #memoryLiteral(): Uint8Array {
    const literal = this.#nextLiteral();
    if (literal.kind !== 'memory' || literal.binary) return this.fail('a string');
    if (literal.bytes.includes(0)) return this.fail('a string without NUL');
    return literal.bytes;
  }

  #nextLiteral(): Literal {
    const literal = this.#literals[this.#literal];
    if (this.peek() !== LITERAL_MARK || literal === undefined) return this.fail('a literal');
    this.#at++;
    this.#literal++;
    return literal;
  }

  /** `(` items separated by spaces `)`. */
  list<T>(item: () => T, emptyAllowed = true): T[] {
    this.expect('(');
    const items: T[] = [];
    if (emptyAllowed && this.skip(')')) return items;
    do items.push(item());
    while (this.skip(' '));
    this.expect(')');
    return items;
  }
}
