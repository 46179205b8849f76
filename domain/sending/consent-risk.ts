/** How much of a held message asks for a closer look: the order in which a person may read the queue. */
import type { HeldBecauseKind } from './consent.ts';
import { OVER_BUDGET_KINDS } from './sending-brakes.ts';

/**
 * 3: it carries text or files of other mail, or more text than is compared. 2: its signals are suspicious, the answered
 * message sends the reply elsewhere, or its author read mail of an unknown sender just before. 1: it has any other signal, or is over a budget. 0: none of these.
 */
export const CONSENT_RISK_MAX = 3;

const OVER_BUDGET: readonly HeldBecauseKind[] = OVER_BUDGET_KINDS;

/** @param examined the signals of the message, by number. @returns 0 to {@link CONSENT_RISK_MAX} */
export function consentRisk(
  heldBecause: HeldBecauseKind,
  carriesPassages: boolean,
  { signals, suspicions }: { readonly signals: readonly unknown[]; readonly suspicions: readonly unknown[] },
): number {
  if (carriesPassages || heldBecause === 'carries_other_mail') return CONSENT_RISK_MAX;
  if (suspicions.length > 0 || heldBecause === 'reply_target' || heldBecause === 'unknown_sender_read') return 2;
  return signals.length > 0 || OVER_BUDGET.includes(heldBecause) ? 1 : 0;
}
