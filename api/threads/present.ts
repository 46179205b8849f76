import { formatAddress } from '../../mail/mime/addresses.ts';
import type { Thread, ThreadSummary } from '../../mail/store/read-threads.ts';
import { presentSummary } from '../messages/present.ts';

export const presentThreadSummary = (thread: ThreadSummary) => ({
  id: thread.id,
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
