import type { Static } from 'typebox';
import type { ConsentChanges, RecipientsChange } from '#domain/sending/consent.ts';
import type { ConsentRow } from '#sending/consent/consent-record.ts';
import { type Decision, decisionOf } from '#sending/outbox/outbox.ts';
import type { ConsentChanges as ChangesSchema, ConsentOutcome, MessageDecision } from './decision-schema.ts';

/** Changes a person made before approving; null: none. */
export function presentChanges(changes: ConsentChanges | null): Static<typeof ChangesSchema> | null {
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
