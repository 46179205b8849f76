/** The word lists of all languages, ready to be looked for. */
import { ALL_LANGUAGES } from './all-languages.ts';
import { fold, plainText } from './fold.ts';
import type { LanguageWords, WordList } from './language-words.ts';
import { type Phrase, PhraseMatcher } from './phrase-matcher.ts';

const read = new Map<readonly string[], readonly string[]>();

/** Phrases of a list of one language, folded; each list is folded once, line by line. */
export function phrasesIn(language: LanguageWords, list: WordList): readonly string[] {
  const lines = language[list];
  let phrases = read.get(lines);
  if (phrases === undefined) {
    phrases = lines.flatMap((line) => fold(plainText(line)).split(', '));
    read.set(lines, phrases);
  }
  return phrases;
}

/** Phrases of one list in all languages. */
export function* phrasesOf<Kind>(list: WordList, kind: Kind): Generator<Phrase<Kind>> {
  for (const language of ALL_LANGUAGES) for (const words of phrasesIn(language, list)) yield { kind, words };
}

/** Numbers of languages in `ALL_LANGUAGES`. */
export type Languages = readonly number[];

/** Phrases of some lists with the languages that have them. */
export function phrasesWithLanguages(lists: readonly WordList[]): Phrase<Languages>[] {
  const known = new Map<string, { words: string; kind: number[] }>();
  ALL_LANGUAGES.forEach((language, number) => {
    for (const list of lists)
      for (const words of phrasesIn(language, list)) {
        const phrase = known.get(words);
        if (phrase === undefined) known.set(words, { words, kind: [number] });
        else if (!phrase.kind.includes(number)) phrase.kind.push(number);
      }
  });
  return [...known.values()];
}

/** A matcher for one list, used for whether and how often its words occur. */
export const matcherOf = (list: WordList): PhraseMatcher<WordList> => new PhraseMatcher(() => phrasesOf(list, list));
