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
export const ADDRESSES_MAX = 2_000;

type Token =
  /** `spaced`: white space stands in front of it. */
  { readonly kind: 'text' | 'quoted' | 'comment' | 'special'; readonly text: string; readonly spaced: boolean };

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
      yield { kind: 'special', text: character, spaced };
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
  list.map((token, i) => (i > 0 && token.spaced ? ` ${token.text}` : token.text)).join('');

/** Reads a list. Never throws; a piece without `@` gives an address without host. */
export function parseAddresses(value: string): RawAddress[] {
  const list: RawAddress[] = [];
  let words: Token[] = [];
  let comment: string | null = null;
  let angle: Token[] | undefined;
  let bracketed: SplitAddress[] | undefined;
  let inGroup = false;

  const finish = () => {
    if (angle !== undefined) bracketed = splitAddresses(angle);
    angle = undefined;
    const outside = bracketed === undefined ? '' : trimRaw(joinWords(words));
    for (const [i, { phrase, ...address }] of (bracketed ?? splitAddresses(words)).entries()) {
      const name = i === 0 ? outside || phrase || comment : phrase || null;
      if (address.local !== '' || address.host !== '' || (bracketed !== undefined && outside !== ''))
        list.push({ kind: 'address', name, ...address });
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
      if (angle !== undefined) bracketed = splitAddresses(angle);
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

interface SplitAddress {
  readonly local: string;
  readonly host: string;
  readonly route: string | null;
  /** Words that stand beside the address without brackets between. */
  readonly phrase: string;
}

/**
 * The addresses in words without commas between. White space splits words from an address, but not around its dots and
 * its `@` (RFC 5322 §4.4); words beside it are its name, never a part of it. Without any `@` all is one local part.
 */
function splitAddresses(list: readonly Token[]): SplitAddress[] {
  let rest = list;
  let route: string | null = null;
  const colon = list.findLastIndex((token) => token.kind === 'special' && token.text === ':');
  if (colon >= 0 && list[0]?.kind === 'special' && list[0].text === '@') {
    route = textOf(list.slice(0, colon));
    rest = list.slice(colon + 1);
  }
  if (!rest.some(isAt)) return [{ local: joinWords(rest), host: '', route, phrase: '' }];
  const found: SplitAddress[] = [];
  let phrase: Token[] = [];
  for (const piece of piecesOf(rest)) {
    const at = piece.findLastIndex(isAt);
    if (at < 0) phrase.push(...piece.filter(({ kind }) => kind !== 'special'));
    else {
      const [local, host] = [textOf(piece.slice(0, at)), textOf(piece.slice(at + 1))];
      found.push({ local, host, route: found.length === 0 ? route : null, phrase: trimRaw(joinWords(phrase)) });
      phrase = [];
    }
  }
  const [last] = found.splice(-1);
  return last === undefined ? [] : [...found, { ...last, phrase: last.phrase || trimRaw(joinWords(phrase)) }];
}

const isAt = (token: Token): boolean => token.kind === 'special' && token.text === '@';
const textOf = (part: readonly Token[]): string => part.map((token) => token.text).join('');

/** Runs of tokens that belong together. */
function* piecesOf(list: readonly Token[]): Generator<Token[]> {
  let piece: Token[] = [];
  let inHost = false;
  for (const token of list) {
    const before = piece.at(-1);
    const separates = token.kind === 'special' && !isAt(token);
    const joined =
      before !== undefined &&
      (!token.spaced ||
        isAt(token) ||
        isAt(before) ||
        token.text.startsWith('.') ||
        before.text === '.' ||
        (inHost && before.text.endsWith('.')));
    if (piece.length > 0 && (separates || !joined)) {
      yield piece;
      piece = [];
      inHost = false;
    }
    if (separates) continue;
    piece.push(token);
    inHost ||= isAt(token);
  }
  if (piece.length > 0) yield piece;
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

/**
 * The same, of text instead of a header field as received: its characters are more than bytes, and one that were cut to
 * a byte would be another address.
 */
export const addressesOfText = (text: string): MailAddress[] => readableAddresses(Buffer.from(text).toString('latin1'));

/** `a@b.c`, or `Name <a@b.c>` with the name quoted where its characters ask for it. */
export function formatAddress({ name, address }: MailAddress): string {
  if (name === '') return address;
  const phrase = /^[\p{L}\p{N} !#$%&'*+/=?^_`{|}~-]+$/u.test(name) ? name : `"${name.replace(/[\\"]/g, '\\$&')}"`;
  return `${phrase} <${address}>`;
}
