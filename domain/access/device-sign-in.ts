/** Signing in on a device without a browser of its own (RFC 8628). */
export const DEVICE_SIGN_IN_LIFE_SECONDS = 600;
/** How long a device waits between two requests for its session. */
export const DEVICE_POLL_SECONDS = 5;
/** Begun by one source within an hour. */
export const DEVICE_SIGN_INS_PER_SOURCE_AND_HOUR = 30;
/** Codes that one person enters within an hour: 20^8 codes cannot be guessed by so many. */
export const DEVICE_CODES_PER_PERSON_AND_HOUR = 30;
export const DEVICE_NAME_MAX_CHARACTERS = 100;

/** Consonants that are not mistaken for one another and make no words (RFC 8628 §6.1). */
export const USER_CODE_ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
export const USER_CODE_LENGTH = 8;

/** As a person reads it: `BCDF-GHJK`. */
export const shownUserCode = (code: string): string =>
  `${code.slice(0, USER_CODE_LENGTH / 2)}-${code.slice(USER_CODE_LENGTH / 2)}`;

/** What a person typed, without what only helps reading; undefined: no code. */
export function readUserCode(typed: string): string | undefined {
  const letters = typed.toUpperCase().replaceAll(/[^A-Z]/g, '');
  const isCode = letters.length === USER_CODE_LENGTH && [...letters].every((each) => USER_CODE_ALPHABET.includes(each));
  return isCode ? letters : undefined;
}
