/** MCP over Streamable HTTP, for a server that has authenticated the request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { type Fetch, MailboxClient } from '../client/index.ts';
import { mailboxMcpServer } from './server.ts';

/** A request whose mailbox token was found to be valid. */
export interface McpHttpCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The parsed body. */
  readonly body: unknown;
  readonly mailboxId: string;
  readonly token: string;
  /** How the API is reached. */
  readonly fetch: Fetch;
  readonly url: string;
  /** Goes with each request to the API, so that its log and errors name this one. */
  readonly requestId: string;
}

export interface McpHttp {
  handle(call: McpHttpCall): Promise<void>;
  close(): Promise<void>;
}

export function mcpHttp(onError: (error: Error) => void): McpHttp {
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const client = authInfo?.extra?.['client'];
      if (!(client instanceof MailboxClient)) throw new Error('an MCP request without a mailbox');
      return mailboxMcpServer(client);
    },
    // The tools never change, so there is nothing to subscribe to.
    { maxSubscriptions: 0, onerror: onError },
  );
  const handleNode = toNodeHandler(handler, { onerror: onError });
  return {
    async handle({ request, response, body, mailboxId, token, fetch, url, requestId }) {
      const client = new MailboxClient({
        url,
        token,
        fetch,
        // Whoever called waits already; the error says when to come back.
        attempts: 1,
        headers: { 'x-request-id': requestId, 'user-agent': 'agent-mailbox-mcp' },
      });
      const auth = { token, clientId: mailboxId, scopes: [], extra: { client } };
      // Only what the adapter reads, so that it never touches the body, which was read already.
      const { method = 'POST', url: path = '/mcp', headers } = request;
      const seen = { method, url: path, headers: { ...headers }, auth, [Symbol.asyncIterator]: nothing };
      await handleNode(seen, response, body);
    },
    close: () => handler.close(),
  };
}

async function* nothing(): AsyncGenerator<never> {}
