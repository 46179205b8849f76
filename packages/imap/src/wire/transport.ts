/**
 * The byte stream below a connection: plain, TLS after STARTTLS, deflated after COMPRESS.
 *
 * Input is pushed into the tokenizer; reading stops while more than a limit waits there, and inflating stops with it,
 * so compressed input grows only as fast as the parser reads it. Output counts the bytes that the client has not read
 * yet.
 */
import type { Duplex } from 'node:stream';
import { constants, createDeflateRaw, createInflateRaw, type DeflateRaw, type InflateRaw } from 'node:zlib';
import type { ConnectionLimits } from '#imap/limits.ts';
import type { Outlet } from './encoder.ts';
import type { Tokenizer } from './tokenizer.ts';

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
