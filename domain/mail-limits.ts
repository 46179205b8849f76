/** Numbers of the mail half: sizes, times, counts. */

const KIB_BYTES = 1024;
const MIB_BYTES = 1024 * KIB_BYTES;

/** Largest message on every door: SMTP DATA, APPEND, REST. */
export const MESSAGE_MAX_BYTES = 25 * MIB_BYTES;
/** A message above this is spooled to disk while it arrives, and stored before the write transaction. */
export const MESSAGE_MEMORY_MAX_BYTES = 256 * KIB_BYTES;
/** A message is read from the store in slices of this size: a reader has at most two of them in memory. */
export const MESSAGE_SLICE_MAX_BYTES = 512 * KIB_BYTES;
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
/** The mail of a deleted mailbox is purged after this time. */
export const DELETED_MAILBOX_RETENTION_DAYS = 30;
/** `email_blocked` for one sender, mailbox and reason is told at most once in this time. */
export const BLOCKED_EVENT_INTERVAL_MS = 60_000;
/** Text kept for substring search, and the part of it that is word-indexed. */
export const SEARCH_TEXT_MAX_BYTES = MIB_BYTES;
export const SEARCH_WORDS_MAX_BYTES = 64 * KIB_BYTES;

/** Connections at once in a process: per source address on the doors of mail clients, and per mailbox on each. */
export const CLIENT_CONNECTIONS_PER_SOURCE_MAX = 100;
export const CONNECTIONS_PER_MAILBOX_MAX = { imap: 20, pop3: 5, smtp: 10 } as const;
/** Failed logins of a source address, and of it for one mailbox: so many at once, one more each minute. */
export const LOGIN_FAILURES_MAX = 10;
export const LOGIN_FAILURE_FORGIVEN_MS = 60_000;
/** A failed login is answered after a random time between these. */
export const LOGIN_FAILURE_DELAY_MIN_MS = 1_000;
export const LOGIN_FAILURE_DELAY_MAX_MS = 3_000;
/** Time to log in, from the first byte. */
export const LOGIN_TIMEOUT_MS = 60_000;
/** A proxy's header must be there within this time. */
export const PROXY_HEADER_TIMEOUT_MS = 5_000;
/** On stop, commands of mail clients under way may finish within this time. */
export const CLIENT_DRAIN_MS = 10_000;
/** Commands that make no sense, until the connection is ended. */
export const BAD_COMMANDS_MAX = 20;
/** A client that does not read what it asked for is dropped after this time. */
export const STUCK_READER_TIMEOUT_MS = 300_000;
/** Answers are written at most this far ahead of the client, and input is read as far ahead of the commands. */
export const WRITE_AHEAD_MAX_BYTES = 64 * KIB_BYTES;
/** POP3 (RFC 1939 §3, RFC 2449 §4): command lines with their CRLF, those of SASL, and the autologout timer. */
export const POP3_LINE_MAX_BYTES = 512;
export const POP3_AUTH_LINE_MAX_BYTES = 8 * KIB_BYTES;
export const POP3_IDLE_TIMEOUT_MS = 600_000;

/** Long polls and event streams of one mailbox at once, in an API process. */
export const WATCHERS_PER_MAILBOX_MAX = 20;
/** A long poll lasts at most this long, and this long where nothing else is asked for. */
export const WAIT_MAX_SECONDS = 60;
export const WAIT_DEFAULT_SECONDS = 30;
/** Messages in one answer of a long poll. */
export const WAIT_MESSAGES_MAX = 50;
/** A quiet event stream says so, and looks whether its credential still holds. */
export const STREAM_HEARTBEAT_MS = 15_000;
/** Messages in one event of a stream. */
export const STREAM_MESSAGES_PER_EVENT_MAX = 100;

/** IMAP: a command line without its literals, and the same before login. */
export const IMAP_LINE_MAX_BYTES = 64 * KIB_BYTES;
export const IMAP_LINE_BEFORE_LOGIN_MAX_BYTES = 8 * KIB_BYTES;
/** IMAP: one literal that is no message, the same before login, and all of them in one command. */
export const IMAP_LITERAL_MAX_BYTES = 64 * KIB_BYTES;
export const IMAP_LITERAL_BEFORE_LOGIN_MAX_BYTES = 4 * KIB_BYTES;
export const IMAP_LITERALS_PER_COMMAND_MAX_BYTES = MIB_BYTES;
/** IMAP: messages in one MULTIAPPEND. */
export const IMAP_APPEND_MESSAGES_MAX = 1_000;
/** IMAP: a non-synchronizing literal above this is not even read to be dropped. */
export const IMAP_ABSURD_LITERAL_BYTES = 8 * MESSAGE_MAX_BYTES;
export const IMAP_SET_RANGES_MAX = 10_000;
export const IMAP_SEARCH_KEYS_MAX = 500;
export const IMAP_SEARCH_DEPTH_MAX = 16;
/** RFC 9051 §5.4: never less than 30 minutes. */
export const IMAP_AUTOLOGOUT_MS = 1_800_000;
export const IMAP_IDLE_KEEPALIVE_MS = 120_000;
/** COMPRESS: above this much inflated, more than this many bytes for each received byte end the connection. */
export const IMAP_INFLATE_RATIO_MAX = 200;
export const IMAP_INFLATE_RATIO_FROM_BYTES = MIB_BYTES;
export const FOLDER_NAME_MAX_BYTES = 255;
export const FOLDER_DEPTH_MAX = 16;
/** Of one mailbox. */
export const KEYWORDS_PER_MAILBOX_MAX = 500;
export const FOLDERS_MAX = 1_000;
