/** A text with everything of it that is compared with other mail. A long one is read in turns, so that nobody waits for it. */
import { phrasesOf } from './phrases.ts';
import { codeMarks, type FactMark, factMarks, type TellingMark, tellingMarks, tellingWords } from './telling-words.ts';
import { WORDS_MAX, type Words, wordsOf } from './words.ts';

export interface CarriedText {
  readonly words: Words;
  readonly phrases: Uint32Array;
  /** Places are those of `words.text`. */
  readonly telling: readonly TellingMark[];
  /** Two of them are enough. */
  readonly facts: readonly FactMark[];
  /** What may be one-time codes. */
  readonly codes: readonly TellingMark[];
}

/** What is read in a turn: about ten milliseconds. */
const TURN_CHARACTERS = 32_768;

/** @param rest called between two turns @param tellingMax telling words of a turn; default: as many as are stored */
export async function readCarriedText(
  text: string,
  rest: () => Promise<void>,
  tellingMax?: number,
): Promise<CarriedText> {
  if (text.length <= TURN_CHARACTERS) return joined([readTurn(text, tellingMax)]);
  const turns: Turn[] = [];
  let count = 0;
  for (let at = 0; at < text.length && count < WORDS_MAX; ) {
    const end = turnEnd(text, at);
    const turn = readTurn(text.slice(at, end), tellingMax);
    turns.push(turn);
    count += turn.words.count;
    at = end;
    await rest();
  }
  return joined(turns);
}

/** Behind a blank, if there is one near. */
function turnEnd(text: string, from: number): number {
  const end = from + TURN_CHARACTERS;
  if (end >= text.length) return text.length;
  const blank = /\s\S*$/.exec(text.slice(end - 1_024, end));
  return blank === null ? end : end - 1_024 + blank.index + 1;
}

type Turn = Omit<CarriedText, 'phrases'>;

function readTurn(text: string, tellingMax?: number): Turn {
  const telling = tellingWords(text, tellingMax);
  return { words: wordsOf(text), telling: tellingMarks(telling), facts: factMarks(telling), codes: codeMarks(text) };
}

function joined(turns: readonly Turn[]): CarriedText {
  const count = turns.reduce((sum, turn) => sum + turn.words.count, 0);
  const words = {
    text: turns.map((turn) => turn.words.text).join(''),
    count,
    starts: new Uint32Array(count),
    ends: new Uint32Array(count),
    hashes: new Uint32Array(count),
  };
  const telling: TellingMark[] = [];
  const facts: FactMark[] = [];
  const codes: TellingMark[] = [];
  let [word, character] = [0, 0];
  for (const turn of turns) {
    words.starts.set(
      turn.words.starts.map((at) => at + character),
      word,
    );
    words.ends.set(
      turn.words.ends.map((at) => at + character),
      word,
    );
    words.hashes.set(turn.words.hashes, word);
    const moved = <Mark extends TellingMark>(mark: Mark): Mark => ({
      ...mark,
      at: mark.at + character,
      end: mark.end + character,
    });
    telling.push(...turn.telling.map(moved));
    facts.push(...turn.facts.map(moved));
    codes.push(...turn.codes.map(moved));
    word += turn.words.count;
    character += turn.words.text.length;
  }
  return { words, phrases: phrasesOf(words), telling, facts, codes };
}
