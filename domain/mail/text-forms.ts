/**
 * Forms of texts in requests, as patterns of JSON Schema. Names and other single lines are shown in lists, headers of mail
 * and logs: a control character or line break would forge a line there, and a bidirectional override would show the text
 * in another order than it is stored in (Unicode Technical Report 36 §2.3).
 */

const CONTROLS_BUT_LINES = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u2028\\u2029';
/** Embeddings, overrides and isolates. Marks (U+200E, U+200F, U+061C) only set a direction and belong to such scripts. */
const BIDI_OVERRIDES = '\\u202a-\\u202e\\u2066-\\u2069';

const withoutAnchors = `[^\\t\\n\\r${CONTROLS_BUT_LINES}${BIDI_OVERRIDES}]`;

/** One line: the default form of every text in a request. */
export const ONE_LINE = `^${withoutAnchors}*$`;
/**
 * One line that a query looks for. It is stored and shown nowhere, and must find what mail clients and strangers named
 * with any characters, overrides included.
 */
export const SOUGHT_LINE = `^[^\\t\\n\\r${CONTROLS_BUT_LINES}]*$`;
/** One line of a length, for names of fields. */
export const oneLineUpTo = (maxCharacters: number): string => `^${withoutAnchors}{1,${maxCharacters}}$`;
/** Lines of text that people read: line breaks and tabs, no other control characters. */
export const LINES = `^[^${CONTROLS_BUT_LINES}${BIDI_OVERRIDES}]*$`;
/** Any text that can be stored: bodies of mail, passwords, and texts with their own check. */
export const ANY_TEXT = '^[^\\u0000]*$';
