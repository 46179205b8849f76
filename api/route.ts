/**
 * A route is data: what it takes, what it answers, who may call it. The server mounts the table of all routes
 * (`routes.ts`), the OpenAPI document and the tests are made from it.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import type { Caller } from '../core/caller.ts';
import type { Services } from '../core/services.ts';
import type { TemporalClient } from '../core/temporal-client.ts';
import type { ApiScope, MemberRole } from '../domain/api-scopes.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { MailNotifier } from '../mail/store/notifier.ts';
import type {
  ActiveOrganization,
  ApiKeyPrincipal,
  MailboxPrincipal,
  OperatorPrincipal,
  Principal,
  PublicPrincipal,
  UserPrincipal,
} from './principal.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call a route.
 *
 * - `public`: anybody.
 * - `operator`: `x-operator-key`, acting on one organization of the instance; `instance`: the same, on no organization.
 * - `session`: a signed-in person, with or without an organization.
 * - `{ role }`: a session of a member with at least this role.
 * - `{ scope }`: an API key with the scope, or a session of any member. With `mailboxToken` also the token of the
 *   mailbox that the path names as `:id`.
 * - `mailbox_token`: a mailbox token and nothing else.
 */
export type AuthRule =
  | 'public'
  | 'operator'
  | 'instance'
  | 'session'
  | 'mailbox_token'
  | { readonly role: MemberRole }
  | { readonly scope: ApiScope; readonly mailboxToken?: true };

/** The principals an auth rule lets through. */
export type PrincipalOf<Auth> = Auth extends 'public'
  ? PublicPrincipal
  : Auth extends 'operator' | 'instance'
    ? OperatorPrincipal
    : Auth extends 'session' | { role: MemberRole }
      ? UserPrincipal
      : Auth extends 'mailbox_token'
        ? MailboxPrincipal
        : Auth extends { mailboxToken: true }
          ? ApiKeyPrincipal | UserPrincipal | MailboxPrincipal
          : ApiKeyPrincipal | UserPrincipal;

/** Rules whose requests act in an organization. */
export type OrganizationOf<Auth> = Auth extends 'public' | 'instance' | 'session' ? null : ActiveOrganization;

/** One status a route answers with. Without `schema` and `contentType` the body is empty. */
export interface ResponseSpec {
  readonly description: string;
  readonly schema?: TSchema;
  /** Shown in the documents and checked against the schema by the tests. */
  readonly example?: unknown;
  /** Media type of a body that is not JSON; the handler answers text, bytes or a stream. */
  readonly contentType?: string;
  /** Headers beyond those every answer has. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type ResponseSpecs = Readonly<Record<number, ResponseSpec>>;

export type ReplyHeaders = Readonly<Record<string, string>>;

type ReplyOf<Status, Spec> = Spec extends { readonly schema: infer Schema extends TSchema }
  ? { readonly status: Status; readonly body: Static<Schema>; readonly headers?: ReplyHeaders }
  : Spec extends { readonly contentType: string }
    ? { readonly status: Status; readonly body: string | Uint8Array | Readable; readonly headers?: ReplyHeaders }
    : { readonly status: Status; readonly headers?: ReplyHeaders };

/** What a handler may return: one of the declared statuses with a body of its schema. */
export type Reply<Responses> = { [Status in keyof Responses]: ReplyOf<Status, Responses[Status]> }[keyof Responses];

/** A request as the handler sees it: validated, authenticated, authorized. */
export interface ApiRequest<Auth, Params extends TSchema, Query extends TSchema, Body extends TSchema> {
  readonly params: Static<Params>;
  readonly query: Static<Query>;
  readonly body: Static<Body>;
  readonly principal: PrincipalOf<Auth>;
  readonly organization: OrganizationOf<Auth>;
  /** Actor, address and request id, for audit entries and events. */
  readonly caller: Caller;
  readonly services: Services;
  readonly temporal: TemporalClient;
  /** Told of changes of mail after their commit. */
  readonly notifier: MailNotifier;
  /** Aborted when the server begins to stop. */
  readonly stopping: AbortSignal;
  /** Address of this API as clients see it, without a slash at the end. */
  readonly publicUrl: string;
  readonly requestId: string;
  readonly ipAddress: string;
  readonly headers: IncomingHttpHeaders;
  /** Calls the listener when the connection of the answer closes, for long polls and streams. */
  onClose(listener: () => void): void;
}

/** Everything about a route but its code. */
export interface RouteInfo {
  readonly method: HttpMethod;
  /** Path with `:name` parameters, e.g. `/api/mailboxes/:id`. */
  readonly path: string;
  /** Name of the operation in the OpenAPI document, e.g. `createMailbox`. */
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly auth: AuthRule;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** A valid body, shown in the documents and the base of the tests of invalid fields. */
  readonly bodyExample?: Readonly<Record<string, unknown>>;
  /** Largest body in bytes; default {@link BODY_LIMIT_BYTES}. */
  readonly bodyLimitBytes?: number;
  readonly responses: ResponseSpecs;
  /** Errors of the handler itself. Those of authentication, validation and limits are known from the other fields. */
  readonly errors?: readonly ErrorCode[];
  /** Top-level fields of the answer that are shown once; a late replay by Idempotency-Key answers null for them. */
  readonly secretFields?: readonly string[];
  /** A GET of one resource: its answer carries an ETag and heeds If-None-Match. */
  readonly etag?: true;
  /** Exempt from rate limits: health checks. */
  readonly unlimited?: true;
}

export interface UntypedReply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: ReplyHeaders;
}

export type UntypedRequest = Omit<
  ApiRequest<AuthRule, TSchema, TSchema, TSchema>,
  'params' | 'query' | 'body' | 'principal' | 'organization'
> & {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly principal: Principal;
  readonly organization: ActiveOrganization | null;
};

export interface Route extends RouteInfo {
  run(request: UntypedRequest): Promise<UntypedReply>;
}

export const BODY_LIMIT_BYTES = 256 * 1024;

interface RouteDefinition<Auth, Params extends TSchema, Query extends TSchema, Body extends TSchema, Responses>
  extends Omit<RouteInfo, 'auth' | 'params' | 'query' | 'body' | 'responses'> {
  readonly auth: Auth;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly responses: Responses;
  handler(request: ApiRequest<Auth, Params, Query, Body>): Promise<Reply<Responses>>;
}

/** Defines a route; the handler's request and reply are typed by its schemas. */
export function route<
  const Auth extends AuthRule,
  const Responses extends ResponseSpecs,
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
>(definition: RouteDefinition<Auth, Params, Query, Body, Responses>): Route {
  const { handler, ...info } = definition;
  return {
    ...info,
    // The server has validated the request by the very schemas and rule that type it; `Reply` is a status and a body.
    run: (request) =>
      handler(request as unknown as ApiRequest<Auth, Params, Query, Body>) as Promise<unknown> as Promise<UntypedReply>,
  };
}
