import Type from 'typebox';
import { CONSENT_REASON_MAX_CHARACTERS, CONSENT_SCOPES, CONSENT_STATUSES } from '../../domain/consent.ts';
import { ACTOR_TYPES } from '../../domain/event-envelope.ts';
import { idPattern } from '../../domain/ids.ts';
import { MailboxId } from '../mailboxes/schema.ts';
import { MessageId } from '../messages/schema.ts';
import { listOf, pageQuery } from '../pagination.ts';
import { closed, dateTime, nullable } from '../schema-parts.ts';

export const ConsentId = Type.String({ pattern: idPattern('consent'), description: 'Id of the request for consent.' });
export const ConsentPath = closed({ id: ConsentId });

export const ConsentsQuery = closed({
  status: Type.Optional(Type.Enum([...CONSENT_STATUSES])),
  mailboxId: Type.Optional(MailboxId),
  ...pageQuery,
});

export const Consent = closed(
  {
    id: ConsentId,
    mailboxId: MailboxId,
    messageId: MessageId,
    status: Type.Enum([...CONSENT_STATUSES], { description: 'Expiry is a denial by the service.' }),
    recipients: Type.Array(Type.String(), { description: 'The recipients it is about.' }),
    subject: Type.String(),
    preview: Type.String({ description: 'First words of the text.' }),
    createdAt: dateTime(),
    expiresAt: dateTime('Denied by itself after this time.'),
    decision: nullable(
      closed({
        scope: nullable(Type.Enum([...CONSENT_SCOPES], { description: 'Of an approval.' })),
        reason: nullable(Type.String({ description: 'Of a denial.' })),
        decidedAt: dateTime(),
        decidedBy: closed({
          type: Type.Enum([...ACTOR_TYPES]),
          id: nullable(Type.String()),
          name: nullable(Type.String()),
          email: nullable(Type.String()),
          address: nullable(Type.String()),
        }),
      }),
    ),
  },
  { title: 'Consent' },
);
export const ConsentList = listOf(Consent);

export const ApproveConsent = closed({
  scope: Type.Enum([...CONSENT_SCOPES], {
    description:
      '`message`: this message and answers in its thread. `address`, `domain`: its recipients, or everybody at their domains, from now on; other held messages this covers are released too.',
  }),
});
export const DenyConsent = closed({
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: CONSENT_REASON_MAX_CHARACTERS })),
});
