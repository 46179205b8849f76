/**
 * What the plain text and the HTML of one message say differently: their readers see only one of them. Words are compared
 * without their case, punctuation and layout, links by where they lead. Deterministic and bounded. Pure.
 */
import type { HtmlLink } from './html-content.ts';
import { bareLinks } from './message-links.ts';

export interface AlternativesDifference {
  /** Pieces of the text that the HTML has not, or not there. */
  readonly onlyInText: readonly string[];
  readonly onlyInHtml: readonly string[];
  /** Where links lead that only one of them has. */
  readonly linksOnlyInText: readonly string[];
  readonly linksOnlyInHtml: readonly string[];
  /** False: a limit was reached, and there may be more differences. */
  readonly complete: boolean;
}

interface Alternatives {
  readonly text: string;
  /** Text of the HTML (`htmlContent`). */
  readonly htmlText: string;
  readonly htmlLinks: readonly HtmlLink[];
}

/** Characters of each side that are compared. */
const COMPARED_MAX_CHARACTERS = 200_000;
/** Words of each side, without a common beginning and end, whose longest common sequence is looked for. */
const ALIGNED_WORDS_MAX = 1_500;
const PIECES_MAX = 20;
const PIECE_MAX_CHARACTERS = 200;
const LINKS_COMPARED_MAX = 500;
const LINK_SHOWN_MAX_CHARACTERS = 300;

export function alternativesDifference(alternatives: Alternatives): AlternativesDifference {
  const text = alternatives.text.slice(0, COMPARED_MAX_CHARACTERS);
  const htmlText = alternatives.htmlText.slice(0, COMPARED_MAX_CHARACTERS);
  const hrefs = alternatives.htmlLinks.slice(0, LINKS_COMPARED_MAX);
  const inText = bareLinks(text, LINKS_COMPARED_MAX).map(({ href }) => href);
  const shownInHtml = bareLinks(htmlText, LINKS_COMPARED_MAX).map(({ href }) => href);
  const [textWords, htmlWords] = [wordsOf(text), wordsOf(withoutShownTargets(htmlText, hrefs))];
  const words = differentWords(textWords, htmlWords);
  const targets = hrefs.flatMap(({ href }) => targetOf(href) ?? []);
  const textTargets = new Set(inText.flatMap((href) => targetOf(href) ?? []));
  const htmlTargets = new Set([...targets, ...shownInHtml.flatMap((href) => targetOf(href) ?? [])]);
  const missing = (ofOne: Iterable<string>, ofOther: ReadonlySet<string>) =>
    [...new Set(ofOne)].filter((target) => !ofOther.has(target));
  const linksOnlyInText = missing(textTargets, htmlTargets);
  // An address of mail may stand in the text without a scheme.
  const lowerText = text.toLowerCase();
  const linksOnlyInHtml = missing(targets, textTargets).filter(
    (target) => !target.startsWith(MAILTO) || !lowerText.includes(target.slice(MAILTO.length)),
  );
  const pieces = [words.onlyInText, words.onlyInHtml, linksOnlyInText, linksOnlyInHtml];
  return {
    onlyInText: shown(words.onlyInText, PIECE_MAX_CHARACTERS),
    onlyInHtml: shown(words.onlyInHtml, PIECE_MAX_CHARACTERS),
    linksOnlyInText: shown(linksOnlyInText, LINK_SHOWN_MAX_CHARACTERS),
    linksOnlyInHtml: shown(linksOnlyInHtml, LINK_SHOWN_MAX_CHARACTERS),
    complete:
      text.length === alternatives.text.length &&
      htmlText.length === alternatives.htmlText.length &&
      hrefs.length === alternatives.htmlLinks.length &&
      pieces.every(({ length }) => length <= PIECES_MAX) &&
      words.aligned,
  };
}

const shown = (pieces: readonly string[], max: number): string[] =>
  pieces.slice(0, PIECES_MAX).map((piece) => (piece.length <= max ? piece : `${piece.slice(0, max).toWellFormed()}…`));

const MAILTO = 'mailto:';

/** Where a link leads, in one form; undefined: nowhere, or within the message. */
function targetOf(href: string): string | undefined {
  const url = URL.parse(href);
  if (url === null || url.protocol === 'cid:' || url.protocol === 'data:') return undefined;
  if (url.protocol === MAILTO) return `${MAILTO}${decoded(url.pathname).toLowerCase()}`;
  return url.href.replace(/\/$/, '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Text of the HTML without the addresses that a link shows as its words: the text has them with their scheme. */
function withoutShownTargets(htmlText: string, links: readonly HtmlLink[]): string {
  const shownTargets = new Set(
    links
      .filter(({ href, text }) => text !== '' && bare(text) === bare(href) && /[./]/.test(text))
      .map(({ text }) => text),
  );
  let rest = htmlText;
  for (const each of shownTargets) rest = rest.replaceAll(each, ' ');
  return rest;
}

const bare = (address: string): string =>
  address
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/\/$/, '');

interface Word {
  /** For the comparison. */
  readonly key: string;
  readonly shown: string;
}

const ADDRESS_OF_LINK = /https?:\/\/[^\s<>"']+/giu;
/** Marks that stand for the layout: of a list, of a quotation, between parts. */
const LAYOUT = /^[\s>]*(?:[-*•·–]|\(?\d{1,3}[.)])(?=\s)/gmu;
const WORD = /[\p{L}\p{M}\p{N}]+(?:[.,:'’][\p{L}\p{M}\p{N}]+)*|[%€$£¥₹+@-](?=[\p{N}])|(?<=[\p{N}]\s?)[%€$£¥₹]/gu;

function wordsOf(text: string): Word[] {
  const plain = text
    .replace(/\p{Cf}/gu, '')
    .replace(ADDRESS_OF_LINK, ' ')
    .replace(LAYOUT, ' ');
  return [...plain.matchAll(WORD)].map(([word]) => ({
    key: word.normalize('NFKC').toLowerCase().replaceAll('’', "'"),
    shown: word,
  }));
}

interface DifferentWords {
  readonly onlyInText: readonly string[];
  readonly onlyInHtml: readonly string[];
  /** False: too many words to find out which of them correspond. */
  readonly aligned: boolean;
}

function differentWords(text: readonly Word[], html: readonly Word[]): DifferentWords {
  const shorter = Math.min(text.length, html.length);
  let start = 0;
  while (start < shorter && text[start]?.key === html[start]?.key) start++;
  let end = 0;
  while (end < shorter - start && text[text.length - 1 - end]?.key === html[html.length - 1 - end]?.key) end++;
  const [left, right] = [text.slice(start, text.length - end), html.slice(start, html.length - end)];
  const aligned = left.length <= ALIGNED_WORDS_MAX && right.length <= ALIGNED_WORDS_MAX;
  if (!aligned) return { onlyInText: whole(left), onlyInHtml: whole(right), aligned };
  return { ...uncommon(left, right), aligned };
}

const whole = (words: readonly Word[]): string[] =>
  words.length === 0
    ? []
    : [
        words
          .slice(0, PIECE_MAX_CHARACTERS)
          .map((word) => word.shown)
          .join(' '),
      ];

/** Runs of words outside of the longest common sequence. */
function uncommon(left: readonly Word[], right: readonly Word[]): Omit<DifferentWords, 'aligned'> {
  const width = right.length + 1;
  // Length of the common rest from each pair of words on.
  const common = new Uint16Array((left.length + 1) * width);
  const restFrom = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      common[i * width + j] =
        left[i]?.key === right[j]?.key ? restFrom(i + 1, j + 1) + 1 : Math.max(restFrom(i + 1, j), restFrom(i, j + 1));
  const onlyInText = new Runs();
  const onlyInHtml = new Runs();
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const [one, other] = [left[i], right[j]];
    if (one !== undefined && one.key === other?.key) {
      onlyInText.end();
      onlyInHtml.end();
      i++;
      j++;
    } else if (one !== undefined && (other === undefined || restFrom(i + 1, j) >= restFrom(i, j + 1))) {
      onlyInText.add(one.shown);
      i++;
    } else if (other !== undefined) {
      onlyInHtml.add(other.shown);
      j++;
    }
  }
  return { onlyInText: onlyInText.texts, onlyInHtml: onlyInHtml.texts };
}

class Runs {
  readonly #runs: string[][] = [];
  #open = false;

  add(word: string): void {
    if (!this.#open) this.#runs.push([]);
    this.#open = true;
    this.#runs.at(-1)?.push(word);
  }

  end(): void {
    this.#open = false;
  }

  get texts(): string[] {
    return this.#runs.map((run) => run.join(' '));
  }
}
