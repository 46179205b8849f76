import type { IncomingMessage } from 'node:http';
import { constants } from 'node:zlib';
import Router from '@koa/router';
import Koa from 'koa';
import compress from 'koa-compress';
import helmet from 'koa-helmet';
import { noticeOutage } from '#core/platform/engine/engine-starts.ts';
import { apiRequestSeconds } from '#core/platform/log/metrics.ts';
import { newId } from '#core/platform/new-id.ts';
import { inSpan } from '#core/platform/tracing/trace.ts';
import { CatalogueError } from '#domain/errors.ts';
import { unknownPage } from './documents/dashboard-files.ts';
import { type ApiContext, handlerOf, type RequestState } from './handle.ts';
import { asCatalogueError, errorBody } from './http/error-response.ts';
import { RateLimited } from './http/rate-limit.ts';
import type { Route } from './http/route.ts';
import { MCP_PATH } from './mcp.ts';
import { PROTECTED_RESOURCE_PATH } from './oauth/protocol.ts';

/** A request id from the client is used if it is short and harmless in a log. */
const REQUEST_ID = /^[A-Za-z0-9._~:/+=-]{1,128}$/;
/** Smaller answers cost more to compress than to send. */
const COMPRESS_FROM_BYTES = 8_192;
const BROTLI_QUALITY = 3;
const BEARER_CHALLENGE = 'Bearer realm="agent-mailbox"';

type ApiApp = Koa<RequestState>;

/**
 * The Koa application over a route table.
 *
 * @param pages adds pages that are not routes of the API: documentation and dashboard
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
  // Only connections that broke while an answer was written cause this event.
  app.on('error', (error: Error) => services.log.debug({ error: error.message }, 'an answer was not sent completely'));

  const router = new Router<RequestState>();
  const routers = new Map<string, Router<RequestState>>();
  for (const route of routes) {
    const handler = handlerOf(route, api);
    const key = routerKey(route.method, route.path);
    const few = routers.get(key) ?? new Router<RequestState>();
    routers.set(key, few);
    for (const each of [router, few])
      each.register(route.path, [route.method.toLowerCase()], handler, { name: route.operationId });
  }
  pages(router);

  app.use(async (context, next) => {
    const given = context.get('x-request-id');
    const requestId = REQUEST_ID.test(given) ? given : newId('request');
    context.state.requestId = requestId;
    context.set('X-Request-Id', requestId);
    const startedAt = performance.now();
    const attributes = { 'http.request.method': context.method, 'agent_mailbox.request.id': requestId };
    // A context that the client sends is not trusted.
    await inSpan('api.request', { kind: 'server', parent: null, attributes }, async (span) => {
      try {
        requireHost(context.req);
        await next();
      } catch (error) {
        renderError(error, context, api);
      }
      const { status } = context;
      span.set({ 'http.response.status_code': status, 'agent_mailbox.operation': context.state.operationId });
      if (status >= 500) span.fail(String(status));
    });
    const ms = performance.now() - startedAt;
    apiRequestSeconds.observe({ method: context.method, status: `${Math.floor(context.status / 100)}xx` }, ms / 1_000);
    services.log.info(
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
  const dispatches = new Map([...routers].map(([key, few]) => [key, few.routes()]));
  const dispatchToAny = router.routes();
  const dispatch: (...given: Parameters<typeof dispatchToAny>) => unknown = (context, next) => {
    const method = context.method === 'HEAD' ? 'GET' : context.method;
    const toFew = dispatches.get(routerKey(method, context.path));
    const toAny = () => dispatchToAny(context, next);
    // Pages are in the router of all.
    return toFew === undefined ? toAny() : toFew(context, toAny);
  };
  app.use(dispatch);
  const answerUnknownPage = unknownPage();
  app.use(async (context) => {
    if (context.body !== undefined || context.status !== 404) return;
    const methods = allowedMethods(router, context.path);
    if (methods.length === 0 && answerUnknownPage(context)) return;
    if (methods.length === 0)
      throw new CatalogueError('not_found', 'There is no such path.', {
        fix: 'Look up the path in /docs or /openapi.json.',
      });
    context.set('Allow', methods.join(', '));
    if (context.method !== 'OPTIONS') throw new CatalogueError('method_not_allowed');
    context.status = 204;
  });
  return app;
}

/**
 * A router tries the patterns of all its paths, some hundred. So each has those of one method and one number of
 * segments.
 */
const routerKey = (method: string, path: string): string => `${method} ${path.replace(/\/$/, '').split('/').length}`;

/** @throws {CatalogueError} invalid_request, as RFC 9112 §3.2 wants it */
function requireHost({ headers, httpVersion }: IncomingMessage): void {
  if (headers.host !== undefined || httpVersion === '1.0') return;
  throw new CatalogueError('invalid_request', 'The header field Host is missing.', {
    details: [{ path: 'header/host', message: 'is required' }],
    fix: 'Send a Host header with the name of this service.',
  });
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
  if (known.code === 'unavailable' && !noticeOutage(api.services.log, error))
    api.services.log.warn({ requestId, error: error instanceof Error ? error.message : undefined }, 'unavailable');
  // An unread body would be parsed as the next request of the connection.
  if (!context.req.complete) context.set('Connection', 'close');
  if (error instanceof RateLimited) context.set(error.headers);
  if (known.retryAfterSeconds !== undefined) context.set('Retry-After', String(known.retryAfterSeconds));
  if (known.code === 'unauthenticated') context.set('WWW-Authenticate', challengeFor(context, api.publicUrl()));
  context.status = known.status;
  context.type = 'application/json';
  context.body = JSON.stringify(errorBody(known, requestId, api.publicUrl()));
}

/** At `/mcp` it names the metadata by which a program can ask a person for access (RFC 9728 §5.1, RFC 6750 §3). */
function challengeFor(context: Koa.ParameterizedContext<RequestState>, publicUrl: string): string {
  if (context.path !== MCP_PATH) return BEARER_CHALLENGE;
  const error = context.get('authorization') === '' ? '' : ', error="invalid_token"';
  return `${BEARER_CHALLENGE}${error}, resource_metadata="${publicUrl}${PROTECTED_RESOURCE_PATH}"`;
}

/** The logged part of an unknown error. Its other fields may contain values of rows. */
function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? error.code : undefined;
  return { name: error.name, code, message: error.message, stack: error.stack };
}
