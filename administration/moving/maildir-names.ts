/**
 * Names in a Maildir: of folders as Maildir++ has them (`.Projects.2026`, modified UTF-7), and of messages, with flags and
 * keywords (letters that the file `dovecot-keywords` explains).
 */
import type { MailFlag } from '#domain/mail/mail-flags.ts';
import { flagsOf, lettersOf } from './moved-message.ts';

const FLAG_LETTERS: Readonly<Record<string, MailFlag>> = {
  D: 'draft',
  F: 'flagged',
  R: 'answered',
  S: 'seen',
  T: 'deleted',
};
const PASSED_KEYWORD = '$Forwarded';
const FIRST_KEYWORD_LETTER = 97;
const KEYWORD_LETTERS_MAX = 26;
const FILE_NAME_MAX_BYTES = 200;

/** RFC 3501 §5.1.3. */
function modifiedUtf7(name: string): string {
  return name.replace(/&|[^\x20-\x7e]+/g, (run) => {
    if (run === '&') return '&-';
    const base64 = Buffer.from(run, 'utf16le').swap16().toString('base64');
    return `&${base64.replace(/=+$/, '').replaceAll('/', ',')}-`;
  });
}

const fromModifiedUtf7 = (text: string): string =>
  text.replace(/&([A-Za-z0-9+,]*)-/g, (whole, shifted: string) => {
    if (shifted === '') return '&';
    const bytes = Buffer.from(shifted.replaceAll(',', '/'), 'base64');
    return bytes.length % 2 === 0 ? bytes.swap16().toString('utf16le') : whole;
  });

/** Empty for INBOX. A name that this form cannot have gets a similar one: the list of folders has the exact name. */
export function maildirOf(name: string, id: number): string {
  if (name === 'INBOX') return '';
  const levels = name.split('/').map((level) => modifiedUtf7(level).replaceAll(/[./]/g, '_'));
  const folder = `.${levels.join('.')}`;
  return folder.length > FILE_NAME_MAX_BYTES ? `.folder-${id}` : folder;
}

/** The folder of a Maildir by its path below the source, with `/`. */
export function folderOfMaildir(relative: string): string {
  const levels = relative
    .split('/')
    .flatMap((level) => (level.startsWith('.') ? level.slice(1).split('.') : [level]))
    .filter((level) => level !== '');
  return levels.length === 0 ? 'INBOX' : levels.map(fromModifiedUtf7).join('/');
}

/** Keywords of a folder as letters: the first 26. */
export interface KeywordLetters {
  /** Undefined: there is no letter left. */
  letterOf(keyword: string): string | undefined;
  /** The file `dovecot-keywords`. */
  text(): string;
}

/** @param text of the file `dovecot-keywords` */
export const readKeywordLetters = (text: string): Map<string, string> =>
  new Map(
    [...text.matchAll(/^(\d{1,2}) (\S+)$/gm)].map(([, number = '', keyword = '']) => [
      String.fromCodePoint(FIRST_KEYWORD_LETTER + Number(number)),
      keyword,
    ]),
  );

export function keywordLetters(text: string): KeywordLetters {
  const letters = new Map([...readKeywordLetters(text)].map(([letter, keyword]) => [keyword, letter]));
  return {
    letterOf(keyword) {
      const known = letters.get(keyword);
      if (known !== undefined || letters.size >= KEYWORD_LETTERS_MAX) return known;
      const letter = String.fromCodePoint(FIRST_KEYWORD_LETTER + letters.size);
      letters.set(keyword, letter);
      return letter;
    },
    text: () =>
      [...letters]
        .map(([keyword, letter]) => `${(letter.codePointAt(0) ?? 0) - FIRST_KEYWORD_LETTER} ${keyword}\n`)
        .join(''),
  };
}

/** Of a message that we wrote: its date to the millisecond, and that its line breaks are its own. */
const OURS = /^(-?\d{1,12})\.M(\d{1,6})U\d+Z(-?\d{1,4})\.agent-mailbox/;

interface NamedMessage {
  readonly uid: number;
  readonly size: number;
  readonly date: Date;
  readonly offsetMinutes: number;
  readonly flags: number;
  /** Letters of keywords. */
  readonly letters: readonly string[];
}

export function messageFileName({ uid, size, date, offsetMinutes, flags, letters }: NamedMessage): string {
  const seconds = Math.floor(date.getTime() / 1_000);
  const micros = (date.getTime() - seconds * 1_000) * 1_000;
  return `${seconds}.M${micros}U${uid}Z${offsetMinutes}.agent-mailbox,S=${size}:2,${lettersOf(flags, FLAG_LETTERS)}${letters.toSorted().join('')}`;
}

export interface ReadFileName {
  readonly flags: number;
  readonly keywords: readonly string[];
  /** Of our own names. */
  readonly date?: Date;
  readonly offsetMinutes?: number;
}

export function readMessageFileName(name: string, letters: ReadonlyMap<string, string>): ReadFileName {
  const info = /[:;!]2,([A-Za-z]*)/.exec(name)?.[1] ?? '';
  const [, seconds, micros, offset] = OURS.exec(name) ?? [];
  const keywords = [...info].flatMap((letter) => letters.get(letter) ?? []);
  return {
    flags: flagsOf(info, FLAG_LETTERS),
    keywords: info.includes('P') ? [...keywords, PASSED_KEYWORD] : keywords,
    ...(seconds === undefined
      ? {}
      : { date: new Date(Number(seconds) * 1_000 + Number(micros) / 1_000), offsetMinutes: Number(offset) }),
  };
}
