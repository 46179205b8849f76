/** The second factor of people who sign in: codes of an app by time (RFC 6238), and recovery codes. */
import type { TokenAccess } from '#domain/organizations/mailboxes.ts';

/**
 * What an organization requires of sessions without a second factor: nothing; that they only read (`approvers`: people who
 * decide need one); that they do not act in the organization at all.
 */
export const SECOND_FACTOR_POLICIES = ['off', 'approvers', 'everyone'] as const;
export type SecondFactorPolicy = (typeof SECOND_FACTOR_POLICIES)[number];

/**
 * Whether a program may use what a person without a second factor gave it: as much as a session of that person.
 *
 * @param proven the person had proven one
 */
export const grantSuffices = (policy: SecondFactorPolicy, proven: boolean, access: TokenAccess): boolean =>
  proven || policy === 'off' || (policy === 'approvers' && access === 'read');

/** What authenticator apps support without settings: SHA-1, six digits, thirty seconds (RFC 6238 §1.2). */
export const TOTP_DIGITS = 6;
export const TOTP_PERIOD_SECONDS = 30;
/** Steps before and after the present one whose codes are accepted, for clocks that differ (RFC 6238 §5.2). */
export const TOTP_WINDOW_STEPS = 1;
/** 160 bits, as RFC 4226 §4 recommends. */
export const TOTP_SECRET_BYTES = 20;

/** Between the password and the second factor. */
export const SIGN_IN_CHALLENGE_LIFE_SECONDS = 300;
/** Codes that may be entered for one password; then it is asked for again. */
export const CHALLENGE_TRIES = 5;

/** Recovery codes that are made at once; the former ones end then. */
export const RECOVERY_CODES = 10;
/** Letters and digits of which none is mistaken for another: a code has 49 random bits. */
export const RECOVERY_CODE_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz';
export const RECOVERY_CODE_LENGTH = 10;

/** As a person reads it: `k3m9w-x7q2d`. */
export const shownRecoveryCode = (code: string): string =>
  `${code.slice(0, RECOVERY_CODE_LENGTH / 2)}-${code.slice(RECOVERY_CODE_LENGTH / 2)}`;

/** A typed code, without what only helps reading. */
type SecondFactorCode =
  | { readonly kind: 'totp'; readonly digits: string }
  | { readonly kind: 'recovery_code'; readonly code: string };

/** What a person typed; undefined: it has the form of no code. */
export function readSecondFactorCode(typed: string): SecondFactorCode | undefined {
  const text = typed.toLowerCase().replaceAll(/[\s-]/g, '');
  if (text.length === TOTP_DIGITS && /^\d+$/.test(text)) return { kind: 'totp', digits: text };
  const isRecovery =
    text.length === RECOVERY_CODE_LENGTH && [...text].every((each) => RECOVERY_CODE_ALPHABET.includes(each));
  return isRecovery ? { kind: 'recovery_code', code: text } : undefined;
}
