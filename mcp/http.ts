/** MCP over Streamable HTTP, for a server that has authenticated the request. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { type Fetch, MailboxClient } from '#client/index.ts';
import { mailboxMcpServer } from './server.ts';
import type { McpAccess } from './tool.ts';

const ACCESSES: readonly McpAccess[] = ['full', 'read', 'send'];

/** A request whose mailbox token was found to be valid. */
interface McpHttpCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The parsed body. */
  readonly body: unknown;
  readonly mailboxId: string;
  readonly token: string;
  /** What the credential may do. */
  readonly access: McpAccess;
  /** How the API is reached. */
  readonly fetch: Fetch;
  readonly url: string;
  /** Sent with each request to the API, so that its log and errors refer to this one. */
  readonly requestId: string;
}

interface McpHttp {
  handle(call: McpHttpCall): Promise<void>;
  close(): Promise<void>;
}

export function mcpHttp(onError: (error: Error) => void): McpHttp {
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const client = authInfo?.extra?.['client'];
      if (!(client instanceof MailboxClient)) throw new Error('an MCP request without a mailbox');
      const access = ACCESSES.find((each) => each === authInfo?.extra?.['access']);
      return mailboxMcpServer(client, access);
    },
    // The tools never change, so there is nothing to subscribe to.
    { maxSubscriptions: 0, onerror: onError },
  );
  const handleNode = toNodeHandler(handler, { onerror: onError });
  return {
    async handle({ request, response, body, mailboxId, token, access, fetch, url, requestId }) {
      const client = new MailboxClient({
        url,
        token,
        fetch,
        // The caller is already waiting; the error says when to try again.
        attempts: 1,
        headers: { 'x-request-id': requestId, 'user-agent': 'agent-mailbox-mcp' },
      });
      // Programs with credentials of their own must not take mail from each other: `handedOutTo` tells them apart.
      const clientId = `${mailboxId} ${createHash('sha256').update(token).digest('base64url')}`;
      const auth = { token, clientId, scopes: [], extra: { client, access } };
      // Only the parts that the adapter reads, so that it never touches the body, which was read already.
      const { method = 'POST', url: path = '/mcp', headers } = request;
      const seen = { method, url: path, headers: { ...headers }, auth, [Symbol.asyncIterator]: nothing };
      await handleNode(seen, response, body);
    },
    close: () => handler.close(),
  };
}

async function* nothing(): AsyncGenerator<never> {}
