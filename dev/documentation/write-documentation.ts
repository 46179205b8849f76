/** Builds the documentation with VitePress: pages, navigation, search. What is of ours is the Markdown that it gets. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MarkdownOptions } from 'vitepress';
import { currentOpenApi } from '#api/documents/serve-documents.ts';
import { RESOURCES } from '#api/http/route.ts';
import { routes } from '#api/routes.ts';
import { webhookEvents } from '#api/webhooks/event-schemas.ts';
import { commandLine } from '#cli/program.ts';
import { compressFiles, type OnBuildProgress } from '#dev/build/build-whole.ts';
import { anchorOf, documentPages, type Page, readCoverage } from './documents.ts';
import { type ApiFacts, referencePages } from './reference.ts';

/** What the snippets name; the theme replaces it by the address of the service. */
const SERVICE_URL = 'http://127.0.0.1:8080';
/** There are a hundred pages, and the first start of the service waits for them. */
const BROTLI_QUALITY = 9;

/** The navigation: addresses below `/docs`, with another name than the title where that is too long. */
const GROUPS: Readonly<Record<string, readonly (string | readonly [string, string])[]>> = {
  Start: [['', 'Overview']],
  Recipes: ['sign-up-with-a-code', 'support-inbox', 'approve-by-phone', 'receive-webhooks'].map(
    (each) => `/recipes/${each}`,
  ),
  Guides: [
    ...(['/mcp', '/cli', ['/client', 'TypeScript client'], ['/python', 'Python client'], '/integrations'] as const),
    ...([
      ['/integrations/tools', 'Agent frameworks'],
      ['/integrations/n8n', 'n8n'],
      '/files',
      '/sending',
      '/aliases',
      '/screening',
      '/signing-in',
      '/trust',
    ] as const),
    ...(['/webhooks', '/mail', '/dashboard', ['/coverage', 'Routes in each client'], '/examples'] as const),
  ],
  API: ['/api', '/errors', '/events', ...Object.keys(RESOURCES).map((tag) => `/api/${anchorOf(tag)}`)],
  Architecture: [
    ...(['/architecture', '/architecture/folders', '/architecture/events-and-deliveries'] as const),
    ...(['/architecture/sending-and-approvals', '/architecture/data-and-mail-store'] as const),
    '/architecture/security-of-reading',
    ...(['/architecture/pages-and-changes', '/architecture/engine-and-failures', '/architecture/guarantees'] as const),
  ],
  Operation: [
    ...([
      '/operations/install',
      '/operations/dns',
      '/operations/tenants',
      '/operations/http',
      '/operations/proving',
      '/operations/erasure',
      '/operations/backup',
      '/operations/restore',
      '/operations/certificates',
      '/operations/moving',
      '/operations/mail-log',
      '/operations/commands',
      '/operations/metrics',
      '/operations/incidents',
      '/configuration',
      '/upgrading',
      '/security',
      ['/bench', 'Measurements'],
    ] as const),
    ...([['/changelog', 'Changes'], '/contributing', '/adr'] as const),
  ],
};

export const MARKDOWN: MarkdownOptions = {
  // HTML and `{{ }}` in a document are text.
  html: false,
  anchor: { slugify: anchorOf },
  attrs: { left: '{:' },
  emoji: false,
  config(md) {
    const link = md.renderer.rules.link_open;
    // VitePress writes anchors in small letters, and those of operations and objects are their names.
    md.renderer.rules.link_open = (...args) => {
      const [tokens, at] = args;
      const [hash] = /#.*$/.exec(tokens[at]?.attrGet('href') ?? '') ?? [];
      const shown = link?.(...args) ?? '';
      return hash === undefined ? shown : shown.replace(/(?<= href="[^"#]*)#[^"]*/, hash);
    };
    md.renderer.rules.text = (tokens, at) =>
      md.utils.escapeHtml(tokens[at]?.content ?? '').replaceAll('{{', '&#123;&#123;');
  },
  highlight: (code) =>
    `<pre v-pre tabindex="0"><code>${code.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</code></pre>`,
};

/** What the reference is made from. */
export async function apiFacts(root: string): Promise<ApiFacts> {
  return {
    document: currentOpenApi(routes, webhookEvents, SERVICE_URL),
    routes,
    events: webhookEvents,
    coverage: readCoverage(readFileSync(path.join(root, 'docs/coverage.md'), 'utf8')),
    commands: await commandLine(),
    serviceUrl: SERVICE_URL,
  };
}

export const allPages = async (root: string): Promise<Page[]> => [
  ...documentPages(root),
  ...referencePages(await apiFacts(root)),
];

function sidebar(pages: readonly Page[]) {
  const titles = new Map(pages.map((page) => [page.path, page.title]));
  return Object.entries(GROUPS).map(([text, entries]) => ({
    text,
    items: entries.flatMap((entry) => {
      const [address, name] = typeof entry === 'string' ? [entry] : entry;
      const link = `/docs${address}`;
      const title = titles.get(link);
      return title === undefined ? [] : [{ link, text: name ?? title }];
    }),
  }));
}

/** @throws if a document names a page that does not exist */
export async function writeDocumentation(root: string, folder: string, onProgress: OnBuildProgress): Promise<void> {
  const pages = await allPages(root);
  const source = path.join(root, '.cache', `${path.basename(folder)}-pages`);
  const result = path.join(source, 'result');
  for (const { path: address, markdown } of pages) {
    const file = path.join(source, `${address}.md`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, markdown);
  }
  const theme = fileURLToPath(new URL('theme', import.meta.url));
  cpSync(path.join(root, 'docs/screenshots'), path.join(source, 'public/docs/screenshots'), { recursive: true });
  cpSync(path.join(root, 'dashboard/public/icon.svg'), path.join(source, 'public/docs/icon.svg'));
  cpSync(path.join(theme, 'first-paint.js'), path.join(source, 'public/docs/first-paint.js'));
  onProgress('building pages');
  const { build } = await import('vitepress');
  try {
    await build(source, {
      onAfterConfigResolve(config) {
        const { site } = config;
        config.logger.info = () => {};
        Object.assign(config, { outDir: result, assetsDir: 'docs/assets', themeDir: theme, cleanUrls: true });
        Object.assign(site, {
          title: 'Agent Mailbox',
          description: 'Mailboxes for software agents, with signed webhooks and decisions by people.',
          cleanUrls: true,
          appearance: { storageKey: 'agent-mailbox.theme', disableTransition: false },
        });
        // No inline script: the content security policy of the pages allows none.
        site.head = [
          ['link', { rel: 'icon', href: '/docs/icon.svg', type: 'image/svg+xml' }],
          ['script', { src: '/docs/first-paint.js' }],
        ];
        site.themeConfig = {
          logo: '/docs/icon.svg',
          logoLink: '/docs',
          outline: [2, 3],
          sidebar: sidebar(pages),
          search: {
            provider: 'local',
            // The snippets would be most of the index.
            options: {
              _render: (text: string, env: object, md: { render(text: string, env: object): string }) =>
                md.render(text.replaceAll(/^```[^]*?^```$/gm, ''), env),
            },
          },
        };
        config.markdown = MARKDOWN;
        // The policy allows no attribute of style either; what these say is in the style of the theme.
        config.transformHtml = (page) => page.replaceAll(/ style="[^"]*"/g, '');
        config.vite = { logLevel: 'error' };
      },
    });
    cpSync(path.join(result, 'docs'), folder, { recursive: true });
    cpSync(path.join(result, 'docs.html'), path.join(folder, 'index.html'));
  } finally {
    rmSync(source, { recursive: true, force: true });
  }
  await compressFiles(folder, '**/*.{html,js,css}', onProgress, BROTLI_QUALITY);
}
