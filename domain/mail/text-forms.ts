/**
 * Forms of texts in requests, as patterns of JSON Schema. Names and other single lines are shown in lists, headers of mail
 * and logs: a control character or line break would forge a line there, a bidirectional override would show the text in
 * another order than it is stored in, and two names that differ by an invisible character look equal (Unicode Technical
 * Reports 36 §2.3 and 39 §5.4).
 */

const CONTROLS_BUT_LINES = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u2028\\u2029';
/** Embeddings, overrides and isolates. Marks (U+200E, U+200F, U+061C) only set a direction and belong to such scripts. */
const BIDI_OVERRIDES = '\\u202a-\\u202e\\u2066-\\u2069';

/**
 * Characters without a picture (Default_Ignorable_Code_Point). Joiners (U+200C, U+200D) and the choice between text and
 * emoji (U+FE0E, U+FE0F) are none of them: words and emoji need them.
 */
const INVISIBLE =
  '\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u2060-\\u2065\\u206a-\\u206f\\u3164' +
  '\\ufe00-\\ufe0d\\ufeff\\uffa0\\ufff0-\\ufffb';
/** Those beyond U+FFFF. The published patterns leave them out: programs that read them without Unicode mode could not. */
const INVISIBLE_BEYOND = '\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}';

const withoutAnchors = `[^\\t\\n\\r${CONTROLS_BUT_LINES}${BIDI_OVERRIDES}${INVISIBLE}]`;

/** One line that people read, such as a name: the default form of every text in a request. */
export const ONE_LINE = `^${withoutAnchors}*$`;
/** One line of mail. Answers quote what strangers wrote, and newsletters fill their subjects with invisible characters. */
export const LINE_OF_MAIL = `^[^\\t\\n\\r${CONTROLS_BUT_LINES}${BIDI_OVERRIDES}]*$`;
/**
 * One line that a query looks for. It is stored and shown nowhere, and must find what mail clients and strangers named
 * with any characters, overrides included.
 */
export const SOUGHT_LINE = `^[^\\t\\n\\r${CONTROLS_BUT_LINES}]*$`;
/** One line of a length, for names of fields. */
export const oneLineUpTo = (maxCharacters: number): string => `^${withoutAnchors}{1,${maxCharacters}}$`;
/** Lines of text that people read: line breaks and tabs, no other control characters. */
export const LINES = `^[^${CONTROLS_BUT_LINES}${BIDI_OVERRIDES}${INVISIBLE}]*$`;
/** Any text that can be stored: bodies of mail, passwords, and texts with their own check. */
export const ANY_TEXT = '^[^\\u0000]*$';

/** What a text must be that does not have its form; undefined for other patterns. */
export function formInWords(pattern: unknown): string | undefined {
  const signs = 'without control characters, invisible characters or characters that change the direction of text';
  if (pattern === ONE_LINE) return `must be one line ${signs}`;
  if (pattern === LINES) return `must be text ${signs}`;
  if (pattern === LINE_OF_MAIL || pattern === SOUGHT_LINE) return 'must be one line without control characters';
  return undefined;
}

/** The pattern of a form as requests are checked: with the invisible characters beyond U+FFFF. For Unicode mode. */
export const withInvisibleBeyond = (pattern: string): string =>
  pattern.replaceAll(INVISIBLE, () => INVISIBLE + INVISIBLE_BEYOND);

const HIDDEN = new RegExp(`[${BIDI_OVERRIDES}${INVISIBLE}${INVISIBLE_BEYOND}]`, 'gu');

/** A text of a stranger without what `ONE_LINE` refuses from clients, which can correct it; line breaks stay. */
export const withoutHidden = (text: string): string => text.replace(HIDDEN, '');

const WORDS_OF_OTHERS_MAX_CHARACTERS = 500;

/**
 * Text of another host on one line of at most 500 characters, without hidden characters. It may contain anything: a line
 * break would end a header field, and a NUL is refused by PostgreSQL.
 */
export const oneLine = (text: string): string =>
  withoutHidden(text)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, WORDS_OF_OTHERS_MAX_CHARACTERS);

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (number: number): string => String(number).padStart(2, '0');

/** RFC 5322 §3.3, in UTC. */
export const mailDate = (date: Date): string =>
  `${DAYS[date.getUTCDay()]}, ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()} ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} +0000`;
