/**
 * Makes the HTML of a mail safe to show, within the window of the frame that shows it: that window runs no script and
 * its document loads nothing, so what a step here overlooked has still no effect.
 *
 * The order: limits on the text, the browser's parser, limits on the tree, DOMPurify with short lists of elements and
 * attributes, then what DOMPurify leaves to others: styles, links, pictures, sizes of tables. The result is a fragment,
 * never text again, so there is no second parsing that could read it in another way.
 */
import createPurifier from 'dompurify';
import { getDomain } from 'tldts';
import { safeDeclarations, safeStyleSheet } from './safe-css.ts';
import { withoutHandlers } from './without-handlers.ts';

/** A window of our own origin that has no scripts. */
export type FrameWindow = Window & typeof globalThis;

/** A picture that is not shown yet. */
export interface WaitingPicture {
  readonly element: HTMLImageElement;
  /** `cid`: a part of the message; `remote`: an address elsewhere, which would tell its owner of the reading. */
  readonly kind: 'cid' | 'remote';
  /** Content-ID without brackets, or address. */
  readonly source: string;
}

export interface SafeMail {
  readonly content: DocumentFragment;
  readonly css: string;
  readonly pictures: readonly WaitingPicture[];
}

/** Why HTML is not shown: it would keep the browser busy for long. */
export type TooComplex = 'too-long' | 'too-many-elements' | 'too-deep' | 'too-many-attributes';

const HTML_MAX_CHARACTERS = 1_500_000;
const TAGS_MAX = 30_000;
const DEPTH_MAX = 200;
const ATTRIBUTES_PER_ELEMENT_MAX = 200;
/** Columns and rows that the cells of a mail span together. */
const SPANS_MAX = 5_000;
const SPAN_MAX = 100;

const TAGS =
  'a abbr address article aside b bdi bdo big blockquote body br caption center cite code col colgroup dd del dfn dir div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark menu nav ol p pre q rp rt ruby s samp section small span strike strong sub sup table tbody td tfoot th thead time tr tt u ul var wbr'.split(
    ' ',
  );
const ATTRIBUTES =
  'align alt bgcolor border cellpadding cellspacing class color colspan datetime dir face height href hspace lang nowrap reversed rowspan size span src start style title type valign vspace width'.split(
    ' ',
  );
/** Elements whose content is not text for people. */
const DROPPED_WITH_CONTENT =
  'title textarea select option button datalist object applet embed frameset frame canvas portal dialog'.split(' ');

const LINK_SCHEMES = new Set(['http:', 'https:', 'mailto:', 'tel:']);
const PICTURE_DATA = /^data:image\/(?:png|jpe?g|gif|webp|avif|bmp);base64,/i;
const HOST_IN_TEXT = /(?:^|[\s/@(<“"])((?:[a-z0-9\p{L}-]+\.)+[a-z\p{L}]{2,})(?=$|[\s/:?#)>”",.])/iu;

/** Inline and important: no rule of the mail can hide it. */
const WARNING_STYLE =
  'all: initial !important; font: bold 12px sans-serif !important; color: #b3261e !important; background: #fff !important';

const count = (text: string, mark: string): number => {
  let found = 0;
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) found++;
  return found;
};

/** @param view window of the frame: everything is parsed and kept in its documents */
export function safeMail(html: string, view: FrameWindow): SafeMail | TooComplex {
  if (html.length > HTML_MAX_CHARACTERS) return 'too-long';
  if (count(html, '<') > TAGS_MAX) return 'too-many-elements';
  const parsed = new view.DOMParser().parseFromString(withoutHandlers(html), 'text/html');
  // Elements named `body` or `querySelector` hide the document's own: these functions they cannot hide.
  const find = (selector: string) => view.Document.prototype.querySelectorAll.call(parsed, selector);
  const refusal = tooComplex(find('html')[0], view);
  if (refusal !== undefined) return refusal;
  const css = [...find('style')].map(({ textContent }) => safeStyleSheet(textContent ?? '', view)).join('\n');
  const body = find('body')[0];
  const content = createPurifier(view).sanitize(body ?? '', {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https?|mailto|tel|cid):/i,
    ADD_FORBID_CONTENTS: DROPPED_WITH_CONTENT,
    RETURN_DOM_FRAGMENT: true,
  });
  const pictures: WaitingPicture[] = [];
  let spans = 0;
  for (const element of content.querySelectorAll<HTMLElement>('*')) {
    keepSafeStyle(element);
    for (const name of ['colspan', 'rowspan', 'span']) {
      const span = Number(element.getAttribute(name) ?? 0);
      spans += span;
      if (!(span <= SPAN_MAX) || spans > SPANS_MAX) element.removeAttribute(name);
    }
    if (element instanceof view.HTMLAnchorElement) settleLink(element);
    else element.removeAttribute('href');
    if (element instanceof view.HTMLImageElement) settlePicture(element, pictures);
    else element.removeAttribute('src');
  }
  const background = body?.getAttribute('style') === null ? undefined : body;
  return { content: withBackground(content, background, view), css, pictures };
}

function tooComplex(root: Element | undefined, view: FrameWindow): TooComplex | undefined {
  if (root === undefined) return undefined;
  const walker = view.Document.prototype.createTreeWalker.call(root.ownerDocument, root, view.NodeFilter.SHOW_ELEMENT);
  const attributesOf = view.Element.prototype.getAttributeNames;
  let depth = 0;
  let elements = 0;
  for (;;) {
    if (++elements > TAGS_MAX) return 'too-many-elements';
    if (depth > DEPTH_MAX) return 'too-deep';
    const current = walker.currentNode;
    if (current instanceof view.Element && attributesOf.call(current).length > ATTRIBUTES_PER_ELEMENT_MAX)
      return 'too-many-attributes';
    if (walker.firstChild() !== null) {
      depth++;
      continue;
    }
    while (walker.nextSibling() === null) {
      if (walker.parentNode() === null) return undefined;
      depth--;
    }
  }
}

function keepSafeStyle(element: HTMLElement): void {
  if (!element.hasAttribute('style')) return;
  const kept = safeDeclarations(element.style);
  if (kept === '') element.removeAttribute('style');
  else element.setAttribute('style', kept);
}

/** The style of the body is applied to a box around its content. */
function withBackground(content: DocumentFragment, body: Element | undefined, view: FrameWindow): DocumentFragment {
  const kept = body instanceof view.HTMLElement ? safeDeclarations(body.style) : '';
  if (kept === '') return content;
  const box = view.document.createElement('div');
  box.setAttribute('style', kept);
  box.append(content);
  const outer = view.document.createDocumentFragment();
  outer.append(box);
  return outer;
}

/** Whose host it is, by the public suffix list: names that a provider gives to its customers are of different people. */
const site = (host: string): string => getDomain(host, { allowPrivateDomains: true }) ?? host.toLowerCase();

function settleLink(link: HTMLAnchorElement): void {
  const href = link.getAttribute('href');
  const url = href === null ? null : URL.parse(href.trim());
  link.removeAttribute('title');
  if (url === null || !LINK_SCHEMES.has(url.protocol)) {
    link.removeAttribute('href');
    return;
  }
  link.setAttribute('href', url.href);
  link.setAttribute('target', '_blank');
  link.setAttribute('rel', 'noopener noreferrer');
  if (url.protocol === 'mailto:' || url.protocol === 'tel:') return;
  link.setAttribute('title', `Opens ${url.host}`);
  const named = HOST_IN_TEXT.exec(link.textContent ?? '')?.[1];
  const namedHost = named === undefined ? undefined : URL.parse(`https://${named}`)?.hostname;
  if (namedHost === undefined || site(namedHost) === site(url.hostname)) return;
  const warning = link.ownerDocument.createElement('b');
  warning.setAttribute('style', WARNING_STYLE);
  warning.textContent = ` (opens ${url.host})`;
  link.append(warning);
}

function settlePicture(image: HTMLImageElement, pictures: WaitingPicture[]): void {
  const source = (image.getAttribute('src') ?? '').trim();
  if (PICTURE_DATA.test(source)) return;
  image.removeAttribute('src');
  if (/^cid:/i.test(source))
    pictures.push({ element: image, kind: 'cid', source: decoded(source.slice(4)).replace(/^<|>$/g, '') });
  else if (/^https?:/i.test(source) && URL.canParse(source))
    pictures.push({ element: image, kind: 'remote', source: new URL(source).href });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
