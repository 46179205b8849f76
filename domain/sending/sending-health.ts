/** When a mailbox sends to too many addresses that do not exist, or that do not want its mail. */

/** Rates are computed over the outside recipients of this period, if there are at least this many. */
export const SENDING_RATE_WINDOW_MS = 86_400_000;
export const SENDING_RATE_FROM_RECIPIENTS = 100;
/** Shares of these recipients; from the first on the mailbox is flagged, from the second on it is paused. */
export const BOUNCE_RATE_FLAGGED = 0.05;
export const BOUNCE_RATE_PAUSED = 0.1;
export const COMPLAINT_RATE_FLAGGED = 0.001;
export const COMPLAINT_RATE_PAUSED = 0.005;

/** `paused`: nothing leaves to recipients outside until a person resumes it. */
export const SENDING_STATES = ['ok', 'flagged', 'paused'] as const;
export type SendingState = (typeof SENDING_STATES)[number];

export interface SendingHealth {
  readonly state: SendingState;
  /** A sentence for people; null while all is well. */
  readonly reason: string | null;
}

/** Recipients outside within the window. */
export interface SendingCounts {
  /** Accepted by the next host, including those that bounced later. */
  readonly handedOver: number;
  readonly bounced: number;
  readonly complained: number;
}

export function evaluateSending({ handedOver, bounced, complained }: SendingCounts): SendingHealth {
  if (handedOver < SENDING_RATE_FROM_RECIPIENTS) return { state: 'ok', reason: null };
  const rated = [
    { count: bounced, what: 'bounced', flagged: BOUNCE_RATE_FLAGGED, paused: BOUNCE_RATE_PAUSED },
    { count: complained, what: 'complained', flagged: COMPLAINT_RATE_FLAGGED, paused: COMPLAINT_RATE_PAUSED },
  ].map(({ count, what, flagged, paused }) => {
    const rate = count / handedOver;
    const state: SendingState = rate >= paused ? 'paused' : rate >= flagged ? 'flagged' : 'ok';
    const limit = state === 'paused' ? paused : flagged;
    const reason = `${count} of ${handedOver} recipients of the last 24 hours ${what} (${percent(rate)}; ${state} from ${percent(limit)} on).`;
    return { state, reason };
  });
  const worst = rated.find(({ state }) => state === 'paused') ?? rated.find(({ state }) => state === 'flagged');
  return worst ?? { state: 'ok', reason: null };
}

const percent = (share: number): string => `${Number((share * 100).toFixed(2))} %`;
