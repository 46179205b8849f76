/**
 * The receiver of the webhooks, a separate process: HTTPS, reads each request to its end, verifies its signature with a
 * Standard Webhooks library, records it, and answers as the first part of the path says.
 *
 *   /ok      200 at once
 *   /faulty  500 to the first request of every fifth webhook-id, else 200
 *   /slow    200 after 0.3 to 1.2 s
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { answerCalls } from '#bench/child-calls.ts';

/** All requests with one webhook-id. */
export interface WebhookReceipt {
  readonly webhookId: string;
  readonly path: string;
  requests: number;
  /** Requests whose signature did not verify. */
  unverified: number;
  /** When each acknowledged request was received, milliseconds since 1970. */
  readonly acknowledgedAtMs: number[];
}

const FAULTY_EVERY = 5;
const SLOW_MS = { least: 300, most: 1_200 } as const;

const verifiers = new Map<string, Webhook>();
const receipts = new Map<string, WebhookReceipt>();
let faultySeen = 0;
let onAcknowledged: () => void = () => {};
/** Called at each acknowledged request, with its path. */
const followers = new Set<(path: string) => void>();
const toFail = new Set<string>();

function isVerified(path: string, headers: Record<string, string>, body: string): boolean {
  try {
    verifiers.get(path)?.verify(body, headers);
    return verifiers.has(path);
  } catch {
    return false;
  }
}

async function statusFor({ path, webhookId, requests }: WebhookReceipt): Promise<number> {
  if (path.startsWith('/slow')) await delay(SLOW_MS.least + Math.random() * (SLOW_MS.most - SLOW_MS.least));
  if (path.startsWith('/faulty') && requests === 1 && faultySeen++ % FAULTY_EVERY === 0) toFail.add(webhookId);
  return toFail.delete(webhookId) ? 500 : 200;
}

const server = new Server(
  { cert: readFileSync(process.env['RECEIVER_CERT'] ?? ''), key: readFileSync(process.env['RECEIVER_KEY'] ?? '') },
  (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const atMs = Date.now();
      const path = request.url ?? '';
      const header = (name: string) => String(request.headers[name] ?? '');
      const webhookId = header('webhook-id');
      const receipt: WebhookReceipt = receipts.get(webhookId) ?? {
        webhookId,
        path,
        requests: 0,
        unverified: 0,
        acknowledgedAtMs: [],
      };
      receipts.set(webhookId, receipt);
      receipt.requests++;
      const headers = {
        'webhook-id': webhookId,
        'webhook-timestamp': header('webhook-timestamp'),
        'webhook-signature': header('webhook-signature'),
      };
      if (!isVerified(path, headers, Buffer.concat(chunks).toString())) receipt.unverified++;
      void statusFor(receipt).then((status) => {
        if (status < 300) {
          receipt.acknowledgedAtMs.push(atMs);
          onAcknowledged();
          for (const follower of followers) follower(path);
        }
        response.writeHead(status).end('ok');
      });
    });
  },
);
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');

const calls = {
  async port() {
    return (server.address() as AddressInfo).port;
  },
  /** The secret by which requests to a path are verified. */
  async expect({ path, secret }: { path: string; secret: string }) {
    verifiers.set(path, new Webhook(secret));
  },
  /** Resolves when there are so many receipts, all of them acknowledged. */
  async reach(count: number) {
    const reached = () =>
      receipts.size >= count && [...receipts.values()].every(({ acknowledgedAtMs }) => acknowledgedAtMs.length > 0);
    if (reached()) return;
    await new Promise<void>((resolve) => {
      onAcknowledged = () => reached() && resolve();
    });
  },
  /** Resolves with the times of the acknowledged requests to a path when there are so many. */
  async reachOn({ path, count }: { path: string; count: number }): Promise<number[]> {
    const times = () =>
      [...receipts.values()].filter((each) => each.path === path).flatMap(({ acknowledgedAtMs }) => acknowledgedAtMs);
    for (;;) {
      const found = times();
      if (found.length >= count) return found.toSorted((one, other) => one - other);
      await new Promise<void>((resolve) => {
        const follower = (of: string) => {
          if (of !== path) return;
          followers.delete(follower);
          resolve();
        };
        followers.add(follower);
      });
    }
  },
  async receipts() {
    return [...receipts.values()];
  },
};
export type WebhookReceiverCalls = typeof calls;

answerCalls(calls, async () => {
  server.closeAllConnections();
  server.close();
});
