/** The progress of a start: one line per step with its time, and notes below a slow step. */
import { styleText } from 'node:util';

/**
 * Shows what a step does. A passing note is replaced by the next one; where lines cannot be replaced, there is one in ten
 * seconds.
 */
export type Note = (text: string, options?: { readonly passing: boolean }) => void;

export interface Progress {
  /** Shows a step, runs it, and shows its duration. */
  step<Result>(title: string, work: (note: Note) => Promise<Result>): Promise<Result>;
  /** A line that is no step: something to know. */
  say(text: string): void;
  warn(text: string): void;
}

const NOTE_EVERY_MS = 10_000;

export function progressOn(stream: NodeJS.WriteStream): Progress {
  const style = (format: Parameters<typeof styleText>[0], text: string) => styleText(format, text, { stream });
  const line = (text: string) => stream.write(`${text}\n`);
  return {
    async step(title, work) {
      const startedAt = performance.now();
      // On a terminal the line appears at once and is replaced when done; elsewhere it is written once.
      if (stream.isTTY) stream.write(`  ${style('dim', '…')} ${title}`);
      let clean = true;
      let notedAt = -NOTE_EVERY_MS;
      const replace = (text: string) => line(stream.isTTY && clean ? `\r\u001b[2K${text}` : text);
      try {
        const result = await work((text, { passing } = { passing: false }) => {
          const shown = `  ${style('dim', `… ${title}: ${text}`)}`;
          if (passing && stream.isTTY) {
            stream.write(`${clean ? '\r\u001b[2K' : ''}${shown}`);
            clean = true;
            return;
          }
          if (passing && performance.now() - notedAt < NOTE_EVERY_MS) return;
          notedAt = performance.now();
          replace(shown);
          clean = false;
        });
        replace(
          `  ${style('green', '✓')} ${title} ${style('dim', `${((performance.now() - startedAt) / 1000).toFixed(1)} s`)}`,
        );
        return result;
      } catch (error) {
        replace(`  ${style('red', '✗')} ${title}`);
        throw error;
      }
    },
    say: (text) => void line(`  ${text}`),
    warn: (text) => void line(`  ${style('yellow', '!')} ${text}`),
  };
}
