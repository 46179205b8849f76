/** What a diagnosis found, one fact each. */

/** `note`: could not be checked, or is only to be known. `warning`: works, with harm. `error`: does not work. */
export type FindingLevel = 'ok' | 'note' | 'warning' | 'error';

/** Groups of findings, in the order they are shown. */
export const DIAGNOSIS_CHECKS = [
  ...(['settings', 'postgresql', 'connections', 'secrets', 'temporal', 'backlog', 'clock', 'disk'] as const),
  'objects',
  'single sign-on',
  ...(['certificate', 'listeners', 'dns', 'dkim', 'outside'] as const),
] as const;
export type DiagnosisCheck = (typeof DIAGNOSIS_CHECKS)[number];

export interface Finding {
  readonly check: DiagnosisCheck;
  readonly level: FindingLevel;
  /** A sentence. */
  readonly what: string;
  /** What to do, in sentences; empty: nothing. */
  readonly todo: string;
}

/** Makes findings of one check. */
export const findingsOf = (check: DiagnosisCheck) => {
  const of =
    (level: FindingLevel) =>
    (what: string, todo = ''): Finding => ({ check, level, what, todo });
  return { ok: of('ok'), note: of('note'), warning: of('warning'), error: of('error') };
};

/** In the order of DIAGNOSIS_CHECKS; those of one check as they are. */
export const inOrder = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((a, b) => DIAGNOSIS_CHECKS.indexOf(a.check) - DIAGNOSIS_CHECKS.indexOf(b.check));

/** Somebody must look at it. */
export const needsAttention = ({ level }: Finding): boolean => level === 'warning' || level === 'error';
