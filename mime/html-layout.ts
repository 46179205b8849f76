/** Puts the words of an HTML document into lines as a browser would: blocks, rows, cells, lists, quotes. */

/** Elements with an empty line around them, and those on lines of their own. */
const PARAGRAPHS = new Set('blockquote dl h1 h2 h3 h4 h5 h6 ol p pre ul xmp listing menu dir figure'.split(' '));
const BLOCKS = new Set(
  'address article aside body button caption center dd details dialog div dt fieldset figcaption footer form header hgroup html legend li main nav optgroup option section select summary table tbody textarea tfoot thead tr'.split(
    ' ',
  ),
);
const CELLS = new Set(['td', 'th']);
const LISTS = new Set(['ul', 'ol', 'menu', 'dir']);

const RULE = '-'.repeat(40);
const QUOTE_DEPTH_MAX = 8;
const LISTS_OPEN_MAX = 64;
const ADDRESS_MAX_CHARACTERS = 2_048;
/** Addresses that say something to a reader. */
const SHOWN_ADDRESS = /^(?!(?:javascript|vbscript|data|cid|about|file):)[a-z][a-z0-9+.-]{0,30}:/i;

/** White space, and characters without width that senders fill lines with. */
const BLANKS = /(?:[\s\u00ad\u200b-\u200d\u2060]|\u034f)+/g;

/** Blanks of one run: a space where one is among them; else only joiners, which some scripts need. */
const collapseRun = (run: string): string => (/[^\S\ufeff]/.test(run) ? ' ' : run.replace(/[^\u200c\u200d]/g, ''));

const JOINERS_ONLY = /^[\u200c\u200d]*$/;

const quotePrefix = (depth: number): string => '> '.repeat(Math.min(depth, QUOTE_DEPTH_MAX));

export class HtmlLayout {
  readonly #maxCharacters: number;
  /** The text, and the same without the addresses of links. */
  readonly #text: string[] = [];
  readonly #words: string[] = [];
  #textLength = 0;
  #wordsLength = 0;
  #lineIsEmpty = true;
  /** Line breaks owed before the next word: 2 is an empty line. None before the first word. */
  #breaks = 0;
  #separator: '' | ' ' | '\t' = '';
  #marker = '';
  #quotes = 0;
  /** Quotes around the last word. */
  #quotesBefore = 0;
  readonly #lists: { next: number; readonly numbered: boolean }[] = [];
  #unkeptLists = 0;
  full = false;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  /** Offset in the words behind the last one. */
  position(): number {
    return this.#wordsLength;
  }

  /** Words from an offset on, at most so many characters. */
  wordsFrom(offset: number, maxCharacters: number): string {
    let missing = this.#wordsLength - offset;
    const pieces: string[] = [];
    for (let at = this.#words.length - 1; at >= 0 && missing > 0; at--) {
      const piece = this.#words[at] ?? '';
      pieces.push(missing >= piece.length ? piece : piece.slice(-missing));
      missing -= piece.length;
    }
    return pieces.reverse().join('').slice(0, maxCharacters);
  }

  text(given: string, preformatted = false): void {
    if (preformatted) {
      this.#preformatted(given);
      return;
    }
    const text = given.replace(BLANKS, collapseRun).replaceAll('\0', '');
    if (JOINERS_ONLY.test(text)) return;
    if (text === ' ') {
      this.#space();
      return;
    }
    if (text.startsWith(' ')) this.#space();
    const trailing = text.endsWith(' ');
    this.#word(text.slice(text.startsWith(' ') ? 1 : 0, trailing ? -1 : undefined));
    if (trailing) this.#space();
  }

  alternativeText(given: string): void {
    if (given.trim() === '') return;
    this.#space();
    this.text(given);
    this.#space();
  }

  lineBreak(): void {
    this.#breaks = Math.min(2, this.#breaks + 1);
    this.#separator = '';
  }

  rule(): void {
    this.#break(1);
    this.#word(RULE);
    this.#break(1);
  }

  /** @param block its style puts it on lines of its own */
  startElement(name: string, block: boolean, start?: string): void {
    if (CELLS.has(name)) this.#cell();
    else this.#breakAround(name, block);
    if (name === 'blockquote') this.#quotes++;
    else if (LISTS.has(name)) {
      const first = /^\s*-?\d{1,9}\s*$/.test(start ?? '') ? Number(start) : 1;
      if (this.#lists.length < LISTS_OPEN_MAX) this.#lists.push({ next: first, numbered: name === 'ol' });
      else this.#unkeptLists++;
    } else if (name === 'li') this.#marker = this.#nextMarker();
  }

  endElement(name: string, block: boolean): void {
    if (CELLS.has(name)) this.#cell();
    else this.#breakAround(name, block);
    if (name === 'blockquote') this.#quotes = Math.max(0, this.#quotes - 1);
    else if (LISTS.has(name)) {
      if (this.#unkeptLists > 0) this.#unkeptLists--;
      else this.#lists.pop();
    } else if (name === 'li') this.#marker = '';
  }

  /** The address of a link that just ended, where its words do not say it. */
  linkAddress(href: string, shown: string): void {
    const address = href.replace(/^mailto:/i, '');
    if (!SHOWN_ADDRESS.test(href) || href.length > ADDRESS_MAX_CHARACTERS) return;
    const bare = (url: string) => url.replace(/^https?:\/\//i, '').replace(/\/$/, '');
    if (shown === address || bare(shown) === bare(href)) return;
    const written = href.replace(/\s+/g, '');
    this.#append(this.#text, `${this.#lineIsEmpty || this.#breaks > 0 ? '' : ' '}[${written}]`);
  }

  finish(): { readonly text: string; readonly words: string } {
    return { text: this.#text.join('').slice(0, this.#maxCharacters).toWellFormed(), words: this.#words.join('') };
  }

  #nextMarker(): string {
    const list = this.#lists.at(-1);
    if (list === undefined || !list.numbered) return '* ';
    return `${list.next++}. `;
  }

  #breakAround(name: string, block: boolean): void {
    if (PARAGRAPHS.has(name)) this.#break(LISTS.has(name) && this.#lists.length > 1 ? 1 : 2);
    else if (block || BLOCKS.has(name)) this.#break(1);
  }

  #break(lines: 1 | 2): void {
    this.#breaks = Math.max(this.#breaks, lines);
    this.#separator = '';
  }

  #cell(): void {
    if (this.#breaks === 0 && !this.#lineIsEmpty) this.#separator = '\t';
  }

  #space(): void {
    if (this.#breaks === 0 && this.#separator === '' && !this.#lineIsEmpty) this.#separator = ' ';
  }

  #preformatted(given: string): void {
    const lines = given.replace(/\r\n?/g, '\n').replaceAll('\0', '').split('\n');
    for (const [index, line] of lines.entries()) {
      if (index > 0) this.lineBreak();
      if (line.trim() !== '') this.#word(line.trimEnd());
      else if (line !== '') this.#space();
      if (line.trim() !== '' && /\s$/.test(line)) this.#space();
    }
  }

  #word(word: string): void {
    if (this.full || word === '') return;
    this.#flushBreaks();
    if (this.#marker !== '') {
      this.#both(this.#marker);
      this.#marker = '';
      this.#separator = '';
    }
    if (this.#separator !== '') this.#both(this.#separator);
    this.#separator = '';
    this.#both(word);
    this.#lineIsEmpty = false;
  }

  #flushBreaks(): void {
    const prefix = quotePrefix(this.#quotes);
    if (this.#textLength === 0) this.#both(prefix);
    else if (this.#breaks > 0) {
      const between = quotePrefix(Math.min(this.#quotes, this.#quotesBefore)).trimEnd();
      this.#both(this.#breaks === 2 ? `\n${between}\n${prefix}` : `\n${prefix}`);
      this.#separator = '';
    }
    this.#breaks = 0;
    this.#quotesBefore = this.#quotes;
  }

  #both(piece: string): void {
    this.#append(this.#text, piece);
    this.#words.push(piece);
    this.#wordsLength += piece.length;
  }

  #append(list: string[], piece: string): void {
    if (this.full || piece === '') return;
    list.push(piece);
    this.#textLength += piece.length;
    if (this.#textLength > this.#maxCharacters) this.full = true;
  }
}
