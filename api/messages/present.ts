import { formatAddress, readableAddresses } from '../../mail/mime/addresses.ts';
import { decodeWords } from '../../mail/mime/encoded-words.ts';
import { destinations, firstValue, type HeaderField } from '../../mail/mime/header-fields.ts';
import { extractReply } from '../../mail/mime/text.ts';
import type { Highlight } from '../../mail/store/highlights.ts';
import type { StoredMessage, StoredMessageContent, StoredText } from '../../mail/store/read-messages.ts';

export const presentSummary = (message: StoredMessage) => ({
  id: message.id,
  threadId: message.threadId,
  mailboxId: message.mailboxId,
  from: message.from[0] === undefined ? null : formatAddress(message.from[0]),
  to: message.to.map(formatAddress),
  cc: message.cc.map(formatAddress),
  subject: message.subject,
  preview: message.preview,
  receivedAt: message.receivedAt.toISOString(),
  sentAt: message.sentAt?.toISOString() ?? null,
  sizeBytes: message.size,
  seen: message.seen,
  flagged: message.flagged,
  answered: message.answered,
  draft: message.draft,
  labels: [...message.labels],
  folders: [...message.folders],
  attachments: message.attachments.map(({ id, filename, contentType, sizeBytes, inline, contentId }) => ({
    id,
    filename,
    contentType,
    sizeBytes,
    inline,
    contentId,
  })),
  authentication: presentAuthentication(message),
  untrusted: true as const,
});

/** A message that a search found. */
export const presentHit = ({ message, highlights }: { message: StoredMessage; highlights: readonly Highlight[] }) => ({
  ...presentSummary(message),
  highlights: highlights.map(({ text, ranges }) => ({ text, ranges: ranges.map(([start, end]) => ({ start, end })) })),
});

const presentAuthentication = ({ auth }: StoredMessage) =>
  auth === null
    ? null
    : {
        spf: { result: auth.spf.result, domain: auth.spf.domain },
        dkim: {
          result: auth.dkim.result,
          signatures: auth.dkim.signatures.map(({ result, domain, selector }) => ({ result, domain, selector })),
        },
        dmarc: { result: auth.dmarc.result, domain: auth.dmarc.domain, policy: auth.dmarc.policy },
        arc: { result: auth.arc.result },
      };

/**
 * @param text null: the format leaves it out
 * @param showAll HTML and header too
 */
export function presentMessage(
  message: StoredMessageContent,
  fields: readonly HeaderField[],
  text: StoredText | null,
  showAll: boolean,
) {
  const list = (addresses: string | undefined) => readableAddresses(addresses ?? '').map(formatAddress);
  const ids = (name: string) => (firstValue(fields, name) ?? '').match(/<[^<>\s]+>/g) ?? [];
  return {
    ...presentSummary(message),
    deliveredTo: message.deliveredTo,
    replyTo: list(firstValue(fields, 'reply-to')),
    bcc: list(destinations(fields, 'bcc')),
    messageId: message.messageIdHeader,
    inReplyTo: ids('in-reply-to')[0] ?? null,
    references: [...ids('references')],
    text: text?.text ?? null,
    extractedText: text === null ? null : extractReply(text.text),
    html: showAll ? (text?.html ?? null) : null,
    truncated: text?.truncated ?? false,
    headers: showAll ? fields.map(({ name, value }) => ({ name, value: decodeWords(value) })) : null,
  };
}
