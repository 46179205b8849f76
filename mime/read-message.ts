/** Everything the store keeps about a message, computed from its bytes. Pure. */
import { type MessageStructure, readStructure } from '@agent-mailbox/mime-structure/read-structure';
import { attachmentDigests } from './attachment-digests.ts';
import { type LabelledAttachment, labelledAttachments } from './labelled-attachments.ts';
import { type MessageContent, previewOf, readContent, UNREAD_CONTENT } from './read-content.ts';

export interface ReadMessage extends Omit<MessageStructure, 'attachments'> {
  readonly attachments: readonly LabelledAttachment[];
  readonly preview: string;
  readonly content: MessageContent;
  /** SHA-256 of each attachment, decoded; hexadecimal. */
  readonly attachmentDigests: readonly string[];
}

/** Structure and content. Linear in the message, but of a large one or one with HTML it is for a thread of its own. */
export const readMessage = (bytes: Uint8Array): ReadMessage => withContent(bytes, readStructure(bytes));

export function withContent(bytes: Uint8Array, structure: MessageStructure): ReadMessage {
  const content = readContent(bytes, structure.parts, structure.subject);
  return {
    ...structure,
    attachments: labelledAttachments(bytes, structure),
    preview: previewOf(content),
    content,
    attachmentDigests: attachmentDigests(bytes, structure.parts, structure.attachments),
  };
}

/** A message whose content could not be read. */
export const withoutContent = (structure: MessageStructure): ReadMessage => ({
  ...structure,
  preview: '',
  content: UNREAD_CONTENT,
  attachmentDigests: [],
});
