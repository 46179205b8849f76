/** Data passed between entry points, workflow and activities of sending. Ids and times only: no address, no content. */

/** Name the workflow is registered under; its id is `outbound/<message id>`. */
export const OUTBOUND_MESSAGE = 'outboundMessage';
export const outboundWorkflowId = (messageId: string): string => `outbound/${messageId}`;

/**
 * Signals: read the row again (a consent was decided, the message withdrawn, a stop ended); stop what is not sent yet.
 */
export const DECIDE_SIGNAL = 'decide';
export const CANCEL_SIGNAL = 'cancel';

export interface OutboundInput {
  readonly messageId: string;
}

/** The result of the gate: waits for consent until a time, is scheduled, may be sent, or is final. */
export type GateResult =
  | {
      readonly kind: 'held';
      readonly expiresAtMs: number;
      /** When the gate must check again before the request expires: a reminder is due then. */
      readonly remindAtMs?: number;
    }
  | {
      readonly kind: 'scheduled';
      readonly sendAtMs: number;
      /** It waits for the end of a stop instead. */
      readonly stopped?: true;
    }
  | { readonly kind: 'released' }
  | { readonly kind: 'ended' };

/** After the attempts that were due. */
export interface OutboundProgress {
  /** When the next attempt is due; null: every recipient is final. */
  readonly nextAtMs: number | null;
  /** Domain and code, as timers of workflows that began before `retry` show them. */
  readonly waitsFor: string;
  /** It waits for the end of a stop, which `decide` signals. */
  readonly stopped?: boolean;
  /** `decide` ends the wait for the next attempt, too: the operator makes it due at once, or stops the message. */
  readonly mayBeWoken?: boolean;
  /** For the timer's summary: the next destination, the number of attempts, and the last answer of the other host. */
  readonly retry?: { readonly number: number; readonly domain: string; readonly reply: string };
}
