/** Address lists of header fields (RFC 5322 §3.4), with groups, comments and routes; damaged ones as far as they go. */
import { decodeRawHeader } from './charset.ts';
import { decodeWords } from './encoded-words.ts';
import { trimRaw } from './header-fields.ts';
import { commentEnd } from './parameters.ts';

/** One entry of a list as it stands in an IMAP ENVELOPE. Raw texts hold one character per byte. */
export type RawAddress =
  | {
      readonly kind: 'address';
      readonly name: string | null;
      readonly route: string | null;
      readonly local: string;
      readonly host: string;
    }
  | { readonly kind: 'group-start'; readonly name: string }
  | { readonly kind: 'group-end' };

/** An address for people and programs: decoded name (may be empty) and `local@host`. */
export interface MailAddress {
  readonly name: string;
  readonly address: string;
}

/** More entries than this are left unread: a list is shown, not worked through. */
const ADDRESSES_MAX = 2_000;

type Token =
  | { readonly kind: 'text' | 'quoted' | 'comment'; readonly text: string; readonly spaced: boolean }
  | { readonly kind: 'special'; readonly text: string };

const SPECIALS = '<>@,;:';

function* tokens(value: string): Generator<Token> {
  let at = 0;
  let spaced = false;
  while (at < value.length) {
    const character = value.charAt(at);
    if (character === ' ' || character === '\t' || character === '\r' || character === '\n') {
      spaced = true;
      at++;
      continue;
    }
    if (character === '"') {
      let text = '';
      at++;
      while (at < value.length && value[at] !== '"') {
        if (value[at] === '\\' && at + 1 < value.length) at++;
        text += value[at];
        at++;
      }
      at++;
      yield { kind: 'quoted', text, spaced };
    } else if (character === '(') {
      const end = commentEnd(value, at);
      const inside = value.slice(at + 1, value[end - 1] === ')' ? end - 1 : end);
      yield { kind: 'comment', text: trimRaw(inside.replace(/\\(.)/gs, '$1')), spaced };
      at = end;
    } else if (SPECIALS.includes(character)) {
      yield { kind: 'special', text: character };
      at++;
    } else {
      const start = at;
      if (character === '[') while (at < value.length && value[at] !== ']') at++;
      while (at < value.length && !' \t\r\n"(<>@,;:'.includes(value.charAt(at))) at++;
      yield { kind: 'text', text: value.slice(start, at), spaced };
    }
    spaced = false;
  }
}

const joinWords = (list: readonly Token[]): string =>
  list.map((token, i) => (i > 0 && 'spaced' in token && token.spaced ? ` ${token.text}` : token.text)).join('');

/** Reads a list. Never throws; a piece without `@` gives an address without host. */
export function parseAddresses(value: string): RawAddress[] {
  const list: RawAddress[] = [];
  let words: Token[] = [];
  let comment: string | null = null;
  let angle: Token[] | undefined;
  let bracketed: { local: string; host: string; route: string | null } | undefined;
  let inGroup = false;

  const finish = () => {
    if (angle !== undefined) bracketed = splitAddress(angle);
    angle = undefined;
    if (bracketed !== undefined) {
      const phrase = trimRaw(joinWords(words));
      if (bracketed.local !== '' || bracketed.host !== '' || phrase !== '')
        list.push({ kind: 'address', name: phrase || comment, ...bracketed });
    } else if (words.length > 0) {
      const { local, host, route } = splitAddress(words);
      if (local !== '' || host !== '') list.push({ kind: 'address', name: comment, route, local, host });
    }
    words = [];
    comment = null;
    bracketed = undefined;
  };

  for (const token of tokens(value)) {
    if (list.length >= ADDRESSES_MAX) break;
    if (angle !== undefined && !(token.kind === 'special' && (token.text === '>' || token.text === ';'))) {
      // A route's commas and colons stand inside the angle brackets.
      if (token.kind !== 'comment') angle.push(token);
      continue;
    }
    if (token.kind === 'comment') comment ??= token.text || null;
    else if (token.kind !== 'special' || token.text === '@') words.push(token);
    else if (token.text === '<') {
      if (bracketed !== undefined) finish(); // the comma is missing
      angle = [];
    } else if (token.text === '>') {
      if (angle !== undefined) bracketed = splitAddress(angle);
      angle = undefined;
    } else if (token.text === ':' && !inGroup && bracketed === undefined) {
      list.push({ kind: 'group-start', name: trimRaw(joinWords(words)) });
      words = [];
      inGroup = true;
    } else {
      finish();
      if (token.text === ';' && inGroup) {
        list.push({ kind: 'group-end' });
        inGroup = false;
      }
    }
  }
  finish();
  if (inGroup) list.push({ kind: 'group-end' });
  return list;
}

function splitAddress(list: readonly Token[]): { local: string; host: string; route: string | null } {
  let rest = [...list];
  let route: string | null = null;
  const colon = rest.findLastIndex((token) => token.kind === 'special' && token.text === ':');
  if (colon >= 0 && rest[0]?.kind === 'special' && rest[0].text === '@') {
    route = rest
      .slice(0, colon)
      .map((token) => token.text)
      .join('');
    rest = rest.slice(colon + 1);
  }
  const at = rest.findLastIndex((token) => token.kind === 'special' && token.text === '@');
  const text = (part: readonly Token[]) => part.map((token) => token.text).join('');
  if (at < 0) return { local: joinWords(rest), host: '', route };
  return { local: text(rest.slice(0, at)), host: text(rest.slice(at + 1)), route };
}

/** What need not be quoted (RFC 5322 §3.2.3, RFC 6532 §3.2); dots anywhere, as some providers gave out such addresses. */
const UNQUOTED = /^[\w.!#$%&'*+/=?^`{|}~\u0080-\uffff-]+$/;

/** Encoded words have no place in an address (RFC 2047 §5): one that reads `=?…?=` is shown as that. */
function addrSpec(local: string, host: string): string {
  const [name, domain] = [decodeRawHeader(local), decodeRawHeader(host)];
  if (domain === '') return name;
  return `${UNQUOTED.test(name) ? name : `"${name.replace(/[\\"]/g, '\\$&')}"`}@${domain}`;
}

/** The addresses of a list, groups dissolved, names decoded, local parts quoted where their characters ask for it. */
export function readableAddresses(value: string): MailAddress[] {
  const found: MailAddress[] = [];
  for (const entry of parseAddresses(value)) {
    if (entry.kind !== 'address') continue;
    found.push({ name: decodeWords(entry.name ?? '').trim(), address: addrSpec(entry.local, entry.host) });
  }
  return found;
}

/** `a@b.c`, or `Name <a@b.c>` with the name quoted where its characters ask for it. */
export function formatAddress({ name, address }: MailAddress): string {
  if (name === '') return address;
  const phrase = /^[\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]+$/u.test(name) ? name : `"${name.replace(/[\\"]/g, '\\$&')}"`;
  return `${phrase} <${address}>`;
}
