import Type from 'typebox';
import { closed, dateTime, nullable } from '#api/http/schema-parts.ts';
import { ConsentOutcome } from '#api/messages/decision-schema.ts';
import { MessageId, MessageSummary } from '#api/messages/schema.ts';

const changed = {
  folder: nullable(Type.String({ description: 'Its name; null when it is deleted.' })),
  occurredAt: dateTime(),
  messages: Type.Array(MessageSummary, {
    description: 'Their current state. At most 100; more follow in further events.',
  }),
};

/** `data` of each event of the stream, by its name. */
export const STREAM_EVENTS = {
  messages_added: closed(changed, { title: 'MessagesAdded' }),
  messages_changed: closed(changed, { title: 'MessagesChanged' }),
  messages_removed: closed(
    {
      folder: changed.folder,
      occurredAt: changed.occurredAt,
      messageIds: Type.Array(MessageId),
    },
    { title: 'MessagesRemoved' },
  ),
  consent_decided: closed({ ...ConsentOutcome.properties, occurredAt: dateTime() }, { title: 'ConsentDecided' }),
  resync: closed(
    {
      message: Type.String({ description: 'What to do, for an agent to read.' }),
    },
    { title: 'StreamResync' },
  ),
  closed: closed(
    {
      code: Type.String({ description: 'Code of the error that a request would get now.' }),
      message: Type.String(),
    },
    { title: 'StreamClosed' },
  ),
} as const;
