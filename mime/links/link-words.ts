/** What the words of a link, or of the sentence around it, say it is for. */

import { fold, plainText } from '#mime/words/fold.ts';
import { type Phrase, PhraseMatcher } from '#mime/words/phrase-matcher.ts';
import type { LanguageWords, WordList } from '#mime/words/word-lists.ts';
import { ALL_LANGUAGES, phrasesIn, phrasesOf } from '#mime/words/word-lists.ts';

const LISTS = ['unsubscribe', 'decline', 'reset', 'confirm', 'signIn', 'footer', 'proceed'] as const;
export type LinkWord = (typeof LISTS)[number];

interface Meaning {
  readonly word: LinkWord;
  readonly verbLast: boolean;
  /** "Yes", "no", "stop": too short to mean something inside a sentence. */
  readonly short: boolean;
}

export interface LinkMeaning {
  readonly word: LinkWord;
  /** In the language of the word the verb stands last. */
  readonly verbLast: boolean;
  readonly from: number;
  readonly to: number;
}

const SHORT_MAX_CHARACTERS = 3;
const SPACED =
  /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Devanagari} ]+$/u;

function* meanings(): Generator<Phrase<Meaning>> {
  for (const word of LISTS) for (const language of ALL_LANGUAGES) yield* meaningsIn(language, word);
}

function* meaningsIn(language: LanguageWords, list: LinkWord): Generator<Phrase<Meaning>> {
  for (const words of phrasesIn(language, list)) {
    const short =
      words.length <= SHORT_MAX_CHARACTERS && !words.includes('*') && (SPACED.test(words) || words.length === 1);
    yield { kind: { word: list, verbLast: language.verbLast, short }, words };
  }
}

const matcher = new PhraseMatcher(meanings);

/** The words of a piece of text that say what a link is for, in their order. */
export function linkMeanings(text: string): LinkMeaning[] {
  const folded = fold(plainText(text));
  return matcher
    .find(folded)
    .filter(({ kind, from, to }) => !kind.short || standsAlone(folded, from, to))
    .map(({ kind: { word, verbLast }, from, to }) => ({ word, verbLast, from, to }));
}

const standsAlone = (folded: string, from: number, to: number): boolean =>
  !/[\p{L}\p{N}]/u.test(folded.slice(0, from)) && !/^[ ]*[\p{L}\p{N}]/u.test(folded.slice(to));

const lists = new Map<WordList, PhraseMatcher<true>>();

/** Whether a word of a list occurs. */
export const mentions = (list: WordList, text: string): boolean => matchesOf(list, text).length > 0;

/** How many different words of a list occur. */
export function wordsIn(list: WordList, text: string): number {
  const folded = fold(plainText(text));
  return new Set(matchesOf(list, text).map(({ from, to }) => folded.slice(from, to))).size;
}

function matchesOf(list: WordList, text: string) {
  let known = lists.get(list);
  if (known === undefined) {
    known = new PhraseMatcher(() => phrasesOf(list, true as const));
    lists.set(list, known);
  }
  return known.find(fold(plainText(text)));
}
