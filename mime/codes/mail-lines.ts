/**
 * The text of a mail as lines with the words and numbers that matter for codes, and where a number is among them.
 */
import {
  OTP_LINE_MAX_CHARACTERS,
  OTP_LINES_MAX,
  OTP_TEXT_MAX_CHARACTERS,
  OTP_TOKENS_MAX,
} from '#domain/mail/mail-limits.ts';
import { fold, isAscii, plainText } from '#mime/words/fold.ts';
import { PhraseMatcher } from '#mime/words/phrase-matcher.ts';
import { type Languages, matcherOf, phrasesOf, phrasesWithLanguages } from '#mime/words/word-lists.ts';
import { mayHoldToken, type NumberToken, numberTokens, standsBySelf } from './number-tokens.ts';

type LabelKind = 'otherCode' | 'certain' | 'possible' | 'otherNumber';

/** A word that says what a number is. */
export interface Label {
  readonly kind: LabelKind;
  readonly from: number;
  readonly to: number;
}

/** Where words begin and end. */
export type WordPlace = Pick<Label, 'from' | 'to'>;

/** Words near a number that speak for or against a one-time code. */
type Hint = 'purpose' | 'secrecy' | 'yours' | 'enter' | 'notMe';

export interface MailLine {
  readonly text: string;
  readonly labels: readonly Label[];
  readonly tokens: readonly NumberToken[];
  /** The text as words are compared. */
  readonly folded: string;
  /** Of each word of an offer, a booking, a delivery or a meeting the languages it is of. */
  readonly settings: readonly Languages[];
  /** The same for words of tickets, builds, figures and newsletters. */
  readonly reports: readonly Languages[];
  /** Where it is said that a code does not work: behind the code, and in front of it. */
  readonly expired: readonly WordPlace[];
  readonly former: readonly WordPlace[];
  /** Places where a sentence or a cell of a table ends. */
  readonly breaks: readonly number[];
  /** Where such words begin. */
  readonly hints: Readonly<Record<Hint, readonly number[]>>;
  /** A share of something: offers have them, codes have not. */
  readonly percent: boolean;
  readonly money: boolean;
}

const labels = new PhraseMatcher<LabelKind>(() => [
  ...phrasesOf('otherCode', 'otherCode' as const),
  ...phrasesOf('certain', 'certain' as const),
  ...phrasesOf('possible', 'possible' as const),
  ...phrasesOf('otherNumber', 'otherNumber' as const),
]);
const hints = {
  purpose: matcherOf('purpose'),
  secrecy: matcherOf('secrecy'),
  yours: matcherOf('yours'),
  enter: matcherOf('enter'),
  notMe: matcherOf('notMe'),
};
const settings = new PhraseMatcher<Languages>(() => phrasesWithLanguages(['setting']));
const expired = matcherOf('expired');
const former = matcherOf('former');
const reports = new PhraseMatcher<Languages>(() => phrasesWithLanguages(['report']));

const LINK = /\[?(?:https?:\/\/|www\.)[^\s<>\]]+\]?/giu;
const EMAIL = /[^\s@<>()]{1,64}@[^\s@<>()]{1,255}/gu;
const MARKUP = /(?<!\*)\*\*(?!\*)|__|[`|>~]|(?<=^|\s)[*_](?=\S)(?!\d{2,6}(?![\d*]))|(?<=\S)[*_](?=\s|$)/gu;
const MARKUP_SIGN = /[*_`|>~]/;
/** Space that is not one blank already. */
const SPACE = /[^\S\n\t ][^\S\n\t]*| [^\S\n\t]+/gu;
const DOUBLE_SPACE = / {2,}/g;
const WIDE_COMMA = /[，、；]/gu;
/** Ends of sentences. A full stop behind a short word and in front of a digit is one of an abbreviation: "No. 4711". */
const BREAK = /[!?;؟؛](?=\s|$)|\.(?=["'”’»)]?(?:\s+[^\s\d]|\s*$))|(?<=\p{L}{4})\.(?=\s+\d)|[。!?|;]|।|\t/gu;

/** The beginning of a text (`OTP_TEXT_MAX_CHARACTERS`), without its empty lines. None where no line has a number. */
export function mailLines(text: string): MailLine[] {
  const plain = madeNarrow(text.slice(0, OTP_TEXT_MAX_CHARACTERS));
  // Many mails between people hold no number at all.
  if (!mayHoldToken(plain)) return [];
  const lines: MailLine[] = [];
  let tokensLeft = OTP_TOKENS_MAX;
  for (const given of joinSpelled(withoutAddresses(plain).replace(SPACE, ' ').split('\n'))) {
    if (lines.length >= OTP_LINES_MAX) break;
    const line = mailLine(given, tokensLeft);
    if (line === undefined) continue;
    tokensLeft -= line.tokens.length;
    lines.push(line);
  }
  return lines;
}

/** The subject as one line, with a number or without; undefined where it is empty. */
export function titleLine(subject: string): MailLine | undefined {
  const plain = madeNarrow(subject.slice(0, OTP_LINE_MAX_CHARACTERS));
  return mailLine(withoutAddresses(plain).replace(/\s+/gu, ' '), OTP_TOKENS_MAX);
}

const madeNarrow = (text: string): string =>
  isAscii(text) ? text : withPlainDashes(plainText(text.replace(WIDE_COMMA, '$& ')));

/** Dashes inside a code, which some senders write so that no line breaks there, as hyphens. */
const withPlainDashes = (plain: string): string => plain.replace(DASH_IN_CODE, '-').replace(DASH_IN_DIGITS, ' - ');
/** `\p{Pd}` has the hyphens, the non-breaking one too, and the dashes of every width; U+2212 is minus. */
const DASH_IN_CODE =
  /(?<=(?<![\p{L}\p{N}])[A-Z0-9]{1,10})[\p{Pd}\u2212\u2043](?=[A-Z0-9]{1,10}(?![\p{Ll}\p{Lt}\p{Lu}]))/gu;
const DASH_IN_DIGITS = /(?<=\d) [\p{Pd}\u2212\u2043] (?=\d)/gu;

/** The expressions try each place of a text; most texts have nothing they could find. */
function withoutAddresses(plain: string): string {
  const withoutLinks = plain.includes('://') || /www\./i.test(plain) ? plain.replace(LINK, ' ') : plain;
  return withoutLinks.includes('@') ? withoutLinks.replace(EMAIL, ' ') : withoutLinks;
}

function mailLine(given: string, maxTokens: number): MailLine | undefined {
  const shown = given.slice(0, OTP_LINE_MAX_CHARACTERS);
  const text = (MARKUP_SIGN.test(shown) ? shown.replace(MARKUP, ' ').replace(DOUBLE_SPACE, ' ') : shown).trim();
  return text === '' ? undefined : new ReadLine(text, maxTokens);
}

/** Letters between a word and the short code that it names. */
const SHORT_LETTERS_MAX = 40;

/** Everything but the numbers is looked for when it is asked about: most lines are far from any number. */
class ReadLine implements MailLine {
  readonly text: string;
  readonly tokens: readonly NumberToken[];
  #folded: string | undefined;
  #labels: readonly Label[] | undefined;
  #breaks: readonly number[] | undefined;
  #percent: boolean | undefined;
  #money: boolean | undefined;
  #hints: LineHints | undefined;
  #settings: readonly Languages[] | undefined;
  #reports: readonly Languages[] | undefined;
  #expired: readonly WordPlace[] | undefined;
  #former: readonly WordPlace[] | undefined;

  constructor(text: string, maxTokens: number) {
    this.text = text;
    const tokens = numberTokens(text, Math.max(0, maxTokens)).map((token) =>
      token.shape === 'short' ? { ...token, ...this.#named(token) } : token,
    );
    this.tokens = tokens.some(({ shape }) => shape !== 'other')
      ? tokens.filter(
          ({ from, to, shape }) =>
            shape === 'other' ||
            // A letter of a code is no word.
            !this.labels.some(
              (label) => label.from < to && label.to > from && (label.to - label.from > 1 || to - from < 6),
            ),
        )
      : tokens;
  }

  /** Three characters are a code where they are alone or where a word hands them over: "PIN 4B7"; else a gate, a size. */
  #named({ from, to, code }: NumberToken): Pick<NumberToken, 'shape' | 'code'> {
    const label = this.labels.findLast((one) => one.to <= from);
    const gap = label === undefined ? '' : this.text.slice(label.to, from);
    const handed =
      (label?.kind === 'certain' || label?.kind === 'possible') &&
      (gap === ' ' || isHandedOver(gap)) &&
      !/\d/.test(gap) &&
      lettersIn(gap) <= SHORT_LETTERS_MAX;
    const entered =
      this.hints.enter.some((at) => at < from && /^\p{L}+ $/u.test(this.text.slice(at, from))) &&
      this.labels.some(
        (one) => one.from >= to && one.kind !== 'otherCode' && lettersIn(this.text.slice(to, one.from)) <= 12,
      );
    return handed || entered || standsBySelf(this.text, from, to)
      ? { shape: 'mixed', code }
      : { shape: 'other', code: '' };
  }

  get hints(): Readonly<Record<Hint, readonly number[]>> {
    this.#hints ??= new LineHints(() => this.folded);
    return this.#hints;
  }

  get labels(): readonly Label[] {
    this.#labels ??= labels.find(this.folded);
    return this.#labels;
  }

  get breaks(): readonly number[] {
    this.#breaks ??= [...this.text.matchAll(BREAK)].map(({ index }) => index);
    return this.#breaks;
  }

  get percent(): boolean {
    this.#percent ??= /\d ?%|% ?\d/.test(this.text);
    return this.#percent;
  }

  get money(): boolean {
    this.#money ??= MONEY.test(this.text);
    return this.#money;
  }

  get settings(): readonly Languages[] {
    this.#settings ??= settings.find(this.folded).map(({ kind }) => kind);
    return this.#settings;
  }

  get reports(): readonly Languages[] {
    this.#reports ??= reports.find(this.folded).map(({ kind }) => kind);
    return this.#reports;
  }

  get expired(): readonly WordPlace[] {
    this.#expired ??= expired.find(this.folded);
    return this.#expired;
  }

  get former(): readonly WordPlace[] {
    this.#former ??= former.find(this.folded);
    return this.#former;
  }

  get folded(): string {
    this.#folded ??= fold(this.text);
    return this.#folded;
  }
}

class LineHints implements Readonly<Record<Hint, readonly number[]>> {
  readonly #folded: () => string;
  readonly #found = new Map<Hint, readonly number[]>();

  constructor(folded: () => string) {
    this.#folded = folded;
  }

  get purpose(): readonly number[] {
    return this.#places('purpose');
  }

  get secrecy(): readonly number[] {
    return this.#places('secrecy');
  }

  get yours(): readonly number[] {
    return this.#places('yours');
  }

  get enter(): readonly number[] {
    return this.#places('enter');
  }

  get notMe(): readonly number[] {
    return this.#places('notMe');
  }

  #places(hint: Hint): readonly number[] {
    const known = this.#found.get(hint);
    if (known !== undefined) return known;
    const places = hints[hint].find(this.#folded()).map(({ from }) => from);
    this.#found.set(hint, places);
    return places;
  }
}

const ISO_CURRENCY =
  'eur|usd|gbp|chf|pln|inr|brl|aud|cad|nzd|sgd|hkd|twd|jpy|cny|rmb|krw|thb|vnd|idr|myr|php|aed|sar|egp|ils|try|zar|ngn|kes|ghs|mxn|cop|clp|pen|ars|uyu|bob|sek|nok|dkk|isk|czk|huf|ron|bgn|uah|rub|kzt|gel';
const MONEY = new RegExp(
  String.raw`\d ?(?:[€$£¥₹₽₺₩₫฿₪₴₸円元원圓]|บาท|درهم|ريال|ریال|تومان|جنيه|دينار|रुपये|(?:${ISO_CURRENCY}|руб|р|грн|zł|zl|kr|kč|ft|lei|tl|лв|đ|đồng|bs|ש"ח)(?![\p{L}\p{N}]))|(?:[€$£¥₹₽₺₩₫฿₪₴₸]|(?<![\p{L}\p{N}])(?:${ISO_CURRENCY}|rs|rp|rm|bs|gs|kr|s/|ksh)\.?) ?\d`,
  'iu',
);

/** Groups of one length in cells of their own. */
const GROUP_CELLS = /^(?:\d{2}(?:\t\d{2}){1,3}|\d{3}\t\d{3}|\d{4}\t\d{4})$/;

/** Boxes for single digits may come as a line each. */
function joinSpelled(lines: readonly string[]): string[] {
  const joined: string[] = [];
  let run: string[] = [];
  const endRun = () => {
    if (run.length >= 4 && run.length <= 8 && run.some((one) => /\d/.test(one))) joined.push(run.join(' '));
    else joined.push(...run);
    run = [];
  };
  for (const line of lines) {
    const trimmed = line.trim();
    if (/^[A-Z0-9]$/.test(trimmed)) run.push(trimmed);
    else if (GROUP_CELLS.test(trimmed)) {
      endRun();
      joined.push(trimmed.replaceAll('\t', ' '));
    } else if (trimmed !== '' || run.length === 0) {
      endRun();
      joined.push(line);
    }
  }
  endRun();
  return joined;
}

export const lettersIn = (text: string): number => text.match(/[\p{L}\p{M}]/gu)?.length ?? 0;

/**
 * Whether the words between a name and a number say that the one is the other: they end with a colon, a dash, a cell or "is".
 * Other words name another thing: "the password of account RA 204418", "code to log in (membership 04227718)".
 */
export function isHandedOver(gap: string): boolean {
  if (HANDING_SIGN.test(gap)) return true;
  const word = handsOver.find(fold(gap)).at(-1);
  return word !== undefined && lettersIn(gap.slice(word.to)) === 0;
}
const HANDING_SIGN = /[-–—:：=→>\t][^\p{L}\p{N}]*$/u;
const handsOver = matcherOf('handsOver');

export interface Place {
  readonly lines: readonly MailLine[];
  readonly index: number;
  readonly subject: MailLine | undefined;
  /** Those the mail is written in. */
  readonly languages: () => ReadonlySet<number>;
}

export const breakBetween = (line: MailLine, from: number, to: number, tabs = true): boolean =>
  line.breaks.some((at) => at >= from && at < to && (tabs || line.text.charAt(at) !== '\t'));

/** Alone on its line or in its cell, but for punctuation. */
export function isAlone(line: MailLine, token: NumberToken): boolean {
  const before = line.text.slice(0, token.from);
  const behind = line.text.slice(token.to);
  const cellBefore = before.slice(before.lastIndexOf('\t') + 1);
  const tab = behind.indexOf('\t');
  const cellBehind = tab === -1 ? behind : behind.slice(0, tab);
  return !/[\p{L}\p{N}]/u.test(cellBefore) && !/[\p{L}\p{N}]/u.test(cellBehind);
}
