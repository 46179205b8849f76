/** What passes between doors, workflow and activities of sending. Ids and times only: no address, no content. */

/** Name the workflow is registered under; its id is `outbound/<message id>`. */
export const OUTBOUND_MESSAGE = 'outboundMessage';
export const outboundWorkflowId = (messageId: string): string => `outbound/${messageId}`;

/** Signals: a consent was decided, or the message withdrawn (its row says how); stop what is not sent yet. */
export const DECIDE_SIGNAL = 'decide';
export const CANCEL_SIGNAL = 'cancel';

export interface OutboundInput {
  readonly messageId: string;
}

/** What the gate says: waits for consent until a time, waits for its time, may go on, or is over. */
export type GateResult =
  | { readonly kind: 'held'; readonly expiresAtMs: number }
  | { readonly kind: 'scheduled'; readonly sendAtMs: number }
  | { readonly kind: 'released' }
  | { readonly kind: 'ended' };

/** After the attempts that were due. */
export interface OutboundProgress {
  /** When the next attempt is due; null: every recipient is final. */
  readonly nextAtMs: number | null;
  /** Domain and code, as timers of workflows that began before `retry` show them. */
  readonly waitsFor: string;
  /** For the timer: what is tried again next, how often it was tried, and the last words of the other side. */
  readonly retry?: { readonly number: number; readonly domain: string; readonly reply: string };
}
