/** Hashes by which redeliveries and threads are recognized. */
import { createHash } from 'node:crypto';
import { findBodyStart, firstValue, headerFields } from '../mime/header-fields.ts';
import type { ReadMessage } from '../mime/read-message.ts';
import { baseSubject } from '../mime/subject.ts';

/** RFC 5321 §4.4: what a relay puts on top, and what therefore differs between two deliveries of one message. */
const TRACE_FIELDS = new Set(['received', 'return-path']);
const REF_HASH_BYTES = 16;

/**
 * Tells a message that a client sends again because it missed our 250 from a new one. Undefined without a Message-ID:
 * two such messages may be alike on purpose.
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
  const contentHash = createHash('sha256').update(received.subarray(content)).digest();
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
  createHash('sha256').update(kind).update('\0').update(text).digest().subarray(0, REF_HASH_BYTES).toString('hex');

export interface ThreadRefs {
  /** By which an existing thread is found, best first. */
  readonly lookFor: readonly string[];
  /** By subject, where that counts: only a reply looks for it. */
  readonly lookForSubject: string | undefined;
  /** Message-IDs that lead to the thread from now on. */
  readonly ids: readonly string[];
  /** Subject and correspondent that lead to it. */
  readonly subject: string | undefined;
}

/**
 * @param correspondent address of the other side: the sender of incoming mail
 */
export function threadRefs(message: ReadMessage, correspondent: string): ThreadRefs {
  const own = message.messageId === undefined ? [] : [refHash('id', message.messageId)];
  const others = message.references.map((id) => refHash('id', id));
  const { base, isReply } = baseSubject(message.subject);
  const subject = base === '' ? undefined : refHash('subject', `${base}\0${correspondent.toLowerCase()}`);
  return {
    lookFor: [...own, ...others],
    lookForSubject: isReply ? subject : undefined,
    ids: [...new Set([...own, ...others])],
    subject,
  };
}
