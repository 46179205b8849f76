import { createHash, type Hash } from 'node:crypto';

/** Hashes of a message, for which its bytes are read once. */
export interface MessageHash {
  /** SHA-256 of the bytes: the key of their blob. */
  readonly key: Buffer;
  /** The content of an approval: these bytes to these recipients. */
  contentHash(recipients: readonly string[]): Buffer;
}

export function hashMessage(bytes: Uint8Array): MessageHash {
  const state = createHash('sha256').update(bytes);
  return { key: state.copy().digest(), contentHash: (recipients) => withRecipients(state.copy(), recipients) };
}

function withRecipients(state: Hash, recipients: readonly string[]): Buffer {
  const sorted = recipients.map((address) => address.toLowerCase()).sort();
  return state.update('\0').update(sorted.join('\n')).digest();
}

/** As `contentHash`, where nothing else is hashed. */
export const hashContent = (bytes: Uint8Array, recipients: readonly string[]): Buffer =>
  withRecipients(createHash('sha256').update(bytes), recipients);
