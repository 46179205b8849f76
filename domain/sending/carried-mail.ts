/** Outgoing mail that carries passages of other mail of its organization. */

/** Not compared; held for a person; refused. */
export const CARRIED_MAIL_MODES = ['off', 'hold', 'refuse'] as const;
export type CarriedMailMode = (typeof CARRIED_MAIL_MODES)[number];
export const CARRIED_MAIL_DEFAULT: CarriedMailMode = 'hold';

/** Text of one message that is compared. A message with more waits for a person. */
export const CARRIED_TEXT_MAX_CHARACTERS = 1_048_576;
/** A file beyond this size is compared by its hash alone. */
export const CARRIED_FILE_MAX_BYTES = 524_288;
/** Files of one message whose text is read: PDF, documents of Office and, of stored mail, plain text. */
export const CARRIED_DOCUMENTS_MAX = 5;
export const CARRIED_DOCUMENT_MAX_BYTES = 10_485_760;
/** Of each file: about twenty pages. */
export const CARRIED_DOCUMENT_MAX_CHARACTERS = 65_536;
export const CARRIED_DOCUMENT_MAX_CPU_MS = 2_000;
export const CARRIED_DOCUMENT_MAX_WALL_MS = 4_000;
/** Readings of a message (decoded, backwards) that are compared, over all its texts. A message with more waits for a person. */
export const CARRIED_READINGS_MAX = 400;
/** Stored mail that has not been read in the background yet and is compared directly, newest first. */
export const CARRIED_DUE_MESSAGES_MAX = 500;
export const CARRIED_DUE_MAX_CHARACTERS = 2_097_152;
/** Of these the files of the newest are read for the check, as far as it takes no longer. */
export const CARRIED_DUE_FILES_MAX = 5;
export const CARRIED_DUE_FILES_MAX_MS = 4_000;
/** Messages whose texts are compared word by word, and the sources that a person is shown. */
export const CARRIED_COMPARED_MAX = 12;
export const CARRIED_SOURCES_MAX = 5;
/** Passages of one source that are shown. */
export const CARRIED_PASSAGES_SHOWN_MAX = 3;
/** Of the text by which a planted message is recognized; shown in groups. */
export const CANARY_CHARACTERS = 24;
export const CANARY_GROUP_CHARACTERS = 6;
/** Links with opaque addresses that are shown. */
export const LINKS_SHOWN_MAX = 10;
/** A one-time code is looked for in mail of this time. */
export const CARRIED_CODE_DAYS = 7;
/** What so many senders of different domains write is a common phrase; so is what was sent to so many recipients. */
export const COMMON_SENDERS_MIN = 3;
export const COMMON_RECIPIENTS_MIN = 2;
/** Messages whose letters are compared, whatever their blanks are: the newest of the mailbox, and of the organization. */
export const LETTERS_COMPARED_MAX = 100;
