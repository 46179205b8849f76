/**
 * Characters that look alike (Unicode UTS 39 §4): two names with the same skeleton look the same. The table is bounded:
 * letters of other scripts that look like Latin ones, the digits, and pairs of letters that look like one. Compatibility
 * forms, such as full-width and mathematical letters, are made plain by NFKC.
 */

/** Each Latin letter with those that look like it, in their small forms and in the large forms that differ. */
const LOOK_LIKE: Readonly<Record<string, string>> = {
  a: 'аαɑạąâäáàãåā',
  b: 'ЬьƄᏏ',
  c: 'сϲᴄçćč',
  d: 'ԁɗḍď',
  e: 'еєҽẹęéèêëē',
  f: 'ſғ',
  g: 'ɡցģğ',
  h: 'һհḥ',
  i: 'іιıɩίíìîïɪįị',
  j: 'јյ',
  k: 'кκķ',
  l: '1|ӏןⅼłļǀΙІ',
  m: 'мṃ',
  n: 'пηոñńņ',
  o: '0оοօσọóòôöõøōѻჿ',
  p: 'рρթ',
  q: 'ԛգ',
  r: 'гᴦŗř',
  s: 'ѕꜱśşš',
  t: 'тτţť',
  u: 'υսυцúùûüūų',
  v: 'νѵᴠṿ',
  w: 'ѡԝωшᴡ',
  x: 'хχ×',
  y: 'уγүỵýÿ',
  z: 'ᴢʐżźž',
};
const SINGLE: ReadonlyMap<string, string> = new Map(
  Object.entries(LOOK_LIKE).flatMap(([letter, others]) => [...others].map((other) => [other, letter] as const)),
);

/** In the order in which they are replaced. */
const PAIRS: readonly (readonly [pair: string, letter: string])[] = [
  ['rn', 'm'],
  ['vv', 'w'],
  ['cl', 'd'],
];

const lookalike = (letter: string): string => SINGLE.get(letter) ?? letter;

/** A letter of another script, or a decorated one, as the Latin letter that it looks like; others do not change. */
const plainLetters = (text: string): string =>
  text.normalize('NFKC').replace(/[^\x00-\x7f]/gu, (letter) => {
    const known = SINGLE.get(letter) ?? SINGLE.get(letter.toLowerCase());
    return known ?? letter;
  });

/**
 * What a name looks like.
 *
 * @param name with its capitals: a capital I looks like a small L
 */
export function skeleton(name: string): string {
  let plain = [...name.normalize('NFKC').replace(/I/g, 'l')].map(lookalike).join('').toLowerCase();
  plain = [...plain].map(lookalike).join('');
  for (const [pair, letter] of PAIRS) plain = plain.replaceAll(pair, letter);
  return plain;
}

const LATIN = /\p{Script=Latin}/u;
const NOT_LATIN_LOOKALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
const WORD_OF_LETTERS = /[\p{L}\p{M}]+/gu;

/** Words that mix Latin letters with letters of another script that look like Latin ones. */
export const mixedWords = (text: string): string[] =>
  (text.match(WORD_OF_LETTERS) ?? []).filter((word) => LATIN.test(word) && NOT_LATIN_LOOKALIKE.test(word));

/** Mixed words in Latin letters, so that a rule about words finds them. Words of one script stay as they are. */
export const unmixed = (text: string): string =>
  NOT_LATIN_LOOKALIKE.test(text)
    ? text.replace(WORD_OF_LETTERS, (word) =>
        LATIN.test(word) && NOT_LATIN_LOOKALIKE.test(word) ? plainLetters(word) : word,
      )
    : text;
