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
