/**
 * Lines out of a byte stream, however it is split. Input that is not requested yet stays in bytes, so a flood costs no
 * more.
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
