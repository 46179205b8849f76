/** Fingerprints of attachments: SHA-256 of their decoded bytes, by which the same file is found in other mail. */
import { hash } from 'node:crypto';
import type { PartNode } from '@agent-mailbox/mime-structure/index-message';
import { type AttachmentInfo, leaves } from '@agent-mailbox/mime-structure/parts';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';

/**
 * Each once, hexadecimal. Empty attachments have none: they are all the same.
 *
 * @param attachments of these bytes
 */
export function attachmentDigests(
  bytes: Uint8Array,
  root: PartNode,
  attachments: readonly Pick<AttachmentInfo, 'id'>[],
): string[] {
  if (attachments.length === 0) return [];
  const ids = new Set(attachments.map(({ id }) => id));
  const digests = new Set<string>();
  for (const { number, part } of leaves(root)) {
    if (!ids.has(number)) continue;
    const content = decodeTransfer(bytes.subarray(part.body, part.end), part.encoding);
    if (content.length > 0) digests.add(hash('sha256', content));
  }
  return [...digests];
}
