/**
 * The receiver of the benchmark, a separate process: HTTPS with keep-alive, reads each request to its end, records
 * webhook-id, event number and time, and answers as the first part of the path says.
 *
 *   /ok     200 at once
 *   /faulty 500 to a fifth of all first attempts; a tenth of the rest waits 0.5 to 1 s
 *   /flaky  500 at once to a tenth of all first attempts
 *   /hang   no answer
 *   /down   503 at once
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { answerCalls } from './child-calls.ts';
import { EVENT_MARK } from './event-mark.ts';
import { monotonicMs } from './monotonic-clock.ts';

/** Requests of one webhook-id. */
export interface Receipt {
  readonly webhookId: string;
  /** Number the load maker gave the event, see `event-mark.ts`. */
  readonly event: number;
  /** Path of the endpoint. */
  readonly path: string;
  /** Of the first request; monotonic clock. */
  readonly firstAtMs: number;
  /** Of the first request that was acknowledged, else as `firstAtMs`. */
  atMs: number;
  requests: number;
  acknowledged: number;
}

const FAULTY_FAIL_RATIO = 0.2;
const FLAKY_FAIL_RATIO = 0.1;
const FAULTY_SLOW_RATIO = 0.1;
const FAULTY_SLOW_MS = { least: 500, most: 1_000 } as const;

let run = 0;
let receipts = new Map<string, Receipt>();
let acknowledged = 0;
let requests = 0;
let onAcknowledged: () => void = () => {};

async function statusFor(path: string, receipt: Receipt): Promise<number | undefined> {
  if (path.startsWith('/ok')) return 200;
  if (path.startsWith('/hang')) return undefined;
  if (path.startsWith('/down')) return 503;
  if (path.startsWith('/flaky')) return receipt.requests === 1 && Math.random() < FLAKY_FAIL_RATIO ? 500 : 200;
  if (receipt.requests === 1 && Math.random() < FAULTY_FAIL_RATIO) return 500;
  if (Math.random() < FAULTY_SLOW_RATIO)
    await delay(FAULTY_SLOW_MS.least + Math.random() * (FAULTY_SLOW_MS.most - FAULTY_SLOW_MS.least));
  return 200;
}

function note(webhookId: string, path: string, body: string): Receipt | undefined {
  const [, ofRun, event] = EVENT_MARK.exec(body) ?? [];
  if (Number(ofRun) !== run) return undefined;
  let receipt = receipts.get(webhookId);
  if (receipt === undefined) {
    const firstAtMs = monotonicMs();
    receipt = { webhookId, event: Number(event), path, firstAtMs, atMs: firstAtMs, requests: 0, acknowledged: 0 };
    receipts.set(webhookId, receipt);
  }
  receipt.requests++;
  requests++;
  return receipt;
}

const server = new Server(
  { cert: readFileSync(process.env['SINK_CERT'] ?? ''), key: readFileSync(process.env['SINK_KEY'] ?? '') },
  (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const atMs = monotonicMs();
      const path = request.url ?? '';
      const receipt = note(String(request.headers['webhook-id']), path, Buffer.concat(chunks).toString());
      if (receipt === undefined) return response.writeHead(200).end(); // left over from another run
      if (path.startsWith('/ok')) return answer(200);
      void statusFor(path, receipt).then((status) => status !== undefined && answer(status));

      function answer(status: number): void {
        if (receipt !== undefined && status < 300) {
          if (receipt.acknowledged++ === 0) {
            receipt.atMs = atMs;
            acknowledged++;
            onAcknowledged();
          }
        }
        response.writeHead(status).end('ok');
      }
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
  /** Forgets everything; from now on only requests of this run count. */
  async begin(number: number) {
    run = number;
    receipts = new Map();
    acknowledged = 0;
    requests = 0;
  },
  /** Webhook-ids that were acknowledged. */
  async acknowledged() {
    return acknowledged;
  },
  /** Requests of this run, with any answer. */
  async requests() {
    return requests;
  },
  /** Resolves as soon as so many are. */
  async reach(count: number) {
    if (acknowledged >= count) return;
    await new Promise<void>((resolve) => {
      onAcknowledged = () => acknowledged >= count && resolve();
    });
  },
  async receipts() {
    return [...receipts.values()];
  },
};
export type SinkCalls = typeof calls;

answerCalls(calls, async () => {
  server.closeAllConnections();
  server.close();
});
