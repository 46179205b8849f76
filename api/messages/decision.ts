/** A decision about held mail as shown to its mailbox: in status, outbox, stream and long poll. */
import Type, { type Static } from 'typebox';
import { closed, dateTime, MessageId, nullable } from '#api/http/schema-parts.ts';
import { idPattern } from '#domain/ids.ts';
import {
  CHANGE_TEXT_MAX_CHARACTERS,
  type ConsentChanges as Changes,
  CONSENT_SCOPES,
  type RecipientsChange,
} from '#domain/sending/consent.ts';
import type { ConsentRow } from '#sending/consent/find-consents.ts';
import { type Decision, decisionOf } from '#sending/outbox/outbox.ts';

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
    outcome: Type.Enum(['approved', 'denied', 'returned', 'expired', 'withdrawn'], {
      description:
        '`returned`: a person sent it back; `reason` is the comment, and a changed message may be submitted with `resubmits`. `expired`: nobody decided in time. `withdrawn`: the sender withdrew the message.',
    }),
    scope: nullable(Type.Enum([...CONSENT_SCOPES], { description: 'Of an approval.' })),
    reason: nullable(Type.String({ description: 'Of a denial; the comment of a returned message.' })),
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

/** Changes a person made before approving; null: none. */
export function presentChanges(changes: Changes | null): Static<typeof ConsentChanges> | null {
  if (changes === null) return null;
  const { subject, text, html, to, cc, bcc } = changes;
  const copy = ({ before, after }: RecipientsChange) => ({ before: [...before], after: [...after] });
  return {
    ...(subject === undefined ? {} : { subject: { ...subject } }),
    ...(text === undefined ? {} : { text: { ...text } }),
    ...(html === undefined ? {} : { html: { ...html } }),
    ...(to === undefined ? {} : { to: copy(to) }),
    ...(cc === undefined ? {} : { cc: copy(cc) }),
    ...(bcc === undefined ? {} : { bcc: copy(bcc) }),
  };
}

export const presentDecision = (decision: Decision | null): Static<typeof MessageDecision> | null =>
  decision === null
    ? null
    : {
        outcome: decision.outcome,
        scope: decision.scope,
        reason: decision.reason,
        decidedAt: decision.decidedAt.toISOString(),
        changes: presentChanges(decision.changes),
      };

/** Undefined: it is not decided yet. */
export function presentOutcome(consent: ConsentRow): Static<typeof ConsentOutcome> | undefined {
  const decision = presentDecision(decisionOf(consent));
  if (decision === null) return undefined;
  const { id: consentId, messageId, recipients, subject } = consent;
  return { consentId, messageId, recipients: [...recipients], subject, decision };
}
