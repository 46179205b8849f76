/** Finds the values of a parenthesized list as IMAP sends it (ENVELOPE, BODYSTRUCTURE), made here and well-formed. */

export const OPEN = 0x28;
const CLOSE = 0x29;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const SPACE = 0x20;

/** Offsets of the fields of the list that starts at `start`, and behind its end. */
export function fieldsOf(bytes: Buffer, start: number): { fields: [number, number][]; end: number } {
  const fields: [number, number][] = [];
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== CLOSE) {
    if (bytes[at] === SPACE) {
      at++;
      continue;
    }
    const end = valueEnd(bytes, at);
    fields.push([at, end]);
    at = end;
  }
  return { fields, end: at + 1 };
}

function valueEnd(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === OPEN) {
    let depth = 0;
    let at = start;
    do {
      const byte = bytes[at];
      if (byte === OPEN) {
        depth++;
        at++;
      } else if (byte === CLOSE) {
        depth--;
        at++;
      } else at = byte === QUOTE || byte === BRACE ? valueEnd(bytes, at) : at + 1;
    } while (depth > 0 && at < bytes.length);
    return at;
  }
  if (first === QUOTE) {
    let at = start + 1;
    while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    return at + 1;
  }
  if (first === BRACE) {
    const close = bytes.indexOf('}', start);
    return close + 3 + Number(bytes.toString('latin1', start + 1, close));
  }
  let at = start;
  while (at < bytes.length && bytes[at] !== SPACE && bytes[at] !== CLOSE && bytes[at] !== OPEN) at++;
  return at;
}

/** The text of a quoted string or literal, one character per byte; undefined: NIL, or a list. */
export function stringAt(bytes: Buffer, [from, to]: readonly [number, number]): string | undefined {
  if (bytes[from] === QUOTE) return bytes.toString('latin1', from + 1, to - 1).replace(/\\(["\\])/g, '$1');
  if (bytes[from] !== BRACE) return undefined;
  return bytes.toString('latin1', bytes.indexOf('\n', from) + 1, to);
}
