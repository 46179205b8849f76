/**
 * What undeclared text with bytes above 127 is written in: UTF-8, one of the East Asian encodings, or Windows-1252.
 *
 * A wrong guess turns a readable name into signs nobody wrote, so a guess needs two reasons: the bytes must be valid
 * throughout, and the characters they give must be those that such texts are mostly made of, side by side. Letters with
 * accents stand alone among others; Cyrillic, read as Chinese, gives rare characters.
 */
import { COMMON_CHARACTERS } from './common-characters.ts';

export type DetectedCharset = 'utf-8' | 'windows-1252' | keyof typeof COMMON_CHARACTERS;

/** Bytes looked at. */
export const DETECTION_MAX_BYTES = 4_096;
/** Of the characters beyond ASCII: as many must stand beside another one, and be common ones. */
const ADJACENT_SHARE_MIN = 0.7;
const COMMON_SHARE_MIN = 0.3;
/** Below this many characters chance decides, unless nearly all are common. */
const SHORT_CHARACTERS = 4;
const COMMON_SHARE_MIN_OF_SHORT = 0.6;
const CHARACTERS_MIN = 2;

const candidates = Object.entries(COMMON_CHARACTERS).map(([charset, characters]) => ({
  charset: charset as keyof typeof COMMON_CHARACTERS,
  common: new Set(characters),
  decoder: new TextDecoder(charset, { fatal: true }),
}));

export function detectCharset(bytes: Uint8Array): DetectedCharset {
  // Lists of addresses have thousands of short names: for most of them no decoder has to be tried.
  if (!hasNeighbours(bytes)) return looksLikeUtf8(bytes) ? 'utf-8' : 'windows-1252';
  if (looksLikeUtf8(bytes)) return 'utf-8';
  const looked = bytes.subarray(0, DETECTION_MAX_BYTES);
  let best: DetectedCharset = 'windows-1252';
  let bestShare = 0;
  for (const { charset, common, decoder } of candidates) {
    const text = decodeWhole(decoder, looked) ?? decodeWhole(decoder, looked.subarray(0, -1));
    if (text === undefined) continue;
    const share = commonShare(text, common, charset === 'shift_jis');
    if (share > bestShare) [best, bestShare] = [charset, share];
  }
  return best;
}

/** Whether bytes above 127 stand side by side, or with one byte between, as in every text of East Asia. */
function hasNeighbours(bytes: Uint8Array): boolean {
  for (let at = 0; at + 1 < bytes.length; at++)
    if ((bytes[at] ?? 0) > 0x7f && ((bytes[at + 1] ?? 0) > 0x7f || (bytes[at + 2] ?? 0) > 0x7f)) return true;
  return false;
}

function decodeWhole(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** 0: it is no such text. */
function commonShare(text: string, common: ReadonlySet<string>, japanese: boolean): number {
  let beyond = 0;
  let adjacent = 0;
  let known = 0;
  let kana = 0;
  let before = false;
  for (const character of text) {
    const isBeyond = character > '\u007f';
    if (isBeyond) {
      beyond++;
      if (before) adjacent++;
      // Half-width kana are single bytes, which any text of Latin letters would give.
      const isKana = character >= '\u3041' && character <= '\u30fe';
      if (isKana) kana++;
      if ((japanese && isKana) || common.has(character) || (character >= '\u3000' && character <= '\u3011')) known++;
    }
    before = isBeyond;
  }
  // Each run of neighbours has one that stands beside none before it.
  const neighbours = adjacent / Math.max(1, beyond - 1);
  if (beyond < CHARACTERS_MIN || neighbours < ADJACENT_SHARE_MIN) return 0;
  if (japanese && kana === 0) return 0;
  const share = known / beyond;
  return share >= (beyond < SHORT_CHARACTERS ? COMMON_SHARE_MIN_OF_SHORT : COMMON_SHARE_MIN) ? share : 0;
}

/**
 * Valid UTF-8, or UTF-8 in which at most as many bytes are wrong as there are characters of several bytes: a name that
 * was cut within a character stays a name.
 */
function looksLikeUtf8(bytes: Uint8Array): boolean {
  let whole = 0;
  let wrong = 0;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) {
      at++;
      continue;
    }
    const following =
      byte >= 0xc2 && byte <= 0xdf ? 1 : byte >= 0xe0 && byte <= 0xef ? 2 : byte >= 0xf0 && byte <= 0xf4 ? 3 : 0;
    let have = 0;
    while (have < following && at + 1 + have < bytes.length && ((bytes[at + 1 + have] ?? 0) & 0xc0) === 0x80) have++;
    const atEnd = at + 1 + have >= bytes.length;
    if (following > 0 && have === following) whole++;
    else if (!(following > 0 && atEnd)) wrong += 1 + have;
    at += 1 + have;
  }
  return wrong === 0 ? whole > 0 : whole > 1 && wrong <= whole;
}
