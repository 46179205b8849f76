/** Text in the form in which words are compared. */

const INVISIBLE =
  /[\u00ad\u061c\u0640\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|\u034f|[\u064b-\u0652]|[\ufe00-\ufe0f]/gu;
/** Persian joins parts of a word with it; elsewhere it is padding. */
const JOINER_IN_WORD = /(?<=\p{Script=Arabic})\u200c(?=\p{Script=Arabic})/gu;
const OTHER_DIGIT = /(?![0-9])\p{Nd}/gu;

/** Compatibility forms, digits of other scripts and characters nobody sees, made plain. The case stays. */
export const plainText = (text: string): string => (isAscii(text) ? text : madePlain(text));

/** Nothing has to be made plain; so most texts are. */
export const isAscii = (text: string): boolean => ASCII.test(text);
const ASCII = /^[\x00-\x7f]*$/;

const madePlain = (text: string): string =>
  text
    .replace(JOINER_IN_WORD, ' ')
    .replace(INVISIBLE, '')
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(OTHER_DIGIT, (digit) => String(valueOfDigit(digit)));

/** Digits of a script are ten in a row, and the first of them follows a character that is none (Unicode §4.6). */
function valueOfDigit(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  for (let value = 0; value < 10; value++) if (!/\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) return value;
  return (code - 0x1d7ce) % 10;
}

const SINGLE: Readonly<Record<string, string>> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ı: 'i',
  ß: 's',
  æ: 'a',
  œ: 'o',
  ς: 'σ',
  أ: 'ا',
  إ: 'ا',
  آ: 'ا',
  ٱ: 'ا',
  ى: 'ي',
  ی: 'ي',
  ې: 'ي',
  ک: 'ك',
  ة: 'ه',
  ۀ: 'ه',
  ؤ: 'و',
  '’': "'",
  ʼ: "'",
  '‘': "'",
  '´': "'",
  '`': "'",
  '״': '"',
  '׳': "'",
};
const DASH = /[-\u2010-\u2015\u2212\u00b7\s]/u;
const ACCENTED = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u;

const known = new Map<string, string>();

function foldUnit(unit: string): string {
  const lower = unit.toLowerCase().charAt(0);
  const single = SINGLE[lower];
  if (single !== undefined) return single;
  if (DASH.test(lower)) return ' ';
  return ACCENTED.test(lower) ? lower.normalize('NFD').charAt(0) : lower;
}

/** Lower case without accents, hyphens as spaces. As long as the text given, so that places stay the same. */
export function fold(text: string): string {
  const lower = (isAscii(text) ? text : text.replace(NOT_ASCII, foldKnown)).toLowerCase();
  return lower.replace(ASCII_FOLDED, (unit) => (unit === '`' ? "'" : ' '));
}

/** UTF-16 code units one by one. */
const NOT_ASCII = /[^\x00-\x7f]/g;
const ASCII_FOLDED = /[-\t-\r`]/g;

function foldKnown(unit: string): string {
  let as = known.get(unit);
  if (as === undefined) {
    as = foldUnit(unit);
    known.set(unit, as);
  }
  return as;
}
