/** A decision about held mail as shown to its mailbox: in status, outbox, stream and long poll. */
import Type from 'typebox';
import { closed, dateTime, nullable } from '#api/http/schema-parts.ts';
import { idPattern } from '#domain/ids.ts';
import { CHANGE_TEXT_MAX_CHARACTERS, CONSENT_SCOPES } from '#domain/sending/consent.ts';
import { MessageId } from './message-id.ts';

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

export const MessageDecision = closed(
  {
    outcome: Type.Enum(['approved', 'denied', 'expired', 'withdrawn'], {
      description: '`expired`: nobody decided in time. `withdrawn`: the sender withdrew the message.',
    }),
    scope: nullable(Type.Enum([...CONSENT_SCOPES], { description: 'Of an approval.' })),
    reason: nullable(Type.String({ description: 'Of a denial.' })),
    decidedAt: dateTime(),
    changes: nullable(ConsentChanges),
  },
  { title: 'MessageDecision' },
);

export const ConsentOutcome = closed(
  {
    consentId: Type.String({ pattern: idPattern('consent') }),
    messageId: MessageId,
    recipients: Type.Array(Type.String(), { description: 'Recipients of the request, after any changes.' }),
    subject: Type.String({ description: 'After any changes.' }),
    decision: MessageDecision,
  },
  { title: 'ConsentOutcome' },
);
