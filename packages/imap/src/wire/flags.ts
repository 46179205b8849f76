/** Flags and keywords on the wire (RFC 9051 §2.3.2). */
import { MAIL_FLAGS, type MailFlag } from '@agent-mailbox/mail-store/flags';
import { KEYWORD_MAX_CHARACTERS, KEYWORDS_PER_MESSAGE_MAX } from '@agent-mailbox/mail-store/limits';
import { Refusal } from './completion.ts';
import type { Scanner } from './parser.ts';

const WIRE: readonly (readonly [MailFlag, string])[] = [
  ['answered', '\\Answered'],
  ['flagged', '\\Flagged'],
  ['deleted', '\\Deleted'],
  ['seen', '\\Seen'],
  ['draft', '\\Draft'],
];
const BITS = new Map(WIRE.map(([flag, name]) => [name.toUpperCase(), MAIL_FLAGS[flag]]));

export const SYSTEM_FLAGS = WIRE.map(([, name]) => name).join(' ');

/** Text of each combination of bits. */
const TEXTS: readonly string[] = Array.from({ length: 32 }, (_, bits) =>
  WIRE.filter(([flag]) => (bits & MAIL_FLAGS[flag]) !== 0)
    .map(([, name]) => name)
    .join(' '),
);

/** `(\Seen work)`; keywords are atoms, so they need no quoting. */
export function flagList(bits: number, keywords: readonly string[], recent: boolean): string {
  const system = TEXTS[bits & 31] ?? '';
  if (keywords.length === 0 && !recent) return `(${system})`;
  return `(${[...(system === '' ? [] : [system]), ...keywords, ...(recent ? ['\\Recent'] : [])].join(' ')})`;
}

export interface FlagSet {
  readonly flags: number;
  readonly keywords: readonly string[];
}

/** Reads `(\Seen work)`, or the same without parentheses if STORE allows it. \Recent cannot be set and is ignored. */
export function parseFlags(scan: Scanner, bareAllowed = false): FlagSet {
  let flags = 0;
  const keywords = new Map<string, string>();
  const one = () => {
    if (scan.skip('\\')) {
      const name = `\\${scan.word()}`;
      const bit = BITS.get(name);
      if (bit !== undefined) flags |= bit;
      else if (name !== '\\RECENT') scan.fail('a known flag');
      return;
    }
    const keyword = scan.atom();
    if (!keywords.has(keyword.toLowerCase())) keywords.set(keyword.toLowerCase(), keyword);
  };
  if (bareAllowed && scan.peek() !== '(') {
    do one();
    while (scan.skip(' '));
  } else scan.list(one);
  return { flags, keywords: [...keywords.values()] };
}

/** @throws {Refusal} LIMIT when a message cannot have these */
export function checkKeywords(keywords: readonly string[]): void {
  if (keywords.length > KEYWORDS_PER_MESSAGE_MAX)
    throw new Refusal('LIMIT', `At most ${KEYWORDS_PER_MESSAGE_MAX} keywords can be stored for a message`);
  if (keywords.some((keyword) => keyword.length > KEYWORD_MAX_CHARACTERS))
    throw new Refusal('LIMIT', `A keyword has at most ${KEYWORD_MAX_CHARACTERS} characters`);
}

/** Whether two lists contain the same keywords, ignoring order and case. */
export function sameKeywords(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  if (a.length === 0) return true;
  const lower = new Set(a.map((keyword) => keyword.toLowerCase()));
  return b.every((keyword) => lower.has(keyword.toLowerCase()));
}
