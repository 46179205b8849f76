/** A message taken apart into what its writer gave, so that a part of it can be changed and the rest kept. Pure. */
import { type MailAddress, readableAddresses } from '@agent-mailbox/mime-structure/addresses';
import { decodeWords } from '@agent-mailbox/mime-structure/encoded-words';
import { destinations, firstValue, headerFields } from '@agent-mailbox/mime-structure/header-fields';
import { indexMessage, type PartNode } from '@agent-mailbox/mime-structure/index-message';
import { attachmentsOf, bodyParts, leaves, type NumberedPart, partText } from '@agent-mailbox/mime-structure/parts';
import { messageIds } from '@agent-mailbox/mime-structure/read-structure';
import { decodeTransfer } from '@agent-mailbox/mime-structure/transfer-encoding';

export interface EditableMessage {
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  readonly bcc: readonly MailAddress[];
  readonly replyTo: readonly MailAddress[];
  readonly subject: string;
  /** Undefined: it has no such part. */
  readonly text: string | undefined;
  readonly html: string | undefined;
  readonly attachments: readonly EditableAttachment[];
  /** Header fields beyond those of the message itself, by name as spelled. */
  readonly headers: Readonly<Record<string, string>>;
  /** Message-IDs with brackets. */
  readonly messageId: string | undefined;
  readonly inReplyTo: string | undefined;
  readonly references: readonly string[];
}

interface EditableAttachment {
  readonly filename: string | undefined;
  /** With its charset where it names one. */
  readonly contentType: string;
  readonly content: Buffer;
  readonly contentId: string | undefined;
}

/**
 * Takes a message apart. Of alternatives beyond plain text and HTML, and of nesting, nothing is kept.
 *
 * @param isOwnField tells header fields (lower-case names) that are made anew with the message
 */
export function editableMessage(bytes: Uint8Array, isOwnField: (name: string) => boolean): EditableMessage {
  const parts = indexMessage(bytes);
  const fields = headerFields(bytes, parts.header, parts.body);
  const addresses = (list: string | undefined) => readableAddresses(list ?? '');
  const ids = (name: string) => messageIds(firstValue(fields, name));
  const { plain, html } = bodyParts(parts);
  const textOf = (list: readonly NumberedPart[]) =>
    list.length === 0 ? undefined : list.map(({ part }) => partText(bytes, part)).join('\n');
  const spelled = (start: number, length: number) =>
    Buffer.from(bytes.subarray(start, start + length)).toString('latin1');
  const others = fields.filter(({ name }) => !isOwnField(name));
  return {
    to: addresses(destinations(fields, 'to')),
    cc: addresses(destinations(fields, 'cc')),
    bcc: addresses(destinations(fields, 'bcc')),
    replyTo: addresses(firstValue(fields, 'reply-to')),
    subject: decodeWords(firstValue(fields, 'subject') ?? ''),
    text: textOf(plain),
    html: textOf(html),
    attachments: attachmentList(bytes, parts),
    headers: Object.fromEntries(
      others.map(({ name, value, start }) => [spelled(start, name.length), decodeWords(value)]),
    ),
    messageId: ids('message-id')[0],
    inReplyTo: ids('in-reply-to')[0],
    references: ids('references'),
  };
}

function attachmentList(bytes: Uint8Array, root: PartNode): EditableAttachment[] {
  const byNumber = new Map([...leaves(root)].map(({ number, part }) => [number, part]));
  return attachmentsOf(bytes, root).flatMap(({ id, filename, contentType, contentId }) => {
    const part = byNumber.get(id);
    if (part === undefined) return [];
    const charset = part.params?.find(([name]) => name === 'charset')?.[1];
    return [
      {
        filename: filename ?? undefined,
        contentType: charset === undefined ? contentType : `${contentType}; charset=${charset}`,
        content: Buffer.from(decodeTransfer(bytes.subarray(part.body, part.end), part.encoding)),
        contentId: contentId ?? undefined,
      },
    ];
  });
}
