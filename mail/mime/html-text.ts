/** HTML turned into text. */
import { compile } from 'html-to-text';

/** HTML of a message that is turned into text. */
export const HTML_MAX_CHARACTERS = 1_048_576;
/**
 * The parser does work for each tag that is proportional to the elements open there. What a document costs is the sum;
 * 80,000 cells of a table come to two millions, tags that are never closed in a document made to take minutes to this.
 */
const NESTING_WORK_MAX = 100_000_000;

const htmlText = compile({
  wordwrap: false,
  limits: { maxInputLength: HTML_MAX_CHARACTERS, maxDepth: 64, maxChildNodes: 20_000, ellipsis: '' },
  selectors: [
    { selector: 'img', format: 'skip' },
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, ignoreHref: false } },
    { selector: 'table', format: 'block' },
  ],
});

/** Text of an HTML document. Damaged documents give what can be read. */
export function textOfHtml(html: string): string {
  const read = html.slice(0, affordable(html));
  try {
    return htmlText(read);
  } catch {
    return read.replace(/<[^<>]{0,2000}>/g, ' ');
  }
}

const TAG = /<(\/?)([a-z][a-z0-9]{0,20})/gi;
/** Elements without content, and those that the next one of their kind closes: they do not stay open. */
const NOT_NESTED = new Set(
  'area base br col embed hr img input link meta param source track wbr p li td th tr dd dt option'.split(' '),
);

/** Characters of a document that may be parsed. */
export function affordable(html: string): number {
  const open = new Map<string, number>();
  let depth = 0;
  let work = 0;
  for (const { 1: slash, 2: tag = '', index } of html.matchAll(TAG)) {
    work += depth;
    if (work > NESTING_WORK_MAX) return index;
    const name = tag.toLowerCase();
    if (NOT_NESTED.has(name)) continue;
    const count = open.get(name) ?? 0;
    if (slash === '') {
      open.set(name, count + 1);
      depth++;
    } else if (count > 0) {
      open.set(name, count - 1);
      depth--;
    }
  }
  return html.length;
}
