/**
 * The byte stream below a connection: plain, TLS after STARTTLS, deflated after COMPRESS; and its lines and literals
 * (RFC 9051 §4.3).
 *
 *     socket ─▶ inflate ─▶ Tokenizer ─▶ lines, chunks of literals     stops while more than a limit waits in the tokenizer,
 *                                                                     and inflating with it
 *     responses ─▶ deflate ─▶ socket                                  counts the bytes that the client has not read yet
 *
 * The tokenizer is free of I/O: bytes are pushed in any pieces, and the output does not depend on the pieces. Its caller
 * decides after each line whether the announced literal follows: `nextLine` returns the line, `nextChunk` the bytes of
 * the literal, as they arrive. A line above the limit is not kept: its head (for the tag) and its announced literal are
 * all that is returned.
 */
import type { Duplex } from 'node:stream';
import { constants, createDeflateRaw, createInflateRaw, type DeflateRaw, type InflateRaw } from 'node:zlib';
import type { ConnectionLimits } from '#imap/limits.ts';
import type { Outlet } from './encoder.ts';

const INPUT_WAITING_MAX_BYTES = 65_536;
const END_GRACE_MS = 5_000;

/** The client has disconnected, or was disconnected because it was too slow. */
export class ConnectionLost extends Error {}

export class Transport implements Outlet {
  readonly #tokenizer: Tokenizer;
  readonly #signal: WakeSignal;
  readonly #limits: ConnectionLimits;
  readonly #onInput: () => void;
  #socket: Duplex;
  #deflate: DeflateRaw | null = null;
  #inflate: InflateRaw | null = null;
  #unwritten = 0;
  #drained: (() => void) | null = null;
  #flushing = false;
  #receivedBytes = 0;
  #inflatedBytes = 0;
  /** No more input will arrive; received input is still processed, and answered while the client reads. */
  ended = false;
  bytesIn = 0;
  bytesOut = 0;

  constructor(socket: Duplex, tokenizer: Tokenizer, signal: WakeSignal, limits: ConnectionLimits, onInput: () => void) {
    this.#socket = socket;
    this.#tokenizer = tokenizer;
    this.#signal = signal;
    this.#limits = limits;
    this.#onInput = onInput;
    this.#attach(socket);
  }

  get unwritten(): number {
    return this.#unwritten;
  }

  get compressed(): boolean {
    return this.#deflate !== null;
  }

  /** A client that closed only its side still reads its answers. @throws {ConnectionLost} nobody reads them */
  requireClient(): void {
    if (this.#socket.destroyed) throw new ConnectionLost('the client is gone');
  }

  write(bytes: Uint8Array): void {
    if (this.#socket.destroyed) return;
    this.bytesOut += bytes.length;
    this.#unwritten += bytes.length;
    const written = () => {
      this.#unwritten -= bytes.length;
      if (this.#unwritten <= this.#limits.unwrittenMaxBytes / 2) this.#release();
    };
    if (this.#deflate === null) {
      this.#socket.write(bytes, written);
      return;
    }
    this.#deflate.write(bytes, written);
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      if (this.#deflate !== null && !this.#deflate.destroyed) this.#deflate.flush(constants.Z_SYNC_FLUSH);
    });
  }

  async drained(): Promise<void> {
    this.requireClient();
    if (this.#unwritten > this.#limits.unwrittenMaxBytes / 2) {
      const stuck = setTimeout(() => this.destroy(), this.#limits.stuckReaderMs).unref();
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
      clearTimeout(stuck);
    }
    this.requireClient();
  }

  /** Lets input flow again; called when the parser can do nothing without more. */
  resume(): void {
    if (this.#inflate === null) this.#socket.resume();
    else {
      this.#inflate.resume();
      if (!this.#inflate.writableNeedDrain) this.#socket.resume();
    }
  }

  /** Passes the socket to a TLS handshake and continues with the result. Unread input is discarded. */
  async secure(startTls: () => Promise<Duplex>): Promise<void> {
    this.#detach();
    this.#tokenizer.drop();
    const socket = await startTls();
    this.#socket = socket;
    this.#attach(socket);
  }

  /** RFC 4978. Unread input is forgotten. */
  compress(): void {
    // The client need not finish its stream: flushed data is enough.
    const inflate = createInflateRaw({ finishFlush: constants.Z_SYNC_FLUSH });
    const deflate = createDeflateRaw({ memLevel: 7 });
    this.#tokenizer.drop();
    inflate.on('data', (chunk: Buffer) => {
      this.#inflatedBytes += chunk.length;
      const { inflateRatioFromBytes, inflateRatioMax } = this.#limits;
      if (this.#inflatedBytes > inflateRatioFromBytes && this.#inflatedBytes > this.#receivedBytes * inflateRatioMax) {
        this.destroy();
        return;
      }
      this.#take(chunk);
    });
    inflate.on('drain', () => {
      if (this.#tokenizer.buffered < INPUT_WAITING_MAX_BYTES) this.resume();
    });
    inflate.on('end', this.#close);
    inflate.on('error', () => this.destroy());
    deflate.on('data', (chunk: Buffer) => {
      this.#unwritten += chunk.length;
      this.#socket.write(chunk, () => {
        this.#unwritten -= chunk.length;
        if (this.#unwritten <= this.#limits.unwrittenMaxBytes / 2) this.#release();
      });
    });
    deflate.on('error', () => this.destroy());
    this.#inflate = inflate;
    this.#deflate = deflate;
  }

  /** Ends gracefully: written output is still sent, also to a slow client. */
  end(): void {
    const finish = () => {
      const socket = this.#socket;
      const stuck = setTimeout(() => this.destroy(), this.#limits.stuckReaderMs).unref();
      socket.end(() => {
        clearTimeout(stuck);
        setTimeout(() => this.destroy(), END_GRACE_MS).unref();
      });
      // Further input is not processed, but unread input would turn the last answer into a reset.
      socket.off('data', this.#data);
      socket.resume();
    };
    if (this.#deflate === null || this.#deflate.destroyed) finish();
    else this.#deflate.flush(constants.Z_SYNC_FLUSH, () => setImmediate(finish));
  }

  destroy(): void {
    this.#socket.destroy();
    this.#inflate?.destroy();
    this.#deflate?.destroy();
    this.#close();
  }

  readonly #data = (chunk: Buffer): void => {
    this.bytesIn += chunk.length;
    if (this.#inflate === null) this.#take(chunk);
    else {
      this.#receivedBytes += chunk.length;
      if (!this.#inflate.write(chunk)) this.#socket.pause();
    }
  };

  /** The client has closed its side. Earlier input may still be in the inflater. */
  readonly #end = (): void => {
    if (this.#inflate === null || this.#inflate.destroyed) this.#close();
    else this.#inflate.end();
  };

  readonly #close = (): void => {
    this.ended = true;
    this.#release();
    this.#signal.ring();
  };

  readonly #error = (): void => this.destroy();

  #take(chunk: Buffer): void {
    this.#tokenizer.push(chunk);
    if (this.#tokenizer.buffered >= INPUT_WAITING_MAX_BYTES) {
      this.#inflate?.pause();
      this.#socket.pause();
    }
    this.#onInput();
    this.#signal.ring();
  }

  #release(): void {
    const drained = this.#drained;
    this.#drained = null;
    drained?.();
  }

  #attach(socket: Duplex): void {
    socket.on('data', this.#data);
    socket.on('end', this.#end);
    socket.on('close', this.#close);
    socket.on('error', this.#error);
  }

  #detach(): void {
    this.#socket.pause();
    this.#socket.off('data', this.#data);
    this.#socket.off('end', this.#end);
    this.#socket.off('close', this.#close);
    this.#socket.off('error', this.#error);
  }
}

/** The signal that a connection waits for: new input, a change in its folder, a timer, or its end. */
export class WakeSignal {
  #rung = false;
  #wake: (() => void) | null = null;

  ring(): void {
    const wake = this.#wake;
    if (wake === null) this.#rung = true;
    else {
      this.#wake = null;
      wake();
    }
  }

  /** Resolves at the next ring, or at once if it rang since the last wait. One waiter at a time. */
  wait(): Promise<void> {
    if (this.#rung) {
      this.#rung = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

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
