import { readFileSync } from 'node:fs';
import type Router from '@koa/router';
import type { RequestState } from '#api/handle.ts';
import type { Route } from '#api/http/route.ts';
import { asyncApiDocument } from './asyncapi.ts';
import { type DocumentedEvent, openApiDocument } from './openapi.ts';

const CACHE_SECONDS = 300;
const PACKAGE = new URL('../../package.json', import.meta.url);

const currentVersion = (): string => (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }).version;

/** The OpenAPI document of this version of the service. */
export function currentOpenApi(routes: readonly Route[], events: readonly DocumentedEvent[], publicUrl: string) {
  return openApiDocument({ routes, events, publicUrl, version: currentVersion() });
}

/** The AsyncAPI document of this version of the service. */
export const currentAsyncApi = (events: readonly DocumentedEvent[], publicUrl: string) =>
  asyncApiDocument({ events, publicUrl, version: currentVersion() });

/** Serves the OpenAPI and the AsyncAPI document. Each is made at its first request and cached. */
export function addDocuments(
  router: Router<RequestState>,
  routes: readonly Route[],
  events: readonly DocumentedEvent[],
  publicUrl: () => string,
): void {
  const serve = (path: string, make: () => unknown): void => {
    let text: string | undefined;
    router.get(path, (context) => {
      text ??= JSON.stringify(make());
      context.type = 'application/json';
      context.set('Cache-Control', `public, max-age=${CACHE_SECONDS}`);
      context.body = text;
    });
  };
  serve('/openapi.json', () => currentOpenApi(routes, events, publicUrl()));
  serve('/asyncapi.json', () => currentAsyncApi(events, publicUrl()));
}
