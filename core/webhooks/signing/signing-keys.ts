/**
 * Key pairs for `v1a` signatures (Ed25519). A receiver verifies them without a secret.
 *
 * Each organization has its own. With one for the whole installation a customer could have an event of its own signed,
 * send it on to the server of another customer, and it would verify there.
 */
import { recordAudit } from '#core/organizations/audit.ts';
import { lockOrganization } from '#core/organizations/may-decide.ts';
import type { Caller } from '#core/platform/caller.ts';
import type { Services } from '#core/platform/process/services.ts';
import type { SealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import { type Sql, sqlOfEntityManager } from '#db/database.ts';
import {
  addSigningKey,
  endSigningKeys,
  hasSigningKey,
  type PublicSigningKey,
  signingKeysInForce,
} from '#db/queries/webhooks/signing-keys.ts';
import { newWebhookKeyPair, signingKeyPlace } from './webhook-signature.ts';

const SECOND_MS = 1_000;

async function addKeyPair(sql: Sql, secrets: SealedSecrets, organizationId: string): Promise<string> {
  const { id, publicKey, privateKey } = newWebhookKeyPair();
  const privateKeySealed = secrets.seal(privateKey, signingKeyPlace(id));
  await addSigningKey(sql, organizationId, { id, publicKey, privateKeySealed });
  return id;
}

/** Makes the key pair of an organization, if it has none. Call it in the transaction of the endpoint that needs it. */
export async function ensureSigningKey(sql: Sql, secrets: SealedSecrets, organizationId: string): Promise<void> {
  if (!(await hasSigningKey(sql, organizationId))) await addKeyPair(sql, secrets, organizationId);
}

/**
 * Replaces the key pair of an organization, for all its endpoints. If an earlier rotation is still in its overlap, that
 * overlap ends.
 *
 * @param overlapSeconds how long deliveries are signed with both; 0: not at all
 * @returns the keys that sign now, the newest first
 */
export async function rotateSigningKey(
  services: Services,
  organizationId: string,
  caller: Caller,
  overlapSeconds: number,
): Promise<PublicSigningKey[]> {
  const expiresAt = overlapSeconds === 0 ? null : new Date(services.now() + overlapSeconds * SECOND_MS);
  await services.db.entityTransaction(async (em) => {
    const sql = sqlOfEntityManager(em);
    await lockOrganization(em, organizationId);
    await endSigningKeys(sql, organizationId, expiresAt);
    const targetId = await addKeyPair(sql, services.secrets, organizationId);
    await recordAudit(sql, caller, {
      organizationId,
      action: 'webhook.signing_key_rotated',
      targetId,
      details: { overlapSeconds },
    });
  });
  return signingKeysInForce(services.db, organizationId);
}
