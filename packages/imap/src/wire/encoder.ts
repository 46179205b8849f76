/**
 * Writes responses. Texts have one character per byte (UTF-8 text is converted by `utf8`), so that ENVELOPE and header
 * bytes are not changed. Output is gathered and passed to the transport in portions; `ready` waits while more than 64
 * KiB are unsent, so a slow reader costs no memory. Between commands the buffer is empty.
 */
import { imapString } from '@agent-mailbox/mime-structure/envelope';

/** Receives the gathered bytes. */
export interface Outlet {
  /** Bytes passed on and not yet read by the client. */
  readonly unwritten: number;
  write(bytes: Uint8Array): void;
  /** Resolves when less than the bound is unwritten. @throws if the connection is lost */
  drained(): Promise<void>;
}

const PORTION_BYTES = 32_768;

export class ResponseWriter {
  readonly #outlet: Outlet;
  readonly #aheadMaxBytes: number;
  /** Gathered output: pieces, then text. */
  #pieces: Uint8Array[] = [];
  #text = '';
  #gatheredBytes = 0;

  constructor(outlet: Outlet, aheadMaxBytes: number) {
    this.#outlet = outlet;
    this.#aheadMaxBytes = aheadMaxBytes;
  }

  text(latin1: string): void {
    this.#text += latin1;
    this.#gathered(latin1.length);
  }

  line(latin1: string): void {
    this.text(`${latin1}\r\n`);
  }

  bytes(bytes: Uint8Array): void {
    if (bytes.length >= PORTION_BYTES) {
      this.flush();
      this.#outlet.write(bytes);
      return;
    }
    this.#endText();
    this.#pieces.push(bytes);
    this.#gathered(bytes.length);
  }

  /** Large content: passed on in pieces, each after the previous one was sent. */
  async content(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += PORTION_BYTES) {
      this.bytes(bytes.subarray(at, at + PORTION_BYTES));
      if (this.full) await this.ready();
    }
  }

  /** Whether `ready` must be awaited before more is written. */
  get full(): boolean {
    return this.#outlet.unwritten > this.#aheadMaxBytes;
  }

  async ready(): Promise<void> {
    if (this.full) await this.#outlet.drained();
  }

  flush(): void {
    if (this.#gatheredBytes === 0) return;
    this.#endText();
    const [only, ...others] = this.#pieces;
    const bytes = only !== undefined && others.length === 0 ? only : Buffer.concat(this.#pieces, this.#gatheredBytes);
    this.#pieces = [];
    this.#gatheredBytes = 0;
    this.#outlet.write(bytes);
  }

  #gathered(bytes: number): void {
    this.#gatheredBytes += bytes;
    if (this.#gatheredBytes >= PORTION_BYTES) this.flush();
  }

  #endText(): void {
    if (this.#text === '') return;
    this.#pieces.push(Buffer.from(this.#text, 'latin1'));
    this.#text = '';
  }
}

/** Unicode text as one character per byte of its UTF-8. */
export const utf8 = (text: string): string =>
  /^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');

/** Text from bytes stored as one character each; undefined if they are not UTF-8. */
export function fromUtf8(latin1: string): string | undefined {
  if (/^[\x00-\x7f]*$/.test(latin1)) return latin1;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return undefined;
  }
}

/** A Unicode text as a string; quoted also with 8-bit characters once the client has enabled UTF-8. */
export function unicodeString(text: string, utf8Enabled: boolean): string {
  if (utf8Enabled && /^[^\x00-\x1f\x7f]*$/.test(text) && text.length < 500)
    return `"${utf8(text).replace(/["\\]/g, '\\$&')}"`;
  return imapString(utf8(text));
}
