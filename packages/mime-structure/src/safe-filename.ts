/** File names of attachments as programs may use them: a name alone, whatever the sender wrote. */

export const NAME_MAX_CHARACTERS = 255;
/** Control characters, and those that turn the direction of what stands beside them. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/** The last part of a path, on one line, at most 255 characters; empty where nothing is left that names a file. */
export function safeFilename(given: string): string {
  const line = given.toWellFormed().replace(UNSAFE, ' ');
  const base = line.slice(Math.max(line.lastIndexOf('/'), line.lastIndexOf('\\')) + 1).trim();
  return /^\.*$/.test(base) ? '' : base.slice(0, NAME_MAX_CHARACTERS).trim().toWellFormed();
}
