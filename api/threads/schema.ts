import Type from 'typebox';
import { idPattern } from '../../domain/ids.ts';
import { MailboxId } from '../mailboxes/schema.ts';
import { MessageId, MessageSummary } from '../messages/schema.ts';
import { listOf } from '../pagination.ts';
import { closed, dateTime } from '../schema-parts.ts';

const ThreadId = Type.String({ pattern: idPattern('thread'), description: 'Thread id.' });

export const MailboxThreadPath = closed({ id: MailboxId, tid: ThreadId });
export const OwnThreadPath = closed({ tid: ThreadId });

const summary = {
  id: ThreadId,
  subject: Type.String({ description: 'Of the newest message.' }),
  preview: Type.String({ description: 'Of the newest message.' }),
  messageCount: Type.Integer(),
  unreadCount: Type.Integer(),
  senders: Type.Array(Type.String(), { description: 'Who wrote, each once, oldest first, at most 20.' }),
  newestMessageId: MessageId,
  newestAt: dateTime('When the newest message came.'),
};

const ThreadSummary = closed(summary);
export const ThreadList = listOf(ThreadSummary);

export const Thread = closed({
  ...summary,
  messages: Type.Array(MessageSummary, { description: 'Oldest first; of a long thread the newest 200.' }),
});
