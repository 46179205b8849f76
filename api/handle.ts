/**
 * The path of a request through a route:
 *
 *   authenticate, count → authorize → rate limit → body → validate → idempotency key → handler → answer
 *
 * The handler of a POST works inside one unit of work, so that a request has its whole effect or none. With an
 * Idempotency-Key its answer is part of it (`idempotency.ts`).
 *
 * Everything a route needs is compiled when it is mounted; nothing is compiled per request.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { ParameterizedContext } from 'koa';
import { beginOperatorUse, endOperatorUse } from '#administration/operator-uses.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { ReadinessMonitor } from '#core/process/readiness.ts';
import { openUnitOfWork, type UnitOfWork } from '#db/unit-of-work.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { MailNotifier } from '#mailstore/changes/notifier.ts';
import { authenticate } from './auth/authenticate.ts';
import { authorize, requireReach, requireSecondFactor, requireTokenAccess } from './auth/authorize.ts';
import {
  AnsweredMeanwhile,
  findAnswer,
  keyedRequest,
  type StoredAnswer,
  storeAnswer,
  takeKey,
} from './http/idempotency.ts';
import { callerOf, principalKey } from './http/principal.ts';
import { limitApprovalLinks, limitRate } from './http/rate-limit.ts';
import { readBody } from './http/read-body.ts';
import { BODY_LIMIT_BYTES, type Route, type UntypedReply } from './http/route.ts';
import { type CookieRequest, requireOwnOrigin, sessionCookies, sessionOfCookie } from './http/session-cookie.ts';
import { refuseUnstorableText } from './http/text-rules.ts';
import { checksOf } from './http/validate.ts';

/** The context that the server gives every route. */
export interface ApiContext {
  readonly services: Services;
  readonly temporal: TemporalClient;
  readonly notifier: MailNotifier;
  readonly readiness: ReadinessMonitor;
  /** Aborted when the server starts to stop: long polls and streams end. */
  readonly stopping: AbortSignal;
  /** Address of the API as clients see it; known once it listens. */
  readonly publicUrl: () => string;
}

export interface RequestState {
  requestId: string;
  /** Operation that answers, for the log. */
  operationId?: string;
  /** Entry of the audit log of the installation, if an operator asks. */
  operatorUse?: string;
  /** What the request made, for that entry. */
  operatorTarget?: string;
}

type Context = ParameterizedContext<RequestState> & { params?: Record<string, string> };

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** A request without any is none of a login. */
const hasCredential = (headers: IncomingHttpHeaders): boolean =>
  headers.authorization !== undefined ||
  headers['x-organization-key'] !== undefined ||
  headers['x-operator-key'] !== undefined;
const IPV4_IN_IPV6 = /^::ffff:(?=\d+\.)/;

/** Middleware of one route. */
export function handlerOf(route: Route, api: ApiContext): (context: Context) => Promise<void> {
  const { services, temporal, stopping } = api;
  const checks = checksOf(route);
  const bodyLimit = route.bodyLimitBytes ?? BODY_LIMIT_BYTES;
  const mayHaveBody = METHODS_WITH_BODY.has(route.method);
  const handle = async (context: Context): Promise<void> => {
    const { requestId } = context.state;
    context.state.operationId = route.operationId;
    const params = context.params ?? {};
    // Long polls and streams check them again while they are open.
    const headers = credentialsOf(context, api);
    const ipAddress = context.ip.replace(IPV4_IN_IPV6, '');
    if (route.auth === 'approval_link') await limitApprovalLinks(services, ipAddress);
    const { principal, organization, counted } = await authenticate(services, route.auth, headers, {
      ipAddress,
      again: route.againAfterDecision === true,
      count: route.unlimited === true ? undefined : { pathId: params.id },
      subjectId: params.id,
    }).catch((error: unknown) => {
      if (hasCredential(headers) && error instanceof CatalogueError && error.code === 'unauthenticated')
        services.mailLog.refused({
          mail: 'login',
          outcome: 'refused',
          listener: 'api',
          step: route.operationId,
          request: requestId,
          client: ipAddress,
          account: params.id,
          reply: error.message,
        });
      throw error;
    });
    if (principal.kind === 'operator')
      context.state.operatorUse = await beginOperatorUse(services.db, {
        at: new Date(services.now()),
        operation: route.operationId,
        via: 'http',
        targetId: organization?.id ?? params.id,
        ipAddress,
        requestId,
      });
    authorize(route.auth, principal, params.id);
    requireTokenAccess(principal, route);
    requireSecondFactor(principal, route);
    requireReach(principal, route);
    if (organization !== null && route.unlimited === undefined)
      context.set(await limitRate(services, organization, counted));
    const query: Record<string, unknown> = { ...context.query };
    const checkTarget = () => {
      checks.params(params);
      checks.query(query);
      refuseUnstorableText(query);
    };
    let [text, body, received]: [string, unknown, unknown] = ['', {}, undefined];
    if (route.receive === undefined) {
      if (mayHaveBody) ({ text, value: body } = await readBody(context.req, bodyLimit));
      checkTarget();
      checks.body(body);
    } else {
      // Before a byte is stored.
      checkTarget();
      ({ text, value: received } = await route.receive({
        request: context.req,
        params,
        query,
        principal,
        organization,
        services,
      }));
    }
    const runWith = (by: Pick<ApiContext, 'services' | 'notifier'>): Promise<UntypedReply> =>
      route.run({
        params,
        query,
        body,
        received,
        principal,
        organization,
        caller: callerOf(principal, ipAddress, requestId),
        services: by.services,
        temporal,
        notifier: by.notifier,
        readiness: api.readiness,
        stopping,
        publicUrl: api.publicUrl(),
        requestId,
        ipAddress,
        headers,
        onClose: (listener) => context.res.once('close', listener),
        browser: {
          requireOwnPage: () => requireOwnOrigin(cookieRequest(context, api)),
          keepSession: (token) => keepSession(context, api, token),
        },
      });
    if (route.method !== 'POST') {
      answer(context, route, await runWith(api));
      return;
    }
    const key = headers['idempotency-key'];
    if (key === undefined && route.oneTransaction === true) {
      answer(context, route, await runWith(api));
      return;
    }
    const keyed =
      key === undefined
        ? undefined
        : keyedRequest(services, principalKey(principal), String(key), {
            method: route.method,
            path: context.url,
            organizationId: organization?.id ?? '',
            text,
          });
    const known = keyed && (await findAnswer(services, services.db, keyed));
    if (known !== undefined) {
      replay(context, known);
      return;
    }
    const unit = openUnitOfWork(services.db, async (sql) => {
      if (keyed !== undefined) await takeKey(services, sql, keyed);
    });
    try {
      const reply = await runWith(within(unit, api));
      const made: unknown = Object(reply.body).id;
      if (typeof made === 'string') context.state.operatorTarget = made;
      const stored = { status: reply.status, headers: reply.headers ?? {}, text: textOf(reply) };
      await unit.commit(keyed && ((sql) => storeAnswer(services, sql, route, keyed, stored)));
      send(context, stored);
    } catch (error) {
      if (error instanceof AnsweredMeanwhile) {
        await unit.rollback();
        replay(context, error.answer);
        return;
      }
      // Records that a use case made about its refusal are kept; the key can be used again for a corrected request.
      if (error instanceof CatalogueError && error.status < 500) await unit.commit();
      else await unit.rollback();
      throw error;
    }
  };
  return async (context) => {
    let status = 500;
    try {
      await handle(context);
      ({ status } = context);
    } catch (error) {
      if (error instanceof CatalogueError) ({ status } = error);
      throw error;
    } finally {
      const { operatorUse, operatorTarget } = context.state;
      if (operatorUse !== undefined)
        await endOperatorUse(services.db, operatorUse, status, operatorTarget).catch((error: unknown) =>
          services.log.warn({ operatorUse, status, reason: reasonOf(error) }, 'the end of a use was not recorded'),
        );
    }
  };
}

/** The services of a handler inside a unit of work: wake-ups wait for the commit too. */
function within({ db }: UnitOfWork, { services, notifier }: ApiContext): Pick<ApiContext, 'services' | 'notifier'> {
  const { deliveriesDue } = services;
  return {
    services: {
      ...services,
      db,
      deliveriesDue: { ...deliveriesDue, wake: () => void db.afterCommit(() => deliveriesDue.wake()) },
    },
    notifier: { ...notifier, changed: (folderIds) => void db.afterCommit(() => notifier.changed(folderIds)) },
  };
}

function replay(context: Context, answer: StoredAnswer): void {
  context.set('Idempotent-Replayed', 'true');
  send(context, answer);
}

const cookieRequest = ({ req }: Context, api: ApiContext): CookieRequest => ({
  method: req.method ?? '',
  headers: req.headers,
  publicUrl: api.publicUrl(),
});

/** The headers, with the session of the cookie as the credential if there is no other. */
function credentialsOf(context: Context, api: ApiContext): IncomingHttpHeaders {
  const { headers } = context.req;
  const session = sessionOfCookie(cookieRequest(context, api));
  if (session === undefined) return headers;
  requireOwnOrigin(cookieRequest(context, api));
  return { ...headers, authorization: `Bearer ${session}` };
}

/** Not among the headers of the reply, because these are stored with an Idempotency-Key. */
function keepSession(context: Context, api: ApiContext, token: string | null): void {
  if (token === null && sessionOfCookie(cookieRequest(context, api)) === undefined) return;
  context.append('Set-Cookie', [...sessionCookies(token, cookieRequest(context, api))]);
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
    // The status is sent already: only an end of the connection says that the rest is missing.
    if (reply.body instanceof Readable) reply.body.once('error', () => context.res.destroy());
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
