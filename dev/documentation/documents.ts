/** The documents of the repository as pages, and `docs/coverage.md`: which methods, commands and tools reach a route. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A page of the documentation, in Markdown. */
export interface Page {
  /** Address, `/docs/cli`. */
  readonly path: string;
  readonly title: string;
  readonly markdown: string;
}

const DOCUMENTS = [
  'docs/{*,architecture/*,operations/*,recipes/*,adr/*}.md',
  '{client,python,bench,packages/*,integrations/*,examples,examples/*}/README.md',
  '{SECURITY,CONTRIBUTING,CHANGELOG}.md',
];

/** `docs/cli.md` is `/docs/cli`, `packages/imap/README.md` is `/docs/packages/imap`. */
const addressOfDocument = (file: string): string =>
  `/docs/${file
    .replace(/^docs\//, '')
    .replace(/\/README\.md$/, '')
    .replace(/\.md$/, '')
    .toLowerCase()}`.replace(/\/index$/, '');

/** The anchor that code hosts give a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

/** Blocks of code and code in a line, which stay as they are; else a link or a picture. */
const LINK = /^```[^]*?^```|(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)|`[^`\n]+`/gm;

/** Links to documents lead to their pages. A link to a file without a page becomes its text. */
export function withPageLinks(source: string, file: string, files: readonly string[]): string {
  const addressOf = (target: string): string | undefined => {
    const found = [target, `${target}/README.md`].find((each) => files.includes(each));
    if (found !== undefined) return addressOfDocument(found);
    if (target === 'README.md') return '/docs';
    return target === 'docs/adr' || /^docs\/screenshots\/[\w-]+\.png$/.test(target) ? `/${target}` : undefined;
  };
  return source.replaceAll(LINK, (whole: string, mark?: string, text?: string, href?: string) => {
    if (href === undefined || text === undefined || /^(?:https?:|#|\/)/.test(href)) return whole;
    const [target = '', hash] = href.split('#');
    const address = addressOf(path.posix.join(path.posix.dirname(file), target).replace(/\/$/, ''));
    if (address === undefined) return text;
    return `${mark}[${text}](${address}${hash === undefined ? '' : `#${hash}`})`;
  });
}

const MESSAGE = /^\s*(\w[\w ]*?)\s*-{1,2}(?:>>?|x|\))\s*([+-]?\w[\w ]*?)\s*:\s*(.*)$/;

/** A sequence diagram as a list of its messages, which a phone and a screen reader can show. */
function sequenceList(diagram: string): string {
  const names = new Map<string, string>();
  for (const [, id = '', name = id] of diagram.matchAll(/^\s*(?:participant|actor)\s+(\S+)(?:\s+as\s+(.+))?$/gm))
    names.set(id, name);
  const nameOf = (id = '') => names.get(id.replace(/^[+-]/, '')) ?? id;
  const items = diagram.split('\n').flatMap((line) => {
    const [, from, to, text] = MESSAGE.exec(line) ?? [];
    if (from !== undefined) return [`1. **${nameOf(from)}** → **${nameOf(to)}**: ${text}`];
    const [, note] = /^\s*[Nn]ote [^:]+:\s*(.*)$/.exec(line) ?? [];
    return note === undefined ? [] : [`1. ${note}`];
  });
  return items.join('\n');
}

/** A page for each document, and the index of the decision records. */
export function documentPages(root: string): Page[] {
  const files = DOCUMENTS.flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted());
  const pages = files.map((file) => {
    const source = readFileSync(path.join(root, file), 'utf8');
    const [, title = ''] = /^# (.+)$/m.exec(source) ?? [];
    const markdown = withPageLinks(source, file, files).replaceAll(/^```mermaid\n([^]*?)^```/gm, (_, diagram: string) =>
      sequenceList(diagram),
    );
    return { path: addressOfDocument(file), title: title.replaceAll('`', ''), markdown };
  });
  const records = pages.filter((page) => page.path.startsWith('/docs/adr/'));
  const list = records.map((page) => `- [${page.title}](${page.path})`).join('\n');
  const index = `# Decisions\n\nDecisions that had alternatives, each with its reasons.\n\n${list}\n`;
  return [...pages, { path: '/docs/adr', title: 'Decisions', markdown: index }];
}

/** Names by the heading of their column, such as `client` and `command line`. */
export type Reached = Readonly<Record<string, readonly string[]>>;

const cellsOf = (line: string): string[] =>
  line
    .slice(1, line.lastIndexOf('|'))
    .split('|')
    .map((cell) => cell.trim());

const namesIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** @returns by method and path, such as `GET /api/mailboxes/:id` */
export function readCoverage(document: string): ReadonlyMap<string, Reached> {
  const lines = document.split('\n').filter((line) => line.startsWith('|'));
  const [head = '', , ...rows] = lines;
  const [, ...columns] = cellsOf(head);
  return new Map(
    rows.map((line) => {
      const [route = '', ...cells] = cellsOf(line);
      const reached = Object.fromEntries(columns.map((column, index) => [column, namesIn(cells[index] ?? '')]));
      return [namesIn(route)[0] ?? route, reached];
    }),
  );
}
