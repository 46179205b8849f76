/** The more special ones first: they name those they are made of. */
const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;
const SHOWN_MAX = 60;

/** The program that a User-Agent names, in words; the whole text is shown on hover. */
export function programName(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'Unknown program';
  const browser = BROWSERS.find(([mark]) => userAgent.includes(mark))?.[1];
  const system = SYSTEMS.find(([mark]) => userAgent.includes(mark))?.[1];
  if (browser === undefined) return userAgent.slice(0, SHOWN_MAX);
  return system === undefined ? browser : `${browser} on ${system}`;
}
