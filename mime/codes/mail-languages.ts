/**
 * The languages a mail is written in, as far as the words beside its numbers tell. Words of offers and bookings count in
 * these only: "let" is a flight in one language, and "voyage" may be a name.
 */

import en from '#mime/words/en.json' with { type: 'json' };
import { PhraseMatcher } from '#mime/words/phrase-matcher.ts';
import { ALL_LANGUAGES, type Languages, phrasesWithLanguages } from '#mime/words/word-lists.ts';
import type { MailLine } from './mail-lines.ts';

const matcher = new PhraseMatcher<Languages>(() =>
  phrasesWithLanguages([
    'certain',
    'possible',
    'purpose',
    'secrecy',
    'enter',
    'notMe',
    'ignore',
    'otherCode',
    'otherNumber',
    'setting',
    'report',
    'unsubscribe',
    'footer',
  ]),
);

/** Mails in other languages have English words in them. */
const ALWAYS = ALL_LANGUAGES.indexOf(en);
/** Of the letters that the words of the first language have. */
const SHARE_MIN = 0.4;
const LINES_MAX = 40;

/** Numbers of languages in `ALL_LANGUAGES`. */
export function languagesOf(subject: MailLine | undefined, body: readonly MailLine[]): ReadonlySet<number> {
  const letters = ALL_LANGUAGES.map(() => 0);
  for (const line of [...(subject === undefined ? [] : [subject]), ...body.slice(0, LINES_MAX)])
    for (const { kind, from, to } of matcher.find(line.folded))
      for (const language of kind) letters[language] = (letters[language] ?? 0) + to - from;
  const most = Math.max(...letters);
  const written = new Set([ALWAYS]);
  letters.forEach((count, language) => {
    if (most > 0 && count >= most * SHARE_MIN) written.add(language);
  });
  return written;
}
