/** Values with parameters: Content-Type and Content-Disposition (RFC 2045 §5.1, RFC 2183), RFC 2231 joined. */
import { decodeCharset } from './charset.ts';
import { decodeWords } from './encoded-words.ts';
import { trimRaw } from './header-fields.ts';

export interface ParameterizedValue {
  /** What stands before the first semicolon, as written. */
  readonly value: string;
  /**
   * Parameters in their order, names lower-cased. Continuations are joined; what was in extended form, or is not
   * ASCII, keeps the mark `extended`.
   */
  readonly parameters: readonly Parameter[];
}

export interface Parameter {
  readonly name: string;
  /** Decoded text. */
  readonly text: string;
  /** Bytes as written (latin1), for structures that show them undecoded. Joined when it came in pieces. */
  readonly raw: string;
  readonly extended: boolean;
}

export const PARAMETERS_MAX = 100;
/** `token` of RFC 2045 §5.1. */
const PARAMETER_NAME = /^[!#$%&'*+.0-9A-Z^_`a-z{|}~-]+$/;

interface Piece {
  index: number;
  encoded: boolean;
  text: string;
}

/** Reads a value and its parameters. Damaged ones give what can be read; this never throws. */
export function parseParameterized(header: string): ParameterizedValue {
  const semicolon = header.indexOf(';');
  const value = trimRaw(stripComments(semicolon < 0 ? header : header.slice(0, semicolon)));
  const found = new Map<string, Piece[]>();
  let at = semicolon < 0 ? header.length : semicolon + 1;
  while (at < header.length && found.size < PARAMETERS_MAX) {
    const { name, text, next } = readParameter(header, at);
    at = next;
    if (!PARAMETER_NAME.test(name)) continue;
    const [, base = name, index, star] = /^([^*]+)(?:\*(\d{1,4}))?(\*)?$/.exec(name) ?? [];
    const pieces = found.get(base) ?? [];
    if (pieces.length > 0 && index === undefined && !pieces[0]?.encoded && star === undefined) continue; // repeated: the first counts
    pieces.push({ index: index === undefined ? -1 : Number(index), encoded: star !== undefined, text });
    found.set(base, pieces);
  }
  return { value, parameters: [...found].map(([name, pieces]) => joined(name, pieces)) };
}

/** Decoded text of a parameter, or undefined. */
export const parameter = (parsed: ParameterizedValue, name: string): string | undefined =>
  parsed.parameters.find((each) => each.name === name)?.text;

/** RFC 2231 §3 and §4: pieces `name*0*`, `name*1`, … or one `name*`; the extended form wins over a plain one. */
function joined(name: string, pieces: readonly Piece[]): Parameter {
  const whole = pieces.find((piece) => piece.index === -1 && piece.encoded);
  const numbered = pieces.filter((piece) => piece.index >= 0).sort((a, b) => a.index - b.index);
  const plain = pieces.find((piece) => piece.index === -1 && !piece.encoded);
  const parts = whole !== undefined ? [whole] : numbered.length > 0 ? numbered : plain !== undefined ? [plain] : [];
  const extended = parts.some((part) => part.encoded);
  if (!extended) {
    const raw = parts.map((part) => part.text).join('');
    return { name, raw, text: decodeWords(raw), extended: false };
  }
  let charset = 'utf-8';
  let bytes = '';
  for (const [position, part] of parts.entries()) {
    if (!part.encoded) {
      bytes += part.text;
      continue;
    }
    let encoded = part.text;
    const mark = /^([^']*)'[^']*'/.exec(encoded);
    if (position === 0 && mark !== null) {
      charset = mark[1] || charset;
      encoded = encoded.slice(mark[0].length);
    }
    bytes += encoded.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return { name, raw: bytes, text: decodeCharset(Buffer.from(bytes, 'latin1'), charset), extended: true };
}

function readParameter(header: string, from: number): { name: string; text: string; next: number } {
  let at = skipSpaceAndComments(header, from);
  const nameStart = at;
  while (at < header.length && header[at] !== '=' && header[at] !== ';') at++;
  const name = trimRaw(header.slice(nameStart, at)).toLowerCase();
  if (header[at] !== '=') return { name: '', text: '', next: at + 1 };
  at = skipSpaceAndComments(header, at + 1);
  if (header[at] !== '"') {
    const valueStart = at;
    while (at < header.length && header[at] !== ';') at++;
    return { name, text: withoutLastComment(trimRaw(header.slice(valueStart, at))), next: at + 1 };
  }
  let text = '';
  at++;
  while (at < header.length && header[at] !== '"') {
    if (header[at] === '\\' && at + 1 < header.length) at++;
    text += header[at];
    at++;
  }
  while (at < header.length && header[at] !== ';') at++;
  return { name, text, next: at + 1 };
}

function skipSpaceAndComments(header: string, from: number): number {
  let at = from;
  for (;;) {
    while (header[at] === ' ' || header[at] === '\t') at++;
    if (header[at] !== '(') return at;
    at = commentEnd(header, at);
  }
}

/** Offset behind the comment that opens at `from` (RFC 5322 §3.2.2); an unclosed one runs to the end. */
export function commentEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 0) return at + 1;
  }
  return text.length;
}

/** A comment may stand behind a value; brackets within one are its own, as in an unquoted `report(1).pdf`. */
function withoutLastComment(text: string): string {
  for (let at = text.indexOf('('); at >= 0; at = text.indexOf('(', at + 1)) {
    const end = commentEnd(text, at);
    if (end === text.length) return trimRaw(text.slice(0, at));
    at = end - 1;
  }
  return text;
}

/** A structured value with a space for each of its comments (RFC 5322 §3.2.2). */
export function stripComments(text: string): string {
  if (!text.includes('(')) return text;
  let out = '';
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') {
      at = commentEnd(text, at) - 1;
      out += ' ';
    } else out += text[at];
  }
  return out;
}
