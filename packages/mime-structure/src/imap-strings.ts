/** Strings as IMAP sends them (RFC 9051 §4.3): quoted where that is allowed, else a literal. */

/** Quoted strings above this go as literals: some clients keep small buffers for them. */
const QUOTED_MAX = 1_024;
const NOT_QUOTABLE = /[\x00-\x1f\x7f-\uffff]/;

/** @param latin1 one character per byte; NUL, which IMAP has no place for outside literal8, is left out */
export function imapString(latin1: string): string {
  if (!NOT_QUOTABLE.test(latin1) && latin1.length <= QUOTED_MAX) return `"${latin1.replace(/[\\"]/g, '\\$&')}"`;
  const text = latin1.replaceAll('\0', '');
  return `{${text.length}}\r\n${text}`;
}

/** NIL for what is absent. */
export const imapNString = (latin1: string | null | undefined): string =>
  latin1 === null || latin1 === undefined ? 'NIL' : imapString(latin1);
