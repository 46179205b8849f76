/**
 * Characters that are not seen themselves: controls, marks and turns of direction, fillers, tags. They change what is seen
 * around them, or make two texts look alike. Joiners are left out: scripts and emoji need them.
 */
const CLASS =
  '[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f' +
  '\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]';

export const UNSEEN = new RegExp(CLASS, 'u');
const ALL_UNSEEN = new RegExp(CLASS, 'gu');
const ALL_UNSEEN_AND_JOINERS = new RegExp(`${CLASS}|[\\u200c\\u200d]`, 'gu');

/** E.g. `U+202E`. */
export const nameOfCharacter = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** @param wrap makes of a character's name what is shown in its place */
const nameUnseen = (text: string, wrap: (name: string) => string): string =>
  text.replace(ALL_UNSEEN, (character) => wrap(nameOfCharacter(character)));

/** First words of a mail without invisible characters, with which newsletters fill theirs. */
export const withoutUnseen = (text: string): string =>
  text.replace(ALL_UNSEEN_AND_JOINERS, '').replaceAll(/\s+/g, ' ').trim();

/** A text of somebody else with its invisible characters named, so that it reads as what it is. */
export const visibleText = (text: string): string =>
  nameUnseen(text.replaceAll('\r\n', '\n').replaceAll('\r', '⟨U+000D⟩'), (name) => `⟨${name}⟩`);
