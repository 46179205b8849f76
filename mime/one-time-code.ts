/** The one-time code in a mail, for a program that signs in by mail. Pure; how it decides: `codes/weigh-tokens.ts`. */
import { OTP_CANDIDATES_MAX, OTP_CONFIDENCE_MIN } from '#domain/mail/mail-limits.ts';
import { mailLines, titleLine } from './codes/mail-lines.ts';
import { formOf } from './codes/number-tokens.ts';
import { type Weighed, weighTokens } from './codes/weigh-tokens.ts';

interface CodeSource {
  readonly subject: string;
  /** Plain text, made from the HTML where there is no other; cells of a table apart by tabs or lines. */
  readonly text: string;
}

export interface CodeCandidate {
  /** As it is to be typed: case as written, without spaces and, between digits, hyphens; digits of every script as 0-9. */
  readonly code: string;
  /** 0 to 1: how surely it is a one-time code. */
  readonly confidence: number;
}

/** Below this a candidate says nothing. */
const CANDIDATE_CONFIDENCE_MIN = 0.2;
/** So many codes at once are a list: backup codes, vouchers. */
const LIST_FROM = 4;

/**
 * Best first, at most 5. Codes that a person shows (vouchers, bookings, parcels) and numbers of any other kind are none.
 */
export function codeCandidates({ subject, text }: CodeSource): readonly CodeCandidate[] {
  const byCode = new Map<string, { best: number; times: number; refused: boolean; quoted: boolean }>();
  const weighed = weighTokens(titleLine(subject), mailLines(text));
  const stale = new Set(weighed.filter(({ mark }) => mark === 'stale').map(({ code }) => code));
  for (const { code, confidence, mark } of weighed) {
    if (stale.has(code)) continue;
    const known = byCode.get(code) ?? { best: 0, times: 0, refused: false, quoted: false };
    byCode.set(code, {
      best: Math.max(known.best, confidence),
      times: known.times + (confidence >= CANDIDATE_CONFIDENCE_MIN ? 1 : 0),
      refused: known.refused || confidence === 0,
      quoted: known.quoted || mark === 'quoted',
    });
  }
  const candidates = [...byCode].map(([code, { best, times, refused, quoted }]) => ({
    code,
    // Twice is surer than once; what is called an order elsewhere, or quoted, is none here.
    confidence:
      refused && (quoted || best < 0.9) ? best / 2 : Math.min(0.99, best + (times > 1 && best > 0.3 ? 0.04 : 0)),
  }));
  const rivals = rivalsOf(candidates, weighed);
  const likely = candidates.filter(({ confidence }) => confidence >= OTP_CONFIDENCE_MIN);
  const forms = new Set(likely.map(({ code }) => formOf(code)));
  const isListed = (code: string): boolean =>
    isOfList(code, weighed) ||
    ((forms.size === 1 || likely.filter((other) => formOf(other.code) === formOf(code)).length > 1) &&
      likely.length >= LIST_FROM);
  return candidates
    .map(({ code, confidence }) => ({
      code,
      confidence: rounded(isListed(code) || rivals.has(code) ? confidence / 2 : confidence),
    }))
    .filter(({ confidence }) => confidence >= CANDIDATE_CONFIDENCE_MIN)
    .toSorted((a, b) => b.confidence - a.confidence)
    .slice(0, OTP_CANDIDATES_MAX);
}

/**
 * Of several likely codes that are written alike one alone is the code: that which the reader is most clearly asked to
 * enter, or which is called new. Of others nobody knows which it is, so none of them counts.
 */
function rivalsOf(candidates: readonly CodeCandidate[], weighed: readonly Weighed[]): ReadonlySet<string> {
  const likely = candidates.filter(({ code, confidence }) => confidence >= OTP_CONFIDENCE_MIN && !YEAR.test(code));
  const askedFor = (code: string): number =>
    Math.max(...weighed.filter((one) => one.code === code).map(({ asked }) => asked));
  const rivals = new Set<string>();
  for (const { code } of likely) {
    const others = likely.filter((other) => other.code !== code && formOf(other.code) === formOf(code));
    if (others.some((other) => askedFor(other.code) >= askedFor(code))) rivals.add(code);
  }
  return rivals;
}

/** Written like others of the mail: a list names itself once, so only its first code has a name. */
function isOfList(code: string, all: readonly Weighed[]): boolean {
  if (code.length < LISTED_MIN_CHARACTERS) return false;
  const form = formOf(code);
  const alike = all.filter((other) => other.mayBeListed && formOf(other.code) === form);
  return new Set(alike.map((other) => other.code)).size >= LIST_FROM;
}
const YEAR = /^(?:19|20)\d\d$/;
/** Shorter numbers of one length are in many mails: years, prices, houses. */
const LISTED_MIN_CHARACTERS = 6;

const rounded = (confidence: number): number => Math.round(confidence * 100) / 100;

/** The likeliest code; null where none is likely enough (`OTP_CONFIDENCE_MIN`). */
export const oneTimeCode = (source: CodeSource): string | null => surelyCode(codeCandidates(source));

/** The same for candidates that are there already, best first. */
export function surelyCode([best]: readonly CodeCandidate[]): string | null {
  return best !== undefined && best.confidence >= OTP_CONFIDENCE_MIN ? best.code : null;
}
