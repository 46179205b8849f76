import { formatAddress, readableAddresses } from '@agent-mailbox/mime-structure/addresses';
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import { destinations, firstValue, type HeaderField } from '@agent-mailbox/mime-structure/header-fields';
import { messageIds } from '@agent-mailbox/mime-structure/read-structure';
import type { Static } from 'typebox';
import { timeOf } from '#api/http/schema-parts.ts';
import { messageLine } from '#client/model-text.ts';
import type { MessageSignal } from '#domain/mail/message-signals.ts';
import type { readContent } from '#mailstore/messages/message-content.ts';
import type { StoredMessage, StoredMessageContent } from '#mailstore/messages/read-messages.ts';
import type { Highlight } from '#mailstore/search/search-content.ts';
import { type LabelledAttachment, risksByName } from '#mime/attachments.ts';
import { surelyCode } from '#mime/one-time-code.ts';
import type { MessageContent } from '#mime/read-message.ts';
import type { MessageExtracts } from './schema.ts';

export const presentAttachment = (attachment: LabelledAttachment) => ({
  id: attachment.id,
  filename: attachment.filename,
  contentType: attachment.contentType,
  sizeBytes: attachment.sizeBytes,
  inline: attachment.inline,
  contentId: attachment.contentId,
  risks: [...(attachment.risks ?? risksByName(attachment))],
});

export const presentSignal = ({ kind, place, count, details }: MessageSignal) => ({
  kind,
  place,
  count,
  details: [...details],
});

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
  sentAt: timeOf(message.sentAt),
  sizeBytes: message.size,
  seen: message.seen,
  flagged: message.flagged,
  answered: message.answered,
  draft: message.draft,
  labels: [...message.labels],
  folders: [...message.folders],
  attachments: message.attachments.map(presentAttachment),
  authentication: presentAuthentication(message),
  signals: message.signals?.map(presentSignal) ?? null,
  untrusted: true as const,
});

/** What a model reads of a list. */
export const listForModel = ({
  data,
  nextCursor,
}: {
  readonly data: readonly Summary[];
  readonly nextCursor: string | null;
}) => ({
  messages: data.map(messageLine),
  nextCursor,
});

type Summary = ReturnType<typeof presentSummary>;

/** A message that a search found. */
export const presentHit = ({ message, highlights }: { message: StoredMessage; highlights: readonly Highlight[] }) => ({
  ...presentSummary(message),
  highlights: highlights.map(({ text, ranges }) => ({ text, ranges: ranges.map(([start, end]) => ({ start, end })) })),
});

/** What a model reads of a search. */
export const hitsForModel = ({
  data,
  nextCursor,
}: {
  readonly data: readonly ReturnType<typeof presentHit>[];
  readonly nextCursor: string | null;
}) => ({
  messages: data.map((hit) => ({ ...messageLine(hit), found: hit.highlights.map(({ text }) => text) })),
  nextCursor,
});

const presentAuthentication = ({ auth }: StoredMessage) =>
  auth === null
    ? null
    : {
        spf: { result: auth.spf.result, domain: auth.spf.domain },
        dkim: {
          result: auth.dkim.result,
          signatures: auth.dkim.signatures.map(({ result, domain, selector, unsigned }) => ({
            result,
            domain,
            selector,
            unsigned: [...(unsigned ?? [])],
          })),
        },
        dmarc: { result: auth.dmarc.result, domain: auth.dmarc.domain, policy: auth.dmarc.policy },
        arc: { result: auth.arc.result },
      };

/**
 * @param content null: the format omits it
 * @param source HTML as received; null: the format omits HTML and header
 */
export function presentMessage(
  message: StoredMessageContent,
  fields: readonly HeaderField[],
  content: MessageContent | null,
  source: { readonly html: string | null; readonly cut: boolean } | null,
) {
  const list = (addresses: string | undefined) => readableAddresses(addresses ?? '').map(formatAddress);
  const ids = (name: string) => messageIds(firstValue(fields, name));
  return {
    ...presentSummary(message),
    deliveredTo: message.deliveredTo,
    replyTo: list(firstValue(fields, 'reply-to')),
    bcc: list(destinations(fields, 'bcc')),
    messageId: message.messageIdHeader,
    inReplyTo: ids('in-reply-to')[0] ?? null,
    references: ids('references'),
    text: content?.text ?? null,
    extractedText: content?.reply ?? null,
    textStatus: content?.status ?? null,
    html: source?.html ?? null,
    truncated: (content !== null && content.status !== 'ok') || source?.cut === true,
    headers: source !== null ? fields.map(({ name, value }) => ({ name, value: decodeWords(value) })) : null,
  };
}

type Content = Awaited<ReturnType<typeof readContent>>;

export const presentExtracts = ({
  codes,
  links,
}: Pick<Content, 'codes' | 'links'>): Static<typeof MessageExtracts> => ({
  otp: surelyCode(codes),
  otpCandidates: codes.map((code) => ({ ...code })),
  links: links.map((link) => ({ ...link })),
});
