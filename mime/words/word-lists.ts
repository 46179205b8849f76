/** The words of all languages by what they are for, ready to be looked for. */
import ar from './ar.json' with { type: 'json' };
import bg from './bg.json' with { type: 'json' };
import cs from './cs.json' with { type: 'json' };
import da from './da.json' with { type: 'json' };
import de from './de.json' with { type: 'json' };
import el from './el.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };
import es from './es.json' with { type: 'json' };
import fa from './fa.json' with { type: 'json' };
import fi from './fi.json' with { type: 'json' };
import { fold, plainText } from './fold.ts';
import fr from './fr.json' with { type: 'json' };
import he from './he.json' with { type: 'json' };
import hi from './hi.json' with { type: 'json' };
import hr from './hr.json' with { type: 'json' };
import hu from './hu.json' with { type: 'json' };
import id from './id.json' with { type: 'json' };
import it from './it.json' with { type: 'json' };
import ja from './ja.json' with { type: 'json' };
import ko from './ko.json' with { type: 'json' };
import nl from './nl.json' with { type: 'json' };
import no from './no.json' with { type: 'json' };
import { type Phrase, PhraseMatcher } from './phrase-matcher.ts';
import pl from './pl.json' with { type: 'json' };
import pt from './pt.json' with { type: 'json' };
import ro from './ro.json' with { type: 'json' };
import ru from './ru.json' with { type: 'json' };
import sk from './sk.json' with { type: 'json' };
import sv from './sv.json' with { type: 'json' };
import th from './th.json' with { type: 'json' };
import tr from './tr.json' with { type: 'json' };
import uk from './uk.json' with { type: 'json' };
import vi from './vi.json' with { type: 'json' };
import zhHans from './zh-Hans.json' with { type: 'json' };
import zhHant from './zh-Hant.json' with { type: 'json' };

/**
 * What the words of a language are for. Each list is lines of phrases, separated by commas. `word*` matches every ending and
 * `*word` every beginning, as compounds have them. Case, accents, hyphens and the two forms of an apostrophe do not
 * matter; the longest entry that matches wins, so that "promo code" is never read as "code".
 */
export interface LanguageWords {
  /** Its name in itself. */
  readonly language: string;
  /** Whether the verb of a button stands last: "Bestätigung abbrechen" cancels, "Cancel confirmation" does too. */
  readonly verbLast: boolean;

  /** Names of a one-time code. */
  readonly certain: readonly string[];
  /** Words for codes of any kind. */
  readonly possible: readonly string[];
  /** What a one-time code is asked for: signing in, verifying an address. */
  readonly purpose: readonly string[];
  /** What is said beside one: that it expires, that nobody else may see it, where to enter it. */
  readonly secrecy: readonly string[];
  /** "Your" in front of the word for it. */
  readonly yours: readonly string[];
  /** Verbs of entering it. */
  readonly enter: readonly string[];
  /** What stands between the word for it and the number, or behind the number: "is", "now". Nothing else hands it over. */
  readonly handsOver: readonly string[];
  /** Codes of another kind: vouchers, bookings, parcels, postcodes, errors. */
  readonly otherCode: readonly string[];
  /** What other numbers are called. */
  readonly otherNumber: readonly string[];
  /** Words of offers, bookings, deliveries and meetings, whose codes are no one-time codes. */
  readonly setting: readonly string[];
  /** Words of mails that tell of codes and ask for none: tickets, builds, incidents, figures, newsletters, forums. */
  readonly report: readonly string[];
  /** What is said behind a code that does not work: that it has expired, was replaced, was rejected, is wrong. */
  readonly expired: readonly string[];
  /** The same in front of one: "the previous code". */
  readonly former: readonly string[];

  /** Words of links that confirm. */
  readonly confirm: readonly string[];
  /** Words that go on with something; they confirm only in a mail that asks to confirm, register or accept. */
  readonly proceed: readonly string[];
  readonly signIn: readonly string[];
  readonly reset: readonly string[];
  /** Words of links that stop, refuse or report what the mail is about. */
  readonly decline: readonly string[];
  /** "If this was not you": what a link in the same sentence is for somebody else's request. */
  readonly notMe: readonly string[];
  /** "Ignore this mail": the sentence asks for nothing. */
  readonly ignore: readonly string[];
  readonly unsubscribe: readonly string[];
  /** Links that stand in every mail: privacy, help, social networks. */
  readonly footer: readonly string[];
  /** What mails tell of and links show: orders, invoices, parcels, statements, plans, settings, reports. */
  readonly record: readonly string[];
  /** Subjects that tell of something done: a changed password, a new sign-in. */
  readonly notice: readonly string[];
}

export type WordList = Exclude<keyof LanguageWords, 'language' | 'verbLast'>;

/** Every language whose words are known. All are looked for in each mail: mails mix them, and few say theirs. */
export const ALL_LANGUAGES: readonly LanguageWords[] = [
  ar,
  bg,
  cs,
  da,
  de,
  el,
  en,
  es,
  fa,
  fi,
  fr,
  he,
  hi,
  hr,
  hu,
  id,
  it,
  ja,
  ko,
  nl,
  no,
  pl,
  pt,
  ro,
  ru,
  sk,
  sv,
  th,
  tr,
  uk,
  vi,
  zhHans,
  zhHant,
];

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
