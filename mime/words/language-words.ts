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
