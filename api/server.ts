import { constants } from 'node:zlib';
import Router from '@koa/router';
import Koa from 'koa';
import compress from 'koa-compress';
import helmet from 'koa-helmet';
import { apiRequestSeconds } from '../core/metrics.ts';
import { newId } from '../core/new-id.ts';
import { CatalogueError } from '../domain/errors.ts';
import { asCatalogueError, errorBody } from './error-response.ts';
import { type ApiContext, handlerOf, type RequestState } from './handle.ts';
import { RateLimited } from './rate-limit.ts';
import type { Route } from './route.ts';

/** A request id from outside is taken over when it is short and harmless in a log. */
const REQUEST_ID = /^[A-Za-z0-9._~:/+=-]{1,128}$/;
/** Smaller answers cost more to compress than to send. */
const COMPRESS_FROM_BYTES = 8_192;
const BROTLI_QUALITY = 3;
const BEARER_CHALLENGE = 'Bearer realm="agent-mailbox"';

export type ApiApp = Koa<RequestState>;

/**
 * The Koa application over a route table.
 *
 * @param pages adds what is no route of the API: documents, later the dashboard
 */
export function createApp(
  routes: readonly Route[],
  api: ApiContext,
  pages: (router: Router<RequestState>) => void = () => {},
): ApiApp {
  const { services } = api;
  const app: ApiApp = new Koa<RequestState>();
  app.proxy = services.settings.API_TRUSTED_PROXIES > 0;
  app.maxIpsCount = services.settings.API_TRUSTED_PROXIES;
  app.silent = true;
  // What reaches Koa itself is a connection that broke while an answer was written.
  app.on('error', (error: Error) => services.log.debug({ error: error.message }, 'an answer was cut short'));

  const router = new Router<RequestState>();
  for (const route of routes)
    router.register(route.path, [route.method.toLowerCase()], handlerOf(route, api), { name: route.operationId });
  pages(router);

  app.use(async (context, next) => {
    const given = context.get('x-request-id');
    const requestId = REQUEST_ID.test(given) ? given : newId('request');
    context.state.requestId = requestId;
    context.set('X-Request-Id', requestId);
    const startedAt = performance.now();
    try {
      await next();
    } catch (error) {
      renderError(error, context, api);
    }
    const ms = performance.now() - startedAt;
    apiRequestSeconds.observe({ method: context.method, status: `${Math.floor(context.status / 100)}xx` }, ms / 1_000);
    services.log.debug(
      {
        requestId,
        method: context.method,
        operation: context.state.operationId,
        status: context.status,
        ms: Math.round(ms * 10) / 10,
      },
      'request',
    );
  });
  app.use(
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          styleSrc: ["'self'"],
          scriptSrc: ["'self'"],
          imgSrc: ["'self'", 'data:'],
          fontSrc: ["'self'"],
          connectSrc: ["'self'"],
          formAction: ["'self'"],
          baseUri: ["'none'"],
          frameAncestors: ["'none'"],
        },
      },
      strictTransportSecurity: services.settings.MODE === 'production',
    }),
  );
  app.use(
    compress({
      threshold: COMPRESS_FROM_BYTES,
      br: { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } },
    }),
  );
  app.use(router.routes());
  app.use(async (context) => {
    if (context.body !== undefined || context.status !== 404) return;
    const methods = allowedMethods(router, context.path);
    if (methods.length === 0)
      throw new CatalogueError('not_found', 'There is no such path.', {
        fix: 'Look the path up at /docs or /openapi.json.',
      });
    context.set('Allow', methods.join(', '));
    if (context.method !== 'OPTIONS') throw new CatalogueError('method_not_allowed');
    context.status = 204;
  });
  return app;
}

function allowedMethods(router: Router<RequestState>, path: string): string[] {
  const methods = new Set(router.match(path, 'OPTIONS').path.flatMap((layer) => layer.methods));
  return methods.size === 0 ? [] : [...methods, 'OPTIONS'];
}

function renderError(error: unknown, context: Koa.ParameterizedContext<RequestState>, api: ApiContext): void {
  const { requestId } = context.state;
  const known = asCatalogueError(error);
  if (known.code === 'internal_error')
    api.services.log.error(
      { requestId, method: context.method, operation: context.state.operationId, error: describe(error) },
      'a request failed',
    );
  if (known.code === 'unavailable')
    api.services.log.warn({ requestId, error: error instanceof Error ? error.message : undefined }, 'unavailable');
  // A body that was not read would be taken for the next request of the connection.
  if (!context.req.complete) context.set('Connection', 'close');
  if (error instanceof RateLimited) context.set(error.headers);
  if (known.retryAfterSeconds !== undefined) context.set('Retry-After', String(known.retryAfterSeconds));
  if (known.code === 'unauthenticated') context.set('WWW-Authenticate', BEARER_CHALLENGE);
  context.status = known.status;
  context.type = 'application/json';
  context.body = JSON.stringify(errorBody(known, requestId, api.publicUrl()));
}

/** What the log keeps of an unknown error. Other fields of it may hold values of rows. */
function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? error.code : undefined;
  return { name: error.name, code, message: error.message, stack: error.stack };
}
