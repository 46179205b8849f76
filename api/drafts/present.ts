import { formatAddress } from '@agent-mailbox/mime-structure/addresses';
import { presentSummary } from '#api/messages/present.ts';
import type { DraftRow } from '#mailstore/messages/drafts.ts';
import type { StoredMessage } from '#mailstore/messages/read-messages.ts';
import type { EditableMessage } from '#mime/editable-message.ts';

export function presentDraftSummary(draft: DraftRow, message: StoredMessage) {
  const {
    id: messageId,
    threadId,
    mailboxId,
    to,
    cc,
    subject,
    preview,
    attachments,
    sizeBytes,
  } = presentSummary(message);
  return {
    id: draft.id,
    messageId,
    threadId,
    mailboxId,
    to,
    cc,
    subject,
    preview,
    attachments,
    labels: [...draft.labels],
    sizeBytes,
    sendAt: draft.sendAt?.toISOString() ?? null,
    createdAt: draft.createdAt.toISOString(),
    updatedAt: message.receivedAt.toISOString(),
  };
}

export const presentDraft = (draft: DraftRow, message: StoredMessage, content: EditableMessage) => ({
  ...presentDraftSummary(draft, message),
  bcc: content.bcc.map(formatAddress),
  replyTo: content.replyTo.map(formatAddress),
  text: content.text ?? null,
  html: content.html ?? null,
  headers: { ...content.headers },
  inReplyTo: content.inReplyTo ?? null,
});
