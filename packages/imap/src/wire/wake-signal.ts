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
