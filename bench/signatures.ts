/**
 * CPU time of the signature of a delivery, with `v1` alone and with `v1a` beside it, in turn.
 *
 *   node bench/signatures.ts
 */
import { newWebhookKeyPair, newWebhookSecret, webhookSigner } from '#core/webhooks/signing/webhook-signature.ts';

const SIGNATURES = 20_000;
const ROUNDS = 5;
const BODY_BYTES = [1_024, 16_384, 262_144];

const secret = newWebhookSecret();
const signers = {
  v1: webhookSigner([secret]),
  'v1 and v1a': webhookSigner([secret], [newWebhookKeyPair().privateKey]),
};

function cpuMicroseconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

for (const bytes of BODY_BYTES) {
  const payload = 'x'.repeat(bytes);
  const count = Math.min(SIGNATURES, Math.ceil((SIGNATURES * 4_096) / bytes));
  const best = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, signer] of Object.entries(signers)) {
      const now = new Date();
      const took = cpuMicroseconds(() => {
        for (let i = 0; i < count; i++) signer.sign(`dlv_${i}`, now, payload);
      });
      best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, took / count));
    }
  for (const [name, took] of best) console.log(`${bytes} bytes, ${name}: ${took.toFixed(1)} µs of CPU`);
}
