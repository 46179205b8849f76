import { readFileSync } from 'node:fs';
import type Router from '@koa/router';
import { errorsPage } from './docs/errors-page.ts';
import { guide } from './docs/guide.ts';
import { type Html, html } from './docs/html.ts';
import { layout, type NavigationGroup } from './docs/layout.ts';
import { eventsPage, reference } from './docs/reference.ts';
import type { RequestState } from './handle.ts';
import { type DocumentedEvent, openApiDocument } from './openapi.ts';
import type { Route } from './route.ts';

const CACHE_SECONDS = 300;
const PACKAGE = new URL('../package.json', import.meta.url);
const STYLE = new URL('./docs/style.css', import.meta.url);

const GUIDE_LINKS = [
  { href: '/docs#first-steps', text: 'First steps' },
  { href: '/docs#credentials', text: 'Credentials' },
  { href: '/docs#conventions', text: 'Conventions' },
  { href: '/docs#idempotency', text: 'Repeating a request' },
  { href: '/docs#rate-limits', text: 'Rate limits' },
  { href: '/docs/errors', text: 'Errors' },
  { href: '/docs/events', text: 'Events' },
  { href: '/openapi.json', text: 'OpenAPI document' },
];

function navigation(routes: readonly Route[]): NavigationGroup[] {
  const groups = [...Map.groupBy(routes, ({ tag }) => tag)].map(([tag, ofTag]) => ({
    title: tag,
    links: ofTag.map(({ operationId, method, summary }) => ({
      href: `/docs#${operationId}`,
      text: summary,
      method,
    })),
  }));
  return [{ title: 'Guide', links: GUIDE_LINKS }, ...groups];
}

/** The OpenAPI document of this version of the service. */
export function currentOpenApi(routes: readonly Route[], events: readonly DocumentedEvent[], publicUrl: string) {
  const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string };
  return openApiDocument({ routes, events, publicUrl, version });
}

/** Serves the OpenAPI document and the pages made from it. Each is made at its first request and kept. */
export function addPages(
  router: Router<RequestState>,
  routes: readonly Route[],
  events: readonly DocumentedEvent[],
  publicUrl: () => string,
): void {
  const documents = navigation(routes);
  const document = kept(() => currentOpenApi(routes, events, publicUrl()));
  const page = (title: string, content: () => Html) => kept(() => layout(title, documents, content()));
  const serve = (path: string, type: string, text: () => string): void => {
    router.get(path, (context) => {
      context.type = type;
      context.set('Cache-Control', `public, max-age=${CACHE_SECONDS}`);
      context.body = text();
    });
  };
  serve(
    '/openapi.json',
    'application/json',
    kept(() => JSON.stringify(document())),
  );
  serve(
    '/docs',
    'text/html',
    page('API', () => html`${guide(publicUrl())}${reference(document(), routes, publicUrl())}`),
  );
  serve(
    '/docs/errors',
    'text/html',
    page('Errors', () => errorsPage(routes)),
  );
  serve(
    '/docs/events',
    'text/html',
    page('Events', () => eventsPage(events, document())),
  );
  serve(
    '/docs/style.css',
    'text/css',
    kept(() => readFileSync(STYLE, 'utf8')),
  );
  router.redirect('/', '/docs', 302);
}

function kept<Value>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= make());
}
