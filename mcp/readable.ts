/** The part of a message or attachment that a model gets at once. */
import type { Message } from '#client/index.ts';

export const CHARACTERS_DEFAULT = 20_000;
/** Larger attachments would fill the context of the model; REST serves them. */
export const ATTACHMENT_MAX_BYTES = 1_048_576;

export const attachmentUri = (messageId: string, attachmentId: string): string =>
  `mail:///messages/${messageId}/attachments/${attachmentId}`;

/** @param start of the page, in UTF-16 code units */
export function readable(message: Message, quoted: boolean, start: number, maxCharacters: number) {
  const whole = (quoted ? message.text : message.extractedText) ?? '';
  const cut = whole.slice(start, start + maxCharacters);
  const isMore = start + cut.length < whole.length;
  // Keep surrogate pairs together.
  const text = isMore && cut.length > 1 && /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
  const { from, to, cc, replyTo, subject, threadId, receivedAt, seen, labels, folders, attachments } = message;
  return {
    id: message.id,
    threadId,
    from,
    to,
    cc,
    replyTo,
    subject,
    receivedAt,
    seen,
    labels,
    folders,
    attachments: attachments.map(({ id, filename, contentType, sizeBytes, risks }) => ({
      id,
      filename,
      contentType,
      sizeBytes,
      risks,
    })),
    signals: (message.signals ?? []).map(({ kind, place, details }) => ({ kind, place, details })),
    senderVerified: message.authentication === null ? null : message.authentication.dmarc.result === 'pass',
    untrusted: message.untrusted,
    text,
    nextOffset: isMore ? start + text.length : null,
    textTruncated: message.truncated || isMore,
  };
}
