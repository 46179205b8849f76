/**
 * Sending after reading: mail of a sender whom nobody released may have told the agent what to send. For a time after such
 * mail was read with a token, a person is asked about mail to anybody but that sender.
 */

/** Minutes after reading; 0: nobody is asked because of it. */
export const ASK_AFTER_READING_MAX_MINUTES = 1_440;
/** Of organizations that are created from now on; of others 0. */
export const NEW_ORGANIZATION_ASK_AFTER_READING_MINUTES = 10;
/** Reading the same sender's mail again is noted after this time, so one that reads often writes seldom. */
export const READ_NOTED_AGAIN_SECONDS = 60;
/** How long it is known who was read: the longest time a setting can ask for, and some more. */
export const SENDER_READ_RETENTION_DAYS = 2;
/** Senders that a person is shown. */
export const UNKNOWN_SENDERS_SHOWN_MAX = 10;
