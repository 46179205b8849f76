/**
 * Sends the replies to pipelined commands as a unit (RFC 2920 §3.2): MAIL, RCPT and DATA that came together are answered
 * in one packet. A reply waits only while a command that arrived with its own is carried out.
 */
import type { Writable } from 'node:stream';

/** More is sent at once: the package stops reading commands while a socket has much to write. */
const GATHERED_MAX_BYTES = 2_048;

export class PipelinedReplies {
  #corked: Writable | null = null;
  /** Commands that are carried out. */
  #commands = 0;
  #flushing = false;

  /** A command begins. @returns to be called when its reply is written and the next command may begin */
  begin(socket: Writable): () => void {
    this.#commands++;
    if (this.#corked === null) {
      this.#corked = socket;
      socket.cork();
    }
    return () => {
      this.#commands--;
      if (this.#flushing) return;
      this.#flushing = true;
      // A command that waits in the parser begins before that.
      process.nextTick(() => {
        this.#flushing = false;
        if (this.#commands === 0) this.flush();
      });
    };
  }

  /** Call after a reply. */
  written(): void {
    if (this.#corked !== null && this.#corked.writableLength > GATHERED_MAX_BYTES) this.flush();
  }

  flush(): void {
    this.#corked?.uncork();
    this.#corked = null;
  }
}
