/** BODY from BODYSTRUCTURE: the same without extension data (RFC 9051 §7.5.2). Both are wire-ready bytes. */

const OPEN = 0x28;
const CLOSE = 0x29;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const SPACE = 0x20;

/** Offsets of the fields of the list that starts at `start`, and behind its end. */
function fieldsOf(bytes: Buffer, start: number): { fields: [number, number][]; end: number } {
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

/** @returns one character per byte */
export function bodyWithoutExtensions(structure: Uint8Array): string {
  return shorten(Buffer.from(structure.buffer, structure.byteOffset, structure.byteLength), 0);
}

const LEAF_FIELDS = 7;

function shorten(bytes: Buffer, start: number): string {
  const { fields } = fieldsOf(bytes, start);
  const text = ([from, to]: [number, number]): string => bytes.toString('latin1', from, to);
  const isList = ([from]: [number, number]): boolean => bytes[from] === OPEN;
  const [first] = fields;
  if (first !== undefined && isList(first)) {
    const children = fields.findIndex((field) => !isList(field));
    const subtype = fields[children];
    return `(${fields
      .slice(0, children)
      .map(([from]) => shorten(bytes, from))
      .join('')} ${subtype === undefined ? '"mixed"' : text(subtype)})`;
  }
  const kept = fields.slice(0, LEAF_FIELDS).map(text);
  const type = kept[0]?.toLowerCase();
  const [seventh, eighth, ninth] = fields.slice(LEAF_FIELDS);
  if (type === '"text"' && seventh !== undefined) kept.push(text(seventh));
  // The envelope of a message/rfc822 is the only list in this place.
  else if (seventh !== undefined && isList(seventh) && eighth !== undefined && ninth !== undefined)
    kept.push(text(seventh), shorten(bytes, eighth[0]), text(ninth));
  return `(${kept.join(' ')})`;
}
