/** The dialog that searches all pages, in an index that the build made. */
import MiniSearch from 'minisearch';
import { SEARCH_OPTIONS, type SearchEntry } from '../search-options.ts';

const SHOWN_MAX = 20;

interface Hit {
  readonly id: string;
  readonly title: string;
  readonly page: string;
  readonly excerpt: string;
}

let index: Promise<MiniSearch<SearchEntry>> | undefined;

async function loadIndex(): Promise<MiniSearch<SearchEntry>> {
  const response = await fetch(document.documentElement.dataset['searchIndex'] ?? '');
  if (!response.ok) throw new Error(`the index answered ${response.status}`);
  return MiniSearch.loadJSON<SearchEntry>(await response.text(), SEARCH_OPTIONS);
}

/** Loaded once; after a failure again with the next search. */
function theIndex(): Promise<MiniSearch<SearchEntry>> {
  index ??= loadIndex().catch((error: unknown) => {
    index = undefined;
    throw error;
  });
  return index;
}

/** Sections with all words; if there are none, those with one of them. */
function find(miniSearch: MiniSearch<SearchEntry>, words: string): Hit[] {
  const all = miniSearch.search(words);
  const hits = all.length > 0 ? all : miniSearch.search(words, { combineWith: 'OR' });
  return hits.slice(0, SHOWN_MAX).map(({ id, title, page, excerpt }) => ({ id, title, page, excerpt }));
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function resultOf({ id, title, page, excerpt }: Hit): HTMLLIElement {
  return element(
    'li',
    {},
    element(
      'a',
      { href: id },
      element('span', { class: 'where' }, page),
      element('strong', {}, title),
      element('span', { class: 'excerpt' }, excerpt),
    ),
  );
}

function makeDialog(): HTMLDialogElement {
  const input = element('input', {
    type: 'search',
    'aria-label': 'Search the documentation',
    placeholder: 'Search the documentation',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const close = element('button', { type: 'button', class: 'close' }, 'Close');
  const status = element('p', { role: 'status' });
  const results = element('ul', { class: 'results' });
  const dialog = element(
    'dialog',
    { class: 'search', 'aria-label': 'Search' },
    element('div', { class: 'search-head' }, input, close),
    status,
    results,
  );

  let asked = 0;
  const search = async () => {
    const mine = ++asked;
    const words = input.value.trim();
    let hits: Hit[] = [];
    let text = '';
    try {
      if (words !== '') hits = find(await theIndex(), words);
      if (words !== '') text = hits.length === 0 ? 'Nothing found. Try another word.' : `${hits.length} results`;
    } catch {
      text = 'The search could not be loaded. Type again to retry.';
    }
    // A later search has been answered, or will be.
    if (mine !== asked) return;
    status.textContent = text;
    results.replaceChildren(...hits.map(resultOf));
  };
  input.addEventListener('input', () => void search());
  close.addEventListener('click', () => dialog.close());
  // A click beside the dialog is one on its backdrop.
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  results.addEventListener('click', () => dialog.close());
  dialog.addEventListener('keydown', (event) => {
    const links = [...results.querySelectorAll('a')];
    const at = links.findIndex((link) => link === document.activeElement);
    // Browsers clear a search field by Escape, and close the dialog only if it is empty.
    if (event.key === 'Escape') dialog.close();
    else if (event.key === 'Enter' && document.activeElement === input) links[0]?.click();
    else if (event.key === 'ArrowDown') (links[at + 1] ?? links.at(-1))?.focus();
    else if (event.key === 'ArrowUp') (at > 0 ? links[at - 1] : input)?.focus();
    else return;
    event.preventDefault();
  });
  return dialog;
}

let dialog: HTMLDialogElement | undefined;

export function openSearch(): void {
  if (dialog === undefined) {
    dialog = makeDialog();
    document.body.append(dialog);
  }
  if (!dialog.open) dialog.showModal();
  const input = dialog.querySelector('input');
  input?.focus();
  input?.select();
  // Loaded while the reader types.
  theIndex().catch(() => {});
}
