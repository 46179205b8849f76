import type { Static } from 'typebox';
import type { ConsentRow } from '#sending/consent/consent-queries.ts';
import { type Decision, decisionOf } from '#sending/outbox/outbox.ts';
import type { ConsentOutcome, MessageDecision } from './decision-schema.ts';
import { presentChanges } from './present-changes.ts';

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
