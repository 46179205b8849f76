/**
 * Numbers of the mail half: sizes, times, counts. Those that a package owns are defined there, because it is published
 * without the service: `packages/mail-store`, `packages/mime-structure`, and of one protocol alone `packages/imap` and
 * `packages/pop3`.
 */
export {
  FOLDER_DEPTH_MAX,
  FOLDER_NAME_MAX_BYTES,
  KEYWORD_MAX_CHARACTERS,
  KEYWORDS_PER_MESSAGE_MAX,
  MESSAGE_SLICE_MAX_BYTES,
  PREVIEW_MAX_CHARACTERS,
  STUCK_READER_TIMEOUT_MS,
} from '@agent-mailbox/mail-store/limits';
export { HEADER_BLOCK_MAX_BYTES, MIME_DEPTH_MAX, MIME_PARTS_MAX } from '@agent-mailbox/mime-structure/limits';

const KIB_BYTES = 1024;
const MIB_BYTES = 1024 * KIB_BYTES;

/** Maximum message size with every protocol: SMTP DATA, APPEND, REST. An attachment of 20 MB fits, in base64. */
export const MESSAGE_MAX_BYTES = 30 * MIB_BYTES;
/** A message above this is spooled to disk while it arrives, and stored before the write transaction. */
export const MESSAGE_MEMORY_MAX_BYTES = 256 * KIB_BYTES;
/** More Received fields than this: the message runs in a circle (RFC 5321 §6.3). */
export const RECEIVED_FIELDS_MAX = 50;
export const RECIPIENTS_PER_MESSAGE_MAX = 100;
/** Inbound SMTP: connections per source address, unknown recipients before the line is closed. */
export const SMTP_CONNECTIONS_PER_SOURCE_MAX = 50;
export const SMTP_UNKNOWN_RECIPIENTS_MAX = 10;
export const SMTP_COMMAND_TIMEOUT_MS = 300_000;
/** SMTP: a source that waited for its greeting is greeted at once for this long, and so many are remembered. */
export const SMTP_PATIENT_SOURCE_MS = 24 * 3_600_000;
export const SMTP_PATIENT_SOURCES_MAX = 10_000;
/** SMTP: a command line with its line break is at most this long; room for AUTH with a bearer token (RFC 5321 §4.5.3.1.4). */
export const SMTP_LINE_MAX_BYTES = 16 * KIB_BYTES;
/** SMTP: commands since the last message, and answers 500 to 504 among them, until the connection ends. */
export const SMTP_COMMANDS_WITHOUT_MESSAGE_MAX = 1_000;
export const SMTP_BAD_COMMANDS_MAX = 20;
/**
 * Connections above a limit get an answer; this is the maximum number at the same time, and the maximum duration.
 * Further ones are closed without an answer.
 */
export const REFUSED_CONNECTIONS_MAX = 100;
export const REFUSED_CONNECTION_MS = 5_000;
/** On stop, SMTP transactions in DATA may finish within this time. */
export const SMTP_DRAIN_MS = 30_000;
/** One write transaction of a mailbox carries at most this many messages and bytes. */
export const WRITE_BATCH_MAX_MESSAGES = 64;
export const WRITE_BATCH_MAX_BYTES = 4 * MIB_BYTES;
/** A message seen again with the same sender, recipient and content within this time is a redelivery. */
export const REDELIVERY_WINDOW_DAYS = 5;
/** Subject-based threading looks back this far. */
export const THREAD_BY_SUBJECT_DAYS = 30;
/** Retention of the change log. */
export const CHANGE_LOG_RETENTION_DAYS = 30;
/** The mail of a deleted mailbox is purged after this time. */
export const DELETED_MAILBOX_RETENTION_DAYS = 30;
/** `email_blocked` for one sender, mailbox and reason is recorded at most once in this time. */
export const BLOCKED_EVENT_INTERVAL_MS = 60_000;
/** Text stored for substring search, and the part of it that is word-indexed. */
export const SEARCH_TEXT_MAX_BYTES = MIB_BYTES;
export const SEARCH_WORDS_MAX_BYTES = 64 * KIB_BYTES;

/**
 * Concurrent connections in a process: per source address on the listeners for mail clients, and per mailbox on each.
 */
export const CLIENT_CONNECTIONS_PER_SOURCE_MAX = 100;
export const CONNECTIONS_PER_MAILBOX_MAX = { imap: 20, pop3: 5, smtp: 10 } as const;
/** Failed logins of a source address, and of it for one mailbox: so many at once, one more each minute. */
export const LOGIN_FAILURES_MAX = 10;
export const LOGIN_FAILURE_FORGIVEN_MS = 60_000;
/** A failed login is answered after a random time between these. */
export const LOGIN_FAILURE_DELAY_MIN_MS = 1_000;
export const LOGIN_FAILURE_DELAY_MAX_MS = 3_000;
/** A proxy's header must be there within this time. */
export const PROXY_HEADER_TIMEOUT_MS = 5_000;
/** On stop, current commands of mail clients may finish within this time. */
export const CLIENT_DRAIN_MS = 10_000;

/** Long polls and event streams of one mailbox at once, in an API process. */
export const WATCHERS_PER_MAILBOX_MAX = 20;
/** Duration of a long poll: maximum and default. */
export const WAIT_MAX_SECONDS = 60;
export const WAIT_DEFAULT_SECONDS = 30;
/** Messages in one answer of a long poll. */
export const WAIT_MESSAGES_MAX = 50;
/** Interval after which a quiet event stream sends a comment, and checks whether its credential is still valid. */
export const STREAM_HEARTBEAT_MS = 15_000;
/** Messages in one event of a stream. */
export const STREAM_MESSAGES_PER_EVENT_MAX = 100;

/** Of one mailbox. */
export const KEYWORDS_PER_MAILBOX_MAX = 500;
export const FOLDERS_MAX = 1_000;

/**
 * Time limits of the checks of a sender, one for each: SPF and DKIM and ARC, the DMARC policies of the authors, and the
 * alignment check once the rest is known. The last starts after the others: the sum bounds the wait before DATA is
 * answered.
 */
export const SENDER_CHECK_BUDGET_MS = 7_000;
export const DMARC_POLICY_BUDGET_MS = 7_000;
export const DMARC_ALIGNMENT_BUDGET_MS = 3_000;
/** RFC 7208 §4.6.4: terms of SPF records that cause DNS queries, and answers without records. */
export const SPF_LOOKUPS_MAX = 10;
export const SPF_VOID_LOOKUPS_MAX = 2;
/** DKIM signatures of a message that are verified, those of its authors' domains first (RFC 6376 §6.1). */
export const DKIM_SIGNATURES_MAX = 10;
/** Domains of authors, and bytes of From fields: mail with more was not written by a person and fails. */
export const AUTHOR_DOMAINS_MAX = 10;
export const AUTHOR_FIELDS_MAX_BYTES = 64 * KIB_BYTES;
/** HTML of a message: characters read, elements open at once, and text and links that are stored. */
export const HTML_MAX_CHARACTERS = 1_048_576;
export const HTML_OPEN_ELEMENTS_MAX = 256;
export const HTML_TEXT_MAX_CHARACTERS = 1_048_576;
export const HTML_LINKS_MAX = 1_000;
/** Text that is stored on each side of a link. */
export const HTML_LINK_CONTEXT_CHARACTERS = 300;
/** Test mails that people have sent into one mailbox, per hour. */
export const TEST_MAILS_PER_HOUR = 20;
/** Text of a message that is stored and shown. */
export const TEXT_MAX_CHARACTERS = 1_048_576;
/** A message of at most this size, without HTML, is read in the receiving process; all others in a separate thread. */
export const READ_INLINE_MAX_BYTES = 65_536;
/** Threads of a process that read messages, the processor and wall time of one message there, and their memory. */
export const READING_THREADS_MAX = 2;
export const READING_MAX_CPU_MS = 2_000;
export const READING_MAX_WALL_MS = 15_000;
export const READING_MAX_HEAP_MIB = 256;
/** Messages of a process that wait for such a thread, in bytes; the next one is refused for now. */
export const READING_WAITING_MAX_BYTES = 268_435_456;
/** Wall time for a new thread to load the word lists; long on a busy machine. */
export const READING_THREAD_START_MAX_MS = 60_000;
/** An attempt to read that began this long ago and did not end took its process down; it is not made again. */
export const READING_ATTEMPT_LOST_AFTER_MS = 30_000;
export const READING_ATTEMPT_RETENTION_DAYS = 7;
/** Header of a message that could not be read: bytes read of the block, and of each field. */
export const UNREADABLE_HEADER_MAX_BYTES = 65_536;
export const UNREADABLE_FIELD_MAX_BYTES = 2_000;
/** Messages that one request changes or deletes. */
export const BULK_MESSAGES_MAX = 500;

/** A one-time code whose confidence is below this is only a candidate. */
export const OTP_CONFIDENCE_MIN = 0.5;
/** Candidates for a one-time code stored per message. */
export const OTP_CANDIDATES_MAX = 5;
/** Characters of text searched for codes; codes are at the beginning. */
export const OTP_TEXT_MAX_CHARACTERS = 24_576;
export const OTP_LINE_MAX_CHARACTERS = 1_024;
export const OTP_LINES_MAX = 600;
/** Numbers of a message that are weighed. */
export const OTP_TOKENS_MAX = 400;

/** Links stored per message. */
export const LINKS_MAX = 50;
/** Links that are evaluated before the best are stored. */
export const LINKS_WEIGHED_MAX = 300;
export const LINK_URL_MAX_CHARACTERS = 8_192;
export const LINK_TEXT_MAX_CHARACTERS = 200;
/** Characters of text searched for links. */
export const LINK_SEARCH_MAX_CHARACTERS = 262_144;

export const REMOTE_IMAGE_MAX_BYTES = 5 * MIB_BYTES;
/** Time limit from the look-up of the first host to the last byte, including redirects. */
export const REMOTE_IMAGE_TIMEOUT_MS = 10_000;
export const REMOTE_IMAGE_REDIRECTS_MAX = 3;
/** Of one person in a minute: a newsletter has dozens. */
export const REMOTE_IMAGES_PER_MINUTE_MAX = 300;
/** Pictures of one message that can be asked for, and characters of an address. */
export const REMOTE_IMAGES_PER_MESSAGE_MAX = 1_000;
export const REMOTE_IMAGE_URL_MAX = 4_096;

/** Accepted types. SVG is not accepted: it is a document that may contain scripts. */
export const REMOTE_IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'] as const;
export type RemoteImageType = (typeof REMOTE_IMAGE_TYPES)[number];
