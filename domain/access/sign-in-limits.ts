/** Limits of signing in: by password, and on a device without a browser of its own (RFC 8628). */

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

/** A login or sign-in: where it comes from and what it is for. */
export interface LoginTry {
  /** `core/platform/addresses/source-address.ts`. */
  readonly source: string;
  /** Address of the mailbox or account. */
  readonly account: string;
  /** A login from this source to this account has succeeded before. */
  readonly known: boolean;
}

/** The account as seen from one source. */
export const loginPair = ({ source, account }: Pick<LoginTry, 'source' | 'account'>): string => `${source} ${account}`;

/**
 * Which counts of failures may refuse a login: a known pair is limited by its own alone, so that neither a neighbour with
 * a dead credential nor failures from elsewhere lock it out.
 */
export const limitingPairs = (login: LoginTry): readonly string[] =>
  login.known ? [loginPair(login)] : [login.source, loginPair(login)];
