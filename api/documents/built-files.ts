/**
 * Files that were built beforehand, and the pages of the documentation below `/docs`. Everything is read once, at the
 * start, and found by its exact path.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { RequestState } from '#api/handle.ts';

/** Made by `dev/build/build-whole.ts`, the smallest first. */
const ENCODINGS = [
  { encoding: 'br', suffix: '.br' },
  { encoding: 'gzip', suffix: '.gz' },
] as const;

interface BuiltFile {
  /** On disk. */
  readonly name: string;
  /** Relative to the folder, with `/`. */
  readonly path: string;
}

/** The files of a folder, without the compressed forms of others and without hidden ones. */
export function builtFiles(folder: string): BuiltFile[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((file) => {
    const name = path.join(file.parentPath, file.name);
    const relative = path.relative(folder, name).split(path.sep).join('/');
    const isOne = file.isFile() && !/(?:^|\/)\.|\.(?:br|gz)$/.test(relative);
    return isOne ? [{ name, path: relative }] : [];
  });
}

/** Reads a file once. The returned middleware answers with it, compressed by the build if the browser accepts that. */
export function builtFileAnswer(name: string): (context: Context) => void {
  const bytes = readFileSync(name);
  const smaller = ENCODINGS.filter(({ suffix }) => existsSync(`${name}${suffix}`)).map(({ encoding, suffix }) => ({
    encoding,
    body: readFileSync(`${name}${suffix}`),
  }));
  const type = path.extname(name);
  return (context) => {
    context.type = type;
    context.vary('Accept-Encoding');
    // Browsers list encodings without a preference, so the smallest file is tried first.
    const taken = smaller.find(({ encoding }) => context.acceptsEncodings(encoding) === encoding);
    if (taken !== undefined) context.set('Content-Encoding', taken.encoding);
    context.body = taken?.body ?? bytes;
  };
}

const BUILT = fileURLToPath(new URL('../../docs/dist', import.meta.url));
const CACHE_FOR_EVER = 'public, max-age=31536000, immutable';
const CACHE_PICTURE = 'public, max-age=3600';
const ETAG_LENGTH = 22;

/** Nothing is loaded from other origins, and there is no inline script or style. Only the pages themselves become markup. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The icons of the theme are in its style.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types vue',
].join('; ');

const NOT_BUILT =
  'The documentation is not built. Run `npm run build:docs` in the folder of the service and start it again.\n';

/** `cli.html` is at `/docs/cli`, `index.html` at `/docs`. */
const addressOf = (file: string): string => (file === 'index.html' ? '/docs' : `/docs/${file.replace(/\.html$/, '')}`);

/** Adds the pages and their files to the router. */
export function addDocumentation(router: Router<RequestState>): void {
  const files = builtFiles(BUILT);
  if (files.length === 0) router.get('/docs', notBuilt);
  for (const { name, path } of files)
    router.get(addressOf(path), path.endsWith('.html') ? pageRoute(name) : fileRoute(name, path));
}

function notBuilt(context: Context): void {
  context.status = 503;
  context.type = 'text/plain';
  context.body = NOT_BUILT;
}

function pageRoute(name: string): (context: Context) => void {
  const answer = builtFileAnswer(name);
  const hash = createHash('sha256').update(readFileSync(name));
  const etag = `"${hash.digest('base64url').slice(0, ETAG_LENGTH)}"`;
  return (context) => {
    context.set('Content-Security-Policy', POLICY);
    context.set('Cache-Control', 'no-cache');
    // The compressed forms are the same page.
    context.set('ETag', `W/${etag}`);
    context.vary('Accept-Encoding');
    if (context.get('If-None-Match') === `W/${etag}`) context.status = 304;
    else answer(context);
  };
}

function fileRoute(name: string, path: string): (context: Context) => void {
  const answer = builtFileAnswer(name);
  return (context) => {
    // The names of assets contain a hash of their content.
    context.set('Cache-Control', path.startsWith('assets/') ? CACHE_FOR_EVER : CACHE_PICTURE);
    answer(context);
  };
}
