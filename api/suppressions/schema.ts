import Type from 'typebox';
import { closed, dateTime, listOf, nullable, pageQuery } from '#api/http/schema-parts.ts';
import { idPattern } from '#domain/ids.ts';
import { ADDRESS_MAX_CHARACTERS } from '#domain/sending/outbound.ts';

const SuppressionId = Type.String({ pattern: idPattern('suppression'), description: 'Id of the entry.' });
export const SuppressionPath = closed({ id: SuppressionId });

const Reason = Type.Enum(['hard_bounce', 'complaint'], {
  description: '`hard_bounce`: there is no such address (5.1.x). `complaint`: its owner reported a message as abuse.',
});

export const SuppressionsQuery = closed({
  ...pageQuery,
  address: Type.Optional(
    Type.String({ minLength: 3, maxLength: ADDRESS_MAX_CHARACTERS, description: 'Only the entry of this address.' }),
  ),
  reason: Type.Optional(Reason),
});

export const Suppression = closed(
  {
    id: SuppressionId,
    address: Type.String({ description: 'In lower case.' }),
    reason: Reason,
    messageId: nullable(Type.String({ description: 'The message that bounced or caused the complaint.' })),
    createdAt: dateTime(),
  },
  { title: 'Suppression' },
);
export const SuppressionList = listOf(Suppression, 'SuppressionList');
