/**
 * Lines of POP3: those of the client, out of a byte stream however it is split, and the body of a multi-line answer.
 * Input that is not requested yet stays in bytes, so a flood costs no more.
 */
const LF = 0x0a;
const CR = 0x0d;

export class LineReader {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Bytes without a line feed, known from earlier looks. */
  #searched = 0;
  #skipping = false;

  /** Bytes that wait. */
  get waiting(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /** Forgets all that waits. */
  discard(): void {
    this.#chunks = [];
    this.#bytes = 0;
    this.#searched = 0;
    this.#skipping = false;
  }

  /**
   * The next line without its line end (a bare line feed counts as one), as UTF-8.
   *
   * @param maxBytes with its line end
   * @returns undefined: it is not complete yet; 'too-long': once for each such line, when it has passed
   */
  next(maxBytes: number): { readonly text: string } | 'too-long' | undefined {
    if (this.#bytes === 0) return undefined;
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks, this.#bytes)];
    const [buffer] = this.#chunks;
    if (buffer === undefined) return undefined;
    const end = buffer.indexOf(LF, this.#searched);
    if (end < 0) {
      this.#searched = buffer.length;
      if (!this.#skipping && buffer.length <= maxBytes) return undefined;
      this.discard();
      this.#skipping = true;
      return undefined;
    }
    const tooLong = this.#skipping || end + 1 > maxBytes;
    this.#searched = 0;
    this.#skipping = false;
    this.#bytes -= end + 1;
    this.#chunks = this.#bytes === 0 ? [] : [buffer.subarray(end + 1)];
    if (tooLong) return 'too-long';
    return { text: buffer.toString('utf8', 0, buffer[end - 1] === CR ? end - 1 : end) };
  }
}

const DOT = 0x2e;
const TERMINATOR = Buffer.from('.\r\n');

/**
 * The body of a multi-line answer (RFC 1939 §3): lines end with CRLF, a line that starts with a dot gets another one, a
 * single dot ends it. Accepts the bytes in any portions. A bare carriage return is not changed.
 */
export class MultilineEncoder {
  /** The last byte seen; initially at the start of a line. */
  #last = LF;

  push(bytes: Uint8Array): Buffer {
    // In the worst case every byte is its own line, or a dot at the start of one.
    let extra = 0;
    let last = this.#last;
    for (const byte of bytes) {
      if ((byte === DOT && last === LF) || (byte === LF && last !== CR)) extra++;
      last = byte;
    }
    if (extra === 0) {
      this.#last = last;
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    const out = Buffer.allocUnsafe(bytes.length + extra);
    let at = 0;
    last = this.#last;
    for (const byte of bytes) {
      if (byte === DOT && last === LF) out[at++] = DOT;
      else if (byte === LF && last !== CR) out[at++] = CR;
      out[at++] = byte;
      last = byte;
    }
    this.#last = last;
    return out;
  }

  /** The end of the answer. */
  end(): Buffer {
    return this.#last === LF ? TERMINATOR : Buffer.concat([Buffer.from('\r\n'), TERMINATOR]);
  }
}
