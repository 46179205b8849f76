/** Links that are part of plain text, with the text around them. */
import { LINK_SEARCH_MAX_CHARACTERS, LINK_URL_MAX_CHARACTERS } from '#domain/mail/code-and-link-limits.ts';
import type { HtmlLink } from '#mime/html-content.ts';

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
