import { summaryExample } from '#api/messages/examples.ts';

export const threadExample = {
  id: summaryExample.threadId,
  mailboxId: summaryExample.mailboxId,
  subject: 'Re: Order 4711',
  preview: 'They are on their way.',
  messageCount: 2,
  unreadCount: 1,
  senders: ['Ann Example <ann@example.com>'],
  newestMessageId: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y9',
  newestAt: '2026-11-21T09:31:00.000Z',
};
