/**
 * The way of a request through a route:
 *
 *   authenticate → authorize → rate limit → body → validate → idempotency key → handler → answer
 *
 * Everything a route needs is compiled when it is mounted; a request allocates no checks of its own.
 */
import { createHash } from 'node:crypto';
import type { ParameterizedContext } from 'koa';
import type { Services } from '../core/services.ts';
import type { TemporalClient } from '../core/temporal-client.ts';
import { isAnswerLost } from '../db/database-away.ts';
import type { MailNotifier } from '../mail/store/notifier.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import { reserve, type StoredAnswer } from './idempotency.ts';
import { actorOf, principalKey } from './principal.ts';
import { limitRate } from './rate-limit.ts';
import { readBody } from './read-body.ts';
import { BODY_LIMIT_BYTES, type Route, type UntypedReply } from './route.ts';
import { refuseUnstorableText } from './storable-text.ts';
import { compileChecks } from './validate.ts';

/** What the server gives every route. */
export interface ApiContext {
  readonly services: Services;
  readonly temporal: TemporalClient;
  readonly notifier: MailNotifier;
  /** Aborted when the server begins to stop: long polls and streams end. */
  readonly stopping: AbortSignal;
  /** Address of the API as clients see it; known once it listens. */
  readonly publicUrl: () => string;
}

export interface RequestState {
  requestId: string;
  /** Operation that answers, for the log. */
  operationId?: string;
}

type Context = ParameterizedContext<RequestState> & { params?: Record<string, string> };

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/;

/** Middleware of one route. */
export function handlerOf(route: Route, api: ApiContext): (context: Context) => Promise<void> {
  const { services, temporal, notifier, stopping } = api;
  const checks = compileChecks(route);
  const bodyLimit = route.bodyLimitBytes ?? BODY_LIMIT_BYTES;
  const mayHaveBody = METHODS_WITH_BODY.has(route.method);
  return async (context) => {
    const { requestId } = context.state;
    context.state.operationId = route.operationId;
    const params = context.params ?? {};
    const headers = context.req.headers;
    const { principal, organization } = await authenticate(services, route.auth, headers);
    authorize(route.auth, principal, params.id);
    if (organization !== null && route.unlimited === undefined) context.set(await limitRate(services, organization));
    const { text, value: body } = mayHaveBody ? await readBody(context.req, bodyLimit) : { text: '', value: {} };
    checks.params(params);
    const query = context.query;
    checks.query(query);
    refuseUnstorableText(query);
    checks.body(body);
    const ipAddress = context.ip.replace(IPV4_IN_IPV6, '');
    const run = () =>
      route.run({
        params,
        query,
        body,
        principal,
        organization,
        caller: { actor: actorOf(principal), ipAddress, requestId },
        services,
        temporal,
        notifier,
        stopping,
        publicUrl: api.publicUrl(),
        requestId,
        ipAddress,
        headers,
        onClose: (listener) => context.res.once('close', listener),
      });
    const key = route.method === 'POST' ? headers['idempotency-key'] : undefined;
    if (key === undefined) {
      answer(context, route, await run());
      return;
    }
    const reservation = await reserve(services, route, principalKey(principal), String(key), {
      method: route.method,
      path: context.url,
      organizationId: organization?.id ?? '',
      text,
    });
    if (reservation.kind === 'replay') {
      context.set('Idempotent-Replayed', 'true');
      send(context, reservation.answer);
      return;
    }
    let reply: UntypedReply;
    try {
      reply = await run();
    } catch (error) {
      // Where the answer to a commit was lost, the request may have been done: its key stays taken, so that nobody who
      // tries again does it twice.
      if (!isAnswerLost(error)) await reservation.release().catch(() => {});
      throw error;
    }
    const stored = { status: reply.status, headers: reply.headers ?? {}, text: textOf(reply) };
    await reservation.store(stored);
    send(context, stored);
  };
}

const textOf = (reply: UntypedReply): string => (reply.body === undefined ? '' : JSON.stringify(reply.body));

/** Writes an answer whose body is JSON text already. */
function send(context: Context, { status, headers, text }: StoredAnswer): void {
  context.status = status;
  context.set(headers);
  if (text === '') {
    context.body = null;
    context.status = status; // Koa turns an empty body into 204.
    return;
  }
  context.type = 'application/json';
  if (!context.res.hasHeader('Cache-Control')) context.set('Cache-Control', 'no-store');
  context.body = text;
}

function answer(context: Context, route: Route, reply: UntypedReply): void {
  const contentType = route.responses[reply.status]?.contentType;
  if (contentType !== undefined) {
    context.status = reply.status;
    context.type = contentType;
    if (reply.headers !== undefined) context.set(reply.headers);
    context.body = reply.body;
    return;
  }
  const text = textOf(reply);
  if (route.etag === true && reply.status === 200) {
    const etag = `"${createHash('sha1').update(text).digest('base64url')}"`;
    context.set('ETag', etag);
    context.set('Cache-Control', 'private, no-cache');
    if (namesEtag(context.get('If-None-Match'), etag)) {
      context.status = 304;
      return;
    }
  }
  send(context, { status: reply.status, headers: reply.headers ?? {}, text });
}

/**
 * Whether If-None-Match (RFC 9110 §13.1.2) names this ETag. Not Koa's `fresh`, which never answers 304 to a request with
 * `Cache-Control: no-cache`: `fetch` adds that to every conditional request.
 */
const namesEtag = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.trim() === '*' ||
  ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
