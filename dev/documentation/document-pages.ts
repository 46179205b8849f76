/** The documents of the repository as pages. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { html } from './html.ts';
import { renderMarkdown } from './markdown.ts';
import type { Page } from './page.ts';

const DOCUMENTS = [
  'docs/*.md',
  'docs/recipes/*.md',
  'docs/adr/*.md',
  ...['client', 'python', 'bench', 'packages/*', 'integrations/*', 'examples', 'examples/*'].map(
    (folder) => `${folder}/README.md`,
  ),
  ...['SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
];

/** Order of the guides; others follow in the order of their names. */
const ORDER = [
  'api',
  'mcp',
  'cli',
  'client',
  'python',
  'integrations',
  'tools',
  'n8n',
  'files',
  'sending',
  'webhooks',
  'mail',
  'dashboard',
];
const OPERATION = ['configuration', 'upgrading', 'architecture', 'security', 'bench', 'changelog', 'contributing'];
const RECIPE_ORDER = ['sign-up-with-a-code', 'support-inbox', 'approve-by-phone', 'receive-webhooks'];
const SHORT_TITLES: Readonly<Record<string, string>> = {
  '/docs/client': 'TypeScript client',
  '/docs/python': 'Python client',
  '/docs/integrations/n8n': 'n8n',
  '/docs/integrations/tools': 'Agent frameworks',
  '/docs/bench': 'Measurements',
  '/docs/changelog': 'Changes',
  '/docs/coverage': 'Routes in each client',
};

/** `docs/cli.md` is `/docs/cli`, `packages/imap/README.md` is `/docs/packages/imap`. */
export const addressOfDocument = (file: string): string =>
  `/docs/${file
    .replace(/^docs\//, '')
    .replace(/\/README\.md$/, '')
    .replace(/\.md$/, '')
    .toLowerCase()}`;

const nameOf = (address: string): string => path.posix.basename(address);
const rank = (order: readonly string[], name: string): number =>
  order.includes(name) ? order.indexOf(name) : order.length;

function groupOf(file: string, address: string): string | undefined {
  if (file.startsWith('docs/recipes/')) return 'Recipes';
  if (/^(?:docs\/adr|packages|examples\/)/.test(file)) return undefined;
  return OPERATION.includes(nameOf(address)) ? 'Operation' : 'Guides';
}

/**
 * @param root of the repository
 * @returns a page for each document, in the order of the navigation
 */
export function documentPages(root: string): Page[] {
  const files = DOCUMENTS.flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted());
  const targetOf = (target: string): string | undefined => {
    const file = target.replace(/\/$/, '');
    if (files.includes(file)) return addressOfDocument(file);
    if (files.includes(`${file}/README.md`)) return addressOfDocument(`${file}/README.md`);
    if (file === 'README.md') return '/docs';
    if (file === 'docs/adr') return '/docs/adr';
    return /^docs\/screenshots\/[\w-]+\.png$/.test(file) ? `/${file}` : undefined;
  };
  const pages = files.map((file): Page => {
    const address = addressOfDocument(file);
    const { title, content, headings } = renderMarkdown(readFileSync(path.join(root, file), 'utf8'), file, targetOf);
    const group = groupOf(file, address);
    const shortTitle = SHORT_TITLES[address];
    return {
      path: address,
      title,
      content,
      headings,
      ...(group === undefined ? {} : { group }),
      ...(shortTitle === undefined ? {} : { shortTitle }),
    };
  });
  const order = [...RECIPE_ORDER, ...ORDER, ...OPERATION];
  return [
    ...pages.toSorted((one, other) => rank(order, nameOf(one.path)) - rank(order, nameOf(other.path))),
    decisions(pages),
  ];
}

/** The index of the decision records. */
function decisions(pages: readonly Page[]): Page {
  const records = pages.filter(({ path: address }) => address.startsWith('/docs/adr/'));
  return {
    path: '/docs/adr',
    title: 'Decisions',
    group: 'Operation',
    headings: [],
    content: html`<h1>Decisions</h1><p class="lead">Decisions that had alternatives, each with its reasons.</p>
      <ul>${records.map(({ path: address, title }) => html`<li><a href="${address}">${title}</a></li>`)}</ul>`,
  };
}
