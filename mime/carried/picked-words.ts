/** Words that stand between others: behind labels, every second or third one, between one that is repeated; first letters. */

const PICKED_WORDS_MAX = 4_000;
const WORD = /\S+/g;

/** Texts of some of the words. */
export function* pickedWords(text: string): Generator<string> {
  const unlabelled = withoutLabels(text);
  if (unlabelled !== undefined) yield unlabelled;
  const words = (text.slice(0, PICKED_WORDS_MAX * 12).match(WORD) ?? []).slice(0, PICKED_WORDS_MAX);
  if (words.length < 18) return;
  const filler = repeated(words);
  if (filler !== undefined) yield words.filter((word) => bare(word) !== filler).join(' ');
  for (const step of [2, 3])
    for (let from = 0; from < step; from++) yield words.filter((_, i) => i % step === from).join(' ');
  const lines = linesOf(text);
  if (lines.length < 4) return;
  for (const from of [0, -1])
    yield lines
      .map((line) => line.split(/\s+/).at(from) ?? '')
      .filter((word) => word.length > 1)
      .join(' ');
}

const bare = (word: string): string => word.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

/** A word that is a sixth of all: no language has one. */
function repeated(words: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(bare(word), (counts.get(bare(word)) ?? 0) + 1);
  return [...counts].find(([word, count]) => word !== '' && count * 6 >= words.length)?.[0];
}

const LABEL = /^[ \t>]*(?:[-*•+][ \t]+)?["']?[\p{L}\p{N}_.-]{1,24}["']?[ \t]*(?:[:=|;)\]>]|->|=>)[ \t]*(?=\S)/u;
const BULLET = /^[ \t>]*(?:[-*•+]|\d{1,4}[.)])[ \t]+(?=\S)/;

/** Lines without the label or number that each begins with; undefined: few have one. */
function withoutLabels(text: string): string | undefined {
  const lines = text.split('\n', PICKED_WORDS_MAX);
  let labelled = 0;
  const values = lines.map((line) => {
    const start = line.slice(0, 80);
    const match = LABEL.exec(start) ?? BULLET.exec(start);
    if (match === null) return line;
    labelled++;
    return line.slice(match[0].length);
  });
  return labelled >= 4 ? values.join('\n') : undefined;
}

const LINES_MAX = 4_000;
const linesOf = (text: string): string[] =>
  text
    .split('\n', LINES_MAX)
    .map((line) => line.replace(/^[\s>*•-]+/, '').trim())
    .filter((line) => line !== '');

/** First and last characters of lines, words and sentences, each joined. */
export function* endLetters(text: string): Generator<string> {
  const lines = linesOf(text);
  const words = (text.slice(0, PICKED_WORDS_MAX * 12).match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, PICKED_WORDS_MAX);
  const sentences = text.slice(0, PICKED_WORDS_MAX * 12).split(/(?<=[.!?])\s+/);
  for (const parts of [lines, words, sentences])
    if (parts.length >= 4) {
      yield parts.map((part) => part.charAt(0)).join('');
      yield parts.map((part) => part.charAt(part.length - 1)).join('');
    }
  const capitals = text.slice(0, PICKED_WORDS_MAX * 12).match(/(?<=[\p{Ll}\d])\p{Lu}/gu);
  if ((capitals?.length ?? 0) >= 4) yield (capitals ?? []).join('');
}
