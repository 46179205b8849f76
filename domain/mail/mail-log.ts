/** Bounds of the mail log (docs/operations/mail-log.md). */

/** Refused transactions and failed logins can be searched for this long. */
export const MAIL_REFUSAL_RETENTION_DAYS = 30;
/** Refusals and failed logins are bounded by this window, in each process. */
export const REFUSALS_WINDOW_MS = 60_000;
/** Of one source address (IPv6: its /64) in a window; further ones are counted. */
export const REFUSALS_PER_SOURCE_MAX = 30;
/** Of all sources in a window; further ones are counted. */
export const REFUSALS_PER_WINDOW_MAX = 1_200;
/** Refusals of one process that wait to be stored, because the database is slow or away; further ones have a line alone. */
export const REFUSALS_WAITING_MAX = 5_000;
/**
 * Refusals that one process stores in a day, about 500 MB at most; further ones have a line alone. Without this, many
 * networks together could fill a disk within the time that refusals are kept.
 */
export const REFUSALS_STORED_PER_DAY_MAX = 200_000;
/** Recipients that a line names; their number is in the line too. */
export const LOGGED_RECIPIENTS_MAX = 20;
/** Of each text in a line: addresses, HELO, answers of other hosts. */
export const LOGGED_TEXT_MAX_CHARACTERS = 320;
