import Type from 'typebox';
import { ACTOR_TYPES } from '#domain/webhooks/event-envelope.ts';
import { closed, nullable } from './schema-parts.ts';

const text = () => nullable(Type.String());

/** Who did something; fields that do not apply to the type are null. */
export const Actor = closed(
  { type: Type.Enum([...ACTOR_TYPES]), id: text(), name: text(), email: text(), address: text() },
  { title: 'Actor' },
);
