/**
 * Passages that two texts have in common. A phrase is five words in a row. Of stored mail some phrases are kept, chosen by
 * their numbers alone (winnowing: Schleimer, Wilkerson, Aiken 2003), so that every passage of 16 words that another text
 * has too contains a kept one; of a text that is checked all phrases are looked up.
 */
import { isPlainWord } from './plain-words.ts';
import { mixed, type Words } from './words.ts';

export const PHRASE_WORDS = 5;
const WINDOW = 12;
/** Of a long text fewer are kept: its passages are long, or their phrases many. */
const KEPT_MAX = 400;

/** The number of the phrase that begins at each word. */
export function phrasesOf({ count, hashes }: Pick<Words, 'count' | 'hashes'>): Uint32Array {
  const phrases = new Uint32Array(Math.max(0, count - PHRASE_WORDS + 1));
  for (let i = 0; i < phrases.length; i++) {
    let hash = 0;
    for (let k = i; k < i + PHRASE_WORDS; k++) hash = (Math.imul(hash, 0x01000193) ^ (hashes[k] ?? 0)) | 0;
    phrases[i] = mixed(hash);
  }
  return phrases;
}

/** Of a short text more are kept, of a very short one all: each of its sentences matters. */
const SHORT_TEXT_KEPT = 20;

/** The phrases of a stored text that are kept. @param most of them */
export const keptPhrases = (phrases: Uint32Array, most = KEPT_MAX): number[] =>
  smallestOf(
    phrases,
    Math.max(Math.min(WINDOW, Math.ceil(phrases.length / SHORT_TEXT_KEPT)), Math.ceil((phrases.length * 2) / most)),
  );

/** Phrases of a text by which every passage of 16 words is found; those that are kept of a long text are among them. */
export const findingPhrases = (phrases: Uint32Array): number[] => smallestOf(phrases, WINDOW);

/** The smallest number of each window, each once. */
function smallestOf(phrases: Uint32Array, window: number): number[] {
  const kept = new Set<number>();
  let [smallest, at] = [Number.POSITIVE_INFINITY, -1];
  for (let end = 0; end < phrases.length; end++) {
    const start = Math.max(0, end - window + 1);
    const value = phrases[end] ?? 0;
    if (value <= smallest) [smallest, at] = [value, end];
    else if (at < start) {
      smallest = Number.POSITIVE_INFINITY;
      for (let i = start; i <= end; i++) if ((phrases[i] ?? 0) <= smallest) [smallest, at] = [phrases[i] ?? 0, i];
    }
    // A text shorter than a window has one as well.
    if (end >= window - 1 || end === phrases.length - 1) kept.add(smallest);
  }
  return [...kept];
}

/** Marks the words of a text that are in a phrase of another. */
export function markCommon(phrases: Uint32Array, others: { has(phrase: number): boolean }, marked: Uint8Array): void {
  for (let i = 0; i < phrases.length; i++) if (others.has(phrases[i] ?? 0)) marked.fill(1, i, i + PHRASE_WORDS);
}

/** Words from and up to, the last one excluded. */
export interface Passage {
  readonly from: number;
  readonly to: number;
}

const PASSAGE_WORDS_MIN = 9;
const PASSAGE_OWN_WORDS_MIN = 3;
/** Shorter passages count when there are so many. */
const SHORT_WORDS_MIN = 6;
const SHORT_PASSAGES_MIN = 3;

/**
 * Passages that show that a text comes from the other.
 *
 * @param common words that both have
 * @param excused words that are not of the other text alone
 */
export function tellingPassages(words: Words, common: Uint8Array, excused: Uint8Array): Passage[] {
  const long: Passage[] = [];
  const short: Passage[] = [];
  for (let from = 0; from < words.count; from++) {
    if (!counts(from)) continue;
    let to = from + 1;
    while (to < words.count && counts(to)) to++;
    const ownWords = words.hashes.subarray(from, to).reduce((sum, hash) => sum + (isPlainWord(hash) ? 0 : 1), 0);
    if (ownWords >= PASSAGE_OWN_WORDS_MIN && to - from >= SHORT_WORDS_MIN)
      (to - from >= PASSAGE_WORDS_MIN ? long : short).push({ from, to });
    from = to;
  }
  return long.length > 0 || short.length >= SHORT_PASSAGES_MIN ? [...long, ...short] : [];

  function counts(word: number): boolean {
    return common[word] === 1 && excused[word] !== 1;
  }
}

const EXCERPT_MAX_CHARACTERS = 300;

/** The passage as it is written. */
export function excerptOf({ text, starts, ends }: Words, { from, to }: Passage): string {
  const start = Math.min(starts[from] ?? 0, starts[to - 1] ?? 0);
  const end = Math.max(ends[from] ?? 0, ends[to - 1] ?? 0);
  return text.slice(start, Math.min(end, start + EXCERPT_MAX_CHARACTERS)).toWellFormed();
}
