/** A customer's server: verifies webhooks, acknowledges them, and keeps what it got of each. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { Webhook } from 'standardwebhooks';
import type { WebhookReceipt } from './account.ts';

export interface ProofReceiver {
  readonly port: number;
  /** Of the endpoint, once it is made; until then nothing verifies. */
  setSecret(secret: string): void;
  receipts(): WebhookReceipt[];
  close(): Promise<void>;
}

const BODY_MAX_BYTES = 1_048_576;
const ID_MAX_CHARACTERS = 100;
/** More than any load of a proof makes. */
const RECEIPTS_MAX = 5_000_000;

/** @param port 0: one that is free */
export async function startProofReceiver(
  { cert, key }: { readonly cert: Buffer; readonly key: Buffer },
  port: number,
): Promise<ProofReceiver> {
  const receipts = new Map<string, { requests: number; unverified: number; acknowledgedAtMs: number[] }>();
  let verifier: Webhook | undefined;
  const server: Server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > BODY_MAX_BYTES) request.destroy();
      else chunks.push(chunk);
    });
    request.on('error', () => {});
    request.on('end', () => {
      const header = (name: string) => String(request.headers[name] ?? '').slice(0, ID_MAX_CHARACTERS * 10);
      const id = header('webhook-id').slice(0, ID_MAX_CHARACTERS);
      const receipt = receipts.get(id) ?? { requests: 0, unverified: 0, acknowledgedAtMs: [] };
      if (receipts.size < RECEIPTS_MAX) receipts.set(id, receipt);
      receipt.requests += 1;
      try {
        if (verifier === undefined) throw new Error('no secret yet');
        verifier.verify(Buffer.concat(chunks).toString('utf8'), {
          'webhook-id': id,
          'webhook-timestamp': header('webhook-timestamp'),
          'webhook-signature': header('webhook-signature'),
        });
      } catch {
        receipt.unverified += 1;
        return void response.writeHead(401).end();
      }
      receipt.acknowledgedAtMs.push(Date.now());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(port);
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    setSecret(secret) {
      verifier = new Webhook(secret);
    },
    receipts: () => [...receipts].map(([webhookId, receipt]) => ({ webhookId, ...receipt })),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
