import Type from 'typebox';
import { closed, dateTime, listOf } from '#api/http/schema-parts.ts';
import { MailboxId } from '#api/mailboxes/schema.ts';
import { MessageId, MessageSummary } from '#api/messages/schema.ts';
import { idPattern } from '#domain/ids.ts';

const ThreadId = Type.String({ pattern: idPattern('thread'), description: 'Thread id.' });

export const MailboxThreadPath = closed({ id: MailboxId, tid: ThreadId });
export const OwnThreadPath = closed({ tid: ThreadId });

const summary = {
  id: ThreadId,
  mailboxId: MailboxId,
  subject: Type.String({ description: 'Of the newest message.' }),
  preview: Type.String({ description: 'Of the newest message.' }),
  messageCount: Type.Integer(),
  unreadCount: Type.Integer(),
  senders: Type.Array(Type.String(), { description: 'Who wrote, each once, oldest first, at most 20.' }),
  newestMessageId: MessageId,
  newestAt: dateTime('When the newest message arrived.'),
};

const ThreadSummary = closed(summary, { title: 'ThreadSummary' });
export const ThreadList = listOf(ThreadSummary, 'ThreadList');

export const Thread = closed(
  {
    ...summary,
    messages: Type.Array(MessageSummary, { description: 'Oldest first; at most the newest 200.' }),
  },
  { title: 'Thread' },
);
