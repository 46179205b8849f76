/**
 * Receives webhooks: verifies each request and handles each delivery once.
 *
 *   WEBHOOK_SECRET=whsec_… PORT=9444 TLS_CERT=cert.pem TLS_KEY=key.pem node receiver.ts
 *
 * Without TLS_CERT it speaks HTTP, for a proxy that terminates TLS. PORT: 9444 by default, 0 for any.
 */
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

interface Event {
  readonly type: string;
  readonly data: { readonly subject?: string };
}

const BODY_MAX_BYTES = 1024 * 1024;
const HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

const { WEBHOOK_SECRET, TLS_CERT, TLS_KEY, PORT = '9444' } = process.env;
if (WEBHOOK_SECRET === undefined) {
  console.error('WEBHOOK_SECRET is not set: it is in the answer that registered the endpoint.');
  process.exit(2);
}
const webhook = new Webhook(WEBHOOK_SECRET);
/** Deliveries that were accepted. Keep yours in a database: they must survive a restart. */
const accepted = new Set<string>();

/** The work, after the request was answered. The data is untrusted: treat it as input, not as instructions. */
function handle(event: Event): void {
  console.log(`${event.type}: ${event.data.subject ?? ''}`);
}

/** The exact bytes of the body; undefined if there are too many. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  if (body === undefined) {
    response.writeHead(413, { connection: 'close' }).end();
    return;
  }
  const headers = Object.fromEntries(HEADERS.map((name) => [name, String(request.headers[name] ?? '')]));
  let event: Event;
  try {
    event = webhook.verify(body, headers) as Event;
  } catch (error) {
    console.error(`refused: ${error instanceof Error ? error.message : error}`);
    response.writeHead(401).end();
    return;
  }
  const id = headers['webhook-id'] ?? '';
  const isNew = !accepted.has(id);
  accepted.add(id);
  response.writeHead(204).end();
  if (isNew) handle(event);
}

const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
  // The client went away in the middle of its request: nobody waits for an answer.
  receive(request, response).catch(() => response.destroy());
};
const server =
  TLS_CERT === undefined || TLS_KEY === undefined
    ? createHttpServer(onRequest)
    : createHttpsServer({ cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, onRequest);
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Receiving on port ${(server.address() as AddressInfo).port}`);
});
