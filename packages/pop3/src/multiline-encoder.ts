/**
 * The body of a multi-line answer (RFC 1939 §3): lines end with CRLF, a line that starts with a dot gets another one, a
 * single dot ends it. Accepts the bytes in any portions. A bare carriage return is not changed.
 */

const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;
const TERMINATOR = Buffer.from('.\r\n');

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
