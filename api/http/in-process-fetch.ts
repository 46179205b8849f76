/**
 * `fetch` to the API in its own process, without a network: a real connection to its HTTP server through memory. So
 * code inside (the MCP server) uses the same path as a client outside, with the same checks, and still works while the
 * server stops accepting from outside. Why not by TCP: docs/adr/0005-mcp-in-the-api-process.md.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, Server } from 'node:http';
import { duplexPair } from 'node:stream';
import { Client, fetch } from 'undici';

/** Never resolved: the connection is made here. */
export const IN_PROCESS_URL = 'http://api.in-process';

/** Only this process knows it, so a request with it was made by the code below. */
const MARK_HEADER = 'x-agent-mailbox-in-process';
const MARK = randomBytes(32).toString('hex');

/** Whether a request was made by `inProcessFetch`, and not by somebody outside. */
export function isFromThisProcess(headers: IncomingHttpHeaders): boolean {
  const given = Buffer.from(String(headers[MARK_HEADER] ?? ''));
  return given.length === MARK.length && timingSafeEqual(given, Buffer.from(MARK));
}

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
      // Undici needs only these parts of a socket; its type requires all of it.
      queueMicrotask(() => callback(null, near as unknown as Parameters<typeof callback>[1] & object));
    },
  });
  return {
    // Undici's types and those of the built-in fetch describe the same standard.
    fetch: (input, init) => {
      const headers = { ...Object.fromEntries(new Headers(init.headers)), [MARK_HEADER]: MARK };
      return fetch(input, {
        ...(init as object),
        headers,
        dispatcher: client,
      }) as Promise<unknown> as Promise<Response>;
    },
    close: () => client.destroy(),
  };
}
