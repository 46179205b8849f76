/**
 * What a text may say to a person who decodes it:
 *
 *   itself ─▶ backwards, other letters, some of its words, said letters and numbers, encoded blocks ─▶ the same of these, …
 *
 * Bounded in depth, number and size, because the text is a stranger's.
 */
import { fromElsewhere, HAS_MARKS, unchangedLetters, withoutDigitsInWords, withoutMarks } from './changed-letters.ts';
import { decodedBlocks } from './encoded-blocks.ts';
import { plainTextOf, type UnpackingLimits } from './packed-bytes.ts';
import { endLetters, pickedWords } from './picked-words.ts';
import { fromBraille, HAS_BRAILLE, morseRuns, saidNumbers, spelledRuns } from './spelled.ts';

const DEPTH_MAX = 3;
const READINGS_MAX = 128;
/** Characters of all readings beyond the first. */
const DECODED_MAX_CHARACTERS = 2_097_152;
const UNPACKED_MAX_BYTES = 1_048_576;

/**
 * - `plain`: as it is
 * - `words`: some of the words, or others that are there too
 * - `encoded`: in a form that people do not read
 * - `said`: letter by letter
 * - `letters`: letters alone, without blanks between words
 */
export type ReadingForm = 'plain' | 'words' | 'encoded' | 'said' | 'letters';

export interface TextReading {
  readonly text: string;
  readonly form: ReadingForm;
}

/**
 * At most {@link READINGS_MAX} texts, the given one first. A caller may rest between them.
 *
 * @param limits `cut` is set when there are further readings, or something is too large to be unpacked
 */
export function* readingsOf(text: string, limits: { cut: boolean }): Generator<TextReading> {
  const known = new Set([text]);
  const budget: UnpackingLimits = { left: UNPACKED_MAX_BYTES, cut: false };
  let left = DECODED_MAX_CHARACTERS;
  const isNew = (reading: string): boolean => {
    limits.cut ||= budget.cut;
    if (reading.trim() === '' || known.has(reading)) return false;
    if (reading.length > left || known.size >= READINGS_MAX) {
      limits.cut = true;
      return false;
    }
    known.add(reading);
    left -= reading.length;
    return true;
  };
  yield { text, form: 'plain' };
  const mirrored = reversed(text);
  if (isNew(mirrored)) yield { text: mirrored, form: 'encoded' };
  let level = [text, mirrored];
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const next: string[] = [];
    for (const [place, each] of level.entries())
      for (const reading of decoded(each, budget, depth === 0 && place === 0))
        if (isNew(reading.text)) {
          next.push(reading.text);
          yield reading;
          if (reading.form !== 'encoded') continue;
          const other = reversed(reading.text);
          if (isNew(other)) yield { text: other, form: 'encoded' };
        }
    level = next;
  }
}

/** Each kind of change that a text has, all its parts together. @param isFirst it is the text itself */
function* decoded(text: string, budget: UnpackingLimits, isFirst: boolean): Generator<TextReading> {
  const visible = text.replace(NOT_SEEN, '');
  for (const block of decodedBlocks(visible === text ? text : `${visible}\n${text}`, budget))
    yield { text: block, form: 'encoded' };
  if (URL_ENCODED.test(visible)) yield encoded(visible.replace(PERCENT_RUN, (run) => plainTextOf(bytesOf(run)) ?? run));
  if (ESCAPED.test(visible))
    yield encoded(
      visible.replace(
        ESCAPES,
        (run, hex, wide, decimal, reference, byte, octal, point) =>
          characterOf(
            hex ?? wide ?? reference ?? byte ?? point,
            decimal ?? (octal && String(Number.parseInt(octal, 8))),
          ) ?? run,
      ),
    );
  if (QUOTED_PRINTABLE.test(visible))
    yield encoded(visible.replace(/=\r?\n/g, '').replace(EQUALS_RUN, (run) => plainTextOf(bytesOf(run)) ?? run));
  const elsewhere = fromElsewhere(visible);
  if (elsewhere !== undefined) yield encoded(elsewhere);
  if (HAS_BRAILLE.test(visible)) yield encoded(fromBraille(visible));
  if (HAS_MARKS.test(visible)) yield { text: withoutMarks(visible), form: 'words' };
  yield encoded(blocksIn(visible, SPACED_RUN).map(withoutBlanks).join('\n'));
  const unchanged = unchangedLetters(visible);
  if (unchanged !== undefined) yield encoded(unchanged);
  for (const leet of withoutDigitsInWords(visible)) yield { text: leet, form: 'words' };
  yield { text: morseRuns(visible).join('\n'), form: 'said' };
  yield { text: spelledRuns(visible).join('\n'), form: 'said' };
  yield { text: saidNumbers(visible).join('\n'), form: 'words' };
  if (!isFirst) return;
  for (const some of pickedWords(visible)) yield { text: some, form: 'words' };
  for (const letters of endLetters(visible)) yield { text: letters, form: 'letters' };
}

const encoded = (text: string): TextReading => ({ text, form: 'encoded' });

const NOT_SEEN = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]|[\ufe00-\ufe0f]/gu;
/** Single characters with a blank or a mark between each two, several in a row. */
const SPACED_RUN = /(?:[^\s.·_*|,;:/-][ \u00a0\t\r\n.·_*|,;:/-]{1,4}){4,}[^\s.·_*|,;:/-]/gu;
const ESCAPED = /\\[ux0-3][0-9a-f]{2}|&#|u\+[0-9a-f]{4}/i;
const ESCAPES =
  /\\u([0-9a-f]{4})|\\u\{([0-9a-f]{1,6})\}|&#(\d{1,7});?|&#x([0-9a-f]{1,6});?|\\x([0-9a-f]{2})|\\([0-3][0-7]{2})|u\+([0-9a-f]{4,6})[ ,;]?/gi;

const URL_ENCODED = /(?:%[0-9a-f]{2})/i;
const PERCENT_RUN = /(?:%[0-9a-f]{2})+/gi;
const QUOTED_PRINTABLE = /=[0-9A-F]{2}/;
const EQUALS_RUN = /(?:=[0-9A-F]{2})+/g;

function blocksIn(text: string, pattern: RegExp): string[] {
  const found: string[] = [];
  for (const [block] of text.matchAll(pattern)) found.push(block);
  return found;
}

/** Longer gaps are between words. */
const withoutBlanks = (run: string): string =>
  run.replace(/(\S)([ \u00a0\t\r\n.·_*|,;:/-]+)/gu, (_, character: string, gap: string) =>
    gap.length > 1 && !/^\r?\n$/.test(gap) && !/^[,;:] $/.test(gap) ? `${character} ` : character,
  );

/** Undefined: there is no such character. */
function characterOf(hexadecimal: string | undefined, decimal: string | undefined): string | undefined {
  const code = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

const bytesOf = (run: string): Buffer => Buffer.from(run.replace(/[%=]/g, ''), 'hex');

/** By characters, so that surrogates stay together. */
const reversed = (text: string): string => [...text].reverse().join('');
