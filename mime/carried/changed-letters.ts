/**
 * Texts whose letters were changed one by one: a fixed shift of the alphabet, the alphabet backwards, each word backwards,
 * digits for letters, letters from elsewhere in Unicode. Which shift it is shows in the words that everybody writes.
 */
import { PLAIN_WORDS } from './plain-words.ts';

type Change = (word: string) => string;

/** Words that everybody writes, by what a shift leaves as it is: the steps from letter to letter. */
const BY_STEPS = new Map<string, string[]>();
for (const word of PLAIN_WORDS)
  if (word.length >= 3 && /^[a-z]+$/.test(word)) {
    const steps = stepsOf(word);
    BY_STEPS.set(steps, [...(BY_STEPS.get(steps) ?? []), word]);
  }
const PLAIN = new Set(PLAIN_WORDS.filter((word) => word.length >= 2));

function stepsOf(word: string, sign = 1): string {
  let steps = '';
  for (let i = 1; i < word.length; i++)
    steps += String.fromCharCode(97 + (((((word.charCodeAt(i) - word.charCodeAt(i - 1)) * sign + 52) % 26) + 26) % 26));
  return steps;
}

const SEGMENTS_MAX = 400;
const SEGMENT_MIN_CHARACTERS = 300;
const SAMPLED_WORDS = 24;
const LETTERS = /[a-z]+/gi;
const REVERSED = 100;
const MIRRORED = 200;

/** The text with changed parts read; undefined: no part of it is changed. */
export function unchangedLetters(text: string): string | undefined {
  const size = Math.max(SEGMENT_MIN_CHARACTERS, Math.ceil(text.length / SEGMENTS_MAX));
  let isChanged = false;
  const read = segmentsOf(text, size).map((segment) => {
    const change = changeOf(segment);
    if (change === undefined) return segment;
    isChanged = true;
    return change(segment);
  });
  return isChanged ? read.join('') : undefined;
}

/** Lines, or parts of that length of longer ones; short lines are apart from each other. */
function segmentsOf(text: string, size: number): string[] {
  const segments: string[] = [];
  for (let at = 0; at < text.length; ) {
    const limit = Math.min(text.length, at + size);
    const part = text.slice(at, limit);
    const line = segments.length < SEGMENTS_MAX ? part.indexOf('\n') : -1;
    let end = line < 0 ? limit : at + line + 1;
    if (line < 0 && limit < text.length) {
      const blank = part.lastIndexOf(' ');
      if (blank > 0) end = at + blank + 1;
    }
    segments.push(text.slice(at, end));
    at = end;
  }
  return segments;
}

function changeOf(segment: string): Change | undefined {
  const scores = new Map<number, number>();
  const add = (change: number, letters: number): void => {
    scores.set(change, (scores.get(change) ?? 0) + letters);
  };
  let [all, own, count] = [0, 0, 0];
  for (const [written] of segment.matchAll(LETTERS)) {
    if (++count > SAMPLED_WORDS) break;
    const word = written.toLowerCase();
    all += word.length;
    if (PLAIN.has(word)) own += word.length;
    if (word.length < 3 || word.length > 14) continue;
    for (const plain of BY_STEPS.get(stepsOf(word)) ?? [])
      add((plain.charCodeAt(0) - word.charCodeAt(0) + 26) % 26, word.length);
    for (const plain of BY_STEPS.get(stepsOf(word, -1)) ?? [])
      add(MIRRORED + ((plain.charCodeAt(0) + word.charCodeAt(0) - 194 + 52) % 26), word.length);
    if (PLAIN.has([...word].reverse().join(''))) add(REVERSED, word.length);
  }
  scores.delete(0);
  const [best, score] = [...scores].reduce<[number, number]>((most, each) => (each[1] > most[1] ? each : most), [0, 0]);
  if (score < 3 || score <= own * 1.2 || score * 7 < all) return undefined;
  if (best === REVERSED) return (part) => part.replace(/\S+/g, (word) => [...word].reverse().join(''));
  return (part) => part.replace(/[a-z]/gi, (letter) => shifted(letter, best));
}

/** @param change a shift, or the mirrored alphabet with one */
export function shifted(letter: string, change: number): string {
  const base = letter < 'a' ? 65 : 97;
  const at = letter.charCodeAt(0) - base;
  const to = change >= MIRRORED ? change - MIRRORED - at : at + change;
  return String.fromCharCode(base + (((to % 26) + 26) % 26));
}

const LEET: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  8: 'b',
  9: 'g',
  $: 's',
  '@': 'a',
  '!': 'i',
  '|': 'l',
  '+': 't',
  '€': 'e',
  '£': 'l',
};
const LEET_WORD = /(?<![\p{L}\d$@!|€£+])(?=[\d$@!|€£+]{0,6}\p{L})[\p{L}\d$@!|€£+]{2,30}(?![\p{L}\d$@!|€£+])/gu;
const LEET_SIGN = /[0134578 9$@!|+€£]/g;
const LEET_WORDS_MIN = 3;

/** Words with digits for letters, read as letters; twice, because 1 is i and l. */
export function withoutDigitsInWords(text: string): string[] {
  let count = 0;
  const read = (one: string): string =>
    text.replace(LEET_WORD, (word) => {
      if (!/[\d$@!|€£+]/.test(word)) return word;
      count++;
      return word.replace(LEET_SIGN, (sign) =>
        sign === '1' || sign === '!' || sign === '|' ? one : (LEET[sign] ?? sign),
      );
    });
  const first = read('i');
  if (count < LEET_WORDS_MIN) return [];
  return [first, read('l')];
}

/** Letters elsewhere in Unicode that no compatibility form leads back: tags, flags, letters in black boxes, upside down. */
const ELSEWHERE =
  /[\u{e0020}-\u{e007e}\u{1f1e6}-\u{1f1ff}\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}ɐɔǝɟƃɥᴉɾʞʅɯɹʇʌʍʎꓯꓭƆꓷƎℲ⅁ꓘ⅂ꟽԀꓤꓕꓵꓥ]/gu;
const TURNED: Readonly<Record<string, string>> = {
  ...{
    ɐ: 'a',
    ɔ: 'c',
    ǝ: 'e',
    ɟ: 'f',
    ƃ: 'g',
    ɥ: 'h',
    ᴉ: 'i',
    ɾ: 'j',
    ʞ: 'k',
    ʅ: 'l',
    ɯ: 'm',
    ɹ: 'r',
    ʇ: 't',
    ʌ: 'v',
    ʍ: 'w',
    ʎ: 'y',
  },
  ...{
    ꓯ: 'a',
    ꓭ: 'b',
    Ɔ: 'c',
    ꓷ: 'd',
    Ǝ: 'e',
    Ⅎ: 'f',
    '⅁': 'g',
    ꓘ: 'k',
    '⅂': 'l',
    ꟽ: 'm',
    Ԁ: 'p',
    ꓤ: 'r',
    ꓕ: 't',
    ꓵ: 'u',
    ꓥ: 'v',
  },
};
const TURNED_LETTERS = /[ɐɔǝɟƃɥᴉɾʞɯɹʇʌʍʎ]/;

/** Undefined: there are none. */
export function fromElsewhere(text: string): string | undefined {
  let isChanged = false;
  const read = text.replace(ELSEWHERE, (sign) => {
    isChanged = true;
    const code = sign.codePointAt(0) ?? 0;
    if (code >= 0xe0000) return String.fromCodePoint(code - 0xe0000);
    for (const [first, last] of [
      [0x1f1e6, 0x1f1ff],
      [0x1f150, 0x1f169],
      [0x1f170, 0x1f189],
    ] as const)
      if (code >= first && code <= last) return String.fromCharCode(97 + code - first);
    return TURNED[sign] ?? sign;
  });
  if (!isChanged) return undefined;
  // Upside down, the last letter is the first; n and u, d and p, b and q are each other.
  return TURNED_LETTERS.test(text)
    ? `${read}\n${[...read]
        .reverse()
        .join('')
        .replace(/[nudpbq]/g, (letter) => 'undpqb'.charAt('nupdbq'.indexOf(letter)))}`
    : read;
}

/** Without lines and points above, below and through letters. */
export const withoutMarks = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').normalize('NFC');
export const HAS_MARKS = /\p{M}/u;
