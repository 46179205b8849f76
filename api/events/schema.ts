import Type from 'typebox';
import { MessageId, MessageSummary } from '../messages/schema.ts';
import { closed, dateTime, nullable } from '../schema-parts.ts';

const changed = {
  folder: nullable(Type.String({ description: 'Its name; null when it is deleted.' })),
  occurredAt: dateTime(),
  messages: Type.Array(MessageSummary, {
    description: 'As they are now. At most 100; more come in further events.',
  }),
};

/** `data` of each event of the stream, by its name. */
export const STREAM_EVENTS = {
  messages_added: closed(changed),
  messages_changed: closed(changed),
  messages_removed: closed({
    folder: changed.folder,
    occurredAt: changed.occurredAt,
    messageIds: Type.Array(MessageId),
  }),
  resync: closed({
    message: Type.String({ description: 'What to do, for an agent to read.' }),
  }),
  closed: closed({
    code: Type.String({ description: 'Code of the error that a request would get now.' }),
    message: Type.String(),
  }),
} as const;
