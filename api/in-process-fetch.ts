/**
 * `fetch` to the API in its own process, without a network: a real connection to its HTTP server through memory. So what
 * runs inside (the MCP server) takes the same way as a client outside, with the same checks, and still works while the
 * server stops accepting from outside. Why not by TCP: docs/adr/0005-mcp-in-the-api-process.md.
 */
import type { Server } from 'node:http';
import { duplexPair } from 'node:stream';
import { Client, fetch } from 'undici';

/** Never resolved: the connection is made here. */
export const IN_PROCESS_URL = 'http://api.in-process';

export interface InProcessFetch {
  fetch(input: string, init: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** @param ipAddress whom the requests are on behalf of, as the server is to see it */
export function inProcessFetch(server: Server, ipAddress: string): InProcessFetch {
  const client = new Client(IN_PROCESS_URL, {
    connect(_options, callback) {
      const [near, far] = duplexPair();
      Object.assign(far, { remoteAddress: ipAddress });
      server.emit('connection', far);
      // Undici and node:net agree on what it needs of a socket; its type asks for all of one.
      queueMicrotask(() => callback(null, near as unknown as Parameters<typeof callback>[1] & object));
    },
  });
  return {
    // Undici's types and those of the built-in fetch describe the same standard.
    fetch: (input, init) =>
      fetch(input, { ...(init as object), dispatcher: client }) as Promise<unknown> as Promise<Response>,
    close: () => client.destroy(),
  };
}
