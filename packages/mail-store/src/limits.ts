/** Limits that a store and the engines agree on. */

/** `MailboxStore.slice` returns at most this many bytes; a reader has at most two slices in memory. */
export const MESSAGE_SLICE_MAX_BYTES = 524_288;
/** Full name of a folder in UTF-8, and its levels. */
export const FOLDER_NAME_MAX_BYTES = 255;
export const FOLDER_DEPTH_MAX = 16;
export const KEYWORD_MAX_CHARACTERS = 64;
export const KEYWORDS_PER_MESSAGE_MAX = 50;
/** Of `MessageRow.preview` (RFC 8970 §3.1). */
export const PREVIEW_MAX_CHARACTERS = 200;

/** Time to log in, from the first byte. */
export const LOGIN_TIMEOUT_MS = 60_000;
/** Commands that make no sense, until the connection is ended. */
export const BAD_COMMANDS_MAX = 20;
/** A client that does not read its answers is disconnected after this time. */
export const STUCK_READER_TIMEOUT_MS = 300_000;
/** Answers are written at most this far ahead of the client, and input is read as far ahead of the commands. */
export const WRITE_AHEAD_MAX_BYTES = 65_536;
