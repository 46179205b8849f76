/**
 * Untrusted text on a terminal. A mail can contain escape sequences that move the cursor, change the title, fill the
 * clipboard or fake a prompt, and characters that change the direction of the text after them: none of it reaches the
 * terminal.
 */

import { withoutInvisible } from '#client/model-text.ts';

/**
 * Escape sequences (ECMA-48): strings such as OSC and DCS with their content, then CSI, then two-character ones. A
 * string without an end is cut at the end of its line, so that it cannot hide the rest of the mail.
 */
const SEQUENCES =
  /(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g;
/** C0 but tab and line feed, DEL, C1; marks, embeddings, overrides and isolates of direction; line separators. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** The same, as far as JSON does not escape it, and everything else that a person cannot see. */
const UNSAFE_IN_JSON =
  /[[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u007f-\u009f\u2028\u2029]--[\ufe0e\ufe0f\u200c\u200d]]/gv;

/** Text of several lines. Also without characters that a person cannot see, in which text for a model may be hidden. */
export const safeText = (text: string): string =>
  withoutInvisible(text.replace(/\r\n?/g, '\n').replace(SEQUENCES, '').replace(CONTROLS, ''));

/** Text on one line: every run of white space is one space. */
export const safeLine = (text: string): string => safeText(text).replace(/\s+/g, ' ').trim();

/** Equal JSON in which control characters, direction marks and invisible characters are escaped. */
export const safeJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(UNSAFE_IN_JSON, (character) =>
    Array.from(
      { length: character.length },
      (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`,
    ).join(''),
  );

/** A name for a file in the present folder: no folders, nothing hidden, nothing a shell or terminal would trip over. */
export function safeFilename(name: string, fallback: string): string {
  const safe = safeLine(name)
    .replace(/[\\/:*?"<>|]/g, '_')
    .replace(/^[.\s-]+/, '')
    .slice(0, 200);
  return safe === '' ? fallback : safe;
}

/** Made when the first list is shown: it takes longer than the start of a command. */
let segmenter: Intl.Segmenter | undefined;
const ASCII = /^[\x20-\x7e]*$/;

/** Scripts and signs that occupy two columns (Unicode East Asian Width W and F, emoji). */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u;

const widthOf = (grapheme: string): number => (WIDE.test(grapheme) ? 2 : 1);

/** The text in exactly so many columns, cut with an ellipsis or filled with spaces. */
export function fit(text: string, columns: number): string {
  if (ASCII.test(text))
    return text.length <= columns ? text.padEnd(columns) : `${text.slice(0, Math.max(columns - 1, 0))}…`;
  segmenter ??= new Intl.Segmenter();
  const graphemes = [...segmenter.segment(text)].map(({ segment }) => segment);
  const total = graphemes.reduce((sum, grapheme) => sum + widthOf(grapheme), 0);
  if (total <= columns) return text + ' '.repeat(columns - total);
  let shown = '';
  let used = 0;
  for (const grapheme of graphemes) {
    if (used + widthOf(grapheme) > columns - 1) break;
    shown += grapheme;
    used += widthOf(grapheme);
  }
  return `${shown}…${' '.repeat(columns - 1 - used)}`;
}
