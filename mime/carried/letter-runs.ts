/**
 * Letters without blanks between words: there, what words a text has is not to be seen, so its letters are compared, with the
 * letters of other texts, whatever their blanks are.
 */
import { plainText } from '#mime/words/fold.ts';
import { PLAIN_WORDS } from './plain-words.ts';
import type { TextReading } from './readings.ts';
import { comparable } from './words.ts';

/** Letters in a row that two texts have in common: about five words. */
export const COMMON_LETTERS_MIN = 20;
const LETTERS_MAX = 16_384;
/** No word is so long; of an address neither slash nor sign of a query is in one. */
const RUN = /[^\s/?=&@<>]{24,}/g;
const NO_LETTER = /[^\p{L}\p{N}]+/gu;

export const lettersOf = (text: string): string => comparable(plainText(text)).toLowerCase().replace(NO_LETTER, '');

/** Runs in a reading that look like language. */
export function letterRuns({ text, form }: TextReading): string[] {
  const runs = form === 'letters' || form === 'said' ? [text] : (text.match(RUN) ?? []);
  let left = LETTERS_MAX;
  const found: string[] = [];
  for (const run of runs) {
    const letters = lettersOf(run.slice(0, left));
    left -= letters.length;
    if (letters.length >= COMMON_LETTERS_MIN && (form === 'said' || isLanguage(letters))) found.push(letters);
    if (left <= 0) break;
  }
  return found;
}

const WORDS = new Set(PLAIN_WORDS.filter((word) => word.length >= 3 && word.length <= 8));
const LONG_SHARE_MIN = 0.1;
const SHARE_MIN = 0.3;

/** Whether words that everybody writes are in it, more than by chance. */
function isLanguage(letters: string): boolean {
  const sample = letters.slice(0, 2_048);
  let [long, all] = [0, 0];
  for (let at = 0; at < sample.length; at++)
    for (let length = 8; length >= 3; length--)
      if (at + length <= sample.length && WORDS.has(sample.slice(at, at + length))) {
        all += length;
        if (length > 3) long += length;
        at += length - 1;
        break;
      }
  return long / sample.length >= LONG_SHARE_MIN || all / sample.length >= SHARE_MIN;
}

const BASE = 0x01000193;

/** A number for each {@link COMMON_LETTERS_MIN} letters in a row, in their order. */
export function letterNumbers(letters: string): Uint32Array {
  const count = Math.max(0, letters.length - COMMON_LETTERS_MIN + 1);
  const numbers = new Uint32Array(count);
  let leaving = 1;
  for (let i = 1; i < COMMON_LETTERS_MIN; i++) leaving = Math.imul(leaving, BASE);
  let number = 0;
  for (let i = 0; i < letters.length; i++) {
    if (i >= COMMON_LETTERS_MIN)
      number = (number - Math.imul(letters.charCodeAt(i - COMMON_LETTERS_MIN) + 1, leaving)) | 0;
    number = (Math.imul(number, BASE) + letters.charCodeAt(i) + 1) | 0;
    if (i >= COMMON_LETTERS_MIN - 1) numbers[i - COMMON_LETTERS_MIN + 1] = number;
  }
  return numbers;
}
