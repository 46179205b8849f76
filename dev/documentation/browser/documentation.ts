/** What the pages add with scripts: tabs of languages, buttons that copy, the address of this service, search. */
import './base.css';
import './frame.css';
import './text.css';
import './reference.css';
import './search.css';
import './narrow.css';
import { addCopyButtons } from './copy-buttons.ts';
import { addLanguageTabs } from './language-tabs.ts';
import { showServiceAddress } from './service-address.ts';

/** The search is loaded when somebody searches. */
function addSearch(): void {
  const open = async () => {
    const { openSearch } = await import('./search-dialog.ts');
    openSearch();
  };
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-search]:not([data-search=skip])')) {
    button.hidden = false;
    button.addEventListener('click', () => void open());
  }
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    const isSlash = event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
    const isShortcut = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey;
    if (!isSlash && !isShortcut) return;
    event.preventDefault();
    void open();
  });
}

/** In a long navigation the current page is in view. */
function showCurrentPage(): void {
  const current = document.querySelector<HTMLElement>('.sidebar [aria-current]');
  const sidebar = document.querySelector<HTMLElement>('.sidebar');
  if (current === null || sidebar === null) return;
  const below = current.offsetTop - sidebar.offsetTop - sidebar.clientHeight / 2;
  if (below > 0) sidebar.scrollTop = below;
}

/** The heading that is read is marked in the table of contents. */
function markCurrentHeading(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('.contents a')].map((link) => [link.hash.slice(1), link]),
  );
  if (links.size === 0) return;
  const headings = [...links.keys()].flatMap((id) => document.getElementById(id) ?? []);
  const mark = () => {
    const read = headings.findLast((heading) => heading.getBoundingClientRect().top < innerHeight / 3) ?? headings[0];
    for (const [id, link] of links)
      if (id === read?.id) link.setAttribute('aria-current', 'location');
      else link.removeAttribute('aria-current');
  };
  addEventListener('scroll', mark, { passive: true });
  mark();
}

showServiceAddress();
addLanguageTabs();
addCopyButtons();
addSearch();
showCurrentPage();
markCurrentHeading();
