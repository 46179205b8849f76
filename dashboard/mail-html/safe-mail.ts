/**
 * Makes the HTML of a mail safe to show, within the window of the frame that shows it: that window runs no script and
 * its document loads nothing, so what a step here overlooked has still no effect.
 *
 * The order: limits on the text, the browser's parser, limits on the tree, DOMPurify with short lists of elements and
 * attributes, then what DOMPurify leaves to others: styles, links, pictures, sizes of tables. The result is a fragment,
 * never text again, so there is no second parsing that could read it in another way.
 *
 * What of a sender's CSS is kept: how text, boxes and tables look. Nothing that loads, covers, or calls by name.
 */
import createPurifier from 'dompurify';
import { getDomain } from 'tldts';

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

interface SafeMail {
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

const PROPERTIES =
  /^(?:color|background-color|opacity|visibility|display|float|clear|direction|vertical-align|text-[a-z-]+|font(?:-[a-z-]+)?|line-height|letter-spacing|word-[a-z-]+|white-space(?:-[a-z-]+)?|overflow-wrap|list-style-(?:type|position)|(?:margin|padding)(?:-[a-z-]+)?|border(?:-(?!image)[a-z-]+)?|outline(?:-[a-z-]+)?|(?:min-|max-)?(?:width|height)|box-sizing|table-layout|caption-side|empty-cells|align-[a-z]+|justify-[a-z]+|flex(?:-[a-z]+)?|order|gap|row-gap|column-gap|object-fit)$/;
/** Functions that load or refer to something, in the spelling of a parsed declaration; sizes that follow the frame's. */
const REFUSED_VALUE =
  /(?:url|src|image|image-set|cross-fade|element|paint|expression|var|env|attr|-moz-[a-z-]+)\s*\(|javascript:|\d[sld]?v(?:[whib]|min|max)\b|\d{5}/i;
const PSEUDO_CLASSES = /:(?!(?:hover|active|focus|link|root|first-child|last-child)\b)/;
const SELECTOR_MAX_CHARACTERS = 300;
const SELECTOR_PARTS_MAX = 12;
const RULES_MAX = 1_000;
const STYLE_MAX_CHARACTERS = 300_000;

/** The declarations that are kept, as text. The browser has parsed them, so escapes are no hiding place. */
function safeDeclarations(style: CSSStyleDeclaration): string {
  const kept: string[] = [];
  for (const name of style) {
    const value = style.getPropertyValue(name);
    if (value === '' || !PROPERTIES.test(name) || REFUSED_VALUE.test(value)) continue;
    const important = style.getPropertyPriority(name) === 'important' ? ' !important' : '';
    kept.push(`${name}: ${value}${important}`);
  }
  return kept.join('; ');
}

const isPlainSelector = (selector: string): boolean =>
  selector.length <= SELECTOR_MAX_CHARACTERS &&
  !PSEUDO_CLASSES.test(selector) &&
  selector.split(/[\s>+~]+/).length <= SELECTOR_PARTS_MAX;

/**
 * The rules of a style sheet that are kept, as text.
 *
 * @param view window whose parser reads it
 */
function safeStyleSheet(css: string, view: Window & typeof globalThis): string {
  if (css.length > STYLE_MAX_CHARACTERS) return '';
  const sheet = new view.CSSStyleSheet();
  // The parser complains of @import on the console, though it ignores the rule.
  sheet.replaceSync(css.replace(/@import\b/gi, '@ignored'));
  const kept: string[] = [];
  keepRules(sheet.cssRules, view, kept);
  return kept.join('\n');
}

function keepRules(rules: CSSRuleList, view: Window & typeof globalThis, kept: string[]): void {
  for (const rule of rules) {
    if (kept.length >= RULES_MAX) return;
    if (rule instanceof view.CSSStyleRule) {
      const declarations = isPlainSelector(rule.selectorText) ? safeDeclarations(rule.style) : '';
      if (declarations !== '') kept.push(`${rule.selectorText} { ${declarations} }`);
    } else if (rule instanceof view.CSSMediaRule) {
      const inner: string[] = [];
      keepRules(rule.cssRules, view, inner);
      if (inner.length > 0) kept.push(`@media ${rule.media.mediaText} { ${inner.join('\n')} }`);
    }
  }
}

const SPACE = /[\t\n\f\r ]/;
const TAG_NAME_END = /[\t\n\f\r />]|$/g;
const ATTRIBUTE_NAME_END = /[\t\n\f\r />=]|$/g;
const UNQUOTED_VALUE_END = /[\t\n\f\r >]|$/g;

/** Where the pattern matches next, or the end of the text. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

const behind = (mark: string, text: string, from: number): number => {
  const at = text.indexOf(mark, from);
  return at === -1 ? text.length : at + mark.length;
};

/**
 * The HTML without `on…` attributes, by the tokens of WHATWG HTML §13.2.5. This is not what makes mail safe: a browser
 * reports each handler that it may not run as an error on the console, also while the sanitiser removes it.
 */
function withoutHandlers(html: string): string {
  let kept = '';
  let copiedTo = 0;
  let at = 0;
  while ((at = html.indexOf('<', at)) !== -1) {
    const next = html[at + 1] ?? '';
    if (html.startsWith('<!--', at)) {
      // `<!-->` and `<!--->` are whole comments.
      at = /^<!---?>/.test(html.slice(at, at + 6)) ? behind('>', html, at) : behind('-->', html, at + 4);
    } else if (next === '!' || next === '?') at = behind('>', html, at);
    else if (/[a-z]/i.test(next)) {
      at = endOf(TAG_NAME_END, html, at + 1);
      while (at < html.length && html[at] !== '>') {
        const start = at;
        at = attributeEnd(html, at);
        const name = html.slice(start, at).replace(/^[\t\n\f\r /]+/, '');
        if (!/^on/i.test(name)) continue;
        kept += `${html.slice(copiedTo, start)} `;
        copiedTo = at;
      }
    } else at++;
  }
  return kept + html.slice(copiedTo);
}

/** End of the attribute that begins here, with the space before it. Always behind `at`. */
function attributeEnd(html: string, at: number): number {
  let end = at;
  while (end < html.length && (html[end] === '/' || SPACE.test(html[end] ?? ''))) end++;
  if (end === html.length || html[end] === '>') return end;
  // A name may begin with `=`.
  end = endOf(ATTRIBUTE_NAME_END, html, end + 1);
  let value = end;
  while (SPACE.test(html[value] ?? '')) value++;
  if (html[value] !== '=') return end;
  value++;
  while (SPACE.test(html[value] ?? '')) value++;
  const quote = html[value];
  if (quote === '"' || quote === "'") return behind(quote, html, value + 1);
  return endOf(UNQUOTED_VALUE_END, html, value);
}
