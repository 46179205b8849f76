/** Finds the phrases of word lists in folded text, in time linear in its length: a few comparisons at each place. */

export interface Phrase<Kind> {
  readonly kind: Kind;
  /** Folded, as in a word list: with `*` for any beginning or ending. */
  readonly words: string;
}

interface PhraseMatch<Kind> {
  readonly kind: Kind;
  readonly from: number;
  /** Behind the whole word that the phrase ends in. */
  readonly to: number;
}

interface Entry<Kind> {
  readonly kind: Kind;
  readonly folded: string;
  readonly anyBeginning: boolean;
  readonly anyEnding: boolean;
}

/** Phrases of one beginning, the longest first. */
type Bucket<Kind> = Entry<Kind>[];

/** Characters by which phrases are found; shorter ones are found by the first alone. */
const KEY_CHARACTERS = 3;

/** Kinds of phrases: at the beginning of a word only, or inside words too. */
const LONG = 1;
const SHORT = 2;
const LONG_INSIDE = 4;
const SHORT_INSIDE = 8;
const INSIDE = LONG_INSIDE;
const SUMS = 0x1_0000;

/** Of the three code units of a key; different keys may have the same. */
const sumAt = (text: string, at: number): number =>
  (text.charCodeAt(at) * 1_021 + text.charCodeAt(at + 1) * 37 + text.charCodeAt(at + 2)) & (SUMS - 1);

const isSmallLetter = (code: number): boolean => code >= 0x61 && code <= 0x7a;

/** Between two small Latin letters no word begins. */
const inAsciiWord = (folded: string, at: number): boolean =>
  at > 0 && isSmallLetter(folded.charCodeAt(at - 1)) && isSmallLetter(folded.charCodeAt(at));

const WORD = /[\p{L}\p{M}\p{N}_]/u;
const LETTER = /[\p{L}\p{M}]/u;
/** Scripts that write words without spaces between them, or particles at their end. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Hangul}\u30fc]/u;
/** Prepositions and articles that Arabic and Hebrew write together with the word. */
const PROCLITIC = /^(?:[وف]?(?:ال|لل|[بلك](?:ال)?)?|[وהבלמשכ]{1,3}|ו?כש)$/u;
const PROCLITIC_MAX_CHARACTERS = 4;
const PROCLITIC_SCRIPT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;
/** No word is longer; a run of letters that is counts as words of this length. */
const WORD_MAX_CHARACTERS = 64;

/** Phrases by their first characters, put in order when text is first searched: tens of thousands of them, few ever met. */
export class PhraseMatcher<Kind> {
  readonly #phrases: () => Iterable<Phrase<Kind>>;
  #buckets: Map<string, Bucket<Kind>> | undefined;
  /**
   * By first UTF-16 code units which kinds of phrases begin with them, and by the sum of the first three the same for
   * long ones. Most places of a text begin none, and are passed without a look into the buckets.
   */
  #beginnings = new Uint8Array(0);
  #sums = new Uint8Array(0);

  /** @param phrases where two are the same the first one counts */
  constructor(phrases: () => Iterable<Phrase<Kind>>) {
    this.#phrases = phrases;
  }

  /** From left to right, the longest at each place, none inside another. */
  find(folded: string): PhraseMatch<Kind>[] {
    const buckets = this.#read();
    const found: PhraseMatch<Kind>[] = [];
    const beginnings = this.#beginnings;
    const sums = this.#sums;
    for (let at = 0; at < folded.length; ) {
      const kinds = beginnings[folded.charCodeAt(at)] ?? 0;
      const long = kinds === 0 || (kinds < INSIDE && inAsciiWord(folded, at)) ? 0 : (sums[sumAt(folded, at)] ?? 0);
      let match: PhraseMatch<Kind> | undefined;
      if (long !== 0 || (kinds & (SHORT | SHORT_INSIDE)) !== 0) {
        const begins = beginsWord(folded, at);
        if ((long & (begins ? LONG | LONG_INSIDE : LONG_INSIDE)) !== 0)
          match = longestIn(buckets.get(folded.slice(at, at + KEY_CHARACTERS)), folded, at, begins);
        if (match === undefined && (kinds & (begins ? SHORT | SHORT_INSIDE : SHORT_INSIDE)) !== 0)
          match = longestIn(buckets.get(folded.charAt(at)), folded, at, begins);
      }
      if (match !== undefined) found.push(match);
      at = match === undefined ? at + 1 : match.to;
    }
    return found;
  }

  #read(): Map<string, Bucket<Kind>> {
    if (this.#buckets !== undefined) return this.#buckets;
    const buckets = new Map<string, Bucket<Kind>>();
    const beginnings = new Uint8Array(0x1_0000);
    const sums = new Uint8Array(SUMS);
    for (const { kind, words } of this.#phrases()) {
      const anyBeginning = words.startsWith('*');
      const folded = words.replaceAll('*', '');
      const isShort = folded.length < KEY_CHARACTERS;
      const key = folded.slice(0, isShort ? 1 : KEY_CHARACTERS);
      let bucket = buckets.get(key);
      if (bucket === undefined) {
        bucket = [];
        buckets.set(key, bucket);
      }
      bucket.push({ kind, folded, anyBeginning, anyEnding: words.endsWith('*') });
      const first = folded.charCodeAt(0);
      const of = isShort ? (anyBeginning ? SHORT_INSIDE : SHORT) : anyBeginning ? LONG_INSIDE : LONG;
      beginnings[first] = (beginnings[first] ?? 0) | of;
      if (!isShort) sums[sumAt(folded, 0)] = (sums[sumAt(folded, 0)] ?? 0) | of;
    }
    for (const entries of buckets.values()) entries.sort((a, b) => b.folded.length - a.folded.length);
    this.#beginnings = beginnings;
    this.#sums = sums;
    this.#buckets = buckets;
    return buckets;
  }
}

function longestIn<Kind>(
  bucket: Bucket<Kind> | undefined,
  text: string,
  from: number,
  begins: boolean,
): PhraseMatch<Kind> | undefined {
  if (bucket === undefined) return undefined;
  for (const { kind, folded, anyBeginning, anyEnding } of bucket) {
    if (!(begins || anyBeginning) || !text.startsWith(folded, from)) continue;
    const end = from + folded.length;
    if (anyEnding || endsWord(text, end)) return { kind, from, to: anyEnding ? endOfWord(text, end) : end };
  }
  return undefined;
}

const IN_WORD = 1;
const IS_LETTER = 2;
const IS_UNSPACED = 4;
const IS_PROCLITIC_SCRIPT = 8;
const IS_KNOWN = 16;
/** What each UTF-16 code unit is, filled in as they occur. */
const unitKinds = new Uint8Array(0x1_0000);

/** No bit is set at an offset outside of the text. */
function kindAt(text: string, at: number): number {
  if (at < 0 || at >= text.length) return 0;
  const code = text.charCodeAt(at);
  const known = unitKinds[code] ?? 0;
  if (known !== 0) return known;
  const unit = String.fromCharCode(code);
  const kind =
    IS_KNOWN |
    (WORD.test(unit) ? IN_WORD : 0) |
    (LETTER.test(unit) ? IS_LETTER : 0) |
    (UNSPACED.test(unit) ? IS_UNSPACED : 0) |
    (PROCLITIC_SCRIPT.test(unit) ? IS_PROCLITIC_SCRIPT : 0);
  unitKinds[code] = kind;
  return kind;
}

function beginsWord(folded: string, at: number): boolean {
  const before = kindAt(folded, at - 1);
  if ((before & IN_WORD) === 0) return true;
  const first = kindAt(folded, at);
  if (((before | first) & IS_UNSPACED) !== 0) return true;
  if ((before & first & IS_PROCLITIC_SCRIPT) === 0) return false;
  let from = at;
  while (at - from <= PROCLITIC_MAX_CHARACTERS && (kindAt(folded, from - 1) & IN_WORD) !== 0) from--;
  return PROCLITIC.test(folded.slice(from, at));
}

function endsWord(folded: string, at: number): boolean {
  const behind = kindAt(folded, at);
  return (behind & IS_LETTER) === 0 || ((behind | kindAt(folded, at - 1)) & IS_UNSPACED) !== 0;
}

function endOfWord(folded: string, at: number): number {
  let to = at;
  while (to - at < WORD_MAX_CHARACTERS && (kindAt(folded, to) & (IS_LETTER | IS_UNSPACED)) === IS_LETTER) to++;
  return to;
}
