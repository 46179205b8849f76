/**
 * Links and remote pictures that can carry something away when a person or program follows or loads them: whose address has long parts that
 * are neither words nor short numbers. Whether such a part is a key of an honest page or encoded mail cannot be seen.
 *
 *   https://c2VjcmV0LXBhc3N3b3Jk.evil.example/p.gif?d=Zm9ydHktb25lIHRob3VzYW5k#…
 *           └ labels of the host               └ path └ query                  └ fragment
 */
import { registrableDomain } from '#domain/mail/domain-names.ts';

export interface OpaqueLink {
  /** As a browser reads it. */
  readonly href: string;
  /** Its beginning, for people. */
  readonly url: string;
}

/** Characters of an address that are neither in words nor in short numbers. */
const OPAQUE_MIN_CHARACTERS = 16;
/** Of all its digits: numbers of a page, a day and a size have fewer. */
const DIGITS_MIN = 24;
/** Short parts of several addresses at one domain together. */
const TOGETHER_MIN_CHARACTERS = 48;
const URL_MAX_CHARACTERS = 8_192;
const SHOWN_MAX_CHARACTERS = 500;
const LINKS_READ_MAX = 2_000;

const URL_PATTERN = /(?:https?:)?\/\/[^\s"'<>`\\{}|^]+|\bwww\.[^\s"'<>`\\{}|^]+/gi;
const TRAILING = /[.,;:!?)\]]+$/;

const ENTITY = /&(?:amp|#38|#x26);/gi;

/** Each address that a text has, as a browser reads it; undecodable ones are left out. */
export function* linksIn(text: string): Generator<URL> {
  let count = 0;
  for (const [match] of text.replaceAll(ENTITY, '&').matchAll(URL_PATTERN)) {
    if (++count > LINKS_READ_MAX) return;
    const written = match.replace(TRAILING, '');
    const url = URL.parse(written.startsWith('//') ? `https:${written}` : written.replace(/^www\./i, 'https://www.'));
    if (url?.hostname.includes('.') === true) yield url;
  }
}

/** The opaque ones of these texts, each once. @param isExcused a host that may be linked to as one likes */
export function opaqueLinks(texts: Iterable<string>, isExcused: (host: string) => boolean): OpaqueLink[] {
  const found = new Map<string, OpaqueLink>();
  /** By registrable domain: addresses with short opaque parts. */
  const short = new Map<string, Map<string, number>>();
  for (const text of texts)
    for (const url of linksIn(text)) {
      if (found.has(url.href) || isExcused(url.hostname)) continue;
      const characters = opaqueCharacters(url);
      if (characters >= OPAQUE_MIN_CHARACTERS) found.set(url.href, shown(url.href));
      else if (characters > 0) {
        const domain = registrableDomain(url.hostname);
        const ofDomain = short.get(domain) ?? new Map<string, number>();
        short.set(domain, ofDomain.set(url.href, characters));
      }
    }
  for (const ofDomain of short.values()) {
    const together = [...ofDomain.values()].reduce((sum, each) => sum + each, 0);
    if (together >= TOGETHER_MIN_CHARACTERS) for (const href of ofDomain.keys()) found.set(href, shown(href));
  }
  return [...found.values()];
}

const shown = (href: string): OpaqueLink => ({ href, url: href.slice(0, SHOWN_MAX_CHARACTERS).toWellFormed() });

function opaqueCharacters(url: URL): number {
  const labels = url.hostname.slice(0, -registrableDomain(url.hostname).length || undefined);
  const all = decoded(
    `${url.hostname === registrableDomain(url.hostname) ? '' : labels} ${url.username} ${url.password} ${url.pathname} ${url.search} ${url.hash}`,
  ).slice(0, URL_MAX_CHARACTERS);
  let opaque = 0;
  let digits = 0;
  for (const part of all.split(/[^\p{L}\p{M}\p{N}]+/u)) {
    if (part === '') continue;
    if (/^\d+$/.test(part)) {
      digits += part.length;
      if (part.length > SHORT_NUMBER_MAX) opaque += part.length;
    } else if (!isWords(part)) {
      opaque += part.length;
    }
  }
  return digits >= DIGITS_MIN ? Math.max(opaque, OPAQUE_MIN_CHARACTERS) : opaque;
}

/** Up to eleven digits: a time in seconds, an order. */
const SHORT_NUMBER_MAX = 11;
const WORD_MAX_CHARACTERS = 22;
const PLAIN_ASCII = /^[A-Za-z]+$/;
/** A word with a number before or behind it: `v2`, `page12`, `2fa`. */
const NUMBERED_WORD = /^(?:\d{1,4})?([A-Za-z]{1,14})(?:\d{1,4})?$/;

/** Whether a part of an address is a word, or words written together with capitals. */
function isWords(part: string): boolean {
  if (!PLAIN_ASCII.test(part)) {
    const numbered = NUMBERED_WORD.exec(part)?.[1];
    if (numbered !== undefined) return part.length <= 6 || isWord(numbered);
    // Letters of other scripts, which links of that language have.
    return /^[\p{L}\p{M}]+$/u.test(part) && part.length <= 40;
  }
  const words = part.split(/(?<=[a-z])(?=[A-Z])/);
  if (words.length > 1 && part.length / words.length < 3) return false;
  return words.length <= 6 && words.every(isWord);
}

/** Letters that can be spoken: vowels in between, and capitals only at the beginning or throughout. */
function isWord(word: string): boolean {
  if (word.length <= 4) return /^(?:[A-Z]?[a-z]*|[A-Z]+)$/.test(word);
  if (word.length > WORD_MAX_CHARACTERS || !/^(?:[A-Z]?[a-z]+|[A-Z]+)$/.test(word)) return false;
  const vowels = word.match(/[aeiouy]/gi)?.length ?? 0;
  return vowels / word.length >= 0.2 && vowels / word.length <= 0.75 && !/[^aeiouy]{6}/i.test(word);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
