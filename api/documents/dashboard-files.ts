/**
 * Serves the built pages of the dashboard. Everything is read once, at the start, and found by its exact path: no path
 * of a request ever reaches the file system.
 *
 * Which scripts a page of the dashboard needs beside those of the document. The document names them, so that the
 * browser fetches them beside the first script and not after it has run.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { RequestState } from '#api/handle.ts';
import { mayBeSignedIn } from '#api/http/session-cookie.ts';
import { builtFileAnswer, builtFiles } from './built-files.ts';

const BUILT = fileURLToPath(new URL('../../dashboard/dist', import.meta.url));
const MANIFEST = '.vite/manifest.json';
const CACHE_FOR_EVER = 'public, max-age=31536000, immutable';

const SETTINGS = [
  'organization',
  'people',
  'keys',
  'lists',
  'suppressions',
  'plan',
  'notices',
  'audit',
  'account',
] as const;

/** Addresses of pages with their own scripts: all of them are the one document, whose script shows the page. */
export const PAGES: Readonly<Record<string, readonly string[]>> = {
  '/': ['scenes/approvals/page.tsx'],
  '/sign-in': [],
  '/sign-in/oidc': ['scenes/sign-in/single-sign-on.tsx'],
  '/accept-invitation': ['scenes/sign-in/accept-invitation.tsx'],
  '/forgot-password': ['scenes/sign-in/forgot-password.tsx'],
  '/reset-password': ['scenes/sign-in/reset-password.tsx'],
  '/device': ['scenes/authorize/device.tsx'],
  '/authorize': ['scenes/authorize/page.tsx'],
  '/approvals': ['scenes/approvals/page.tsx'],
  '/held-mail': ['scenes/held-mail/page.tsx'],
  '/operators': ['scenes/operators/page.tsx'],
  '/approve': ['scenes/approvals/link/page.tsx'],
  '/mailboxes': ['scenes/first-run/first-run.tsx', 'scenes/mailboxes/page.tsx'],
  '/mailboxes/:id': ['scenes/mailbox/page.tsx'],
  '/mailboxes/:id/mail': ['scenes/reader/page.tsx'],
  '/mailboxes/:id/outbox': ['scenes/outbox/page.tsx'],
  '/keys': ['scenes/keys/page.tsx'],
  '/webhooks': ['scenes/webhooks/list.tsx'],
  '/webhooks/:id': ['scenes/webhooks/endpoint/page.tsx'],
  '/webhooks/:id/deliveries/:did': ['scenes/webhooks/delivery.tsx'],
  '/activity': ['scenes/activity/page.tsx'],
  '/domains': ['scenes/domains/page.tsx'],
  '/domains/:id': ['scenes/domains/domain-page.tsx'],
  ...Object.fromEntries(SETTINGS.map((name) => [`/settings/${name}`, [`scenes/${name}/page.tsx`]])),
  // Its script says that there is no such page.
  '/settings/:page': [],
};

/**
 * The content security policy of the pages. Nothing is loaded from other origins, there is no inline script, and text
 * never becomes markup (Trusted Types).
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self' blob:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The empty document in which HTML of mail is shown: the page fills it, after it has sanitised the HTML. */
const MAIL_FRAME =
  '<!doctype html><html lang=""><head><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Mail</title></head><body></body></html>';

/**
 * The frame runs no script, sends no form and loads nothing; the page inserts pictures. It is a separate document
 * because of the mail's own styles, which the page's policy does not allow.
 */
const MAIL_FRAME_POLICY = [
  'sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox',
  "default-src 'none'",
  'img-src data: blob:',
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** The first question of every page to the service, so that the browser asks it beside the scripts. */
const SESSION_PRELOAD = '</api/sessions/current>; rel=preload; as=fetch; crossorigin';

const NOT_BUILT =
  'The dashboard is not built. Run `npm run build:dashboard` in the folder of the service and start it again.\n';

const INDEX = path.join(BUILT, 'index.html');
/** Paths of programs, which want the error as JSON whatever they accept. */
const FOR_PROGRAMS = /^\/(?:api|assets|mcp|oauth|\.well-known)(?:\/|$)/;

/** Answers a browser that asks for a path that does not exist: the document's script says so, and where to go. */
export function unknownPage(): (context: Context) => boolean {
  const page = existsSync(INDEX) ? readFileSync(INDEX, 'utf8') : undefined;
  return (context) => {
    const isPage = context.method === 'GET' && context.accepts(['json', 'html']) === 'html';
    if (page === undefined || !isPage || FOR_PROGRAMS.test(context.path)) return false;
    context.set('Content-Security-Policy', POLICY);
    context.set('Cache-Control', 'no-cache');
    context.type = 'text/html';
    context.body = page;
    context.status = 404;
    return true;
  };
}

/** Adds the pages and their files to the router. */
export function addDashboard(router: Router<RequestState>): void {
  const document = existsSync(INDEX) ? readFileSync(INDEX, 'utf8') : undefined;
  const preloads = pagePreloads(path.join(BUILT, MANIFEST));
  for (const [address, sources] of Object.entries(PAGES))
    router.get(address, documentRoute(document?.replace('</head>', `  ${preloads(sources)}\n  </head>`)));
  router.get('/mail-frame', (context) => {
    context.set('Content-Security-Policy', MAIL_FRAME_POLICY);
    context.set('Referrer-Policy', 'no-referrer');
    context.set('Cache-Control', 'no-cache');
    context.type = 'text/html';
    context.body = MAIL_FRAME;
  });
  if (document === undefined) return;
  for (const { name, path: file } of builtFiles(BUILT))
    if (file !== 'index.html') router.get(`/${file}`, fileRoute(name, `/${file}`));
}

function documentRoute(page: string | undefined): (context: Context) => void {
  const hash = createHash('sha256').update(page ?? '');
  const etag = `"${hash.digest('base64url').slice(0, 22)}"`;
  return (context) => {
    context.set('Content-Security-Policy', POLICY);
    context.set('Cache-Control', 'no-cache');
    if (page === undefined) {
      context.status = 503;
      context.type = 'text/plain';
      context.body = NOT_BUILT;
      return;
    }
    // Somebody who is not signed in is asked nothing that would fail.
    if (mayBeSignedIn(context.headers.cookie)) context.set('Link', SESSION_PRELOAD);
    context.set('ETag', etag);
    if (context.get('If-None-Match') === etag) {
      context.status = 304;
      return;
    }
    context.type = 'text/html';
    context.body = page;
  };
}

function fileRoute(name: string, address: string): (context: Context) => void {
  const answer = builtFileAnswer(name);
  return (context) => {
    // The names of assets contain a hash of their content.
    context.set('Cache-Control', address.startsWith('/assets/') ? CACHE_FOR_EVER : 'public, max-age=3600');
    answer(context);
  };
}

/** A chunk in the manifest of the build (`build.manifest` of Vite). */
interface Chunk {
  readonly file: string;
  /** Keys of the chunks that it needs before it runs. */
  readonly imports?: readonly string[];
}

type Manifest = Readonly<Record<string, Chunk>>;

const DOCUMENT = 'index.html';

/**
 * @param manifestFile of the build; without it nothing is named
 * @returns the lines of HTML for the sources of a page, such as `scenes/approvals/page.tsx`
 */
export function pagePreloads(manifestFile: string): (sources: readonly string[]) => string {
  if (!existsSync(manifestFile)) return () => '';
  const manifest = JSON.parse(readFileSync(manifestFile, 'utf8')) as Manifest;
  const ofDocument = chunksOf(manifest, [DOCUMENT]);
  return (sources) =>
    [...chunksOf(manifest, sources)]
      .filter((file) => !ofDocument.has(file))
      .map((file) => `<link rel="modulepreload" crossorigin href="/${file}">`)
      .join('\n    ');
}

/** Files of the chunks and of everything they import. */
function chunksOf(manifest: Manifest, keys: readonly string[]): Set<string> {
  const files = new Set<string>();
  const open = [...keys];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    const chunk = manifest[key];
    // A build of other sources than these lacks some pages: they are loaded later, by the first script.
    if (chunk === undefined || files.has(chunk.file)) continue;
    files.add(chunk.file);
    open.push(...(chunk.imports ?? []));
  }
  return files;
}
