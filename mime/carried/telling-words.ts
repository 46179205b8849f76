/**
 * Words that say where they come from: tokens of links, references, codes, numbers. Strong ones are enough alone; of weak ones
 * three in a row, in any order, are, or two anywhere (facts).
 */
import { plainText } from '#mime/words/fold.ts';
import { shifted } from './changed-letters.ts';
import { isPlainWord } from './plain-words.ts';
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
  /** One of those of which two are enough. */
  readonly isFact: boolean;
}

/** Of a stored text in a turn, and of one that is checked: what stands in front must not hide what is behind. */
const TELLING_MAX = 400;
export const CHECKED_TELLING_MAX = 4_000;
const STRONG_DIGITS_MIN = 10;
const WEAK_DIGITS_MIN = 5;
const FACT_DIGITS_MIN = 4;
const DIGITS_MAX = 64;
const STRONG_TOKEN_MIN = 12;
const WEAK_TOKEN_MIN = 6;
const TOKEN_MAX = 512;

/** Dates, times and versions: everybody writes the same. */
const DATES =
  /\b(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|(?:[012]?\d|3[01])[./-](?:[012]?\d|3[01])[./-](?:19|20)?\d{2}|\d{1,2}:\d{2}(?::\d{2})?)(?:t[\d:.]+z?)?\b/g;
/** Figures in short groups with hyphens, such as those of a safe. */
const GROUPED = /^\d{2,4}(?:-\d{2,4}){2,}$/;
const YEAR = /^(?:19|20)\d\d$/;
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
      if (key.length < FACT_DIGITS_MIN || isPlainNumber(key) || YEAR.test(key)) continue;
      const isGrouped = key.length >= 6 && GROUPED.test(digits) && !TELEPHONE.test(digits);
      const strong = (key.length >= STRONG_DIGITS_MIN && !isTelephone) || isGrouped;
      const at = index + from;
      const isLong = key.length >= WEAK_DIGITS_MIN;
      const inRow = isLong && (digits !== written || !hasGroup);
      found.push({ key, at, end: at + digits.length, strong, inRow, isFact: digits === written });
      hasGroup ||= isLong;
    }
    if (found.length >= max) break;
  }
  let tokens = 0;
  for (const { 0: written, index } of text.matchAll(TOKEN)) {
    const form = written.length > TOKEN_MAX ? undefined : formOf(written, /[/=&?]/.test(text.charAt(index - 1)));
    if (form === undefined) continue;
    const key = written.replace(/[-_]/g, '');
    found.push({ key, at: index, end: index + written.length, strong: form === 'strong', inRow: true, isFact: true });
    if (++tokens >= max) break;
  }
  return found.sort((a, b) => a.at - b.at || a.end - b.end);
}

/** Round sums and repeated digits. */
const isPlainNumber = (digits: string): boolean => /^\d{1,3}0+$/.test(digits) || /^(\d)\1+$/.test(digits);

/** Sizes, ordinals, models and products: everybody may write them. */
const PLAIN_TOKEN =
  /^(?:\d{1,3}[a-z]{1,4}|\d+(?:st|nd|rd|th|am|pm|kg|mg|ml|mm|cm|km|kb|mb|gb|tb|px|eur|usd|gbp|chf|min|hrs?|days?|bit|[kmg]?hz|k?wh?|x\d+)|[a-z]{3,}\d{1,4}|[a-z]{1,2}\d{1,4})$/;
const REFERENCE_MIN = 5;

/** @param isInLink of an address, where words and numbers are the title of a page */
function formOf(written: string, isInLink: boolean): 'strong' | 'weak' | undefined {
  if (!/\d/.test(written) || !/[a-z]/.test(written)) return undefined;
  const pieces = written.split(/[-_]+/);
  if (pieces.length === 1 && written.length >= REFERENCE_MIN && !PLAIN_TOKEN.test(written)) return 'strong';
  if (!isInLink && pieces.length > 1 && isCompound(pieces)) return 'strong';
  // Words and numbers with hyphens are the title of a page.
  const isRandom = pieces.some((piece) => piece.length >= 4 && alternations(piece) > 0);
  if (!isRandom) return undefined;
  const key = pieces.join('');
  if (key.length >= STRONG_TOKEN_MIN && digitsIn(key) >= 2 && alternations(key) >= 3) return 'strong';
  return key.length >= WEAK_TOKEN_MIN && digitsIn(key) >= 2 ? 'weak' : undefined;
}

/** A word that not everybody writes with a number, such as a password that was made of words, or the number of a bill. */
function isCompound(pieces: readonly string[]): boolean {
  const numbers = pieces.filter((piece) => /^\d+$/.test(piece));
  const words = pieces.filter((piece) => /^[a-z]{3,}$/.test(piece) && !isPlainWord(hashOf(piece)));
  if (pieces.length > 4 || numbers.length !== 1 || words.length === 0) return false;
  const digits = numbers[0]?.length ?? 0;
  if (digits >= 4) return words.length === pieces.length - 1 && !YEAR.test(numbers[0] ?? '');
  return digits >= 2 && words.length >= 2 && words.length === pieces.length - 1;
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

/** Facts, each alone. */
export const factMarks = (words: readonly TellingWord[]): FactMark[] =>
  words
    .filter((word) => word.isFact)
    .map(({ key, at, end }) => ({ mark: hashOf(`fact ${key}`), at, end, characters: key.length }));

/** A fact, and how long it is. */
export interface FactMark extends TellingMark {
  readonly characters: number;
}

const SHIFTED_TOKENS_MAX = 12;
const JOINED_MAX = 200;
const SHORT_PIECE = /[a-z0-9]+/g;

/** Of what is checked alone: references with blanks in between, and with the letters of a shifted alphabet. */
export function hiddenMarks(given: string): TellingMark[] {
  const text = plainText(given).toLowerCase();
  const found: TellingMark[] = [];
  let tokens = 0;
  const pieces: { readonly piece: string; readonly at: number }[] = [];
  for (const { 0: piece, index } of text.slice(0, HIDDEN_CHARACTERS_MAX).matchAll(SHORT_PIECE)) {
    if (piece.length <= 6) pieces.push({ piece, at: index });
    else pieces.push({ piece: '', at: index });
    if (piece.length < REFERENCE_MIN || piece.length > 40 || !/\d/.test(piece) || !/[a-z]/.test(piece)) continue;
    if (++tokens > SHIFTED_TOKENS_MAX) continue;
    for (let change = 1; change <= 26; change++) {
      const read = piece.replace(/[a-z]/g, (letter) => shifted(letter, change === 26 ? 225 : change));
      found.push({ mark: hashOf(`strong ${read}`), at: index, end: index + piece.length });
    }
  }
  let joins = 0;
  for (let i = 0; i + 1 < pieces.length && joins < JOINED_MAX; i++)
    for (const count of [2, 3, 4]) {
      const some = pieces.slice(i, i + count);
      const key = some.map(({ piece }) => piece).join('');
      if (some.length < count || some.some(({ piece }) => piece === '') || !/\d/.test(key) || !/[a-z]/.test(key))
        continue;
      const last = some.at(-1) ?? { piece: '', at: 0 };
      if (formOf(key, true) !== 'strong') continue;
      joins++;
      found.push({ mark: hashOf(`strong ${key}`), at: some[0]?.at ?? 0, end: last.at + last.piece.length });
    }
  return found;
}
const HIDDEN_CHARACTERS_MAX = 65_536;

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
