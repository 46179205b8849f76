/** Questions to the operator: prompts on standard error, answers from standard input, one a line. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Form } from '#core/platform/settings/setting-forms.ts';
import { UsageError } from './command.ts';

export interface Question<Value> {
  readonly text: string;
  readonly form: Form<Value>;
  /** Text of the answer that an empty line gives. */
  readonly fallback?: string | undefined;
  /** Not shown while it is typed. */
  readonly hidden?: true;
}

export interface Questions {
  /** Asks until the answer has the form. @throws {UsageError} at the end of the input */
  ask<Value>(question: Question<Value>): Promise<Value>;
  close(): void;
}

export function openQuestions(input: NodeJS.ReadStream, shown: NodeJS.WriteStream, signal: AbortSignal): Questions {
  let hidden = false;
  const echo = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!hidden) shown.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input, output: echo, terminal: input.isTTY, signal });
  const iterator = lines[Symbol.asyncIterator]();
  return {
    async ask({ text, form, fallback, hidden: isHidden }) {
      for (;;) {
        hidden = false;
        shown.write(`${text}${fallback === undefined ? '' : ` [${fallback}]`}: `);
        hidden = isHidden === true;
        const { value: line, done } = await iterator.next();
        if (hidden) shown.write('\n');
        if (done === true) throw new UsageError('the input ended before all questions were answered');
        const given = line.trim() === '' ? fallback : line.trim();
        const value = given === undefined ? undefined : form.parse(given);
        if (value !== undefined) return value;
        shown.write(`  It takes ${form.takes.replaceAll('`', '')}.\n`);
      }
    },
    close: () => lines.close(),
  };
}
