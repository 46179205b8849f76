/** `/mcp`: Streamable HTTP for mailbox tokens and access tokens of OAuth, with the same checks as the routes of the API. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type Router from '@koa/router';
import { CatalogueError } from '#domain/errors.ts';
import type { TokenAccess } from '#domain/organizations/mailboxes.ts';
import { authenticate } from './auth/authenticate.ts';
import { authorize } from './auth/authorize.ts';
import type { ApiContext, RequestState } from './handle.ts';
import { IN_PROCESS_URL, type InProcessFetch, inProcessFetch } from './http/in-process-fetch.ts';
import { limitRate } from './http/rate-limit.ts';
import { readBody } from './http/read-body.ts';
import { SEND_BODY_LIMIT_BYTES } from './messages/sending/send-schema.ts';
import { resourceOf } from './oauth/authorization-request.ts';

export const MCP_PATH = '/mcp';

/**
 * The MCP server. It is in a layer above this folder (`mcp/http.ts`), so the start of the process passes it, and
 * imports go downwards only.
 */
export interface McpEndpoint {
  handle(call: {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly body: unknown;
    readonly mailboxId: string;
    readonly token: string;
    readonly access: TokenAccess;
    readonly fetch: InProcessFetch['fetch'];
    readonly url: string;
    readonly requestId: string;
  }): Promise<void>;
  close(): Promise<void>;
}

/** @param server the API's own, once it listens */
export function addMcp(
  router: Router<RequestState>,
  { services, publicUrl }: ApiContext,
  endpoint: McpEndpoint,
  server: () => Server,
): void {
  router.register(MCP_PATH, ['get', 'post', 'delete'], async (context) => {
    context.state.operationId = 'mcp';
    refuseForeignPage(context.get('origin'), publicUrl());
    const { principal, organization, counted } = await authenticate(services, 'mailbox_token', context.req.headers, {
      count: { pathId: undefined },
      atMcp: true,
      ipAddress: context.ip,
    });
    authorize('mailbox_token', principal, undefined);
    if (principal.kind !== 'mailbox' || organization === null) throw new CatalogueError('forbidden');
    const { grant } = principal;
    if (grant !== undefined && grant.resource !== resourceOf(publicUrl()))
      throw new CatalogueError('unauthenticated', 'The access token was issued for another address of this service.');
    context.set(await limitRate(services, organization, counted));
    const { value: body } = await readBody(context.req, SEND_BODY_LIMIT_BYTES);
    // Hundreds of calls would count as one request. The protocol has no batches since 2025-06-18.
    if (Array.isArray(body))
      throw new CatalogueError('invalid_request', 'Batches are not supported: send one message per request.');
    const [, token = ''] = /^bearer +(\S+)$/i.exec(context.get('authorization')) ?? [];
    const { fetch, close } = inProcessFetch(server(), context.ip);
    context.set('Cache-Control', 'no-store');
    // From here on the answer is the protocol's, its errors included.
    context.respond = false;
    try {
      const { requestId } = context.state;
      const { req: request, res: response } = context;
      await endpoint.handle({
        request,
        response,
        body,
        mailboxId: principal.id,
        token,
        access: principal.access,
        fetch,
        url: IN_PROCESS_URL,
        requestId,
      });
    } finally {
      await close();
    }
  });
}

/** Pages of other origins are refused, whatever host name they use (DNS rebinding). */
function refuseForeignPage(origin: string, publicUrl: string): void {
  if (origin !== '' && origin !== new URL(publicUrl).origin)
    throw new CatalogueError('forbidden', 'Requests from pages of other origins are not accepted.');
}
