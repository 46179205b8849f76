/**
 * What a text may say to a person who decodes it: itself, backwards, and what base64, hexadecimal digits, URL encoding
 * and quoted-printable in it hold. Bounded in depth, number and size, because the text is a stranger's.
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
  if (QUOTED_PRINTABLE.test(visible))
    yield visible.replace(/=\r?\n/g, '').replace(EQUALS_RUN, (run) => textOf(bytesOf(run)) ?? run);
}

const NOT_SEEN = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g;
/** At least 24 characters, over line breaks, quotation marks at their beginnings included. */
const BASE64 = /[A-Za-z0-9+/_-]{20,}(?:[ \t>]*\r?\n[ \t>]*[A-Za-z0-9+/_-]{8,})*={0,2}/g;
const HEXADECIMAL = /(?:(?:0x|\\x)?[0-9a-f]{2}[\s,:;-]{0,3}){12,}/gi;
const URL_ENCODED = /(?:%[0-9a-f]{2})/i;
const PERCENT_RUN = /(?:%[0-9a-f]{2})+/gi;
const QUOTED_PRINTABLE = /=[0-9A-F]{2}/;
const EQUALS_RUN = /(?:=[0-9A-F]{2})+/g;
const BLOCKS_MAX = 200;

function blocksOf(text: string, pattern: RegExp, decode: (block: string) => Buffer): string {
  const found: string[] = [];
  for (const [block] of text.matchAll(pattern)) {
    const read = textOf(decode(block));
    if (read !== undefined) found.push(read);
    if (found.length === BLOCKS_MAX) break;
  }
  return found.join('\n');
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
