import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';

/**
 * Secrets at rest: AES-256-GCM with a key id in front, so that keys can rotate, and the row's identity as associated
 * data, so that a sealed value copied to another row or column does not open.
 *
 * Form: `v1.<keyId>.<iv>.<tag>.<ciphertext>`, each of the last three base64url.
 */
export interface SealedSecrets {
  /** Id of the key that seals. */
  readonly newestKeyId: string;
  /** Ids of all configured keys, the newest first. */
  readonly keyIds: readonly string[];
  /** @param place identity of the value, e.g. `webhook_endpoints:secret:whe_…` */
  seal(plaintext: string, place: string): string;
  /** @throws when the value was altered, belongs to another place, or its key is no longer configured */
  open(sealed: string, place: string): string;
}

export interface SecretsKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

const VERSION = 'v1';
const IV_BYTES = 12;

/** @param keys the first one seals, all of them open */
export function sealedSecrets(keys: readonly SecretsKey[]): SealedSecrets {
  const [current] = keys;
  if (current === undefined) throw new Error('at least one secrets key is needed');
  // Made once: of bytes, Node makes a key object for each call, which takes longer than the call.
  const byId = new Map(keys.map(({ id, key }) => [id, createSecretKey(key)]));
  const sealing = createSecretKey(current.key);
  return {
    newestKeyId: current.id,
    keyIds: keys.map(({ id }) => id),
    seal(plaintext, place) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing, iv).setAAD(Buffer.from(place));
      const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      return [VERSION, current.id, ...[iv, cipher.getAuthTag(), ciphertext].map((b) => b.toString('base64url'))].join(
        '.',
      );
    },
    open(sealed, place) {
      const [version, keyId = '', iv = '', tag = '', ciphertext = ''] = sealed.split('.');
      const key = byId.get(keyId);
      if (version !== VERSION || key === undefined)
        throw new Error(
          `a secret was sealed with key "${keyId}", which is not in SECRETS_KEYS; add it after the first`,
        );
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'))
        .setAAD(Buffer.from(place))
        .setAuthTag(Buffer.from(tag, 'base64url'));
      return Buffer.concat([decipher.update(Buffer.from(ciphertext, 'base64url')), decipher.final()]).toString('utf8');
    },
  };
}

/** Place under which the whole answer of a POST with Idempotency-Key is sealed (see `core/platform/secrets/sealed-secrets.ts`). */
export const idempotencyAnswerPlace = (principal: string, key: string): string =>
  `idempotency_keys:body_sealed:${principal}:${key}`;
