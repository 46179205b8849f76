/** Files that are uploaded once and attached by their id, and attachments that are fetched or read as text. */
import { MESSAGE_MAX_BYTES } from './mail-limits.ts';

const MIB_BYTES = 1024 * 1024;

/** As large as a message, although base64 lets a message carry three quarters of that. */
export const FILE_MAX_BYTES = MESSAGE_MAX_BYTES;
/** An uploaded file is deleted after this time. */
export const FILE_LIFE_HOURS = 24;
/**
 * Files of a mailbox at once. They have a bound of their own instead of counting against the quota of the mailbox: a
 * file that will be gone tomorrow must not refuse mail today.
 */
export const FILES_PER_MAILBOX_MAX = 200;
export const FILES_PER_MAILBOX_MAX_BYTES = 256 * MIB_BYTES;
export const FILE_NAME_MAX_CHARACTERS = 255;
/** Bytes of an upload that are in memory and written by one statement. */
export const FILE_CHUNK_BYTES = 512 * 1024;
/** An upload that did not end within this time was interrupted. */
export const UPLOAD_MAX_MINUTES = 10;
/** An upload URL is valid for this time. */
export const UPLOAD_URL_LIFE_MINUTES = 15;

/** Attachments given by their URL: whole time from the first look-up to the last byte, redirects, characters. */
export const ATTACHMENT_URL_TIMEOUT_MS = 20_000;
export const ATTACHMENT_URL_REDIRECTS_MAX = 3;
export const ATTACHMENT_URL_MAX_CHARACTERS = 4_096;
/** URLs that a mailbox may have fetched in a minute. */
export const ATTACHMENT_URLS_PER_MINUTE_MAX = 30;

// Text of attached documents: pages of an answer, and what reading one may cost.

/** Characters (UTF-16 code units) of one page: default and maximum. */
export const DOCUMENT_PAGE_DEFAULT_CHARACTERS = 20_000;
export const DOCUMENT_PAGE_MAX_CHARACTERS = 100_000;
/** Text behind this is not read. */
export const DOCUMENT_TEXT_MAX_CHARACTERS = 5_000_000;

/** Processor time of one document, and wall time from the request to its answer, the wait for a thread included. */
export const DOCUMENT_MAX_CPU_MS = 5_000;
export const DOCUMENT_MAX_WALL_MS = 9_000;
/** Memory of the thread: JavaScript objects, and buffers outside of them. */
export const DOCUMENT_MAX_HEAP_MIB = 256;
export const DOCUMENT_MAX_BUFFER_BYTES = 256 * MIB_BYTES;
/** Threads that read documents at once, and documents that wait for one. */
export const DOCUMENT_THREADS_MAX = 2;
export const DOCUMENTS_WAITING_MAX = 20;

/** Office documents: files in the archive, bytes of those that are read, characters of shared texts, sheets, slides. */
export const ARCHIVE_ENTRIES_MAX = 20_000;
export const ARCHIVE_READ_MAX_BYTES = 128 * MIB_BYTES;
export const SHARED_TEXT_MAX_CHARACTERS = 20_000_000;
export const SHEETS_MAX = 1_000;
export const SLIDES_MAX = 2_000;
/** Elements of XML that are open at once. */
export const XML_DEPTH_MAX = 500;
export const PDF_PAGES_MAX = 5_000;
