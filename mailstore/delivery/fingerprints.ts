/** Hashes by which redeliveries and threads are recognized. */
import { createHash, hash } from 'node:crypto';
import { findBodyStart, firstValue, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import type { ReadMessage } from '#mime/read-message.ts';
import { baseSubject } from '#mime/subject.ts';

/** RFC 5321 §4.4: fields that a relay adds on top, which therefore differ between two deliveries of one message. */
const TRACE_FIELDS = new Set(['received', 'return-path']);
const REF_HASH_BYTES = 16;

/**
 * Recognizes a message that a client sends again because it missed our 250. Undefined without a Message-ID: two such
 * messages may be equal on purpose.
 *
 * @param received bytes as the client sent them
 * @returns a function that gives the hash for one recipient address
 */
export function deliveryHasher(received: Uint8Array, sender: string): ((recipient: string) => string) | undefined {
  const bodyStart = findBodyStart(received, 0, received.length);
  const fields = headerFields(received, 0, bodyStart);
  if (!firstValue(fields, 'message-id')) return undefined;
  let content = 0;
  for (const field of fields) {
    if (!TRACE_FIELDS.has(field.name)) break;
    content = field.end;
  }
  const contentHash = hash('sha256', received.subarray(content), 'buffer');
  return (recipient) =>
    createHash('sha256')
      .update(sender.toLowerCase())
      .update('\0')
      .update(recipient.toLowerCase())
      .update('\0')
      .update(contentHash)
      .digest('hex');
}

const refHash = (kind: 'id' | 'subject', text: string): string =>
  hash('sha256', `${kind}\0${text}`).slice(0, REF_HASH_BYTES * 2);

/** By which threads know a Message-ID: `thread_ref.ref_hash`, hexadecimal. @param messageIdHeader with its brackets */
export const messageIdRef = (messageIdHeader: string): string => refHash('id', messageIdHeader);

export interface ThreadRefs {
  /** By which an existing thread is found, best first. */
  readonly lookFor: readonly string[];
  /** By subject, for replies only. */
  readonly lookForSubject: string | undefined;
  /** Message-IDs that lead to the thread from now on. */
  readonly ids: readonly string[];
  /** Subject and correspondent that lead to it. */
  readonly subject: string | undefined;
}

/** @param correspondent address of the other party: the sender of incoming mail */
export function threadRefs(message: ReadMessage, correspondent: string): ThreadRefs {
  const own = message.messageId === undefined ? [] : [messageIdRef(message.messageId)];
  const others = message.references.map(messageIdRef);
  const { base, isReply } = baseSubject(message.subject);
  const subject = base === '' ? undefined : refHash('subject', `${base}\0${correspondent.toLowerCase()}`);
  return {
    lookFor: [...own, ...others],
    lookForSubject: isReply ? subject : undefined,
    ids: [...new Set([...own, ...others])],
    subject,
  };
}
