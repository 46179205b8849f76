/**
 * Codes that a mail says no longer work: "the code 318852 has expired", "your previous code was 318852". What is said
 * behind a code belongs to the nearest one before it in its sentence, what is said in front of it to the next one.
 */
import { lettersIn, type MailLine, type WordPlace } from './mail-lines.ts';
import type { NumberToken } from './number-tokens.ts';

/** Letters between the words and a code that follows them. */
const NEXT_LETTERS_MAX = 24;
/** Mail programs fold plain text from here on. */
const FOLDED_LINE_MIN_CHARACTERS = 40;

/** "If it has expired", "before this expired", "will be invalid": nothing of it has happened. */
const NOT_YET =
  /(?<!\p{L})(?:if|unless|before|once|when|after|until|will|wenn|falls|sobald|bevor|nachdem|wird|werden|si|lorsque|quand|sera|avant que|cuando|será|se|quando|sarà|als|zodra|wanneer|zal|jeśli|gdy|zostanie|om|när|hvis|når|jos|jestliže|pokud|když|ak|keď|если|когда|станет|будет|якщо|коли|стане|буде|ако|когато|ще|ako|kada|dacă|când|va|ha|amikor|αν|όταν|θα|eğer|nếu|khi|sẽ|jika|apabila|bila|akan|إذا|عندما|سوف|يصبح|بعد|אם|כאשר|اگر|وقتی|यदि|अगर)(?!\p{L})|場合|たら|後に|경우|後|如果|若|如已|ถ้า|หาก|เมื่อ/iu;

/** Those of a line, which may be the end of a sentence that began on the line before. */
export function staleNumbers(line: MailLine, previous: MailLine | undefined): ReadonlySet<string> {
  const stale = new Set<string>();
  const add = (...tokens: readonly (NumberToken | undefined)[]) => {
    for (const token of tokens) if (token !== undefined) stale.add(token.code);
  };
  for (const words of line.expired) {
    const [from, to] = sentenceAround(line, words);
    if (NOT_YET.test(line.text.slice(from, words.from))) continue;
    const before = codesIn(line, from, words.from).at(-1);
    if (before !== undefined) add(before);
    else if (from === 0 && continues(previous)) add(codesIn(previous, ...lastSentence(previous)).at(-1));
    else if (speaksOfLastSentence(line, from, words, to)) add(codesIn(line, ...sentenceBefore(line, from)).at(-1));
    else add(...next(line, words, to));
  }
  for (const words of line.former) add(...next(line, words, sentenceAround(line, words)[1]));
  return stale;
}

/** The code behind the words, in their clause, and others that it is listed with. */
function next(line: MailLine, words: WordPlace, end: number): NumberToken[] {
  const [first, ...others] = codesIn(line, words.to, end);
  if (first === undefined) return [];
  const gap = line.text.slice(words.to, first.from);
  if (/[;،—–]|, /u.test(gap) || lettersIn(gap) > NEXT_LETTERS_MAX) return [];
  const found = [first];
  for (const other of others) {
    const between = line.text.slice(found.at(-1)?.to ?? 0, other.from);
    if (!/^ ?(?:[,،、/;]| ?\p{L}{1,4} )[ ,]*(?:\p{L}{1,4} )?$/u.test(between)) break;
    found.push(other);
  }
  return found;
}

const codesIn = ({ tokens }: MailLine, from: number, to: number): NumberToken[] =>
  tokens.filter((token) => token.shape !== 'other' && token.from >= from && token.to <= to);

/** Cells of a row are read as one sentence. */
const endsOf = ({ breaks, text }: MailLine): number[] => breaks.filter((at) => text.charAt(at) !== '\t');

function sentenceAround(line: MailLine, { from, to }: WordPlace): readonly [number, number] {
  const ends = endsOf(line);
  return [(ends.findLast((at) => at < from) ?? -1) + 1, ends.find((at) => at >= to) ?? line.text.length];
}

/** "You did not enter the code 518204. It has expired.": the sentence begins with a pronoun, and has no code itself. */
function speaksOfLastSentence({ text }: MailLine, from: number, words: WordPlace, to: number): boolean {
  const sentence = text.slice(from, to);
  return (
    from > 0 &&
    PRONOUN.test(sentence) &&
    // "It is not valid for payments", "er ist danach nicht mehr gültig".
    !/[\p{L}\p{N}]/u.test(text.slice(words.to, to)) &&
    !LATER.test(sentence) &&
    !/[?？؟]/u.test(text.charAt(to))
  );
}
/** At the beginning of a sentence, for a code. */
const PRONOUN =
  /^["'”’»)\s]*(?:it (?:has|is|was|no|does|did)|this one|this code|that code|er (?:ist|wurde|gilt|funktioniert)|dieser|il (?:a|n'est|ne)|celui-ci|ce code|este|este código|esse código|questo|questo codice|hij|deze|deze code|denne|он|этот код|він|цей код|ten kod)(?!\p{L})/iu;

const LATER =
  /\d|(?<!\p{L})(?:then|later|afterwards|da?nach|später|après|ensuite|luego|después|depois|após|dopo|poi|daarna|na|po|potem|potom|efter|etter|därefter|derefter|deretter|после|потом|після|потім)(?!\p{L})/iu;

const sentenceBefore = (line: MailLine, from: number): readonly [number, number] => [
  (endsOf(line).findLast((at) => at < from - 1) ?? -1) + 1,
  from,
];

const lastSentence = (line: MailLine): readonly [number, number] => [(endsOf(line).at(-1) ?? -1) + 1, line.text.length];

const continues = (line: MailLine | undefined): line is MailLine =>
  line !== undefined && line.text.length >= FOLDED_LINE_MIN_CHARACTERS && !/[.!?:;。！？]["'”’»)]?$/u.test(line.text);
