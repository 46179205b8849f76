/** The index that the search of the pages loads: each section of each page is an entry. */
import { Parser } from 'htmlparser2';
import MiniSearch from 'minisearch';
import type { Page } from './page.ts';
import { SEARCH_OPTIONS, type SearchEntry } from './search-options.ts';

const SEPARATORS = new Set(['p', 'li', 'td', 'th', 'dt', 'dd', 'tr', 'div', 'br', 'h4', 'pre']);
const HEADINGS = new Set(['h1', 'h2', 'h3']);
/** What a result shows of its text. */
const EXCERPT_MAX = 160;

interface Section {
  id: string;
  title: string;
  text: string;
}

const squeeze = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Headings with the text below them. Parts marked `data-search="skip"` and the marks of links are left out. */
export function sectionsOf(markup: string): Section[] {
  const sections: Section[] = [{ id: '', title: '', text: '' }];
  const open: { name: string; isSkipped: boolean }[] = [];
  let heading: string | undefined;
  const parser = new Parser({
    onopentag(name, attributes) {
      const isSkipped =
        open.at(-1)?.isSkipped === true || attributes['data-search'] === 'skip' || attributes['class'] === 'anchor';
      open.push({ name, isSkipped });
      if (HEADINGS.has(name) && (attributes['id'] !== undefined || name === 'h1')) {
        heading = '';
        sections.push({ id: attributes['id'] ?? '', title: '', text: '' });
      }
    },
    ontext(text) {
      if (open.at(-1)?.isSkipped === true) return;
      const section = sections.at(-1);
      if (section === undefined) return;
      if (heading === undefined) section.text += text;
      else section.title += text;
    },
    onclosetag(name) {
      open.pop();
      const section = sections.at(-1);
      if (HEADINGS.has(name)) heading = undefined;
      else if (SEPARATORS.has(name) && section !== undefined) section.text += ' ';
    },
  });
  parser.end(markup);
  return sections
    .map(({ id, title, text }) => ({ id, title: squeeze(title), text: squeeze(text) }))
    .filter(({ title, text }) => title !== '' || text !== '');
}

export function searchEntries(pages: readonly Page[]): SearchEntry[] {
  return pages.flatMap((page) =>
    sectionsOf(page.content.text).map(({ id, title, text }) => ({
      id: id === '' ? page.path : `${page.path}#${id}`,
      title: title === '' ? page.title : title,
      page: page.shortTitle ?? page.title,
      excerpt: text.length > EXCERPT_MAX ? `${text.slice(0, text.lastIndexOf(' ', EXCERPT_MAX))} …` : text,
      text,
    })),
  );
}

/** As JSON, which `MiniSearch.loadJSON` reads with the same options. */
export function searchIndex(pages: readonly Page[]): string {
  const index = new MiniSearch<SearchEntry>(SEARCH_OPTIONS);
  const seen = new Set<string>();
  for (const entry of searchEntries(pages)) {
    // The same anchor twice on a page would be one address with two texts.
    if (seen.has(entry.id)) continue;
    seen.add(entry.id);
    index.add(entry);
  }
  return JSON.stringify(index);
}
