/**
 * Cuts the client's byte stream into lines and literals (RFC 9051 §4.3). Free of I/O: bytes are pushed in any pieces,
 * and the output does not depend on the pieces.
 *
 * The caller decides after each line whether its announced literal follows: `nextLine` returns the line, `nextChunk`
 * the bytes of the literal, as they arrive. A line above the limit is not kept: its head (for the tag) and its
 * announced literal are all that is returned.
 */

export interface LiteralHeader {
  readonly size: number;
  /** LITERAL+ (RFC 7888): the client does not wait for `+`. */
  readonly nonSync: boolean;
  /** `~{n}`, RFC 3516: may contain NUL. */
  readonly binary: boolean;
}

export interface Line {
  /** One character per byte, without line break and without the literal announcement. */
  readonly text: string;
  readonly literal: LiteralHeader | null;
  /** The line was longer than allowed; `text` is its beginning. */
  readonly tooLong: boolean;
}

const LF = 0x0a;
const CR = 0x0d;
const HEAD_KEPT_BYTES = 256;
const TAIL_KEPT_BYTES = 32;
const ANNOUNCEMENT = /(~?)\{(\d{1,15})(\+?)\}$/;
const EMPTY = Buffer.alloc(0);

export class Tokenizer {
  /** Longest line in bytes; may be changed between lines. */
  lineMaxBytes: number;
  /** Bytes from `#start` to `#end` are unread. Bytes before `#end` are never overwritten: views of them stay valid. */
  #buffer: Buffer = EMPTY;
  #start = 0;
  #end = 0;
  /** There is no LF before this offset. */
  #scanned = 0;
  #head: string | null = null;

  constructor(lineMaxBytes: number) {
    this.lineMaxBytes = lineMaxBytes;
  }

  get buffered(): number {
    return this.#end - this.#start;
  }

  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#start === this.#end) {
      this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      this.#start = 0;
      this.#scanned = 0;
      this.#end = bytes.length;
      return;
    }
    const unread = this.#end - this.#start;
    // An adopted chunk is full to its end, so this never writes into a caller's memory.
    if (this.#buffer.length - this.#end < bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(512, (unread + bytes.length) * 2));
      this.#buffer.copy(larger, 0, this.#start, this.#end);
      this.#scanned -= this.#start;
      this.#buffer = larger;
      this.#start = 0;
      this.#end = unread;
    }
    this.#buffer.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** Forgets everything unread: after STARTTLS and COMPRESS nothing sent earlier may be interpreted. */
  drop(): void {
    this.#buffer = EMPTY;
    this.#start = this.#end = this.#scanned = 0;
    this.#head = null;
  }

  /** The next line, or undefined until more bytes are pushed. */
  nextLine(): Line | undefined {
    const lf = this.#buffer.subarray(0, this.#end).indexOf(LF, this.#scanned);
    if (lf < 0) {
      this.#scanned = this.#end;
      this.#shorten();
      return undefined;
    }
    const end = lf > this.#start && this.#buffer[lf - 1] === CR ? lf - 1 : lf;
    const whole = this.#buffer.toString('latin1', this.#start, end);
    const tooLong = this.#head !== null || whole.length > this.lineMaxBytes;
    const head = this.#head ?? whole;
    this.#head = null;
    this.#take(lf + 1);
    const announced = ANNOUNCEMENT.exec(whole.slice(-TAIL_KEPT_BYTES));
    const literal =
      announced === null
        ? null
        : { size: Number(announced[2]), nonSync: announced[3] === '+', binary: announced[1] === '~' };
    if (tooLong) return { text: head.slice(0, HEAD_KEPT_BYTES), literal, tooLong };
    return { text: announced === null ? whole : whole.slice(0, -announced[0].length), literal, tooLong };
  }

  /** Bytes of the announced literal, at most `max`; undefined until more are pushed. */
  nextChunk(max: number): Uint8Array | undefined {
    if (this.#start === this.#end) return undefined;
    const to = Math.min(this.#end, this.#start + max);
    const chunk = this.#buffer.subarray(this.#start, to);
    this.#take(to);
    return chunk;
  }

  #take(to: number): void {
    this.#start = to;
    this.#scanned = to;
    if (this.#start === this.#end) {
      this.#buffer = EMPTY;
      this.#start = this.#end = this.#scanned = 0;
    }
  }

  /** Drops the middle of a line that is already too long. */
  #shorten(): void {
    if (this.#end - this.#start <= this.lineMaxBytes + TAIL_KEPT_BYTES) return;
    this.#head ??= this.#buffer.toString('latin1', this.#start, this.#start + HEAD_KEPT_BYTES);
    this.#start = this.#end - TAIL_KEPT_BYTES;
    this.#scanned = this.#end;
  }
}
