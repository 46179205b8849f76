/** Messages of this host, in the form in which the mail store files them. */

import { blobKey } from '#mailstore/blobs/blob-store.ts';
import type { AuthenticationResults } from '#mailstore/delivery/authentication-results.ts';
import type { IncomingMessage } from '#mailstore/delivery/insert-messages.ts';
import { listedHeader } from '#mailstore/delivery/listed-header.ts';
import { threadRefs } from '#mailstore/delivery/threads.ts';
import type { ReadMessage } from '#mime/read-message.ts';

/** A message, parsed before any transaction begins. */
export interface MessageToFile {
  readonly bytes: Buffer;
  readonly read: ReadMessage;
  /** Key of its blob, if that is stored already. */
  readonly blob?: Buffer | null;
}

/** A message of this host, as it is filed in a mailbox here. */
export function newMessage(
  { bytes, read, blob = null }: MessageToFile,
  origin: 'submission' | 'local' | 'system',
  facts: { correspondent: string; envelopeFrom: string; at: Date; auth: AuthenticationResults | null },
): IncomingMessage {
  return {
    bytes,
    size: bytes.length,
    blobKey: blob ?? blobKey(bytes),
    stored: blob !== null,
    read,
    refs: threadRefs(read, facts.correspondent),
    listed: listedHeader(bytes, read.parts),
    origin,
    receivedAt: facts.at,
    envelopeFrom: facts.envelopeFrom,
    auth: facts.auth,
  };
}
