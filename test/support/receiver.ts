/**
 * A customer's HTTPS server: verifies every request with the `standardwebhooks` package, records requests, and answers
 * as configured.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { testTls } from './services.ts';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** Exact text of the body. */
  readonly body: string;
  readonly atMs: number;
}

/** Writes an answer, or leaves the request hanging by doing nothing. */
export type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly requests: ReceivedRequest[];
  /** How it answers from now on; given a list, one after another, the last one for ever. */
  answer(...answers: (number | Answer)[]): void;
  /** Requests so far with this webhook-id. */
  of(deliveryId: string): ReceivedRequest[];
  close(): Promise<void>;
}

/** The parsed body, after verifying its signature. Throws when the signature is wrong. */
export const verified = (request: ReceivedRequest, secret: string): unknown =>
  new Webhook(secret).verify(request.body, {
    'webhook-id': String(request.headers['webhook-id']),
    'webhook-timestamp': String(request.headers['webhook-timestamp']),
    'webhook-signature': String(request.headers['webhook-signature']),
  });

/** @param files certificate and key of the server */
export async function startReceiver(
  { certFile, keyFile }: { readonly certFile: string; readonly keyFile: string } = testTls(),
): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  let answers: (number | Answer)[] = [200];
  const server = https.createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const request: ReceivedRequest = {
        path: req.url ?? '',
        headers: req.headers,
        rawHeaders: req.rawHeaders,
        body: Buffer.concat(chunks).toString('utf8'),
        atMs: Date.now(),
      };
      requests.push(request);
      const [next = 200] = answers;
      if (answers.length > 1) answers = answers.slice(1);
      if (typeof next === 'number') res.writeHead(next).end('{}');
      else next(res, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}/hook`,
    port,
    requests,
    answer(...next) {
      answers = next;
    },
    of: (deliveryId) => requests.filter((request) => request.headers['webhook-id'] === deliveryId),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
