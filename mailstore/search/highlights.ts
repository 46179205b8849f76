/** Positions of the words of a search in a text, with the text around them. */

export interface Highlight {
  /** A piece of the text. */
  readonly text: string;
  /** Offsets in it, in UTF-16 code units, of the found words: start, and the offset after the end. */
  readonly ranges: readonly (readonly [start: number, end: number])[];
}

const AROUND_CHARACTERS = 80;
const HIGHLIGHTS_MAX = 3;
const WORD = /[\p{L}\p{N}_]+/gu;

/** The words of a search: without those after a minus, and without `or`. */
export const wordsOf = (q: string): string[] => [
  ...new Set(
    [...q.toLowerCase().matchAll(/(-?)("[^"]*"?|\S+)/g)].flatMap(([, minus, term = '']) =>
      minus === '-' || term === 'or' ? [] : [...term.matchAll(WORD)].map(([word]) => word),
    ),
  ),
];

/** At most three pieces of a text around the words; words next to each other share a piece. */
export function highlightsOf(text: string, words: readonly string[]): Highlight[] {
  const wanted = new Set(words);
  const pieces: { start: number; end: number; ranges: [number, number][] }[] = [];
  for (const match of text.matchAll(WORD)) {
    if (!wanted.has(match[0].toLowerCase())) continue;
    const [start, end] = [match.index, match.index + match[0].length];
    const last = pieces.at(-1);
    if (last !== undefined && start <= last.end) {
      last.ranges.push([start, end]);
      last.end = Math.min(text.length, Math.max(last.end, end));
      continue;
    }
    if (pieces.length === HIGHLIGHTS_MAX) break;
    const from = Math.max(last?.end ?? 0, start - AROUND_CHARACTERS);
    pieces.push({ start: from, end: Math.min(text.length, end + AROUND_CHARACTERS), ranges: [[start, end]] });
  }
  return pieces.map(({ start, end, ranges }) => ({
    text: text.slice(start, end).replace(/\s/g, ' ').toWellFormed(),
    ranges: ranges.map(([from, to]) => [from - start, to - start] as const),
  }));
}
