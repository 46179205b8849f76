/** Limits of the search for one-time codes and links in a message. */

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
