/** BODY from BODYSTRUCTURE: the same without extension data (RFC 9051 §7.5.2). Both are wire-ready bytes. */

import { fieldsOf, OPEN } from '@agent-mailbox/mime-structure/wire-values';

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
