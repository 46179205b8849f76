/**
 * An operation on one mailbox is two routes. With an API key, a session or the mailbox's token the path names the mailbox,
 * `/api/mailboxes/:id…`; with a mailbox token alone it is that of the token, `/api/mailbox…`. Here both are defined at once.
 */
import type { TObject, TSchema } from 'typebox';
import {
  type ApiRequest,
  type AuthRule,
  type IncomingUpload,
  type Received,
  type Reply,
  type ResponseSpecs,
  type Route,
  type RouteDefinition,
  route,
} from '#api/http/route.ts';
import { closed } from '#api/http/schema-parts.ts';
import { requireMailbox } from '#db/queries/mailboxes/require-mailbox.ts';
import { MailboxId } from './schema.ts';

/** The mailbox of a request. */
export interface AskedMailbox {
  readonly id: string;
  /** Who may call the route, for answers that check it again while they wait. */
  readonly rule: AuthRule;
  /** Path of the mailbox, to which those of its parts are appended. */
  readonly path: string;
}

type OfMailbox = { readonly scope: 'mailbox:read' | 'mailbox:write'; readonly mailboxToken: true };
type MailboxRequest<Params extends TSchema, Query extends TSchema, Body extends TSchema, Value> = ApiRequest<
  OfMailbox | 'mailbox_token',
  Params,
  Query,
  Body,
  Value
>;

interface MailboxRouteDefinition<Params extends TObject, Query extends TSchema, Body extends TSchema, Responses, Value>
  extends Omit<
    RouteDefinition<AuthRule, Params, Query, Body, Responses, Value>,
    'auth' | 'operationId' | 'receive' | 'handler'
  > {
  /** Names of the operation with the mailbox in the path, and of that of a mailbox token. */
  readonly operationIds: readonly [ofMailbox: string, ofToken: string];
  /** The handler looks for the mailbox in the organization; else that has been done before. */
  readonly findsMailbox?: true;
  receive?(upload: IncomingUpload, mailboxId: string): Promise<Received<Value>>;
  handler(request: MailboxRequest<Params, Query, Body, Value>, mailbox: AskedMailbox): Promise<Reply<Responses>>;
}

const OF_TOKEN = ' The mailbox is that of the token.';

/** @param definition its `path` is that below the mailbox, such as `/messages/:mid`, and `params` those of this path */
export function onMailbox<
  const Responses extends ResponseSpecs,
  Params extends TObject = TObject,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
  Value = undefined,
>(definition: MailboxRouteDefinition<Params, Query, Body, Responses, Value>): readonly [Route, Route] {
  const { operationIds, findsMailbox = false, path, params, receive, handler, withoutCall, ...info } = definition;
  const rule: OfMailbox = { scope: info.method === 'GET' ? 'mailbox:read' : 'mailbox:write', mailboxToken: true };
  const { mcp: _, ...withoutOther } = withoutCall ?? {};
  type Request = MailboxRequest<Params, Query, Body, Value>;
  const ofMailbox = route({
    ...info,
    ...(Object.keys(withoutOther).length === 0 ? {} : { withoutCall: withoutOther }),
    path: `/api/mailboxes/:id${path}`,
    operationId: operationIds[0],
    auth: rule,
    params: closed({ id: MailboxId, ...params?.properties }),
    errors: [...new Set(['not_found' as const, ...(info.errors ?? [])])],
    ...(receive === undefined
      ? {}
      : { receive: (upload: IncomingUpload) => receive(upload, upload.params['id'] ?? '') }),
    async handler(request) {
      const { id } = request.params;
      if (!findsMailbox) await requireMailbox(request.services.db, request.organization.id, id);
      return handler(request as unknown as Request, { id, rule, path: `/api/mailboxes/${id}` });
    },
  });
  const ofToken = route({
    ...info,
    ...(withoutCall === undefined ? {} : { withoutCall }),
    ...(info.description === undefined ? {} : { description: info.description + OF_TOKEN }),
    path: `/api/mailbox${path}`,
    operationId: operationIds[1],
    auth: 'mailbox_token',
    ...(params === undefined ? {} : { params }),
    ...(receive === undefined
      ? {}
      : {
          receive: (upload: IncomingUpload) =>
            receive(upload, upload.principal.kind === 'mailbox' ? upload.principal.id : ''),
        }),
    handler: (request) =>
      handler(request as unknown as Request, { id: request.principal.id, rule: 'mailbox_token', path: '/api/mailbox' }),
  });
  return [ofMailbox, ofToken];
}
