/**
 * What in a line could be typed as a code, and what is visibly a number of another kind. Each token is taken whole: a
 * telephone number holds no code, nor does a date.
 */

type TokenShape =
  /** Digits, perhaps grouped. */
  | 'digits'
  /** Letters and digits. */
  | 'mixed'
  /** Two groups of letters and digits with a space between them. */
  | 'spaced'
  /** Capitals alone. */
  | 'letters'
  /** Words joined by hyphens, as some senders use. */
  | 'words'
  /** Three letters and digits; a code where something says so. */
  | 'short'
  /** A number that is none: a date, price, telephone number, part of an address. */
  | 'other';

export interface NumberToken {
  readonly shape: TokenShape;
  /** As it is to be typed; empty for `other`. */
  readonly code: string;
  readonly from: number;
  readonly to: number;
}

const UNSPACED = String.raw`(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}])`;
const LETTER_BEHIND = new RegExp(String.raw`^${UNSPACED}[\p{L}_]`, 'u');
const LETTER_BEFORE = new RegExp(String.raw`${UNSPACED}[\p{L}_]$`, 'u');

/** Characters one by one, as boxes for single digits give them. */
const SPELLED = /(?<![\p{L}\p{N}])[A-Z0-9](?:[ \t]{1,3}[A-Z0-9]|[ \t]?[-–|·•][ \t]?[A-Z0-9]){3,9}(?![\p{L}\p{N}])/gu;
/** "QK4 81N", "HJ4 KWP". Each group has a digit or no vowel, and one has a digit: two words are otherwise. */
const SPACED =
  /(?<![\p{L}\p{N}-])(?![A-Z]{3} [A-Z]{3}|\d{3} \d{3})(?=[A-Z]{0,2}\d|[B-DF-HJ-NP-TV-XZ]{3})[A-Z0-9]{3} (?=[A-Z]{0,2}\d|[B-DF-HJ-NP-TV-XZ]{3})[A-Z0-9]{3}(?![\p{L}\p{N}-])/gu;
/** A run of digits with what may stand between groups of them. */
const DIGITS = /\d+(?:(?: |[-–.,:/'·•]| [-–·•] )\d+)*/gu;
const LATIN = /[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*/gu;

/** In front of a number: a price, a telephone number, an order, a masked card, part of an address. */
const MARK_BEFORE =
  /(?<=^|[\s(])!$|(?:[+#№©€$£¥₹₽₺₩₫฿@&=%\\/]|[x*•·…]{2,}|(?<!\p{L})(?:usd|eur|gbp|chf|jpy|cny|rmb|inr|rs|rp|idr|vnd|aud|cad|kr|r|brl|pln|czk|huf|try|tl|rub|uah|sek|nok|dkk|us|hk|nt|thb|krw|ils|aed|sar)\.?) ?\(?$/iu;
/** Behind one: a price, a share, a measure, something counted. */
const UNIT_BEHIND =
  /^ ?(?:[%°€$£¥₹₽₺₩₫฿]|(?:usd|eur|gbp|chf|jpy|cny|inr|vnd|idr|aud|cad|kr|sek|nok|dkk|pln|zl|czk|kc|huf|ft|ron|lei|try|tl|rub|руб|uah|грн|лв|bgn|ils|d|dong|vnđ|thb|sar|aed|руб\.|р\.)(?![\p{L}])|(?:ms|sec|second|min|minute|hour|hr|day|week|month|year|minut|stund|tag|jahr|heure|jour|segundo|hora|dia|giorn|uur|dag|people|user|item|point|punkte|puan|mile|step|word|view|visitor|member|follower|customer|reader|sqm|km|kg|mb|gb|kb|tb|px|kwh|kcal|mah)(?:s|es|n|e|en|i|os|as)?(?![\p{L}])|(?:code|passcode|password|request|error|event|call|message|mail|file|row|record|issue|test|build|attempt|download|account|compan|team|vote|like|comment|order|sale|engineer|developer|researcher|login|sign ?up|registration|subscriber|employee|student|store|shop|product|device|participant|reviewer|session|transaction|entr|result|repl)(?:s|ies)(?![\p{L}])|минут|час|дн|мин|баллов|бонус|секунд|分|秒|時間|小时|小時|天|日|年|月|円|元|원|년|월|일|분|시간|명|개|점|ポイント|人|件|点|點|บาท|นาที|ปี|ر\.?س|ريال|ریال|تومان|درهم|دقيقة|دقائق|דקות|₪)/iu;
/** Dates whose year or day stands beside. */
const MONTH =
  /(?<!\p{L})(?:jan|feb|mar|apr|may|jun|jul|aug|sep|okt|oct|nov|dec|dez|janv|févr|avr|mai|juin|juil|août|déc|ene|abr|ago|dic|gen|mag|giu|lug|set|ott|out|fev|янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек)\p{L}*\.?,? (?:\d{1,2},? )?$/iu;

const GROUPINGS = new Set([
  '3 3',
  '4 4',
  '2 2 2',
  '2 2',
  '2 2 2 2',
  '3 3 3',
  '5 5',
  '3 2',
  '2 3',
  '3 4',
  '4 3',
  '3 2 3',
  '3 3 2',
  '2 3 3',
  '4 2',
  '2 4',
]);
const DIGITS_MIN = 4;
const DIGITS_MAX = 10;

/** A digit, or letters that may make a token without one: no line and no word without these holds a token. */
const TOKEN_SIGN =
  /\d|[A-Z]{4}|[A-Z]{3}-[A-Z]{3}|[a-z][A-Z]|[a-z]{3}-[a-z]{3,12}-[a-z]{3}|(?<![a-z])(?:[a-z]{4}-[a-z]{4}|[a-z]{5}-[a-z]{5})(?![a-z-])/;

/** Whether a text may hold a token; as {@link TOKEN_SIGN}, which costs too much for each line of every mail. */
export const mayHoldToken = (line: string): boolean =>
  DIGIT.test(line) || ((line.includes('-') || INNER_CAPITAL.test(line)) && TOKEN_SIGN.test(line));

const DIGIT = /[0-9]/;
/** Every token without a digit has it, or a hyphen. Begins with what is rare in a text. */
const INNER_CAPITAL = /[A-Z](?:[A-Z]|(?<=[a-z].))/;

export function numberTokens(line: string, max: number): NumberToken[] {
  if (!mayHoldToken(line)) return [];
  const tokens: NumberToken[] = [];
  const taken = new Uint8Array(line.length);
  const add = (token: NumberToken) => {
    tokens.push(token);
    taken.fill(1, token.from, token.to);
  };
  for (const match of line.matchAll(SPELLED)) {
    const code = match[0].replace(/[^A-Z0-9]/g, '');
    if (!/\d/.test(code) || tokens.length >= max) continue;
    const shape = /^\d+$/.test(code) ? 'digits' : 'mixed';
    if (/\d[ \t]?$/.test(line.slice(0, match.index))) continue;
    add({ shape, code, from: match.index, to: match.index + match[0].length });
  }
  for (const match of line.matchAll(SPACED)) {
    const [from, to] = [match.index, match.index + match[0].length];
    if (tokens.length >= max) break;
    if (taken[from] === 1 || taken[to - 1] === 1 || !standsBySelf(line, from, to)) continue;
    add({ shape: 'spaced', code: match[0].replace(' ', ''), from, to });
  }
  for (const match of line.matchAll(LATIN)) {
    if (tokens.length >= max) break;
    const from = match.index;
    const to = from + match[0].length;
    if (taken[from] === 1 || taken[to - 1] === 1 || !TOKEN_SIGN.test(match[0])) continue;
    const token = latinToken(match[0], from, line);
    if (token !== undefined) add(token);
  }
  for (const match of line.matchAll(DIGITS)) {
    if (tokens.length >= max) break;
    const from = match.index;
    if (taken[from] === 1 || taken[from + match[0].length - 1] === 1) continue;
    for (const token of digitTokens(match[0], from, line)) add(token);
  }
  return tokens.toSorted((a, b) => a.from - b.from);
}

/** Nothing but space and punctuation around it, or a colon in front and nothing behind. */
export const standsBySelf = (line: string, from: number, to: number): boolean =>
  /(?:^|[:：\t])[^\p{L}\p{N}\t]*$/u.test(line.slice(0, from)) && /^[^\p{L}\p{N}\t]*(?:$|\t)/u.test(line.slice(to));

function beside(line: string, from: number, to: number): { before: string; behind: string } {
  return { before: line.slice(Math.max(0, from - 24), from), behind: line.slice(to, to + 24) };
}

/** Part of something longer: an address, a file, a path. */
const joined = (before: string, behind: string): boolean =>
  /[\p{N}]$|[\p{L}\p{N}][._]$|[@/=&\\#]$/u.test(before) || /^[@/=\\]|^[._][\p{L}\p{N}]/u.test(behind);

function latinToken(given: string, from: number, line: string): NumberToken | undefined {
  const to = from + given.length;
  const { before, behind } = beside(line, from, to);
  if (LETTER_BEFORE.test(before) || LETTER_BEHIND.test(behind)) return undefined;
  if (/^\d+(?:-\d+)*$/.test(given)) return undefined;
  if (STANDARD.test(given)) return { shape: 'other', code: '', from, to };
  if (SHORT.test(given)) return { shape: 'short', code: given, from, to };
  const groups = given.split('-');
  const compact = groups.join('');
  const shape = shapeOf(given, groups, compact);
  if (shape === undefined) return undefined;
  if (shape === 'words') return joined(before, behind) ? undefined : { shape, code: given, from, to };
  if (shape === 'other' || joined(before, behind) || MARK_BEFORE.test(before))
    return /\d/.test(given) ? { shape: 'other', code: '', from, to } : undefined;
  // "G-482913", of which the number is typed; "(OPS-10442)" is a ticket, and "TW-77120" a code of its own.
  if (/^[A-Z]{2,10}-\d{1,8}$/.test(given) && /[[(]$/.test(before) && /^[\])]/.test(behind))
    return { shape: 'other', code: '', from, to };
  const marked = /^([A-Z]{1,3})-(\d{5,8})$/.exec(given);
  if (marked !== null && /[[(]$/.test(before) && /^[\])]/.test(behind)) return { shape: 'other', code: '', from, to };
  if (marked !== null && (marked[1]?.length === 1 || IS_NAMED.test(behind)))
    return { shape: 'digits', code: marked[2] ?? '', from, to };
  return { shape, code: given, from, to };
}

/** Names of standards and algorithms. */
const STANDARD = /^(?:SHA|AES|RSA|HMAC|MD|UTF|ISO|RFC|CVE|PCI|EN|DIN|COVID)-?\d/;

/** "482913 is your code". */
const IS_NAMED = /^ (?:is|ist|est|es|è|é|jest|är|er)(?!\p{L})/iu;

function shapeOf(given: string, groups: readonly string[], compact: string): TokenShape | undefined {
  if (!/\d/.test(given)) {
    if (VOWELLESS.test(groups.join(''))) return 'mixed';
    if (/^[A-Z]{4,10}$/.test(given)) return 'letters';
    if (/^[A-Z]{3,5}(?:-[A-Z]{3,5}){1,3}$/.test(given)) return 'letters';
    if (
      groups.length >= 3 &&
      groups.length <= 6 &&
      /^(?:[a-z]{3,12}|[A-Z]{3,12})(?:-(?:[a-z]{3,12}|[A-Z]{3,12}))+$/.test(given)
    )
      return 'words';
    if (/^(?:[a-z]{4}-[a-z]{4}|[a-z]{5}-[a-z]{5})$/.test(given)) return 'words';
    if (/^[A-Za-z]{5,10}$/.test(given) && /[a-z]/.test(given) && /[a-z][A-Z]/.test(given)) return 'letters';
    return undefined;
  }
  // 10min, 1080p, 2nd, A4, MP3, IPv4, iOS17.
  if (/^\d{1,2}-[A-Za-z]{3,9}-\d{2,4}$/.test(given)) return 'other';
  if (compact.length < 4 || /^\d{1,4}[a-z]{1,4}$/.test(given) || /^[A-Z]?[a-z]+[A-Z]?\d{1,4}$/.test(given))
    return 'other';
  if (groups.length === 1) return compact.length <= 12 ? 'mixed' : 'other';
  const marked = /^[A-Z]{1,3}-\d{4,8}$/.test(given);
  if (marked) return 'mixed';
  if (groups.length >= 3 && groups.length <= 6 && /^[a-z]{3,12}-[a-z]{3,12}(?:-(?:[a-z]{3,12}|\d{2,6}))+$/.test(given))
    return 'words';
  // "ci-2026" is a name; lower case needs groups of one length, or capitals inside each.
  if (
    /[a-z]/.test(given) &&
    !groups.some((group) => /[a-z]\d*[A-Z]/.test(group)) &&
    new Set(groups.map(({ length }) => length)).size > 1
  )
    return 'other';
  const even = groups.every(({ length }) => length >= 2 && length <= 6);
  return even && groups.length <= 5 && compact.length <= 20 ? 'mixed' : 'other';
}

const SHORT = /^(?=[A-Z]{0,2}\d)(?=\d{0,2}[A-Z])[A-Z0-9]{3}$/;

/** Codes of letters alone leave out vowels, so that they never spell a word. */
export const VOWELLESS = /^[BCDFGHJKLMNPQRSTVWXZ]{6,8}$/;

/** A time or a date in front of another number, or behind it. */
const TIME_BEFORE = /^(?:\d{1,2}:\d\d(?::\d\d)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{4}-\d\d-\d\d)(?= \d)/;
const TIME_BEHIND = /(?<=\d) (?:\d{1,2}:\d\d(?::\d\d)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{4}-\d\d-\d\d)$/;

function digitTokens(given: string, start: number, line: string): NumberToken[] {
  const [leading] = TIME_BEFORE.exec(given) ?? [];
  if (leading !== undefined)
    return [
      { shape: 'other', code: '', from: start, to: start + leading.length },
      ...digitTokens(given.slice(leading.length + 1), start + leading.length + 1, line),
    ];
  const [trailing] = TIME_BEHIND.exec(given) ?? [];
  if (trailing !== undefined) {
    const to = start + given.length;
    return [
      ...digitTokens(given.slice(0, -trailing.length), start, line),
      { shape: 'other', code: '', from: to - trailing.length + 1, to },
    ];
  }
  return plainDigitTokens(given, start, line);
}

function plainDigitTokens(given: string, start: number, line: string): NumberToken[] {
  const groups = given.split(/\D+/);
  const separators = [...given.matchAll(/\D+/g)].map(([separator]) => separator);
  const end = start + given.length;
  const { before, behind } = beside(line, start, end);
  const other: NumberToken = { shape: 'other', code: '', from: start, to: end };
  const masked = /[*•·]$/u.test(before) && !/^[*•·]/u.test(behind);
  if (isPostcode(line.slice(0, start), given, behind)) return [other];
  if (masked || LETTER_BEFORE.test(before) || joined(before, behind) || MARK_BEFORE.test(before)) return [other];
  if (/^\+?\(?$|\(\d{1,4}\) ?$|\d[)(] ?$/.test(before.slice(-8)) && groups.length > 1 && /[)(+]/.test(before))
    return [other];
  if (/^-[\p{L}]/u.test(behind) || /[\p{L}]-$/u.test(before)) {
    // A word with a number: "COVID-2019", "2026-os". Not so where the hyphen only leads to the code.
    if (groups.length > 1 || given.length < 5) return [other];
  }
  if (groups.length === 1) {
    if (given.length < DIGITS_MIN || given.length > DIGITS_MAX) return [other];
    if (LETTER_BEHIND.test(behind) || UNIT_BEHIND.test(behind)) return [other];
    if (given.length === 4 && MONTH.test(before)) return [other];
    return [{ shape: 'digits', code: given, from: start, to: end }];
  }
  const [separator = ''] = separators;
  const even = separators.every((one) => one === separator) && !/[.,:/']/.test(separator);
  const grouping = groups.map(({ length }) => length).join(' ');
  const years = groups.length === 2 && groups.every((group) => /^(?:19|20)\d\d$/.test(group));
  if (even && !years && GROUPINGS.has(grouping) && !LETTER_BEHIND.test(behind) && !UNIT_BEHIND.test(behind))
    return [{ shape: 'digits', code: groups.join(''), from: start, to: end }];
  return longestOf(groups, separators, start, line) ?? [other];
}

/** Part of a postal address: "Springfield, IL 62701", "Hauptstraße 1, 10115 Berlin", "1101 GH Amsterdam". */
function isPostcode(before: string, given: string, behind: string): boolean {
  const [left, right] = [before.slice(-40), behind];
  if (/^\d{5}(?:-\d{4})?$/.test(given)) {
    if (US_STATE.test(left) && /^ *(?:$|[,.|·•\n\t]|USA?\b|United)/u.test(right)) return true;
  }
  if (/^\d{4}$/.test(given)) {
    if (/(?<!\p{L})(?:NSW|VIC|QLD|TAS|ACT) $/u.test(left)) return true;
    if (/(?:^|[,|·•\t] ?)$/u.test(left) && /^ [A-Z]{2} \p{Lu}\p{L}/u.test(right)) return true;
  }
  if (!/^(?:\d{4,6}|\d{2}-\d{3}|\d{4}-\d{3}|\d{3} \d{2})$/.test(given)) return false;
  // Behind the number of a house; in front of a town.
  if (/\d[ ]?[A-Za-z]?(?:[/-]\d{1,4}[A-Za-z]?)?, ?$/u.test(left) && /^ \p{Lu}\p{L}{2,}/u.test(right)) return true;
  // "560001, India", "Москва, 101000", at the end of an address.
  return /^\d{6}$/.test(given) && /, ?\p{Lu}\p{L}+ ?[-–]? ?$/u.test(left) && /^, ?\p{Lu}\p{L}+[. ]*$/u.test(right);
}
const US_STATE =
  /\p{L}, ?(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]|PR) +$/u;

/** "482913 5 minutes", "482913 - 10": one group that is long enough beside one or two digits. */
function longestOf(
  groups: readonly string[],
  separators: readonly string[],
  start: number,
  line: string,
): NumberToken[] | undefined {
  if (groups.length !== 2 || !/[ ,]/.test(separators[0] ?? '')) return undefined;
  const [first = '', second = ''] = groups;
  const secondFrom = start + first.length + (separators[0]?.length ?? 0);
  const end = secondFrom + second.length;
  const [long, from] = first.length > second.length ? [first, start] : [second, secondFrom];
  const short = long === first ? second : first;
  if (long.length < 5 || long.length > 8 || short.length > 2) return undefined;
  const counted = UNIT_BEHIND.test(line.slice(end, end + 24));
  if (separators[0] === ',' ? long !== first || !counted : long === second && counted) return undefined;
  return [{ shape: 'digits', code: long, from, to: from + long.length }];
}

/** How a code is written: how many characters, in which groups, and whether they are all digits. */
export const formOf = (code: string): string =>
  /\p{L}/u.test(code) ? code.replace(/[\p{L}\d]/gu, 'A') : code.replace(/\d/g, '0');
