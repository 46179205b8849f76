/** Contents outside the rows of `blob`: what readers of blobs need of the object storage. */

/** What the rows say about an object. */
export interface StoredObject {
  readonly name: string;
  /** Key of its encryption, sealed. */
  readonly keySealed: string;
  /** Of the content. */
  readonly sha256: Uint8Array;
  /** Bytes of the content. */
  readonly size: number;
}

export interface NewObject {
  readonly name: string;
  readonly key: Buffer;
  readonly keySealed: string;
}

export interface BlobObjects {
  /** For one content; nothing is stored yet. */
  newObject(): NewObject;
  /** Encrypts and stores a content, reads it again and compares. @throws {ObjectStoreError} */
  write(object: NewObject, sha256: Uint8Array, bytes: Buffer): Promise<void>;
  /** Bytes of the content from `from` on, at most `length`; empty after its end. @throws {ObjectStoreError} */
  read(object: StoredObject, from: number, length: number): Promise<Buffer>;
  /** Of an object that is not there it does nothing. @throws {ObjectStoreError} */
  remove(name: string): Promise<void>;
  /** Writes, reads and removes an object, for `doctor`. @throws {ObjectStoreError} */
  probe(): Promise<void>;
}
