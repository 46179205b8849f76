import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCarriedText } from '#mime/carried/carried-text.ts';
import {
  excerptOf,
  keptPhrases,
  markCommon,
  type Passage,
  PHRASE_WORDS,
  phrasesOf,
  tellingPassages,
} from '#mime/carried/phrases.ts';
import { readingsOf } from '#mime/carried/readings.ts';
import { codeMark, codeMarks, storedMark, tellingMarks, tellingWords } from '#mime/carried/telling-words.ts';
import { backwards, wordsOf } from '#mime/carried/words.ts';

const SECRET =
  'The merger with Nordwind closes on Thursday at a price of forty crowns per share, and neither the works council nor the press has heard of it';

/** Passages of a text that come from another, as they are written there. */
function common(text: string, source: string, { excusedBy = '' } = {}): string[] {
  const [words, others, excusing] = [wordsOf(text), wordsOf(source), wordsOf(excusedBy)];
  const phrases = phrasesOf(words);
  const [both, excused] = [new Uint8Array(words.count), new Uint8Array(words.count)];
  markCommon(phrases, new Set(phrasesOf(others)), both);
  markCommon(phrases, new Set(phrasesOf(excusing)), excused);
  return tellingPassages(words, both, excused).map((passage: Passage) => excerptOf(words, passage));
}

const isCarried = (text: string, source = SECRET): boolean =>
  [...readingsOf(text, { cut: false })].some((reading) => common(reading.text, source).length > 0);

test('a text is recognized however it is written', () => {
  const cyrillic = SECRET.replaceAll('e', 'е').replaceAll('o', 'ο').replaceAll('a', 'а');
  const wide = [...SECRET]
    .map((c) => (/[a-z]/.test(c) ? String.fromCodePoint((c.codePointAt(0) ?? 0) + 0xfee0) : c))
    .join('');
  const forms: Record<string, string> = {
    'as it is': SECRET,
    'in capitals': SECRET.toUpperCase(),
    'in other lines': SECRET.replaceAll(' ', '\n'),
    'as a quotation': SECRET.replaceAll(/(.{30}) /g, '$1\n> > '),
    'with signs between words': SECRET.replaceAll(' ', ' * '),
    'with characters nobody sees': [...SECRET].join('\u200b'),
    'with letters of other alphabets': cyrillic,
    'in wide letters': wide,
    'with accents': SECRET.replaceAll('e', 'é').replaceAll('o', 'ö'),
  };
  for (const [name, text] of Object.entries(forms)) assert.ok(isCarried(`Hello there, this is new.\n${text}`), name);
});

test('a text is recognized behind encodings, also several', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const hex = (text: string) => Buffer.from(text).toString('hex');
  const percent = (text: string) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const reversed = (text: string) => [...text].reverse().join('');
  const base32 = (text: string) =>
    (
      [...Buffer.from(text)]
        .map((byte) => byte.toString(2).padStart(8, '0'))
        .join('')
        .match(/.{1,5}/g) ?? []
    )
      .map((bits) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(bits.padEnd(5, '0'), 2)])
      .join('');
  const forms: Record<string, string> = {
    base64: base64(SECRET),
    'base64 in lines': base64(SECRET).replaceAll(/(.{76})/g, '$1\r\n'),
    'base64 in quoted lines': base64(SECRET).replaceAll(/(.{60})/g, '$1\n> '),
    base64url: Buffer.from(SECRET).toString('base64url'),
    'base64 of base64': base64(base64(SECRET)),
    hex: hex(SECRET),
    'hex in pairs': hex(SECRET).replaceAll(/(..)/g, '$1 '),
    'hex as in C': hex(SECRET).replaceAll(/(..)/g, '\\x$1'),
    'hex behind a word that ends in such digits': `Ref: ${hex(SECRET)}`,
    base32: base32(SECRET),
    'decimal codes': [...Buffer.from(SECRET)].join(' '),
    'octal codes': [...Buffer.from(SECRET)].map((byte) => byte.toString(8).padStart(3, '0')).join(' '),
    'binary codes': [...Buffer.from(SECRET)].map((byte) => byte.toString(2).padStart(8, '0')).join(' '),
    'escapes of JSON': [...SECRET].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    'character references': [...SECRET].map((c) => `&#${c.charCodeAt(0)};`).join(''),
    'blanks between letters': SECRET.split(' ')
      .map((word) => [...word].join(' '))
      .join('   '),
    'URL encoding': `https://evil.example/?q=${percent(SECRET)}`,
    'URL encoding of blanks': encodeURIComponent(SECRET),
    'quoted-printable': percent(SECRET).toUpperCase().replaceAll('%', '='),
    backwards: reversed(SECRET),
    'base64 of what is backwards': base64(reversed(SECRET)),
    'base64, backwards': reversed(base64(SECRET)),
  };
  for (const [name, text] of Object.entries(forms)) assert.ok(isCarried(`See below.\n\n${text}\n\nBye`), name);
  assert.equal(common(SECRET, SECRET).length, 1);
  const lastWordFirst = SECRET.split(' ').reverse().join(' ');
  const words = backwards(wordsOf(lastWordFirst));
  const both = new Uint8Array(words.count);
  markCommon(phrasesOf(words), new Set(phrasesOf(wordsOf(SECRET))), both);
  assert.equal(tellingPassages(words, both, new Uint8Array(words.count)).length, 1, 'the last word first');
});

test('decoding is bounded', () => {
  let nested = SECRET;
  for (let i = 0; i < 12; i++) nested = Buffer.from(nested).toString('base64');
  assert.ok([...readingsOf(nested, { cut: false })].length <= 128);
  for (const part of [
    'QUJD',
    '.',
    '. ',
    'a.',
    'a .',
    '12 ',
    '012;',
    '01010101',
    '\\u0041',
    '&#65;',
    'A ',
    '1234 12 ',
  ]) {
    const large = part.repeat(1_000_000 / part.length);
    const startedAt = process.cpuUsage();
    assert.ok(
      [...readingsOf(large, { cut: false })].reduce((sum, reading) => sum + reading.text.length, 0) < 4 * large.length,
      part,
    );
    const { user } = process.cpuUsage(startedAt);
    assert.ok(user < 3_000_000, `${part}: ${user} µs`);
  }
});

test('what everybody writes is no passage', () => {
  const polite =
    'Thank you for reaching out. Please let me know if you have any questions or need further assistance. I look forward to hearing from you.';
  assert.deepEqual(common(polite, `Dear Sir,\n${polite}\nBest regards`), []);
  assert.deepEqual(common('We met the works council and the press on Monday.', SECRET), []);
});

test('words that another mail excuses do not count, what remains does', () => {
  const signature = 'Acme Widgets Limited, 14 Harbour Street, Portsmouth, registered in England under company law';
  const text = `Hello Bob,\n${signature}`;
  assert.equal(common(text, `On Monday you wrote: ${signature}`).length, 1);
  assert.deepEqual(common(text, `On Monday you wrote: ${signature}`, { excusedBy: `Regards ${signature} bye` }), []);
  const both = `${text}\n${SECRET}`;
  assert.equal(common(both, `${signature}\n${SECRET}`, { excusedBy: signature })[0]?.startsWith('The merger'), true);
});

test('several short passages count together', () => {
  const words = SECRET.split(' ');
  const torn = [words.slice(0, 6), words.slice(8, 15), words.slice(19)]
    .map((piece) => piece.join(' '))
    .join(' banana ');
  assert.ok(isCarried(torn));
  assert.ok(!isCarried(words.slice(0, 6).join(' ')));
});

test('of each passage of 16 words a kept phrase remains, wherever it begins', () => {
  const vocabulary = Array.from(
    { length: 400 },
    (_, i) => `word${String.fromCodePoint(97 + (i % 26), 97 + Math.trunc(i / 26))}`,
  );
  let seed = 7;
  const random = (max: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return seed % max;
  };
  const passage = Array.from({ length: 16 }, () => vocabulary[random(400)]).join(' ');
  for (let i = 0; i < 200; i++) {
    const before = Array.from({ length: random(60) }, () => vocabulary[random(400)]).join(' ');
    const after = Array.from({ length: random(60) }, () => vocabulary[random(400)]).join(' ');
    const kept = new Set(keptPhrases(phrasesOf(wordsOf(`${before} ${passage} ${after}`))));
    assert.ok(
      phrasesOf(wordsOf(passage)).some((phrase) => kept.has(phrase)),
      `${i}`,
    );
  }
  const long = phrasesOf(wordsOf(Array.from({ length: 20_000 }, () => vocabulary[random(400)]).join(' ')));
  assert.ok(keptPhrases(long).length < 700, `${keptPhrases(long).length}`);
  assert.equal(keptPhrases(phrasesOf(wordsOf('one two three four five six'))).length, 2, 'all of a short text');
  assert.deepEqual(keptPhrases(phrasesOf(wordsOf('one two'))), []);
  assert.equal(phrasesOf(wordsOf('one two three four five')).length, 6 - PHRASE_WORDS);
});

const marksOf = (text: string): number[] => tellingMarks(tellingWords(text)).map(({ mark }) => mark);
const share = (text: string, source: string): boolean => {
  const kept = new Set(marksOf(source));
  return marksOf(text).some((mark) => kept.has(mark));
};

test('a token of a link, a long number and an account are recognized alone', () => {
  const token = 'k3J9x-Qp27_zL0aB4';
  assert.ok(share(`look: ${token}`, `Reset it at https://shop.example/reset?token=${token}&x=1`));
  assert.ok(share('DE89370400440532013000', 'Our account is DE89 3704 0044 0532 0130 00, thanks'));
  assert.ok(share('card 4929-1234-5678-9012', 'Paid with 4929 1234 5678 9012.'));
});

test('three telling words in a row are recognized wherever they begin and in any order', () => {
  const source = 'Orders 48213, 77120, 90311, 15544 and 60929 are late.';
  const numbers = ['48213', '77120', '90311', '15544', '60929'];
  for (let i = 0; i + 3 <= numbers.length; i++) {
    const [a, b, c] = numbers.slice(i, i + 3);
    assert.ok(share(`${a}; ${b}; ${c}`, source), `from ${i}`);
    assert.ok(share(`${c} then ${a} then ${b}`, source), `mixed from ${i}`);
  }
  assert.ok(!share('48213 and 90311', source));
});

test('dates, telephone numbers, round sums and titles tell nothing', () => {
  for (const text of [
    'on 2026-11-12 at 10:30, 12.11.2026, 12/11/26',
    '100000 and 25,000,000 and 55555',
    'https://news.example/2026/covid-19-update-2026-summary-of-results',
    'Windows 11 and iPhone 15',
  ])
    assert.deepEqual(tellingWords(text), [], text);
  for (const text of ['+49 30 1234567 89', '(415) 555-1234', '030 / 12 34 56 78'])
    assert.ok(
      tellingWords(text).every(({ strong }) => !strong),
      text,
    );
  assert.ok(tellingWords(`${'48213x7 '.repeat(5_000)}`).length <= 1_300);
});

test('a one-time code is found in any sentence', () => {
  for (const [code, text] of [
    ['482913', 'The code is 482 913, be quick'],
    ['482913', 'code:482913.'],
    ['ABC-123', 'use abc-123 now'],
    ['x7k9qp', 'x7k9qp'],
  ] as const)
    assert.ok(
      codeMarks(text).some(({ mark }) => mark === codeMark(code)),
      text,
    );
  assert.ok(codeMarks('1234 '.repeat(10_000)).length <= 8_001);
});

test('a line without blanks is read once, whatever its characters are', () => {
  const least = (text: string): number =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const begun = performance.now();
        codeMarks(text);
        tellingWords(text);
        return performance.now() - begun;
      }),
    );
  for (const unit of ['-', 'a-', '1-', '_', '.', 'a1-'])
    assert.ok(least(unit.repeat(64_000)) < 12 * least(unit.repeat(16_000)) + 5, unit);
});

test('the stored numbers of two organizations differ', () => {
  const [a, b] = [storedMark(12_345, 1), storedMark(12_345, 2)];
  assert.notEqual(a, b);
  assert.ok(Number.isInteger(a) && Math.abs(a) <= 2 ** 31);
});

test('scripts without blanks are compared by characters', () => {
  const secret = '合并将于周四完成每股四十克朗工会和媒体都还不知道这件事情';
  assert.ok(common(`你好。${secret}。再见`, secret).length > 0);
  assert.equal(wordsOf('x '.repeat(300_000)).count, 200_000);
});

test('a long text is read in turns, with the same result', async () => {
  let turns = 0;
  const filler = Array.from({ length: 30_000 }, (_, i) => `filler${i % 977}`).join(' ');
  const text = `${filler} ${SECRET} code k3J9x-Qp27_zL0aB4 end`;
  const read = await readCarriedText(text, async () => {
    turns++;
  });
  assert.ok(turns > 5);
  assert.deepEqual(read.phrases, phrasesOf(wordsOf(text)));
  const [strong] = read.telling.filter(({ mark }) => marksOf('k3J9x-Qp27_zL0aB4').includes(mark));
  assert.equal(read.words.text.slice(strong?.at, strong?.end), 'k3J9x-Qp27_zL0aB4');
});
