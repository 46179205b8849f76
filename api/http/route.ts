/**
 * A route is data: its input, its answers, and who may call it. The server mounts the table of all routes
 * (`routes.ts`); the OpenAPI document and the tests are made from it.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import type { Caller } from '#core/platform/caller.ts';
import type { TemporalClient } from '#core/platform/engine/temporal-client.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { ReadinessMonitor } from '#core/process/readiness.ts';
import type { ApiScope, MemberRole } from '#domain/access/api-scopes.ts';
import type { ErrorCode } from '#domain/errors.ts';
import type { TokenNeed } from '#domain/organizations/mailboxes.ts';
import type { MailNotifier } from '#mailstore/changes/notifier.ts';
import type {
  ActiveOrganization,
  ApiKeyPrincipal,
  ApprovalPrincipal,
  MailboxPrincipal,
  OperatorPrincipal,
  Principal,
  PublicPrincipal,
  UserPrincipal,
} from './principal.ts';
import { oneLineTexts } from './text-rules.ts';

/** What each tag of the route table is about: the resources of the OpenAPI document and of the documentation. */
export const RESOURCES = {
  Mailboxes:
    'Create, change, suspend and delete mailboxes, rotate their tokens, and get the settings for mail programs.',
  Messages:
    'List, search, read, label, move and delete messages, wait for new ones, and get the codes and links in them.',
  Sending: 'Send, reply to and forward messages, and see what happened to them.',
  Drafts: 'Messages that are not sent yet; mail programs see them in the folder Drafts.',
  Files:
    'Upload files once and attach them by their id; a one-time URL takes files from programs without a credential.',
  Events: 'Changes of a mailbox as a stream of server-sent events, and the events that webhooks receive.',
  Consents: 'Requests for a decision of a person about held messages.',
  'Held mail': 'Arriving mail that waits outside its mailbox until a member has decided about it.',
  'Approval by link': 'The routes behind the link of a notice, by which one member decides about one held message.',
  Lists: 'Allow and block lists of senders and recipients, for the organization or one mailbox.',
  Suppressions: 'Addresses that the service no longer writes to, because they bounced or complained.',
  Threads: 'Conversations of a mailbox.',
  Folders: 'Folders of a mailbox with their counts.',
  Domains: 'Own domains with their DNS records.',
  Sessions: 'Sign in and out, change a password, and choose notifications.',
  Organization: 'The organization with its settings, its plan, and a stream of its events.',
  Members: 'People of the organization, their roles, and invitations.',
  'API keys': 'Keys for programs, with scopes and expiry.',
  Usage: 'Counts of mailboxes, messages and storage, now and by day.',
  Audit: 'Who changed what.',
  Activity: 'Find a message, event, delivery or approval, and its history as one timeline.',
  Webhooks: 'Endpoints for events, their deliveries with every attempt, sending again, and recovery after an outage.',
  Operators:
    'For the operator of the instance: its state, tenants, mail across tenants, the queue, erasures, and what operators did.',
  'Connected programs':
    'Programs with access to a mailbox by OAuth, and the requests for access that a person decides.',
  Operations: 'Health checks for load balancers and supervisors.',
} as const;
export type ResourceName = keyof typeof RESOURCES;

/** Reasons that several resources give for a route without a call (`RouteInfo.withoutCall`). */
export const SHOWN_TO_PERSONS =
  'Settings and reports that a person changes and reads in the dashboard; programs use the client.';
export const FORM_IN_BROWSER =
  'A form in the browser, where a person types a password; programs use keys, and people sign in there.';

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
 * - `approval_link`: the link of a notice about held mail, and nothing else.
 */
export type AuthRule =
  | 'public'
  | 'operator'
  | 'instance'
  | 'session'
  | 'mailbox_token'
  | 'approval_link'
  | { readonly role: MemberRole }
  | { readonly scope: ApiScope; readonly mailboxToken?: true };

/** The principals an auth rule lets through. */
type PrincipalOf<Auth> = Auth extends 'public'
  ? PublicPrincipal
  : Auth extends 'operator' | 'instance'
    ? OperatorPrincipal
    : Auth extends 'session' | { role: MemberRole }
      ? UserPrincipal
      : Auth extends 'mailbox_token'
        ? MailboxPrincipal
        : Auth extends 'approval_link'
          ? ApprovalPrincipal
          : Auth extends { mailboxToken: true }
            ? ApiKeyPrincipal | UserPrincipal | MailboxPrincipal
            : ApiKeyPrincipal | UserPrincipal;

/** Rules whose requests act in an organization. */
type OrganizationOf<Auth> = Auth extends 'public' | 'instance' | 'session' ? null : ActiveOrganization;

/** One status a route answers with. Without `schema` and `contentType` the body is empty. */
export interface ResponseSpec {
  readonly description: string;
  readonly schema?: TSchema;
  /** Shown in the documents and checked against the schema by the tests. */
  readonly example?: unknown;
  /** Media type of a body that is not JSON; the handler answers text, bytes or a stream. */
  readonly contentType?: string;
  /** Of a stream of server-sent events: the schema of the data of each event, by its name. */
  readonly streamEvents?: Readonly<Record<string, TSchema>>;
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

/** The result of a handler: one of the declared statuses with a body of its schema. */
export type Reply<Responses> = { [Status in keyof Responses]: ReplyOf<Status, Responses[Status]> }[keyof Responses];

/** The browser that sent a request, for routes that sign in and out. */
export interface BrowserOfRequest {
  /** @throws {CatalogueError} forbidden, if the request does not come from a page of this service */
  requireOwnPage(): void;
  /** Keeps a session in a cookie, or forgets the one there is (null). */
  keepSession(token: string | null): void;
}

/** A request as the handler sees it: validated, authenticated, authorized. */
export interface ApiRequest<
  Auth,
  Params extends TSchema,
  Query extends TSchema,
  Body extends TSchema,
  Received = undefined,
> {
  readonly params: Static<Params>;
  readonly query: Static<Query>;
  readonly body: Static<Body>;
  /** What `receive` made of the body. */
  readonly received: Received;
  readonly principal: PrincipalOf<Auth>;
  readonly organization: OrganizationOf<Auth>;
  /** Actor, address and request id, for audit entries and events. */
  readonly caller: Caller;
  readonly services: Services;
  readonly temporal: TemporalClient;
  /** Notified of changes of mail after their commit. */
  readonly notifier: MailNotifier;
  /** The readiness monitor for /readyz. */
  readonly readiness: ReadinessMonitor;
  /** Aborted when the server starts to stop. */
  readonly stopping: AbortSignal;
  /** Address of this API as clients see it, without a slash at the end. */
  readonly publicUrl: string;
  readonly requestId: string;
  readonly ipAddress: string;
  readonly headers: IncomingHttpHeaders;
  /** Calls the listener when the connection of the answer closes, for long polls and streams. */
  onClose(listener: () => void): void;
  readonly browser: BrowserOfRequest;
}

/** A request whose body has not been read, for routes that stream it. */
export interface IncomingUpload {
  readonly request: IncomingMessage;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly principal: Principal;
  readonly organization: ActiveOrganization | null;
  /** Outside of the unit of work of the request: an upload may take minutes. */
  readonly services: Services;
}

/** A body that was streamed to where it is stored. */
export interface Received<Value> {
  readonly value: Value;
  /** Stands for the body where requests with an Idempotency-Key are compared. */
  readonly text: string;
}

/** Everything about a route but its code. */
export interface RouteInfo {
  readonly method: HttpMethod;
  /** Path with `:name` parameters, e.g. `/api/mailboxes/:id`. */
  readonly path: string;
  /** Name of the operation in the OpenAPI document, e.g. `createMailbox`. */
  readonly operationId: string;
  readonly tag: ResourceName;
  readonly summary: string;
  readonly description?: string;
  readonly auth: AuthRule;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** A valid body, shown in the documents and the base of the tests of invalid fields. */
  readonly bodyExample?: Readonly<Record<string, unknown>>;
  /** The body is a file of any type, as it is or as multipart/form-data, instead of JSON. */
  readonly takesFile?: true;
  /** Largest body in bytes; default {@link BODY_LIMIT_BYTES}. */
  readonly bodyLimitBytes?: number;
  readonly responses: ResponseSpecs;
  /** Errors of the handler itself. Those of authentication, validation and limits are known from the other fields. */
  readonly errors?: readonly ErrorCode[];
  /** Top-level fields of the answer that are shown once; a late replay by Idempotency-Key answers null for them. */
  readonly secretFields?: readonly string[];
  /** A GET of one resource: its answer carries an ETag and heeds If-None-Match. */
  readonly etag?: true;
  /**
   * A POST that makes one transaction and reads nothing after it: without an Idempotency-Key it needs no unit of work, and
   * may share its commit with other requests.
   */
  readonly oneTransaction?: true;
  /**
   * With `approval_link`: the link may come once more after its member has decided, as the answer may have been lost. The
   * handler looks at `principal.decided` first.
   */
  readonly againAfterDecision?: true;
  /** What a mailbox token must allow here. Default: `read` for GET, else `change`. */
  readonly tokenNeeds?: TokenNeed | undefined;
  /**
   * API keys that are limited to groups of mailboxes may call it although its path names no mailbox. The handler reads
   * and changes only what `reachOf(principal)` includes.
   */
  readonly limitedKeys?: true;
  /**
   * Why it has no method in the clients, no command, or no MCP tool on purpose; without a `client` it can have no command
   * either. Routes that MCP cannot call (`auth` is no mailbox token), and those of operators and links, need no reason.
   */
  readonly withoutCall?: { readonly client?: string; readonly cli?: string; readonly mcp?: string };
  /** Exempt from the limit of the organization: health checks, and links of notices, which are limited by source. */
  readonly unlimited?: true;
}

/** What a mailbox token must allow for a route. */
export const tokenNeedOf = ({ method, tokenNeeds }: Pick<RouteInfo, 'method' | 'tokenNeeds'>): TokenNeed =>
  tokenNeeds ?? (method === 'GET' ? 'read' : 'change');

export interface UntypedReply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: ReplyHeaders;
}

export type UntypedRequest = Omit<
  ApiRequest<AuthRule, TSchema, TSchema, TSchema>,
  'params' | 'query' | 'body' | 'received' | 'principal' | 'organization'
> & {
  readonly received: unknown;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly principal: Principal;
  readonly organization: ActiveOrganization | null;
};

export interface Route extends RouteInfo {
  receive?(upload: IncomingUpload): Promise<Received<unknown>>;
  run(request: UntypedRequest): Promise<UntypedReply>;
}

export const BODY_LIMIT_BYTES = 256 * 1024;

export interface RouteDefinition<
  Auth,
  Params extends TSchema,
  Query extends TSchema,
  Body extends TSchema,
  Responses,
  Value,
> extends Omit<RouteInfo, 'auth' | 'params' | 'query' | 'body' | 'responses'> {
  readonly auth: Auth;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly responses: Responses;
  /** With `takesFile`: streams the body, before the unit of work begins. */
  receive?(upload: IncomingUpload): Promise<Received<Value>>;
  handler(request: ApiRequest<Auth, Params, Query, Body, Value>): Promise<Reply<Responses>>;
}

/** Defines a route; the handler's request and reply are typed by its schemas. */
export function route<
  const Auth extends AuthRule,
  const Responses extends ResponseSpecs,
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
  Value = undefined,
>(definition: RouteDefinition<Auth, Params, Query, Body, Responses, Value>): Route {
  const { handler, ...info } = definition;
  return {
    ...info,
    ...(info.query === undefined ? {} : { query: oneLineTexts(info.query) }),
    ...(info.body === undefined ? {} : { body: oneLineTexts(info.body) }),
    // The server has validated the request by the very schemas and rule that type it; `Reply` is a status and a body.
    run: (request) =>
      handler(
        request as unknown as ApiRequest<Auth, Params, Query, Body, Value>,
      ) as Promise<unknown> as Promise<UntypedReply>,
  };
}

/** Whether requests of this rule act in an organization, which is what rate limits count by. */
export const actsInOrganization = (auth: AuthRule): boolean =>
  auth !== 'public' && auth !== 'session' && auth !== 'instance';

/** Every error a route can answer with: its own, and those that follow from its input and its auth rule. */
export function errorsOf(route: RouteInfo): readonly ErrorCode[] {
  const { auth } = route;
  const codes = new Set<ErrorCode>(['invalid_request']);
  if (auth !== 'public') codes.add('unauthenticated').add('forbidden');
  if (auth === 'mailbox_token' || (typeof auth === 'object' && 'scope' in auth)) codes.add('insufficient_scope');
  if (actsInOrganization(auth) && auth !== 'mailbox_token' && auth !== 'operator') codes.add('second_factor_required');
  if (route.params !== undefined) codes.add('not_found');
  if (route.method !== 'GET') codes.add('payload_too_large').add('unsupported_media_type');
  if (route.method === 'POST') codes.add('idempotency_conflict');
  if (auth === 'operator' || auth === 'instance') codes.add('rate_limited');
  if (actsInOrganization(auth) && route.unlimited === undefined) codes.add('rate_limited');
  for (const code of route.errors ?? []) codes.add(code);
  return [...codes, 'request_timeout', 'headers_too_large', 'internal_error', 'unavailable'];
}
