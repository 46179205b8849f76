/** The object storage cannot be used, or does not have what it should. */
export class ObjectStoreError extends Error {
  override readonly name = 'ObjectStoreError';
}
