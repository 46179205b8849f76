/** A number's place in a mail, and what is between it and the words around it. */
import type { MailLine } from './mail-lines.ts';
import type { NumberToken } from './number-tokens.ts';

export interface Place {
  readonly lines: readonly MailLine[];
  readonly index: number;
  readonly subject: MailLine | undefined;
  /** Those the mail is written in. */
  readonly languages: () => ReadonlySet<number>;
}

export const breakBetween = (line: MailLine, from: number, to: number, tabs = true): boolean =>
  line.breaks.some((at) => at >= from && at < to && (tabs || line.text.charAt(at) !== '\t'));

/** Alone on its line or in its cell, but for punctuation. */
export function isAlone(line: MailLine, token: NumberToken): boolean {
  const before = line.text.slice(0, token.from);
  const behind = line.text.slice(token.to);
  const cellBefore = before.slice(before.lastIndexOf('\t') + 1);
  const tab = behind.indexOf('\t');
  const cellBehind = tab === -1 ? behind : behind.slice(0, tab);
  return !/[\p{L}\p{N}]/u.test(cellBefore) && !/[\p{L}\p{N}]/u.test(cellBehind);
}
