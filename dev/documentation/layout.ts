import { type Html, html } from './html.ts';
import type { Heading } from './markdown.ts';
import type { Page } from './page.ts';

/** Addresses of the files that every page loads. */
export interface PageFiles {
  readonly style: string;
  /** Runs before the first paint: the theme. */
  readonly theme: string;
  readonly script: string;
  readonly searchIndex: string;
}

const GROUPS = ['Start', 'Recipes', 'Guides', 'API', 'Operation'];
/** Shorter pages need no table of contents. */
const CONTENTS_FROM = 3;

/** Pages of the navigation by group, in its order. */
function navigation(pages: readonly Page[], current: Page): Html {
  return html`${GROUPS.map((group) => {
    const ofGroup = pages.filter((page) => page.group === group);
    if (ofGroup.length === 0) return '';
    return html`<h2>${group}</h2><ul>${ofGroup.map(
      (page) =>
        html`<li><a href="${page.path}"${page === current ? html` aria-current="page"` : ''}>${
          page.shortTitle ?? page.title
        }</a></li>`,
    )}</ul>`;
  })}`;
}

const contents = (headings: readonly Heading[]): Html =>
  headings.length < CONTENTS_FROM
    ? html``
    : html`<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${headings.map(
        ({ id, text, level }) => html`<li class="level-${level}"><a href="#${id}">${text}</a></li>`,
      )}</ul></nav>`;

/** The page before and after, in the order of the navigation. */
function neighbours(pages: readonly Page[], current: Page): Html {
  const order = GROUPS.flatMap((group) => pages.filter((page) => page.group === group));
  const at = order.indexOf(current);
  const before = at > 0 ? order[at - 1] : undefined;
  const next = at < 0 ? undefined : order[at + 1];
  const link = (page: Page, word: string, kind: string) =>
    html`<a class="${kind}" href="${page.path}"><small>${word}</small>${page.shortTitle ?? page.title}</a>`;
  return html`<nav class="neighbours" aria-label="Neighbouring pages">${
    before === undefined ? '' : link(before, 'Previous', 'before')
  }${next === undefined ? '' : link(next, 'Next', 'next')}</nav>`;
}

const SEARCH_ICON = html`<svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="9" cy="9" r="5.5"/><path d="m13.500 13.500 4 4"/></svg>`;

/** A whole page, without anything from other hosts. It can be read without scripts; search, tabs and copying need them. */
export const layout = (page: Page, pages: readonly Page[], files: PageFiles): string =>
  html`<!doctype html>
<html lang="en" data-search-index="${files.searchIndex}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.path === '/docs' ? 'Agent Mailbox documentation' : `${page.title} – Agent Mailbox`}</title>
<link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${files.style}">
<script src="${files.theme}"></script>
<script type="module" src="${files.script}"></script>
</head>
<body${page.isWide === true ? html` class="wide"` : ''}>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="/docs"><img src="/docs/icon.svg" alt="" width="24" height="24">Agent Mailbox <span>Docs</span></a>
<button type="button" class="search-button" data-search hidden>${SEARCH_ICON}<span>Search</span><kbd>/</kbd></button>
<a class="dashboard-link" href="/">Dashboard</a>
</header>
<details class="menu"><summary>Menu</summary><nav aria-label="Documentation, menu">${navigation(pages, page)}</nav></details>
<div class="frame">
<nav class="sidebar" aria-label="Documentation">${navigation(pages, page)}</nav>
<main id="content" tabindex="-1">${page.content}${neighbours(pages, page)}</main>
${contents(page.headings)}
</div>
</body>
</html>
`.text;
