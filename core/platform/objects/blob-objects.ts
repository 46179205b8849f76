/** Contents as objects: their names, their keys, and their form in the object storage. */
import { createHash, randomBytes } from 'node:crypto';
import { type SealedSecrets, sealedSecrets } from '#core/platform/secrets/sealed-secrets.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { BlobObjects } from '#db/blob-objects.ts';
import { OBJECT_CHUNK_BYTES } from '#domain/mail/blob-storage.ts';
import { OBJECT_KEY_BYTES, openChunks, sealedRange, sealObject } from './object-cipher.ts';
import { ObjectStoreError } from './object-store-error.ts';
import { type ObjectStore, s3Store } from './s3-store.ts';

const NAME_BYTES = 24;
const PROBE_BYTES = 1_024;

/** Place under which the key of an object is sealed. */
export const objectKeyPlace = (name: string): string => `blob_object:key_sealed:${name}`;

/** @returns undefined, if no object storage is set, or no key */
export function blobObjectsOf(settings: Settings): BlobObjects | undefined {
  const { SECRETS_KEYS, S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY, S3_REGION, S3_PREFIX } =
    settings;
  if (
    SECRETS_KEYS === undefined ||
    S3_ENDPOINT === undefined ||
    S3_BUCKET === undefined ||
    S3_ACCESS_KEY_ID === undefined ||
    S3_SECRET_ACCESS_KEY === undefined
  )
    return undefined;
  return blobObjects(
    s3Store({
      endpoint: S3_ENDPOINT,
      bucket: S3_BUCKET,
      region: S3_REGION,
      prefix: S3_PREFIX ?? '',
      accessKeyId: S3_ACCESS_KEY_ID,
      secretAccessKey: S3_SECRET_ACCESS_KEY,
    }),
    sealedSecrets(SECRETS_KEYS),
  );
}

/**
 * Names are random: a list of the objects shows nothing about contents, and the name of a removed object is
 * never used again, so a late removal takes nothing that is needed.
 */
export function blobObjects(store: ObjectStore, secrets: SealedSecrets): BlobObjects {
  const objects: BlobObjects = {
    newObject() {
      const random = randomBytes(NAME_BYTES).toString('hex');
      const name = `blobs/${random.slice(0, 2)}/${random.slice(2)}`;
      const key = randomBytes(OBJECT_KEY_BYTES);
      return { name, key, keySealed: secrets.seal(key.toString('base64'), objectKeyPlace(name)) };
    },
    async write({ name, key }, sha256, bytes) {
      const sealed = sealObject(key, sha256, bytes);
      await store.put(name, sealed);
      // The rows lose their copy after this: what the storage says it has must be there.
      if (!(await store.get(name, 0, sealed.length)).equals(sealed))
        throw new ObjectStoreError(`the object storage has other bytes of ${name} than were stored`);
    },
    async read({ name, keySealed, sha256, size }, from, length) {
      const wanted = Math.min(length, size - from);
      if (wanted <= 0) return Buffer.alloc(0);
      const key = Buffer.from(secrets.open(keySealed, objectKeyPlace(name)), 'base64');
      const range = sealedRange({ size }, from, wanted);
      const sealed = await store.get(name, range.from, range.length);
      let plain: Buffer;
      try {
        plain = openChunks(key, { sha256, size }, range.firstChunk, sealed);
      } catch (error) {
        throw new ObjectStoreError(`the object ${name} was changed in the object storage`, { cause: error });
      }
      const start = from % OBJECT_CHUNK_BYTES;
      return plain.subarray(start, start + wanted);
    },
    remove: (name) => store.remove(name),
    async probe() {
      const object = objects.newObject();
      const bytes = randomBytes(PROBE_BYTES);
      await objects.write(object, createHash('sha256').update(bytes).digest(), bytes);
      await objects.remove(object.name);
    },
  };
  return objects;
}
