/** The one-time code in a mail, for a program that signs in by mail. Pure; how it decides: `codes/weigh-tokens.ts`. */
import { OTP_CANDIDATES_MAX, OTP_CONFIDENCE_MIN } from '#domain/code-and-link-limits.ts';
import { mailLines, titleLine } from './codes/mail-lines.ts';
import { weighTokens } from './codes/weigh-tokens.ts';

export interface CodeSource {
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
  const byCode = new Map<string, { best: number; times: number; refused: boolean }>();
  for (const { code, confidence } of weighTokens(titleLine(subject), mailLines(text))) {
    const known = byCode.get(code) ?? { best: 0, times: 0, refused: false };
    byCode.set(code, {
      best: Math.max(known.best, confidence),
      times: known.times + (confidence >= CANDIDATE_CONFIDENCE_MIN ? 1 : 0),
      refused: known.refused || confidence === 0,
    });
  }
  const candidates = [...byCode].map(([code, { best, times, refused }]) => ({
    code,
    // Twice is surer than once; what is called an order elsewhere is none here.
    confidence: refused && best < 0.9 ? best / 2 : Math.min(0.99, best + (times > 1 && best > 0.3 ? 0.04 : 0)),
  }));
  const list = candidates.filter(({ confidence }) => confidence >= OTP_CONFIDENCE_MIN).length >= LIST_FROM;
  return candidates
    .map(({ code, confidence }) => ({ code, confidence: rounded(list ? confidence / 2 : confidence) }))
    .filter(({ confidence }) => confidence >= CANDIDATE_CONFIDENCE_MIN)
    .toSorted((a, b) => b.confidence - a.confidence)
    .slice(0, OTP_CANDIDATES_MAX);
}

const rounded = (confidence: number): number => Math.round(confidence * 100) / 100;

/** The likeliest code; null where none is likely enough (`OTP_CONFIDENCE_MIN`). */
export const oneTimeCode = (source: CodeSource): string | null => surelyCode(codeCandidates(source));

/** The same for candidates that are there already, best first. */
export function surelyCode([best]: readonly CodeCandidate[]): string | null {
  return best !== undefined && best.confidence >= OTP_CONFIDENCE_MIN ? best.code : null;
}
