/**
 * The body of a multi-line answer (RFC 1939 §3): lines end with CRLF, a line that begins with a dot gets another one, a
 * dot alone ends it. Takes the bytes in any portions. A bare carriage return is left as it is.
 */

const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;
const TERMINATOR = Buffer.from('.\r\n');

export class MultilineEncoder {
  /** The last byte seen; a line begins at first. */
  #last = LF;

  push(bytes: Uint8Array): Buffer {
    // At most every byte is a line of its own, or a dot at the beginning of one.
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

  /** What ends the answer. */
  end(): Buffer {
    return this.#last === LF ? TERMINATOR : Buffer.concat([Buffer.from('\r\n'), TERMINATOR]);
  }
}
