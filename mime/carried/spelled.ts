/**
 * Letters and digits that are said by words or signs: alphabets of radio and telephone, names of digits and numbers in
 * several languages, Morse code, Braille. Bounded by the length of the text.
 */

const RADIO = `alfa alpha bravo charlie delta echo foxtrot golf hotel india juliett juliet kilo lima mike november oscar papa
quebec romeo sierra tango uniform victor whiskey whisky xray yankee zulu
anton berta casar dora emil friedrich gustav heinrich ida julius konrad kaufmann ludwig martha nordpol otto paula quelle richard
samuel siegfried theodor ulrich viktor wilhelm xanthippe ypsilon zacharias zeppelin
able baker dog easy fox george how item jig king love nan oboe peter roger sugar tare uncle william yoke zebra
anatole berthe celestin desire eugene francois gaston henri irma joseph kleber louis marcel nicolas oscar pierre quintal raoul
suzanne therese ursule victor xavier yvonne zoe
adam boy charles david edward frank henry ida john lincoln mary nora ocean queen robert sam tom union
aachen berlin chemnitz dusseldorf essen frankfurt goslar hamburg ingelheim jena koln leipzig munchen nurnberg offenbach potsdam
quickborn rostock salzwedel tubingen unna volklingen wuppertal xanten zwickau`;

/** Digits of a language, from 0; then 10 to 19, 20 to 90, hundred, thousand and what joins them. */
const DIGITS: readonly string[] = [
  'zero one two three four five six seven eight nine',
  'null eins zwei drei vier funf sechs sieben acht neun',
  'zero un deux trois quatre cinq six sept huit neuf',
  'cero uno dos tres cuatro cinco seis siete ocho nueve',
  'zero uno due tre quattro cinque sei sette otto nove',
  'zero um dois tres quatro cinco seis sete oito nove',
  'nul een twee drie vier vijf zes zeven acht negen',
  'nolla yksi kaksi kolme nelja viisi kuusi seitseman kahdeksan yhdeksan',
  'zero jeden dwa trzy cztery piec szesc siedem osiem dziewiec',
  'noll ett tva tre fyra fem sex sju atta nio',
  'oh ein zwo une fower fife niner niner niner niner',
];

const SPELLED = new Map<string, string>();
for (const word of RADIO.split(/\s+/)) SPELLED.set(word, word.charAt(0));
for (const language of DIGITS)
  for (const [digit, word] of language.split(' ').entries()) if (!SPELLED.has(word)) SPELLED.set(word, String(digit));
SPELLED.set('oh', '0')
  .set('ein', '1')
  .set('zwo', '2')
  .set('une', '1')
  .set('fower', '4')
  .set('fife', '5')
  .set('niner', '9');
for (const [word, sign] of Object.entries({
  dash: '-',
  hyphen: '-',
  dot: '.',
  point: '.',
  at: '@',
  underscore: '_',
  slash: '/',
}))
  SPELLED.set(word, sign);

const WORD = /[\p{L}\p{N}]+/gu;
const RUN_MIN = 4;

/** Runs of at least four letters and digits that are said, each joined; words in between end a run. */
export function spelledRuns(text: string): string[] {
  const found: string[] = [];
  let run: string[] = [];
  let said = 0;
  const end = (): void => {
    if (run.length >= RUN_MIN && said * 2 >= run.length) found.push(run.join(''));
    run = [];
    said = 0;
  };
  const plain = folded(text).replace(/x-ray/g, 'xray');
  for (const [word] of plain.matchAll(WORD)) {
    const sign = SPELLED.get(word);
    if (sign !== undefined) {
      run.push(sign);
      said++;
    } else if (word.length === 1 || /^\d{1,3}$/.test(word)) run.push(word);
    else if (!CAPITAL.has(word)) end();
  }
  end();
  return found;
}
/** Said between letters. */
const CAPITAL = new Set([
  'capital',
  'upper',
  'lower',
  'case',
  'small',
  'big',
  'gross',
  'klein',
  'space',
  'then',
  'and',
  'und',
  'next',
  'letter',
  'digit',
  'number',
  'uppercase',
  'lowercase',
  'comma',
]);

const folded = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .replace(/ß/g, 'ss');

const TEENS: Readonly<Record<string, number>> = {};
const SCALES: Readonly<Record<string, number>> = {
  ...{
    hundred: 100,
    hundert: 100,
    cent: 100,
    cents: 100,
    cien: 100,
    ciento: 100,
    thousand: 1_000,
    tausend: 1_000,
    mille: 1_000,
  },
  ...{ mil: 1_000, million: 1e6, millions: 1e6, millionen: 1e6, millones: 1e6, billion: 1e9 },
};
const NUMBERS = new Map<string, number>();
for (const [from, words] of [
  [0, DIGITS[0]],
  [0, DIGITS[1]],
  [0, DIGITS[2]],
  [0, DIGITS[3]],
  [10, 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'],
  [10, 'zehn elf zwolf dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn'],
  [10, 'dix onze douze treize quatorze quinze seize'],
  [10, 'diez once doce trece catorce quince'],
] as const)
  for (const [i, word] of (words ?? '').split(' ').entries()) NUMBERS.set(word, from + i);
for (const words of [
  'twenty thirty forty fifty sixty seventy eighty ninety',
  'zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig',
  'vingt trente quarante cinquante soixante septante octante nonante',
  'veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa',
])
  for (const [i, word] of words.split(' ').entries()) NUMBERS.set(word, 20 + 10 * i);
for (const [word, value] of Object.entries(TEENS)) NUMBERS.set(word, value);
const JOINS = new Set(['and', 'und', 'et', 'y', 'a']);

/** Numbers of at least four digits that are said in words, such as "739 thousand and a hundred eighty-four". */
export function saidNumbers(text: string): string[] {
  const found: string[] = [];
  let [total, part, words] = [0, 0, 0];
  const end = (): void => {
    const value = total + part;
    if (words > 1 && value >= 1_000 && Number.isSafeInteger(value)) found.push(String(value));
    [total, part, words] = [0, 0, 0];
  };
  for (const [word] of folded(text).matchAll(WORD)) {
    const scale = SCALES[word];
    const value = NUMBERS.get(word) ?? (/^\d{1,3}$/.test(word) ? Number(word) : undefined);
    if (scale !== undefined) {
      words++;
      if (scale === 100) part = (part % 100 === 0 && part > 0 ? part : part || 1) * 100;
      else {
        total += (part || 1) * scale;
        part = 0;
      }
    } else if (value !== undefined) {
      words++;
      part += value;
    } else if (!JOINS.has(word)) end();
  }
  end();
  return found;
}

const MORSE: Readonly<Record<string, string>> = Object.fromEntries(
  `a .- b -... c -.-. d -.. e . f ..-. g --. h .... i .. j .--- k -.- l .-.. m -- n -. o --- p .--. q --.- r .-. s ... t - u ..-
v ...- w .-- x -..- y -.-- z --.. 0 ----- 1 .---- 2 ..--- 3 ...-- 4 ....- 5 ..... 6 -.... 7 --... 8 ---.. 9 ----.`
    .split(/\s+/)
    .reduce<[string, string][]>(
      (pairs, each, i, all) => (i % 2 === 0 ? [...pairs, [all[i + 1] ?? '', each]] : pairs),
      [],
    ),
);
/** Dots and dashes of several kinds, with blanks between letters. */
const MORSE_RUN = /[.·•\-–—_−]{1,6}(?:[ \t\r\n/|]{1,8}[.·•\-–—_−]{1,6}){3,}/g;

/** Texts of Morse code; words apart if they are so. */
export function morseRuns(text: string): string[] {
  const found: string[] = [];
  for (const [run] of text.matchAll(MORSE_RUN)) {
    const words = run.split(/\s*[/|]\s*|\s{2,}/);
    const letters = (word: string): string =>
      word
        .split(/\s+/)
        .map((sign) => MORSE[sign.replace(/[·•]/g, '.').replace(/[–—_−]/g, '-')] ?? ' ')
        .join('');
    found.push(words.map(letters).join(' '));
  }
  return found;
}

const BRAILLE = '⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵';

/** Letters of Braille; digits follow their sign. */
export function fromBraille(text: string): string {
  let isNumber = false;
  return [...text]
    .map((sign) => {
      if (sign === '⠼') {
        isNumber = true;
        return '';
      }
      const at = BRAILLE.indexOf(sign);
      if (at < 0) {
        isNumber = false;
        return sign === '⠀' ? ' ' : sign;
      }
      return isNumber && at < 10 ? String((at + 1) % 10) : String.fromCharCode(97 + at);
    })
    .join('');
}
export const HAS_BRAILLE = /[\u2801-\u283f]{3}/;
