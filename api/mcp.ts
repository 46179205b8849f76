/** `/mcp`: Streamable HTTP for the mailbox token, behind the same doors as the routes of the API. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type Router from '@koa/router';
import { CatalogueError } from '../domain/errors.ts';
import { authenticate } from './authenticate.ts';
import { authorize } from './authorize.ts';
import type { ApiContext, RequestState } from './handle.ts';
import { IN_PROCESS_URL, type InProcessFetch, inProcessFetch } from './in-process-fetch.ts';
import { SEND_BODY_LIMIT_BYTES } from './messages/send-schema.ts';
import { limitRate } from './rate-limit.ts';
import { readBody } from './read-body.ts';

export const MCP_PATH = '/mcp';

/**
 * What answers. It stands above this folder (`mcp/http.ts`) and is handed in by whoever starts the process, so that
 * imports go downwards only.
 */
export interface McpEndpoint {
  handle(call: {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly body: unknown;
    readonly mailboxId: string;
    readonly token: string;
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
    const { principal, organization } = await authenticate(services, 'mailbox_token', context.req.headers);
    authorize('mailbox_token', principal, undefined);
    if (principal.kind !== 'mailbox' || organization === null) throw new CatalogueError('forbidden');
    context.set(await limitRate(services, organization));
    const { value: body } = await readBody(context.req, SEND_BODY_LIMIT_BYTES);
    // Hundreds of calls would count as one request. The protocol has no batches since 2025-06-18.
    if (Array.isArray(body))
      throw new CatalogueError('invalid_request', 'A batch is not taken: one message a request.');
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
        fetch,
        url: IN_PROCESS_URL,
        requestId,
      });
    } finally {
      await close();
    }
  });
}

/** A page in a browser that is not ours has no business here, whatever name it made this host answer to. */
function refuseForeignPage(origin: string, publicUrl: string): void {
  if (origin !== '' && origin !== new URL(publicUrl).origin)
    throw new CatalogueError('forbidden', 'Requests from pages of other origins are not taken.');
}
