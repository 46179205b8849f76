import { formatAddress } from '@agent-mailbox/mime-structure/addresses';
import { presentSummary } from '#api/messages/present.ts';
import type { Thread, ThreadSummary } from '#mailstore/messages/read-threads.ts';

export const presentThreadSummary = (thread: ThreadSummary) => ({
  id: thread.id,
  mailboxId: thread.mailboxId,
  subject: thread.subject,
  preview: thread.preview,
  messageCount: thread.messageCount,
  unreadCount: thread.unreadCount,
  senders: thread.senders.map(formatAddress),
  newestMessageId: thread.newestMessageId,
  newestAt: thread.newestAt.toISOString(),
});

export const presentThread = (thread: Thread) => ({
  ...presentThreadSummary(thread),
  messages: thread.messages.map(presentSummary),
});
