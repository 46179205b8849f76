/**
 * The words of a text as they are compared with other mail: lower case without accents, characters nobody sees, signs and
 * quotation marks; letters that look alike are one letter. Scripts without blanks have one word for each character.
 */
import { fold, isAscii, plainText } from '#mime/words/fold.ts';

/** Words beyond this number are not looked at. */
export const WORDS_MAX = 200_000;

export interface Words {
  /** The text that the positions are of. */
  readonly text: string;
  readonly count: number;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** A number for each word; equal words have equal ones. */
  readonly hashes: Uint32Array;
}

/** Letters of other alphabets that are drawn like these (Unicode Technical Standard 39 §4), after folding. */
const LOOKS_LIKE: Readonly<Record<string, string>> = {
  ...{ а: 'a', в: 'b', с: 'c', ԁ: 'd', е: 'e', һ: 'h', н: 'h', і: 'i', ј: 'j', к: 'k', ӏ: 'l', м: 'm', о: 'o', р: 'p' },
  ...{ ԛ: 'q', ѕ: 's', т: 't', у: 'y', х: 'x', ԝ: 'w', г: 'r', ѵ: 'v', ո: 'n', օ: 'o', ս: 'u', հ: 'h' },
  ...{ α: 'a', β: 'b', ε: 'e', η: 'n', ι: 'i', κ: 'k', ν: 'v', ο: 'o', ρ: 'p', σ: 'o', τ: 't', υ: 'u', χ: 'x', ω: 'w' },
  ...{ ɑ: 'a', ɡ: 'g', ɩ: 'i', ʟ: 'l', ɴ: 'n', ʀ: 'r', ѡ: 'w', ꜱ: 's', ᴀ: 'a', ʙ: 'b', ᴄ: 'c', ᴅ: 'd', ᴇ: 'e', ᴏ: 'o' },
};
const MAY_LOOK_ALIKE = new RegExp(`[${Object.keys(LOOKS_LIKE).join('')}]`, 'gu');

/** Of the same length as the text: positions stay. */
export const comparable = (plain: string): string => {
  const folded = fold(plain);
  return isAscii(folded) ? folded : folded.replace(MAY_LOOK_ALIKE, (letter) => LOOKS_LIKE[letter] ?? letter);
};

const WITHOUT_BLANKS =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Khmer}\\p{Script=Lao}';
const WORD = new RegExp(`[${WITHOUT_BLANKS}]|(?:(?![${WITHOUT_BLANKS}])[\\p{L}\\p{N}])+`, 'gu');
const ASCII_WORD = /[a-z0-9]+/g;
/** A word beyond this length is compared by its beginning. */
const WORD_CHARACTERS_MAX = 64;

export function wordsOf(given: string): Words {
  const text = plainText(given);
  const folded = comparable(text);
  const starts: number[] = [];
  const ends: number[] = [];
  const hashes: number[] = [];
  for (const match of folded.matchAll(isAscii(folded) ? ASCII_WORD : WORD)) {
    if (starts.length === WORDS_MAX) break;
    const word = match[0];
    starts.push(match.index);
    ends.push(match.index + word.length);
    hashes.push(hashOf(word.length > WORD_CHARACTERS_MAX ? word.slice(0, WORD_CHARACTERS_MAX) : word));
  }
  return {
    text,
    count: starts.length,
    starts: Uint32Array.from(starts),
    ends: Uint32Array.from(ends),
    hashes: Uint32Array.from(hashes),
  };
}

/** The same words from the last to the first. */
export const backwards = ({ text, count, starts, ends, hashes }: Words): Words => ({
  text,
  count,
  starts: starts.toReversed(),
  ends: ends.toReversed(),
  hashes: hashes.toReversed(),
});

/** FNV-1a over UTF-16 code units, mixed. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mixed(hash);
}

/** MurmurHash3's last step: every bit of the input changes half of the output. */
export function mixed(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
