/** Numbers of contents that are stored outside the database, as objects. */

/** Where new contents are kept in the end. */
export const BLOB_STORES = ['postgresql', 's3'] as const;
export type BlobStoreName = (typeof BLOB_STORES)[number];

/** Plaintext of one encrypted chunk of an object: what has to be read at least. */
export const OBJECT_CHUNK_BYTES = 65_536;
/** Of a request to the object storage without its body; then it is tried again. */
export const OBJECT_REQUEST_MAX_MS = 20_000;
/** Added to it for each of these bytes of the body: a slow storage is no failed one. */
export const OBJECT_BYTES_PER_MS = 1_000;
export const OBJECT_REQUEST_TRIES = 3;
/** Wait before the second attempt; doubled for the third. */
export const OBJECT_RETRY_MS = 200;
/** Contents are moved this long after they came, so that short-lived ones never leave the database. */
export const OBJECT_MOVED_AFTER_SECONDS = 60;
/** An object that nothing refers to stays this long: a reader may have looked it up before. */
export const FREE_OBJECT_LIFE_MINUTES = 60;
