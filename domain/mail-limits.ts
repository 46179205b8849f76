/** Numbers of the mail half: sizes, times, counts. */

const KIB_BYTES = 1024;
const MIB_BYTES = 1024 * KIB_BYTES;

/** Largest message on every door: SMTP DATA, APPEND, REST. */
export const MESSAGE_MAX_BYTES = 25 * MIB_BYTES;
/** A message above this is spooled to disk while it arrives, and stored before the write transaction. */
export const MESSAGE_MEMORY_MAX_BYTES = 256 * KIB_BYTES;
/** More Received fields than this: the message runs in a circle (RFC 5321 §6.3). */
export const RECEIVED_FIELDS_MAX = 50;
export const RECIPIENTS_PER_MESSAGE_MAX = 100;
export const MIME_DEPTH_MAX = 32;
export const MIME_PARTS_MAX = 1_000;
export const HEADER_BLOCK_MAX_BYTES = 256 * KIB_BYTES;
export const PREVIEW_MAX_CHARACTERS = 200;
export const KEYWORD_MAX_CHARACTERS = 64;
export const KEYWORDS_PER_MESSAGE_MAX = 50;
/** Inbound SMTP: connections per source address, unknown recipients before the line is closed. */
export const SMTP_CONNECTIONS_PER_SOURCE_MAX = 50;
export const SMTP_UNKNOWN_RECIPIENTS_MAX = 10;
export const SMTP_COMMAND_TIMEOUT_MS = 300_000;
/** On stop, SMTP transactions in DATA may finish within this time. */
export const SMTP_DRAIN_MS = 30_000;
/** One write transaction of a mailbox carries at most this many messages and bytes. */
export const WRITE_BATCH_MAX_MESSAGES = 64;
export const WRITE_BATCH_MAX_BYTES = 4 * MIB_BYTES;
/** A message seen again with the same sender, recipient and content within this time is a redelivery. */
export const REDELIVERY_WINDOW_DAYS = 5;
/** Subject-based threading looks back this far. */
export const THREAD_BY_SUBJECT_DAYS = 30;
/** The change log is kept this long. */
export const CHANGE_LOG_RETENTION_DAYS = 30;
/** `email_blocked` for one sender, mailbox and reason is told at most once in this time. */
export const BLOCKED_EVENT_INTERVAL_MS = 60_000;
/** Text kept for substring search, and the part of it that is word-indexed. */
export const SEARCH_TEXT_MAX_BYTES = MIB_BYTES;
export const SEARCH_WORDS_MAX_BYTES = 64 * KIB_BYTES;
