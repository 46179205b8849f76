/**
 * The receiver of the benchmark, a separate process: HTTPS with keep-alive, reads each request to its end, records
 * webhook-id, event number and times, verifies the signatures of paths whose secret it was given with a Standard Webhooks
 * library, and answers as the first part of the path says.
 *
 *   /ok     200 at once
 *   /faulty 500 to a fifth of all first attempts; a tenth of the rest waits 0.5 to 1 s
 *   /flaky  500 at once to a tenth of all first attempts
 *   /slow   200 after 0.3 to 1.2 s
 *   /hang   no answer
 *   /down   503 at once
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { answerCalls } from './child-calls.ts';
import { EVENT_MARK, monotonicMs } from './event-load.ts';

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
  /** Requests whose signature did not verify. */
  unverified: number;
  /** Of each acknowledged request; monotonic clock. */
  readonly acknowledgedAtMs: number[];
}

const FAULTY_FAIL_RATIO = 0.2;
const FLAKY_FAIL_RATIO = 0.1;
const FAULTY_SLOW_RATIO = 0.1;
const FAULTY_SLOW_MS = { least: 500, most: 1_000 } as const;
const SLOW_MS = { least: 300, most: 1_200 } as const;

let run = 0;
let receipts = new Map<string, Receipt>();
let acknowledged = 0;
let requests = 0;
/** Resumed at each acknowledged request. */
const waiting = new Set<() => void>();
/** Acknowledged requests to each path: how many, and when the last came. */
let arrivals = new Map<string, { count: number; atMs: number }>();
/** By path. */
const verifiers = new Map<string, Webhook>();

const between = ({ least, most }: { least: number; most: number }) => least + Math.random() * (most - least);

async function statusFor(path: string, receipt: Receipt): Promise<number | undefined> {
  if (path.startsWith('/ok')) return 200;
  if (path.startsWith('/hang')) return undefined;
  if (path.startsWith('/slow')) return delay(between(SLOW_MS), 200);
  if (path.startsWith('/down')) return 503;
  if (path.startsWith('/flaky')) return receipt.requests === 1 && Math.random() < FLAKY_FAIL_RATIO ? 500 : 200;
  if (receipt.requests === 1 && Math.random() < FAULTY_FAIL_RATIO) return 500;
  if (Math.random() < FAULTY_SLOW_RATIO) await delay(between(FAULTY_SLOW_MS));
  return 200;
}

function isVerified(verifier: Webhook, headers: IncomingHttpHeaders, body: string): boolean {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  try {
    verifier.verify(body, Object.fromEntries(names.map((name) => [name, String(headers[name])])));
    return true;
  } catch {
    return false;
  }
}

/** @returns undefined for what is left over from another run */
function note(path: string, headers: IncomingHttpHeaders, body: string): Receipt | undefined {
  const [, ofRun, event] = EVENT_MARK.exec(body) ?? [];
  const verifier = verifiers.get(path);
  if (verifier === undefined && Number(ofRun) !== run) return undefined;
  const webhookId = String(headers['webhook-id']);
  let receipt = receipts.get(webhookId);
  if (receipt === undefined) {
    const atMs = monotonicMs();
    receipt = {
      ...{ webhookId, event: Number(event), path, firstAtMs: atMs, atMs },
      ...{ requests: 0, unverified: 0, acknowledgedAtMs: [] },
    };
    receipts.set(webhookId, receipt);
  }
  receipt.requests++;
  requests++;
  if (verifier !== undefined && !isVerified(verifier, headers, body)) receipt.unverified++;
  return receipt;
}

async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await new Promise<void>((resolve) => waiting.add(resolve));
}

const server = new Server(
  { cert: readFileSync(process.env['SINK_CERT'] ?? ''), key: readFileSync(process.env['SINK_KEY'] ?? '') },
  (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const atMs = monotonicMs();
      const path = request.url ?? '';
      const receipt = note(path, request.headers, Buffer.concat(chunks).toString());
      if (receipt === undefined) return response.writeHead(200).end();
      if (path.startsWith('/ok')) return answer(200);
      void statusFor(path, receipt).then((status) => status !== undefined && answer(status));

      function answer(status: number): void {
        if (receipt !== undefined && status < 300) {
          if (receipt.acknowledgedAtMs.push(atMs) === 1) {
            receipt.atMs = atMs;
            acknowledged++;
          }
          arrivals.set(path, { count: (arrivals.get(path)?.count ?? 0) + 1, atMs });
          for (const resume of waiting) resume();
          waiting.clear();
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
    arrivals = new Map();
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
  reach: (count: number) => until(() => acknowledged >= count),
  /** Resolves when so many requests to the path are acknowledged, with the time of the last. */
  async arrived({ path, count }: { path: string; count: number }): Promise<number> {
    await until(() => (arrivals.get(path)?.count ?? 0) >= count);
    return arrivals.get(path)?.atMs ?? 0;
  },
  /** The secret by which requests to a path are verified; all of them are recorded, whatever the run. */
  async expect({ path, secret }: { path: string; secret: string }) {
    verifiers.set(path, new Webhook(secret));
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
