import Type from 'typebox';
import { closed, nullable } from '#api/http/schema-parts.ts';
import { CHANGE_TEXT_MAX_CHARACTERS } from '#domain/sending/consent.ts';

const TextChange = closed(
  {
    before: nullable(Type.String({ description: 'Null: the message had no such part.' })),
    after: nullable(Type.String({ description: 'Null: it was removed.' })),
    cut: Type.Boolean({
      description: `One of them is longer than the ${CHANGE_TEXT_MAX_CHARACTERS} characters that are kept.`,
    }),
  },
  { title: 'TextChange' },
);
const RecipientsChange = closed(
  { before: Type.Array(Type.String()), after: Type.Array(Type.String()) },
  { title: 'RecipientsChange' },
);

/** Changes a person made before approving. */
export const ConsentChanges = closed(
  {
    subject: Type.Optional(TextChange),
    text: Type.Optional(TextChange),
    html: Type.Optional(TextChange),
    to: Type.Optional(RecipientsChange),
    cc: Type.Optional(RecipientsChange),
    bcc: Type.Optional(RecipientsChange),
  },
  { title: 'ConsentChanges', description: 'Fields that are missing were not changed.' },
);
