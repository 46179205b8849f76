/** Reads wire-ready IMAP data as a strict client would; throws on anything that is not the grammar of RFC 9051. */

export type Wire = null | string | number | Wire[];

export function parseWire(text: string): Wire {
  let at = 0;
  const fail = (what: string): never => {
    throw new Error(`${what} at ${at} of ${JSON.stringify(text)}`);
  };
  function value(): Wire {
    if (text[at] === '(') {
      at++;
      const list: Wire[] = [];
      while (text[at] !== ')') {
        if (at >= text.length) fail('an open list');
        if (list.length > 0 && text[at] === ' ') at++;
        else if (list.length > 0 && !(text[at] === '(' && Array.isArray(list.at(-1)))) fail('a missing space');
        list.push(value());
      }
      at++;
      if (list.length === 0) fail('an empty list');
      return list;
    }
    if (text[at] === '"') {
      let out = '';
      for (at++; text[at] !== '"'; at++) {
        if (at >= text.length) fail('an open string');
        if (text[at] === '\\') {
          at++;
          if (text[at] !== '\\' && text[at] !== '"') fail('a wrong escape');
        }
        const character = text.charAt(at);
        if (character < ' ' || character > '~') fail('a character no quoted string may hold');
        out += character;
      }
      at++;
      return out;
    }
    const literal = /^\{(\d+)\}\r\n/.exec(text.slice(at, at + 20));
    if (literal !== null) {
      at += literal[0].length;
      const out = text.slice(at, at + Number(literal[1]));
      if (out.length !== Number(literal[1])) fail('a short literal');
      if (out.includes('\0')) fail('NUL in a literal');
      at += out.length;
      return out;
    }
    if (text.startsWith('NIL', at)) {
      at += 3;
      return null;
    }
    const number = /^\d+/.exec(text.slice(at));
    if (number === null) return fail('no value');
    at += number[0].length;
    return Number(number[0]);
  }
  const result = value();
  if (at !== text.length) fail('something behind the value');
  return result;
}

const asList = (value: Wire | undefined, what: string): Wire[] => {
  if (!Array.isArray(value)) throw new Error(`${what} is no list: ${JSON.stringify(value)}`);
  return value;
};
const isString = (value: Wire | undefined): value is string => typeof value === 'string';
const isNString = (value: Wire | undefined): boolean => value === null || isString(value);
const need = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what);
};

/** Throws unless the value is an ENVELOPE (RFC 9051 §9, `envelope`). */
export function assertEnvelope(value: Wire | undefined): void {
  const fields = asList(value, 'envelope');
  need(fields.length === 10, `an envelope has 10 fields, not ${fields.length}`);
  for (const i of [0, 1, 8, 9]) need(isNString(fields[i]), `envelope field ${i}`);
  for (const i of [2, 3, 4, 5, 6, 7]) {
    if (fields[i] === null) continue;
    for (const address of asList(fields[i], 'address list')) {
      const parts = asList(address, 'address');
      need(parts.length === 4 && parts.every(isNString), 'an address has four strings');
    }
  }
}

/** Throws unless the value is a BODYSTRUCTURE (RFC 9051 §9, `body`) with all extension data. */
export function assertBodyStructure(value: Wire | undefined): void {
  const fields = asList(value, 'body');
  if (Array.isArray(fields[0])) {
    const children = fields.findIndex((field) => !Array.isArray(field));
    need(children > 0, 'a multipart has parts and a subtype');
    for (const child of fields.slice(0, children)) assertBodyStructure(child);
    need(isString(fields[children]), 'subtype of a multipart');
    assertParameters(fields[children + 1]);
    assertTail(fields.slice(children + 2));
    return;
  }
  const [type, subtype, params, id, description, encoding, octets, ...rest] = fields;
  need(isString(type) && isString(subtype), 'type and subtype');
  assertParameters(params);
  need(isNString(id) && isNString(description) && isString(encoding) && typeof octets === 'number', 'body fields');
  let tail = rest;
  if (type === 'text') {
    need(typeof rest[0] === 'number', 'lines of text');
    tail = rest.slice(1);
  } else if (type === 'message' && (subtype === 'rfc822' || subtype === 'global')) {
    assertEnvelope(rest[0]);
    assertBodyStructure(rest[1]);
    need(typeof rest[2] === 'number', 'lines of a message');
    tail = rest.slice(3);
  }
  need(type !== 'multipart', 'a multipart in the form of a leaf');
  need(isNString(tail[0]), 'md5');
  assertTail(tail.slice(1));
}

function assertParameters(value: Wire | undefined): void {
  if (value === null) return;
  const list = asList(value, 'parameters');
  need(list.length % 2 === 0 && list.every(isString), 'parameters are pairs of strings');
}

function assertTail(tail: readonly Wire[]): void {
  need(tail.length === 3, `disposition, language and location, not ${JSON.stringify(tail)}`);
  const [disposition, language, location] = tail;
  if (disposition !== null) {
    const parts = asList(disposition, 'disposition');
    need(parts.length === 2 && isString(parts[0]), 'disposition');
    assertParameters(parts[1]);
  }
  need(isNString(language) || (Array.isArray(language) && language.every(isString)), 'language');
  need(isNString(location), 'location');
}
