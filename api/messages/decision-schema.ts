/** A decision about held mail as shown to its mailbox: in status, outbox, stream and long poll. */
import Type from 'typebox';
import { closed, dateTime, nullable } from '#api/http/schema-parts.ts';
import { idPattern } from '#domain/ids.ts';
import { CONSENT_SCOPES } from '#domain/sending/consent.ts';
import { ConsentChanges } from './changes-schema.ts';
import { MessageId } from './message-id.ts';

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
