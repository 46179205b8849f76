/** Writes all pages, their search index and their files into a folder, compressed. */

import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { documentedEvents } from '#api/documents/documented-events.ts';
import { currentOpenApi } from '#api/documents/serve-documents.ts';
import { routes } from '#api/routes.ts';
import { commandLine } from '#cli/program.ts';
import { compressFiles, type OnBuildProgress } from '../build-whole.ts';
import { documentPages } from './document-pages.ts';
import { errorsPage } from './errors-page.ts';
import { eventsPage } from './events-page.ts';
import { homePage } from './home-page.ts';
import { layout, type PageFiles } from './layout.ts';
import type { Page } from './page.ts';
import { readCoverage } from './read-coverage.ts';
import { type ApiFacts, resourcePages, schemasOf } from './resource-pages.ts';
import { searchIndex } from './search-index.ts';

/** What the snippets name; the script of the pages replaces it by the address of the service. */
export const SERVICE_URL = 'http://127.0.0.1:8080';
const BROWSER = fileURLToPath(new URL('browser', import.meta.url));
const ASSETS = '/docs/assets';
/** There are a hundred pages, and the first start of the service waits for them. */
const BROTLI_QUALITY = 9;
/** Names of assets end with so much of their hash: they are cached for ever. */
const HASH_LENGTH = 8;

/** What the reference is made from. */
export async function apiFacts(root: string): Promise<ApiFacts> {
  return {
    document: currentOpenApi(routes, documentedEvents, SERVICE_URL),
    routes,
    coverage: readCoverage(readFileSync(path.join(root, 'docs/coverage.md'), 'utf8')),
    commands: await commandLine(),
    serviceUrl: SERVICE_URL,
  };
}

/** All pages, in the order of the navigation. */
export async function allPages(root: string): Promise<Page[]> {
  const facts = await apiFacts(root);
  const documents = documentPages(root);
  // The guide to the API is the first page of its reference.
  const pages = [
    ...documents.map((page) => (page.path === '/docs/api' ? { ...page, group: 'API' } : page)),
    errorsPage(routes),
    eventsPage(documentedEvents, facts.document, schemasOf(facts)),
    ...resourcePages(facts),
  ];
  return [homePage(pages, SERVICE_URL), ...pages];
}

function writeAsset(folder: string, name: string, content: string): string {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, HASH_LENGTH);
  const { name: stem, ext } = path.parse(name);
  const file = `${stem}-${hash}${ext}`;
  mkdirSync(path.join(folder, 'assets'), { recursive: true });
  writeFileSync(path.join(folder, 'assets', file), content);
  return `${ASSETS}/${file}`;
}

interface Chunk {
  readonly file: string;
  readonly css?: readonly string[];
}

/** @returns addresses of the scripts and the style */
async function buildScripts(folder: string): Promise<Omit<PageFiles, 'searchIndex'>> {
  const { build } = await import('vite');
  await build({
    configFile: false,
    root: BROWSER,
    base: '/docs/',
    logLevel: 'error',
    publicDir: false,
    build: {
      outDir: folder,
      emptyOutDir: true,
      manifest: true,
      target: 'es2023',
      modulePreload: false,
      reportCompressedSize: false,
      rolldownOptions: { input: ['documentation.ts', 'theme.ts'].map((name) => path.join(BROWSER, name)) },
    },
  });
  const manifest = JSON.parse(readFileSync(path.join(folder, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>;
  const { file = '', css: [style = ''] = [] } = manifest['documentation.ts'] ?? {};
  return { script: `/docs/${file}`, style: `/docs/${style}`, theme: `/docs/${manifest['theme.ts']?.file ?? ''}` };
}

/** `/docs/cli` is in `cli.html`, `/docs` in `index.html`. */
const fileOf = (address: string): string =>
  address === '/docs' ? 'index.html' : `${address.slice('/docs/'.length)}.html`;

export async function writeDocumentation(root: string, folder: string, onProgress: OnBuildProgress): Promise<void> {
  const pages = await allPages(root);
  const scripts = await buildScripts(folder);
  const files: PageFiles = {
    ...scripts,
    searchIndex: writeAsset(folder, 'search.json', searchIndex(pages)),
  };
  for (const page of pages) {
    const file = path.join(folder, fileOf(page.path));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, layout(page, pages, files));
  }
  cpSync(path.join(root, 'dashboard/public/icon.svg'), path.join(folder, 'icon.svg'));
  cpSync(path.join(root, 'docs/screenshots'), path.join(folder, 'screenshots'), { recursive: true });
  await compressFiles(folder, '**/*.{html,js,css,json}', onProgress, BROTLI_QUALITY);
}
