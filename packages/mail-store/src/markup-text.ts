/**
 * The words of HTML for search, without its tags: one pass, no tree, whatever the document. Text that people read is
 * made elsewhere; here nothing is laid out.
 */
import { decodeHTML } from 'entities';

const TAG_NAME = /\/?([a-z][a-z0-9]*)/iy;
/** What stands at both sides of these tags is one word. */
const WITHIN_WORDS = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);
/** What stands in these is no text. */
const WITHOUT_TEXT = new Set(['script', 'style']);

/** Takes time in proportion to the length of the document. */
export function markupText(html: string): string {
  const lower = html.toLowerCase();
  let text = '';
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open < 0) {
      text += html.slice(at);
      break;
    }
    text += html.slice(at, open);
    if (html.startsWith('<!--', open)) {
      // Without its end the comment takes the rest.
      const end = html.indexOf('-->', open + 4);
      at = end < 0 ? html.length : end + 3;
      continue;
    }
    TAG_NAME.lastIndex = open + 1;
    const name = TAG_NAME.exec(html)?.[1]?.toLowerCase();
    if (name === undefined && !/[!?/]/.test(html.charAt(open + 1))) {
      text += '<';
      at = open + 1;
      continue;
    }
    const close = html.indexOf('>', open);
    if (close < 0) {
      // No tag ends from here on: a message that was cut, or text with a bare `<`.
      text += html.slice(open);
      break;
    }
    at = close + 1;
    if (name === undefined || !WITHIN_WORDS.has(name)) text += ' ';
    if (name !== undefined && WITHOUT_TEXT.has(name) && html.charAt(open + 1) !== '/') {
      const end = lower.indexOf(`</${name}`, at);
      at = end < 0 ? html.length : end;
    }
  }
  return decodeHTML(text).replace(/\s+/g, ' ');
}
