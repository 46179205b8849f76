import Type from 'typebox';
import { Actor, closed, dateTime, listOf, nullable, pageQuery } from '#api/http/schema-parts.ts';
import { MailboxId } from '#api/mailboxes/schema.ts';
import { ConsentChanges } from '#api/messages/decision-schema.ts';
import { MessageId } from '#api/messages/schema.ts';
import { addresses, subject } from '#api/messages/sending/send-schema.ts';
import { idPattern } from '#domain/ids.ts';
import { ANY_TEXT, LINES } from '#domain/mail/text-forms.ts';
import {
  CONSENT_REASON_MAX_CHARACTERS,
  CONSENT_SCOPES,
  CONSENT_STATUSES,
  HELD_BECAUSE_KINDS,
} from '#domain/sending/consent.ts';

export const ConsentId = Type.String({ pattern: idPattern('consent'), description: 'Id of the request for consent.' });
export const SHA256 = '^[0-9a-f]{64}$';
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
    heldBecause: Type.Enum([...HELD_BECAUSE_KINDS], {
      description: 'Why the message waits; `not_recorded`: the request is older than this field.',
    }),
    subject: Type.String(),
    preview: Type.String({ description: 'First words of the text.' }),
    createdAt: dateTime(),
    expiresAt: dateTime('The service denies the request after this time.'),
    decision: nullable(
      closed(
        {
          scope: nullable(Type.Enum([...CONSENT_SCOPES], { description: 'Of an approval.' })),
          reason: nullable(Type.String({ description: 'Of a denial.' })),
          decidedAt: dateTime(),
          decidedBy: Actor,
          changes: nullable(ConsentChanges),
        },
        { title: 'ConsentDecision' },
      ),
    ),
  },
  { title: 'Consent' },
);
export const ConsentList = listOf(Consent, 'ConsentList');

const ConsentEdit = closed(
  {
    subject: Type.Optional(subject),
    text: Type.Optional(
      nullable(Type.String({ pattern: ANY_TEXT, description: 'Give `html` too if the message has both.' })),
    ),
    html: Type.Optional(
      nullable(Type.String({ pattern: ANY_TEXT, description: 'Give `text` too if the message has both.' })),
    ),
    to: Type.Optional(addresses('Everybody in To afterwards.')),
    cc: Type.Optional(addresses('Everybody in Cc afterwards.')),
    bcc: Type.Optional(addresses('All other recipients of the changed message.')),
  },
  {
    title: 'ConsentEdit',
    minProperties: 1,
    description:
      'Changes the message and approves the result. Omitted fields do not change; null removes text or HTML. Attachments, threading and other header fields do not change.',
  },
);

export const ApproveConsent = closed(
  {
    edit: Type.Optional(ConsentEdit),
    sha256: Type.Optional(
      Type.String({
        pattern: SHA256,
        description:
          'The `sha256` of the message that the person was shown. If the message has changed since, nothing is decided and the answer is a conflict.',
      }),
    ),
    scope: Type.Enum([...CONSENT_SCOPES], {
      description:
        '`message`: this message, and replies to its recipients in its thread, which contain nothing of other mail. `address`, `domain`: from now on its recipients, or everybody at their domains; this also releases other held messages that it covers.',
    }),
  },
  { title: 'ConsentApproval' },
);
export const DenyConsent = closed(
  {
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: CONSENT_REASON_MAX_CHARACTERS, pattern: LINES })),
  },
  { title: 'ConsentDenial' },
);
