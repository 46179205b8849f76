/**
 * The links of a mail, what it asks to follow first: those of its HTML, and those that are part of plain text. Pure; what
 * they lead to is the sender's choice.
 */
import {
  LINK_SEARCH_MAX_CHARACTERS,
  LINK_TEXT_MAX_CHARACTERS,
  LINK_URL_MAX_CHARACTERS,
  LINKS_MAX,
  LINKS_WEIGHED_MAX,
} from '#domain/mail/mail-limits.ts';
import type { HtmlLink } from './html-content.ts';
import { carriesSecret } from './links/link-address.ts';
import { type MailRequest, requestOf } from './links/mail-request.ts';
import { type WeighedLink, weighLink } from './links/weigh-link.ts';

/**
 * What following a link is for: `decline` stops, refuses or reports what the mail is about ("cancel", "this was not
 * me"), `unsubscribe` ends further mail.
 */
export const LINK_KINDS = ['confirm', 'sign_in', 'reset', 'other', 'decline', 'unsubscribe'] as const;
type LinkKind = (typeof LINK_KINDS)[number];

export interface MessageLink {
  readonly url: string;
  /** Words of the link in the HTML; null for one that is part of plain text. */
  readonly text: string | null;
  readonly kind: LinkKind;
  /** 0 to 1: how surely the link is of this kind; for `other` how likely it is worth following. */
  readonly confidence: number;
}

interface LinkSource {
  readonly subject: string;
  readonly text: string;
  /** Links of the HTML (`htmlContent`); none where there is no HTML. */
  readonly links: readonly HtmlLink[];
  /** The one-time code of the mail (`oneTimeCode`); null where it has none. */
  readonly code: string | null;
  /** Whether a link is part of quoted mail: it asks for nothing. Default: none is. */
  readonly isQuoted?: (href: string) => boolean;
}

interface Found extends WeighedLink {
  readonly url: string;
  readonly text: string | null;
  readonly at: number;
}

/**
 * At most 50, each once. First what the mail asks for, by confidence; then others; then `decline` and `unsubscribe`.
 * Images, and with them the pixels that count readers, are no links.
 */
export function messageLinks({ subject, text, links, code, isQuoted = () => false }: LinkSource): MessageLink[] {
  let request: MailRequest | undefined;
  const found = new Map<string, Found>();
  const add = (link: HtmlLink) => {
    request ??= requestOf(subject, text, code);
    const read = weigh(link, request, found.size);
    if (read === undefined) return;
    const weighed: Found = isAction(read) && isQuoted(link.href) ? { ...read, ...OF_ANOTHER_MAIL } : read;
    const earlier = found.get(weighed.url);
    if (earlier === undefined || better(weighed, earlier))
      found.set(weighed.url, { ...weighed, at: earlier?.at ?? weighed.at });
  };
  const weighable = links.slice(0, LINKS_WEIGHED_MAX);
  for (const [i, link] of weighable.entries()) add(apart(link, weighable[i - 1]));
  const shown = new Set(weighable.map((link) => link.text));
  for (const link of bareLinks(text, LINKS_WEIGHED_MAX)) {
    // Text that was made from the HTML repeats its links without their words.
    const url = readUrl(link.href);
    if (url !== undefined && !found.has(url.href) && !shown.has(link.href)) add(link);
  }
  return withoutGeneral([...found.values()])
    .toSorted((a, b) => rank(a) - rank(b) || b.confidence - a.confidence || a.at - b.at)
    .slice(0, LINKS_MAX)
    .map(({ url, text: words, kind, confidence }) => ({
      url,
      text: words,
      kind,
      confidence: Math.round(confidence * 100) / 100,
    }));
}

/** Buttons side by side are no sentence: words of the one say nothing about the next. */
function apart(link: HtmlLink, previous: HtmlLink | undefined): HtmlLink {
  if (previous === undefined || previous.text === '') return link;
  const at = link.before.lastIndexOf(previous.text);
  const behind = at + previous.text.length;
  if (at === -1 || /[\p{L}\p{N}]/u.test(link.before.slice(behind))) return link;
  return { ...link, before: `${link.before.slice(0, at)}\u2029` };
}

/** Of links for one act those that tell who follows them: the others lead to the page where it is asked for again. */
function withoutGeneral(found: readonly Found[]): Found[] {
  const personal = new Set(found.filter((link) => isAction(link) && carriesSecret(link.url)).map(({ kind }) => kind));
  return found.map((link) =>
    personal.has(link.kind) && !carriesSecret(link.url)
      ? { ...link, kind: 'other', confidence: GENERAL_CONFIDENCE }
      : link,
  );
}
const GENERAL_CONFIDENCE = 0.2;
const OF_ANOTHER_MAIL = { kind: 'other', confidence: 0.05 } as const;

const isAction = ({ kind }: WeighedLink): boolean => kind === 'confirm' || kind === 'sign_in' || kind === 'reset';

const rank = (link: WeighedLink): number =>
  isAction(link) ? 0 : link.kind === 'other' ? 1 : link.kind === 'decline' ? 2 : 3;

/** Of two places with one address the surer one counts; an image without words says nothing. */
const better = (a: Found, b: Found): boolean =>
  b.kind === 'other'
    ? a.kind !== 'other' || (b.text === null && a.text !== null)
    : a.kind !== 'other' && a.confidence > b.confidence;

function weigh(link: HtmlLink, request: MailRequest, at: number): Found | undefined {
  const url = readUrl(link.href);
  if (url === undefined) return undefined;
  const words = link.text === '' ? null : [...link.text].slice(0, LINK_TEXT_MAX_CHARACTERS).join('');
  return { ...weighLink(link, url, request), url: url.href, text: words, at };
}

function readUrl(given: string): URL | undefined {
  if (given.length > LINK_URL_MAX_CHARACTERS || !/^https?:\/\//i.test(given)) return undefined;
  const url = URL.parse(given);
  return url === null || url.hostname === '' ? undefined : url;
}

const BARE = /https?:\/\/[^\s<>"'\u0000-\u001f`{}|\\^]+/giu;
const AROUND_CHARACTERS = 300;

export function bareLinks(text: string, max: number): HtmlLink[] {
  const found: HtmlLink[] = [];
  const searched = text.slice(0, LINK_SEARCH_MAX_CHARACTERS);
  if (!searched.includes('://')) return found;
  for (const { 0: given, index } of searched.matchAll(BARE)) {
    if (found.length >= max) break;
    if (given.length > LINK_URL_MAX_CHARACTERS) continue;
    const href = withoutPunctuation(given);
    const before = searched.slice(Math.max(0, index - AROUND_CHARACTERS), index);
    const after = searched.slice(index + href.length, index + href.length + AROUND_CHARACTERS);
    found.push({ href, text: '', before: withoutLinks(before), after: withoutLinks(after) });
  }
  return found;
}

/** Words of another link's address are none of this one. Its place is marked, as it ends what belongs to it. */
const withoutLinks = (text: string): string =>
  !text.includes('://') ? text : text.replace(/\S*:\/\/\S*/gu, ' \u2029 ');

/** What ends a sentence or closes a bracket that was opened before the link belongs to the text. */
function withoutPunctuation(url: string): string {
  const count = (character: string) => url.split(character).length;
  // Closing brackets that nothing opens, counted once: the link may be made of thousands.
  const unopened = { ')': count(')') - count('('), ']': count(']') - count('[') };
  let end = url.length;
  for (; end > 0; end--) {
    const last = url.charAt(end - 1);
    if (last === ')' || last === ']') {
      if (unopened[last] <= 0) break;
      unopened[last]--;
    } else if (!/[.,;:!?'"»”’。、，）」]/u.test(last)) break;
  }
  return url.slice(0, end);
}
