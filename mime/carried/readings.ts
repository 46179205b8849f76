/**
 * What a text may say to a person who decodes it: itself, backwards, without the blanks between its letters, and what
 * base64, base32, hexadecimal, decimal, octal and binary digits, URL encoding, quoted-printable, escapes and character
 * references in it hold. Bounded in depth, number and size, because the text is a stranger's.
 */

const DEPTH_MAX = 3;
const READINGS_MAX = 24;
/** Characters of all readings beyond the first. */
const DECODED_MAX_CHARACTERS = 2_097_152;

/** At most {@link READINGS_MAX} texts, the given one first. A caller may rest between them. */
export function* readingsOf(text: string): Generator<string> {
  const known = new Set([text]);
  let left = DECODED_MAX_CHARACTERS;
  const isNew = (reading: string): boolean => {
    if (reading === '' || known.has(reading) || reading.length > left || known.size >= READINGS_MAX) return false;
    known.add(reading);
    left -= reading.length;
    return true;
  };
  yield text;
  const mirrored = reversed(text);
  if (isNew(mirrored)) yield mirrored;
  let level = [text, mirrored];
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const next: string[] = [];
    for (const each of level)
      for (const reading of decoded(each))
        if (isNew(reading)) {
          next.push(reading);
          yield reading;
          const other = reversed(reading);
          if (isNew(other)) yield other;
        }
    level = next;
  }
}

/** Each kind of encoding that is in a text, all its blocks together. */
function* decoded(text: string): Generator<string> {
  const visible = text.replace(NOT_SEEN, '');
  yield blocksOf(visible, BASE64, (block) => Buffer.from(block.replace(/\s+/g, ''), 'base64'));
  yield blocksOf(visible, HEXADECIMAL, (block) => Buffer.from(block.replace(/0x|\\x|[^0-9a-f]/gi, ''), 'hex'));
  if (URL_ENCODED.test(visible)) yield visible.replace(PERCENT_RUN, (run) => textOf(bytesOf(run)) ?? run);
  yield blocksOf(visible, BASE32, base32Bytes);
  for (const { pattern, radix } of CODE_LISTS) yield blocksOf(visible, pattern, (block) => codesOf(block, radix));
  yield blocksIn(visible, SPACED_RUN).map(withoutBlanks).join('\n');
  if (ESCAPED.test(visible))
    yield visible.replace(
      ESCAPES,
      (run, hex, wide, decimal, reference) => characterOf(hex ?? wide ?? reference, decimal) ?? run,
    );
  if (QUOTED_PRINTABLE.test(visible))
    yield visible.replace(/=\r?\n/g, '').replace(EQUALS_RUN, (run) => textOf(bytesOf(run)) ?? run);
}

const NOT_SEEN = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g;
/** At least 24 characters, over line breaks, quotation marks at their beginnings included. */
const BASE64 = /[A-Za-z0-9+/_-]{20,}(?:[ \t>]*\r?\n[ \t>]*[A-Za-z0-9+/_-]{8,})*={0,2}/g;
/** Not the end of a word before it, such as that of `Ref: `. */
const HEXADECIMAL = /(?<![\p{L}\p{N}])(?:(?:0x|\\x)?[0-9a-f]{2}[\s,:;-]{0,3}){12,}/giu;
/** RFC 4648 §6. */
const BASE32 = /(?<![\p{L}\p{N}])[A-Z2-7]{24,}(?:[ \t>]*\r?\n[ \t>]*[A-Z2-7]{8,})*={0,6}/gu;
const BASE32_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** Codes of characters, one after the other. */
const CODE_LISTS = [
  { pattern: /(?<![\p{L}\p{N}])(?:\d{2,3}[\s,;]{1,3}){11,}\d{2,3}(?![\p{L}\p{N}])/gu, radix: 10 },
  { pattern: /(?<![\p{L}\p{N}])(?:[0\\]?[0-7]{2,3}[\s,;]{1,3}){11,}[0\\]?[0-7]{2,3}(?![\p{L}\p{N}])/gu, radix: 8 },
  { pattern: /(?<![\p{L}\p{N}])(?:[01]{7,8}[\s,;]{0,3}){12,}/gu, radix: 2 },
] as const;
/** Single characters with a blank or a mark between each two, several in a row. */
const SPACED_RUN = /(?:[^\s.·_*|-][ \u00a0.·_*|-]{1,4}){12,}[^\s.·_*|-]/gu;
const ESCAPED = /\\u[0-9a-f]{4}|&#/i;
const ESCAPES = /\\u([0-9a-f]{4})|\\u\{([0-9a-f]{1,6})\}|&#(\d{1,7});|&#x([0-9a-f]{1,6});/gi;

const URL_ENCODED = /(?:%[0-9a-f]{2})/i;
const PERCENT_RUN = /(?:%[0-9a-f]{2})+/gi;
const QUOTED_PRINTABLE = /=[0-9A-F]{2}/;
const EQUALS_RUN = /(?:=[0-9A-F]{2})+/g;
const BLOCKS_MAX = 200;

/** At most {@link BLOCKS_MAX} matches. */
function blocksIn(text: string, pattern: RegExp): string[] {
  const found: string[] = [];
  for (const [block] of text.matchAll(pattern)) if (found.push(block) === BLOCKS_MAX) break;
  return found;
}

function blocksOf(text: string, pattern: RegExp, decode: (block: string) => Buffer): string {
  const found: string[] = [];
  for (const [block] of text.matchAll(pattern)) {
    const read = textOf(decode(block));
    if (read !== undefined) found.push(read);
    if (found.length === BLOCKS_MAX) break;
  }
  return found.join('\n');
}

/** Longer gaps are between words. */
const withoutBlanks = (run: string): string =>
  run.replace(/(\S)([ \u00a0.·_*|-]+)/gu, (_, character: string, gap: string) =>
    gap.length > 1 ? `${character} ` : character,
  );

function base32Bytes(block: string): Buffer {
  const bytes: number[] = [];
  let [bits, value] = [0, 0];
  for (const character of block) {
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
  const digits = radix === 2 ? (block.replace(/[\s,;]+/g, '').match(/[01]{8}/g) ?? []) : block.split(/[\s,;\\]+/);
  const codes = digits.filter((each) => each !== '').map((each) => Number.parseInt(each, radix));
  return codes.some((code) => !(code >= 0 && code <= 0xff)) ? Buffer.from([0]) : Buffer.from(codes);
}

/** Undefined: there is no such character. */
function characterOf(hexadecimal: string | undefined, decimal: string | undefined): string | undefined {
  const code = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

const bytesOf = (run: string): Buffer => Buffer.from(run.replace(/[%=]/g, ''), 'hex');

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** Bytes that are text; undefined: they are not. */
function textOf(bytes: Buffer): string | undefined {
  try {
    const text = UTF_8.decode(bytes);
    return CONTROL.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
const CONTROL = /[\x00-\x08\x0e-\x1f\x7f]/;

/** By characters, so that surrogates stay together. */
const reversed = (text: string): string => [...text].reverse().join('');
