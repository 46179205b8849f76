/**
 * Form of credentials: `<prefix><43 characters base64url of 32 random bytes><6 characters base32 checksum>`. The
 * checksum distinguishes a mistyped credential from a revoked one and lets secret scanners match without a request to
 * us.
 */
export const CREDENTIAL_PREFIXES = {
  apiKey: 'amk_',
  session: 'ams_',
  mailboxToken: 'amt_',
  operator: 'amo_',
  approvalLink: 'aml_',
  passwordReset: 'amr_',
  fileUpload: 'amf_',
  deviceCode: 'amd_',
  oauthCode: 'amc_',
  oauthAccess: 'ama_',
  oauthRefresh: 'amn_',
  signInChallenge: 'amq_',
} as const;
export type CredentialKind = keyof typeof CREDENTIAL_PREFIXES;

export const CREDENTIAL_RANDOM_BYTES = 32;
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const FORM = new RegExp(`^[A-Za-z0-9_-]{${RANDOM_LENGTH}}[0-9a-hjkmnp-tv-z]{${CHECKSUM_LENGTH}}$`);
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** CRC-32 (IEEE 802.3) of the text in front of the checksum, in six base32 characters. */
export function credentialChecksum(text: string): string {
  let crc = 0xffff_ffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb8_8320 : crc >>> 1;
  }
  let rest = ~crc >>> 0;
  let checksum = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    checksum = ALPHABET.charAt(rest % 32) + checksum;
    rest = Math.floor(rest / 32);
  }
  return checksum;
}

/** Whether a text is a well-formed credential of this kind. A typo fails here without a database query. */
export function isCredential(kind: CredentialKind, text: string): boolean {
  const prefix = CREDENTIAL_PREFIXES[kind];
  if (!text.startsWith(prefix) || !FORM.test(text.slice(prefix.length))) return false;
  return credentialChecksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** A session ends this long after its last request, */
export const SESSION_LIFE_DAYS = 30;
/** and this long after the sign-in, however often it is used: a stolen one does not live for ever. */
export const SESSION_LIFE_MAX_DAYS = 90;
/** Sign-in: failures per window, per address and per address and account. */
export const SIGN_IN_TRIES = 10;
/** Failures per window for one account, of all addresses the person has not signed in from: three addresses make them. */
export const SIGN_IN_ACCOUNT_TRIES = 30;
/** When there are more, each network may still try so often: guessing is slow, and the person gets in from anywhere. */
export const SIGN_IN_NETWORK_TRIES = 2;
/** Codes are short, so fewer may be guessed: per address and account, and per account. */
export const SECOND_FACTOR_TRIES = 5;
export const SECOND_FACTOR_ACCOUNT_TRIES = 10;
export const SIGN_IN_WINDOW_SECONDS = 900;
/** A source a person signed in from is known for this long after the last time. */
export const SIGN_IN_SOURCE_KEPT_DAYS = 90;
export const PASSWORD_MIN_LENGTH = 12;
export const PASSWORD_MAX_LENGTH = 256;
/** The link of a password reset is valid for this time and works once. */
export const PASSWORD_RESET_LIFE_MINUTES = 60;
/** Resets that may be asked for: per source address, and per e-mail address. */
export const PASSWORD_RESETS_PER_SOURCE_AND_HOUR = 20;
export const PASSWORD_RESETS_PER_ADDRESS_AND_HOUR = 5;
/** Tokens of invitations and resets that may be tried, per source address. */
export const LINK_TOKEN_TRIES_PER_MINUTE = 30;
/**
 * Wrong operator keys that may be sent, per source address. Then every key is refused for the minute, unless the right one
 * cannot be guessed.
 */
export const OPERATOR_KEY_TRIES_PER_MINUTE = 10;
/** 128 bits, if it is random and written in hexadecimal. */
export const UNGUESSABLE_KEY_CHARACTERS = 32;
/** The User-Agent header is stored with a session up to this length. */
export const USER_AGENT_MAX_CHARACTERS = 256;
/** Invitations by e-mail link are valid for this time. */
export const INVITATION_LIFE_DAYS = 7;
