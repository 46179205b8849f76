/** Blocks of a text that hold bytes: which encodings there are, and the texts that their bytes are. */
import { plainTextOf, textsIn, type UnpackingLimits } from './packed-bytes.ts';

/** Over line breaks, quotation marks at their beginnings included. */
const BASE64 = /[A-Za-z0-9+/_-]{8,}(?:[ \t>]*\r?\n[ \t>]*[A-Za-z0-9+/_-]{8,})*={0,2}/g;
/** Not the end of a word before it, such as that of `Ref: `. */
const HEXADECIMAL = /(?<![\p{L}\p{N}])(?:(?:0x|\\x|%)?[0-9a-f]{2}[\s,:;/.|-]{0,3}){4,}/giu;
/** RFC 4648 §6. */
const BASE32 = /(?<![\p{L}\p{N}])[A-Z2-7]{8,}(?:[ \t>]*\r?\n[ \t>]*[A-Z2-7]{8,})*={0,6}/giu;
const BASE32_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** Codes of characters, one after the other. */
const CODE_LISTS = [
  { pattern: /(?<![\p{L}\p{N}])(?:\d{2,3}[\s,;/.|-]{1,3}){4,}\d{2,3}(?![\p{L}\p{N}])/gu, radix: 10 },
  { pattern: /(?<![\p{L}\p{N}])(?:[0\\]?[0-7]{2,3}[\s,;/.|-]{1,3}){4,}[0\\]?[0-7]{2,3}(?![\p{L}\p{N}])/gu, radix: 8 },
  { pattern: /(?<![\p{L}\p{N}])(?:[01]{7,8}[\s,;/.|-]{0,3}){5,}/gu, radix: 2 },
] as const;
/** Places of letters in the alphabet. */
const PLACES = /(?<!\d)(?:[12]?\d[\s,;/.|-]{1,4}){4,}[12]?\d(?!\d)/g;
/** Everything without blanks, which encodings with base 85 are. */
const DENSE = /[!-~]{10,}(?:\r?\n[!-~]{10,})*/g;
const DENSE_MAX_CHARACTERS = 131_072;

/** Texts of all blocks, those of each encoding together; empty ones too. */
export function* decodedBlocks(text: string, budget: UnpackingLimits): Generator<string> {
  const together = (found: readonly Buffer[]): string => textsOf(found, budget);
  const base64: Buffer[] = [];
  for (const [block] of text.matchAll(BASE64)) base64.push(Buffer.from(block.replace(/[\s>]+/g, ''), 'base64'));
  yield together(base64);
  yield together(blocks(text, HEXADECIMAL, (block) => Buffer.from(block.replace(/0x|\\x|[^0-9a-f]/gi, ''), 'hex')));
  yield together(blocks(text, BASE32, base32Bytes));
  for (const { pattern, radix } of CODE_LISTS) yield together(blocks(text, pattern, (block) => codesOf(block, radix)));
  yield placesOf(text);
  yield together([uudecoded(text, UU), uudecoded(text, XX)]);
  if (text.includes('=ybegin')) yield together([yDecoded(text)]);
  for (const alphabet of BASE85) yield together(base85Blocks(text, alphabet));
  yield together(largeNumbers(text));
  for (const bits of hiddenBits(text)) yield together([bits]);
}

const textsOf = (found: readonly Buffer[], budget: UnpackingLimits): string =>
  found
    .map((bytes) => (isPacked(bytes) ? textsIn(bytes, budget) : plainTextOf(bytes)))
    .filter((each) => each !== undefined && each !== '')
    .join('\n');

const isPacked = (bytes: Buffer): boolean =>
  bytes.length > 12 &&
  ((bytes[0] === 0x1f && bytes[1] === 0x8b) || bytes[0] === 0x78 || (bytes[0] === 0x50 && bytes[1] === 0x4b));

function blocks(text: string, pattern: RegExp, decode: (block: string) => Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (const [block] of text.matchAll(pattern)) found.push(decode(block));
  return found;
}

function base32Bytes(block: string): Buffer {
  const bytes: number[] = [];
  let [bits, value] = [0, 0];
  for (const character of block.toUpperCase()) {
    const digit = BASE32_ALPHABET.indexOf(character);
    if (digit < 0) continue;
    value = ((value << 5) | digit) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}

/** Of each number a character. */
function codesOf(block: string, radix: 2 | 8 | 10): Buffer {
  const digits = radix === 2 ? (block.replace(/[^01]+/g, '').match(/[01]{8}/g) ?? []) : block.split(/[\s,;\\/.|-]+/);
  const codes = digits.filter((each) => each !== '').map((each) => Number.parseInt(each, radix));
  return codes.some((code) => !(code >= 0 && code <= 0xff)) ? Buffer.alloc(0) : Buffer.from(codes);
}

/** 1 is a, 26 is z. */
function placesOf(text: string): string {
  const found: string[] = [];
  for (const [block] of text.matchAll(PLACES)) {
    const words = block.split(/\s*[/|]\s*|\s{2,}/).map((word) => word.split(/[\s,;.-]+/).filter((each) => each !== ''));
    if (words.flat().every((each) => Number(each) >= 1 && Number(each) <= 26))
      found.push(words.map((word) => word.map((each) => String.fromCharCode(96 + Number(each))).join('')).join(' '));
  }
  return found.join('\n');
}

const UU = (character: string): number => (character.charCodeAt(0) - 32) & 63;
const XX_ALPHABET = '+-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const XX = (character: string): number => XX_ALPHABET.indexOf(character);

/** Lines whose first character says how long they are. */
function uudecoded(text: string, valueOf: (character: string) => number): Buffer {
  const bytes: number[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.length < 5 || line.length > 90) continue;
    const length = valueOf(line.charAt(0));
    const digits = Math.ceil(length / 3) * 4;
    if (length < 1 || length > 63 || line.length - 1 > digits + 2 || line.length - 1 < Math.ceil((length * 4) / 3) - 4)
      continue;
    const from = bytes.length;
    for (let at = 1; at <= digits; at += 4) {
      const [a = 0, b = 0, c = 0, d = 0] = [0, 1, 2, 3].map((k) => valueOf(line.charAt(at + k) || ' ') & 63);
      bytes.push((a << 2) | (b >> 4), ((b & 15) << 4) | (c >> 2), ((c & 3) << 6) | d);
    }
    bytes.length = from + length;
  }
  return Buffer.from(bytes.map((byte) => byte & 0xff));
}

/** Each byte moved by 42. */
function yDecoded(text: string): Buffer {
  const body = text
    .slice(text.indexOf('=ybegin'))
    .replace(/^=y[^\n]*\n?/gm, '')
    .replace(/[\r\n]/g, '');
  const bytes: number[] = [];
  for (let i = 0; i < body.length; i++) {
    const isEscaped = body.charAt(i) === '=';
    if (isEscaped) i++;
    bytes.push((body.charCodeAt(i) - (isEscaped ? 106 : 42)) & 0xff);
  }
  return Buffer.from(bytes);
}

const valuesOf = (alphabet: string): Int16Array => {
  const values = new Int16Array(128).fill(-1);
  for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i;
  return values;
};
const BASE85 = [
  // Adobe and btoa, RFC 1924 as git and Python write it, ZeroMQ.
  Array.from({ length: 85 }, (_, i) => String.fromCharCode(33 + i)).join(''),
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~',
  '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#',
].map(valuesOf);

function base85Blocks(text: string, values: Int16Array): Buffer[] {
  const found: Buffer[] = [];
  let left = DENSE_MAX_CHARACTERS;
  for (const [block] of text.matchAll(DENSE)) {
    left -= block.length;
    if (left < 0) break;
    const bytes = base85Bytes(block.replace(/^<~|~>$/g, '').replace(/[\r\n]/g, ''), values);
    if (bytes !== undefined) found.push(bytes);
  }
  return found;
}

function base85Bytes(block: string, values: Int16Array): Buffer | undefined {
  const bytes: number[] = [];
  let [value, count] = [0, 0];
  const put = (of: number, length: number): void => {
    for (let k = 0; k < length; k++) bytes.push(Math.floor(of / 256 ** (3 - k)) % 256);
  };
  for (let i = 0; i < block.length; i++) {
    const code = block.charCodeAt(i);
    const digit = values[code] ?? -1;
    if (digit < 0) {
      if (count > 0 || code !== 122) return undefined;
      bytes.push(0, 0, 0, 0);
      continue;
    }
    value = value * 85 + digit;
    if (++count < 5) continue;
    if (value > 0xffffffff) return undefined;
    put(value, 4);
    [value, count] = [0, 0];
  }
  if (count > 1) {
    for (let k = count; k < 5; k++) value = value * 85 + 84;
    put(value, count - 1);
  }
  return Buffer.from(bytes);
}

const NUMBER = /(?<![\p{L}\p{N}])\d{20,600}(?![\p{L}\p{N}])/gu;
const BASE58 = /(?<![\p{L}\p{N}])[1-9A-HJ-NP-Za-km-z]{9,400}(?![\p{L}\p{N}])/gu;
const BASE58_ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const LARGE_NUMBERS_MAX = 20;

/** Bytes that were written as one number. */
function largeNumbers(text: string): Buffer[] {
  const found: Buffer[] = [];
  for (const [written] of text.matchAll(NUMBER)) {
    if (found.length >= LARGE_NUMBERS_MAX) break;
    found.push(bytesOfNumber(BigInt(written)));
  }
  let count = 0;
  for (const [written] of text.matchAll(BASE58)) {
    if (!/\d/.test(written) || !/[A-Z]/.test(written) || !/[a-z]/.test(written)) continue;
    if (++count > LARGE_NUMBERS_MAX) break;
    let value = 0n;
    for (const character of written) value = value * 58n + BigInt(BASE58_ALPHABET.indexOf(character));
    found.push(bytesOfNumber(value));
  }
  return found;
}

function bytesOfNumber(value: bigint): Buffer {
  const digits = value.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

const BIT_SIGNS = /[\u200b-\u200f\u2060-\u2064\ufeff\u180e]/g;
const BLANK_BITS = /[ \t]{16,}/g;
const BITS_MIN = 32;
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

/** Bytes in signs that nobody sees: one for each bit, or one of 256 for each byte. */
function* hiddenBits(text: string): Generator<Buffer> {
  const signs = text.match(BIT_SIGNS) ?? [];
  if (signs.length >= BITS_MIN) yield* bitsOf(signs);
  const blanks = (text.match(BLANK_BITS) ?? []).join('');
  if (blanks.length >= BITS_MIN && blanks.includes('\t')) yield* bitsOf([...blanks]);
  const ends = (text.match(/[ \t]$/gm) ?? []).join('');
  if (ends.length >= BITS_MIN && ends.includes('\t')) yield* bitsOf([...ends]);
  const selectors = text.match(SELECTORS) ?? [];
  if (selectors.length >= 4)
    yield Buffer.from(
      selectors.map((sign) => {
        const code = sign.codePointAt(0) ?? 0;
        return code >= 0xe0100 ? code - 0xe0100 + 16 : code - 0xfe00;
      }),
    );
}

function* bitsOf(signs: readonly string[]): Generator<Buffer> {
  const counts = new Map<string, number>();
  for (const sign of signs) counts.set(sign, (counts.get(sign) ?? 0) + 1);
  const [one, other] = [...counts].sort((a, b) => b[1] - a[1]).map(([sign]) => sign);
  if (one === undefined || other === undefined) return;
  const used = signs.filter((sign) => sign === one || sign === other);
  for (const zero of [one, other]) {
    const bits = used.map((sign) => (sign === zero ? '0' : '1')).join('');
    yield Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  }
}
