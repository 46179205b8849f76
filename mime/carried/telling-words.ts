/**
 * Words that say where they come from: tokens of links, codes, long numbers. Strong ones are enough alone; of weak ones
 * three in a row, in any order, are.
 */
import { plainText } from '#mime/words/fold.ts';
import { hashOf, mixed } from './words.ts';

interface TellingWord {
  /** Without signs between its characters. */
  readonly key: string;
  readonly at: number;
  readonly end: number;
  /** Enough alone. */
  readonly strong: boolean;
  /** One of those that count in a row; a number in groups is there by its groups. */
  readonly inRow: boolean;
}

/** Of a stored text in a turn, and of one that is checked: what stands in front must not hide what is behind. */
const TELLING_MAX = 400;
export const CHECKED_TELLING_MAX = 4_000;
const STRONG_DIGITS_MIN = 10;
const WEAK_DIGITS_MIN = 5;
const DIGITS_MAX = 64;
const STRONG_TOKEN_MIN = 12;
const WEAK_TOKEN_MIN = 6;
const TOKEN_MAX = 512;

/** Dates, times and versions: everybody writes the same. */
const DATES =
  /\b(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?)(?:t[\d:.]+z?)?\b/g;
/** In groups, such as those of cards, accounts and telephones. */
const DIGITS = /[+(]?\d(?:(?:[ ,.\-/]|\)[ -]?| [-/] )?\d)*/g;
const TOKEN = /[a-z0-9][a-z0-9_-]*[a-z0-9]/g;
/** How telephone numbers are written. Contacts are shared without harm. */
const TELEPHONE = /^(?:\+|\(?0[1-9]?|00)|^\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}$/;

const WHOLE: { readonly digits?: string; readonly from: number } = { from: 0 };

/** In their order. @param given plain text or not; positions are of `plainText` */
export function tellingWords(given: string, max: number = TELLING_MAX): TellingWord[] {
  const text = plainText(given).toLowerCase();
  const found: TellingWord[] = [];
  const undated = text.replace(DATES, (date) => ' '.repeat(date.length));
  for (const { 0: written, index } of undated.matchAll(DIGITS)) {
    const isTelephone = TELEPHONE.test(written);
    const groups = [...written.matchAll(/[^ ]+/g)];
    const all = groups.length > 1 ? [...groups.map((one) => ({ digits: one[0], from: one.index })), WHOLE] : [WHOLE];
    let hasGroup = false;
    for (const { digits = written, from } of all) {
      const key = digits.replace(/\D/g, '').slice(0, DIGITS_MAX);
      if (key.length < WEAK_DIGITS_MIN || isPlainNumber(key)) continue;
      const strong = key.length >= STRONG_DIGITS_MIN && !isTelephone;
      const at = index + from;
      found.push({ key, at, end: at + digits.length, strong, inRow: digits !== written || !hasGroup });
      hasGroup = true;
    }
    if (found.length >= max) break;
  }
  let tokens = 0;
  for (const { 0: written, index } of text.matchAll(TOKEN)) {
    const form = written.length > TOKEN_MAX ? undefined : formOf(written);
    if (form === undefined) continue;
    const key = written.replace(/[-_]/g, '');
    found.push({ key, at: index, end: index + written.length, strong: form === 'strong', inRow: true });
    if (++tokens >= max) break;
  }
  return found.sort((a, b) => a.at - b.at || a.end - b.end);
}

/** Round sums and repeated digits. */
const isPlainNumber = (digits: string): boolean => /^\d{1,3}0+$/.test(digits) || /^(\d)\1+$/.test(digits);

function formOf(written: string): 'strong' | 'weak' | undefined {
  if (!/\d/.test(written) || !/[a-z]/.test(written)) return undefined;
  const pieces = written.split(/[-_]+/);
  // Words and numbers with hyphens are the title of a page.
  const isRandom = pieces.some((piece) => piece.length >= 4 && alternations(piece) > 0);
  if (!isRandom) return undefined;
  const key = pieces.join('');
  if (key.length >= STRONG_TOKEN_MIN && digitsIn(key) >= 2 && alternations(key) >= 3) return 'strong';
  return key.length >= WEAK_TOKEN_MIN && digitsIn(key) >= 2 ? 'weak' : undefined;
}

const alternations = (text: string): number => text.match(/\d[a-z]|[a-z](?=\d)/g)?.length ?? 0;
const digitsIn = (text: string): number => text.replace(/\D/g, '').length;

/** A number for a strong word, for three in a row, or for a code. */
export interface TellingMark {
  readonly mark: number;
  readonly at: number;
  readonly end: number;
}

const IN_A_ROW = 3;

/** Strong words, and each three different words in a row, in any order. */
export function tellingMarks(words: readonly TellingWord[]): TellingMark[] {
  const strong = words
    .filter((word) => word.strong)
    .map(({ key, at, end }) => ({ mark: hashOf(`strong ${key}`), at, end }));
  const inRow = words.filter((word) => word.inRow);
  const different = inRow.filter(({ key }, i) => inRow[i - 1]?.key !== key);
  const rows = different.flatMap(({ at }, i) => {
    const three = different.slice(i, i + IN_A_ROW);
    if (new Set(three.map(({ key }) => key)).size < IN_A_ROW) return [];
    const mark = hashOf(
      `row ${three
        .map(({ key }) => key)
        .sort()
        .join(' ')}`,
    );
    return [{ mark, at, end: Math.max(...three.map(({ end }) => end)) }];
  });
  return [...strong, ...rows];
}

/** Of a one-time code. */
export const codeMark = (code: string): number => hashOf(`code ${code.toLowerCase().replace(/[^a-z0-9]/g, '')}`);

/** What may be a one-time code in a text: figures, in two groups at most, and letters with figures. */
const CODES = [
  /(?<!\d)\d{2,5}[ -]?\d{2,5}(?!\d)/g,
  // That it has both is tested apart: looking ahead from each place would read a long line again and again.
  /(?<![a-z0-9])[a-z0-9]{1,8}(?:-[a-z0-9]{1,8})?(?![a-z0-9])/g,
];
const CODES_MAX = 8_000;

export function codeMarks(given: string): TellingMark[] {
  const found: TellingMark[] = [];
  const text = plainText(given).toLowerCase();
  for (const pattern of CODES)
    for (const { 0: written, index } of text.matchAll(pattern)) {
      const length = written.replace(/[^a-z0-9]/g, '').length;
      if (length < 4 || length > 10 || !/\d/.test(written)) continue;
      if (pattern === CODES[1] && !/[a-z]/.test(written)) continue;
      found.push({ mark: codeMark(written), at: index, end: index + written.length });
      if (found.length >= CODES_MAX) return found;
    }
  return found;
}

/** As stored: 32 bits with a sign, and different in each organization. */
export const storedMark = (mark: number, salt: number): number => mixed(mark ^ salt) | 0;
