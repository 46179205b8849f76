/**
 * The text and the links of an HTML document, in one pass over its tokens and without a tree.
 *
 * The document comes from strangers. Time is linear in its length: the tokenizer looks at each character once, and the
 * list of open elements is bounded, so that the search for the element that a tag closes costs a constant at most. How an
 * element is shown is known from its name and its own attributes; style sheets are not read.
 */
import { Tokenizer } from 'htmlparser2';
import {
  HTML_LINK_CONTEXT_CHARACTERS,
  HTML_LINKS_MAX,
  HTML_MAX_CHARACTERS,
  HTML_OPEN_ELEMENTS_MAX,
  HTML_TEXT_MAX_CHARACTERS,
} from '#domain/mail/mail-limits.ts';
import { SIGNAL_TEXT_MAX_CHARACTERS } from '#domain/mail/message-signals.ts';
import { displayOf, type ElementDisplay, pageDisplay } from './html-display.ts';
import { HtmlLayout } from './html-layout.ts';

/** A link that a reader of the document sees. */
export interface HtmlLink {
  /** As written, without white space at its ends. */
  readonly href: string;
  /** Words of the link, white space collapsed, alternative texts of images included. */
  readonly text: string;
  /** Up to 300 characters of the text in front of it, without addresses of other links. */
  readonly before: string;
  /** The same behind it. */
  readonly after: string;
}

export interface HtmlContent {
  /** Text as a browser would lay it out in lines; cells of a table are separated by tabs. */
  readonly text: string;
  /** In their order. Links in hidden elements are left out. */
  readonly links: readonly HtmlLink[];
  /** A limit was reached: the document has more text or links. */
  readonly cut: boolean;
  /** Text that a person does not see: hidden, without size, beside the page, or in the colour of its background. */
  readonly hidden: string;
  /** Comments, without those of Outlook. */
  readonly comments: string;
}

/** Something in a document that `textForCodes` reads differently: images with numbers, text that is struck out. */
const DIFFERS_FOR_CODES = /\salt\s*=\s*(?:"[^"\d]*\d|'[^'\d]*\d|[^\s"'>\d]*\d)|<(?:s|strike|del)[\s>]|line-through/i;

/** The text as a reader sees it who looks for a code: with the alternative texts of images, without what is struck out. */
export function textForCodes(html: string, content: HtmlContent): string {
  const looked = html.slice(0, HTML_MAX_CHARACTERS);
  if (!DIFFERS_FOR_CODES.test(looked)) return content.text;
  return new HtmlReader(looked.replaceAll('<![CDATA[', '<![CDATA'), true).read().text;
}

/** Reads a document. Damaged documents give what a browser would show, as far as the markup allows; never throws. */
export function htmlContent(html: string): HtmlContent {
  // What begins like a CDATA section is a comment up to the next bracket in HTML (§13.2.5.42).
  const reader = new HtmlReader(html.slice(0, HTML_MAX_CHARACTERS).replaceAll('<![CDATA[', '<![CDATA'));
  const content = reader.read();
  return html.length > HTML_MAX_CHARACTERS ? { ...content, cut: true } : content;
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

const VOID = words(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr',
);
/** Elements whose content no reader sees. */
const UNSEEN = words('audio canvas datalist iframe noembed noframes script style template title video');
/** End tags of other elements do not reach across these (HTML Living Standard §13.2.6.4.7, "any other end tag"). */
const SPECIAL = words(
  'address article aside blockquote body button caption center dd details dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup html iframe li listing main marquee menu nav object ol p pre section select summary table tbody td template textarea tfoot th thead tr ul xmp',
);
/** Nothing inside these closes what is outside, but the end of a table or of a part of it. */
const SCOPE = words('caption html object table td template th');
const TABLE_PARTS = words('caption table tbody td tfoot th thead tr');
const TABLE_SCOPE = words('html table template');

const closes = (list: string, barrier: string) => ({ closed: words(list), barrier: words(barrier) });
const BARRIER_OF_PARAGRAPH = 'button caption html object table td template th';
const CLOSES_PARAGRAPH = closes('p', BARRIER_OF_PARAGRAPH);
/** Start tags that end an element whose own end tag may be left out. */
const IMPLIED_ENDS: ReadonlyMap<string, ReturnType<typeof closes>> = new Map([
  ...'address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre section summary ul xmp'
    .split(' ')
    .map((name) => [name, CLOSES_PARAGRAPH] as const),
  ['li', closes('li', 'caption html object ol table td template th ul')],
  ['dt', closes('dt dd', 'caption dl html object table td template th')],
  ['dd', closes('dt dd', 'caption dl html object table td template th')],
  ['option', closes('option', 'select datalist')],
  ['optgroup', closes('option optgroup', 'select')],
  ['td', closes('td th caption', 'table tr template')],
  ['th', closes('td th caption', 'table tr template')],
  ['tr', closes('tr caption', 'table template')],
  ['tbody', closes('tbody thead tfoot caption', 'table template')],
  ['thead', closes('tbody thead tfoot caption', 'table template')],
  ['tfoot', closes('tbody thead tfoot caption', 'table template')],
]);

/** Attributes that are read; of one given twice the first counts. */
const ATTRIBUTES = words('href hidden style alt type value start color bgcolor');
export const ATTRIBUTE_MAX_CHARACTERS = 16_384;
const NAME_MAX_CHARACTERS = 32;
const LINK_TEXT_MAX_CHARACTERS = 500;
/** Input fields whose value is not shown as text. */
const INPUTS_WITHOUT_TEXT = words('checkbox color file hidden image password radio range');

interface OpenElement {
  readonly name: string;
  readonly display: ElementDisplay;
}

interface OpenLink {
  readonly href: string;
  /** Where it starts in the words of the document. */
  readonly from: number;
  /** Open elements when it began: what closes below ends it. */
  readonly depth: number;
}

interface FoundLink {
  readonly href: string;
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

class HtmlReader {
  readonly #html: string;
  readonly #layout = new HtmlLayout(HTML_TEXT_MAX_CHARACTERS);
  readonly #open: OpenElement[] = [];
  /** How many elements of a name are open: most searches among them need not begin. */
  readonly #openNames = new Map<string, number>();
  /** Elements beyond the bound on open ones, which are not kept. */
  #unkept = 0;
  readonly #links: FoundLink[] = [];
  #link: OpenLink | undefined;
  #cut = false;
  /** Text up to the next tag: entities come in pieces of their own. */
  #pieces: string[] = [];

  #tag = '';
  #attribute = '';
  #attributes = new Map<string, string>();

  /** See `textForCodes`. */
  readonly #forCodes: boolean;
  readonly #hidden = new BoundedText();
  readonly #comments = new BoundedText();
  readonly #page: ElementDisplay;

  constructor(html: string, forCodes = false) {
    this.#html = html;
    this.#forCodes = forCodes;
    this.#page = pageDisplay(html);
  }

  read(): HtmlContent {
    const html = this.#html;
    const tokenizer = new Tokenizer(
      {},
      {
        ontext: (from, to) => this.#pieces.push(html.slice(from, to)),
        ontextentity: (codepoint) => this.#pieces.push(String.fromCodePoint(codepoint)),
        onopentagname: (from, to) => {
          this.#tag = html.slice(from, Math.min(to, from + NAME_MAX_CHARACTERS)).toLowerCase();
          if (this.#attributes.size > 0) this.#attributes = new Map();
        },
        onattribname: (from, to) => {
          const name = to - from > NAME_MAX_CHARACTERS ? '' : html.slice(from, to).toLowerCase();
          this.#attribute = ATTRIBUTES.has(name) && !this.#attributes.has(name) ? name : '';
          if (this.#attribute !== '') this.#attributes.set(name, '');
        },
        onattribdata: (from, to) => this.#attributeText(html.slice(from, to)),
        onattribentity: (codepoint) => this.#attributeText(String.fromCodePoint(codepoint)),
        onattribend: () => {
          this.#attribute = '';
        },
        onopentagend: () => this.#start(false),
        onselfclosingtag: () => this.#start(true),
        onclosetag: (from, to) => this.#end(html.slice(from, Math.min(to, from + NAME_MAX_CHARACTERS)).toLowerCase()),
        oncomment: (from, to) => {
          const comment = html.slice(from, Math.min(to, from + COMMENT_MAX_CHARACTERS));
          if (!OUTLOOK_COMMENT.test(comment)) this.#comments.add(comment);
        },
        oncdata: () => undefined,
        ondeclaration: () => undefined,
        onprocessinginstruction: () => undefined,
        onend: () => undefined,
      },
    );
    tokenizer.write(html);
    tokenizer.end();
    this.#flushText();
    this.#endLink();
    const { text, words: plain } = this.#layout.finish();
    const links = this.#links.map(({ href, text: shown, from, to }) => ({
      href,
      text: shown,
      before: plain.slice(Math.max(0, from - HTML_LINK_CONTEXT_CHARACTERS), from).toWellFormed(),
      after: plain.slice(to, to + HTML_LINK_CONTEXT_CHARACTERS).toWellFormed(),
    }));
    const { text: hidden } = this.#hidden;
    return { text, links, cut: this.#cut || this.#layout.full, hidden, comments: this.#comments.text };
  }

  #display(): ElementDisplay | undefined {
    return this.#open.at(-1)?.display;
  }

  #attributeText(piece: string): void {
    if (this.#attribute === '') return;
    const before = this.#attributes.get(this.#attribute) ?? '';
    if (before.length < ATTRIBUTE_MAX_CHARACTERS)
      this.#attributes.set(this.#attribute, (before + piece).slice(0, ATTRIBUTE_MAX_CHARACTERS));
  }

  #flushText(): void {
    if (this.#pieces.length === 0) return;
    const text = this.#pieces.length === 1 ? (this.#pieces[0] ?? '') : this.#pieces.join('');
    this.#pieces = [];
    const display = this.#display();
    if (display?.concealed || display?.tiny) this.#hidden.add(text);
    if (display?.seen === false || display?.tiny || (this.#forCodes && display?.struck)) return;
    this.#layout.text(text, display?.preformatted === true);
  }

  #start(selfClosing: boolean): void {
    this.#flushText();
    const name = this.#tag;
    const implied = IMPLIED_ENDS.get(name);
    if (implied !== undefined) this.#endImplied(implied);
    if (name === 'a') this.#endLink(); // a link in a link ends the one outside
    const display = displayOf(name, this.#attributes, this.#display() ?? this.#page, UNSEEN);
    if (VOID.has(name)) {
      if (display.seen) this.#empty(name, display);
      return;
    }
    // The tokenizer reads no raw text behind these when they close themselves.
    if (selfClosing && UNSEEN.has(name)) return;
    if (this.#open.length < HTML_OPEN_ELEMENTS_MAX) {
      this.#open.push({ name, display });
      this.#openNames.set(name, (this.#openNames.get(name) ?? 0) + 1);
    } else this.#unkept++;
    if (!display.seen) return;
    this.#layout.startElement(name, display.block, this.#attributes.get('start'));
    const href = name === 'a' ? this.#attributes.get('href')?.trim() : undefined;
    if (href !== undefined && href !== '')
      this.#link = { href, from: this.#layout.position(), depth: this.#open.length };
  }

  #empty(name: string, display: ElementDisplay): void {
    const attribute = (key: string) => this.#attributes.get(key) ?? '';
    if (name === 'br') this.#layout.lineBreak();
    else if (name === 'hr') this.#layout.rule();
    else if (name === 'img') {
      if ((this.#link !== undefined || this.#forCodes) && !display.tiny) this.#layout.alternativeText(attribute('alt'));
    } else if (name === 'input') {
      if (!INPUTS_WITHOUT_TEXT.has(attribute('type').trim().toLowerCase()))
        this.#layout.text(` ${attribute('value')} `);
    } else if (name === 'area' && attribute('href').trim() !== '') {
      const at = this.#layout.position();
      this.#addLink({ href: attribute('href').trim(), text: collapsed(attribute('alt')), from: at, to: at });
    }
  }

  #end(name: string): void {
    this.#flushText();
    if (name === 'br') {
      if (this.#display()?.seen !== false) this.#layout.lineBreak();
      return;
    }
    if (this.#unkept > 0) {
      this.#unkept--;
      if (name === 'a') this.#endLink();
      return;
    }
    if (!this.#isOpen(name)) return;
    const barrier = TABLE_PARTS.has(name) ? TABLE_SCOPE : SPECIAL.has(name) ? SCOPE : SPECIAL;
    for (let at = this.#open.length - 1; at >= 0; at--) {
      const open = this.#open[at]?.name ?? '';
      if (open === name) {
        this.#closeDownTo(at);
        return;
      }
      if (barrier.has(open)) return;
    }
  }

  #isOpen(name: string): boolean {
    return (this.#openNames.get(name) ?? 0) > 0;
  }

  #endImplied({ closed, barrier }: ReturnType<typeof closes>): void {
    if (![...closed].some((name) => this.#isOpen(name))) return;
    for (let at = this.#open.length - 1; at >= 0; at--) {
      const name = this.#open[at]?.name ?? '';
      if (closed.has(name)) {
        this.#closeDownTo(at);
        return;
      }
      if (barrier.has(name)) return;
    }
  }

  #closeDownTo(depth: number): void {
    while (this.#open.length > depth) {
      if (this.#link !== undefined && this.#link.depth >= this.#open.length) this.#endLink();
      const element = this.#open.pop();
      if (element === undefined) return;
      this.#openNames.set(element.name, (this.#openNames.get(element.name) ?? 1) - 1);
      if (element.display.seen) this.#layout.endElement(element.name, element.display.block);
    }
  }

  #endLink(): void {
    const link = this.#link;
    if (link === undefined) return;
    this.#link = undefined;
    const to = this.#layout.position();
    const text = collapsed(this.#layout.wordsFrom(link.from, LINK_TEXT_MAX_CHARACTERS));
    this.#addLink({ href: link.href, text, from: link.from, to });
    this.#layout.linkAddress(link.href, text);
  }

  #addLink(link: FoundLink): void {
    if (this.#links.length < HTML_LINKS_MAX) this.#links.push(link);
    else this.#cut = true;
  }
}

const collapsed = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Text of an HTML document. Damaged documents give what can be read. */
export const textOfHtml = (html: string): string => htmlContent(html).text;

/** Comments by which Outlook gets elements of its own. */
const OUTLOOK_COMMENT = /^\s?(?:\[(?:if|endif)|<!\[endif|<!$)/i;
const COMMENT_MAX_CHARACTERS = 16_384;

/** Pieces of text, as many as are examined. */
class BoundedText {
  readonly #pieces: string[] = [];
  #length = 0;

  add(piece: string): void {
    if (this.#length >= SIGNAL_TEXT_MAX_CHARACTERS || piece.trim() === '') return;
    this.#pieces.push(piece.slice(0, SIGNAL_TEXT_MAX_CHARACTERS - this.#length));
    this.#length += piece.length;
  }

  get text(): string {
    return this.#pieces.join(' ');
  }
}
