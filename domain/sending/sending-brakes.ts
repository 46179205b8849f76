/**
 * Brakes: settings by which a person stops or limits the mail of a mailbox or an organization.
 *
 *   normal ──▶ drafts_only (agents write drafts, people send them) ──▶ stopped (nothing is sent)
 *
 * States to the right are tighter. An organization is stopped or not; the tighter of the two applies. The service brakes by
 * itself when a mailbox sends to too many addresses that do not exist, or that do not want its mail.
 */

/**
 * Brakes: settings by which a person stops or limits the mail of a mailbox or an organization.
 *
 *   normal ──▶ drafts_only (agents write drafts, people send them) ──▶ stopped (nothing is sent)
 *
 * States to the right are tighter. An organization is stopped or not; the tighter of the two applies.
 */
export const SENDING_MODES = ['normal', 'drafts_only', 'stopped'] as const;
export type SendingMode = (typeof SENDING_MODES)[number];

const strictness = (mode: SendingMode): number => SENDING_MODES.indexOf(mode);

/** How much may be sent on one day (UTC); messages above are held for a person. Null: no limit. */
export interface SendingBudgets {
  readonly messagesPerDay: number | null;
  readonly newRecipientsPerDay: number | null;
}
export const BUDGET_MAX = 1_000_000;

/** Brakes of a mailbox. */
export interface Brakes {
  readonly mode: SendingMode;
  readonly budgets: SendingBudgets;
}

/** Whether a change loosens a brake: only a person may do that. */
export const loosens = (before: Brakes, after: Brakes): boolean =>
  strictness(after.mode) < strictness(before.mode) ||
  isMore(before.budgets.messagesPerDay, after.budgets.messagesPerDay) ||
  isMore(before.budgets.newRecipientsPerDay, after.budgets.newRecipientsPerDay);

/** The same for an organization, which is stopped or not. */
export interface OrganizationBrakes {
  readonly stopped: boolean;
  readonly budgets: SendingBudgets;
}

const isMore = (before: number | null, after: number | null): boolean =>
  before !== null && (after === null || after > before);

/** The level at which sending was stopped; the organization comes first. Null: not stopped. */
export type StoppedBy = 'organization' | 'mailbox';

export const stoppedBy = (mode: SendingMode, organizationStopped: boolean): StoppedBy | null =>
  organizationStopped ? 'organization' : mode === 'stopped' ? 'mailbox' : null;

export const STOPPED_SENTENCES: Readonly<Record<StoppedBy, string>> = {
  organization: 'A person stopped all sending of the organization.',
  mailbox: 'A person stopped the sending of this mailbox.',
};

/** The budget that a message exceeded; the reason why it is held. */
export const OVER_BUDGET_KINDS = ['over_message_budget', 'over_new_recipient_budget'] as const;
export type OverBudgetKind = (typeof OVER_BUDGET_KINDS)[number];

export const OVER_BUDGET_SENTENCES: Readonly<Record<OverBudgetKind, string>> = {
  over_message_budget: 'The mailbox or its organization is over its budget of messages for today.',
  over_new_recipient_budget: 'The mailbox or its organization is over its budget of new recipients for today.',
};

/** A process whose clock is behind may still count for the previous day. */
export const SENDING_USE_RETENTION_DAYS = 7;

/** A workflow whose message is stopped checks again after this time, even without a signal. */
export const STOPPED_LOOK_AGAIN_MS = 3_600_000;

/** A stop is answered when no transmission is in flight any more, or after this time. */
export const STOP_SETTLES_WITHIN_MS = 10_000;

/** Rates are computed over the outside recipients of this period, if there are at least this many. */
export const SENDING_RATE_WINDOW_MS = 86_400_000;
const SENDING_RATE_FROM_RECIPIENTS = 100;
/** Shares of these recipients; from the first on the mailbox is flagged, from the second on it is paused. */
const BOUNCE_RATE_FLAGGED = 0.05;
const BOUNCE_RATE_PAUSED = 0.1;
const COMPLAINT_RATE_FLAGGED = 0.001;
const COMPLAINT_RATE_PAUSED = 0.005;

/** `paused`: nothing leaves to recipients outside until a person resumes it. */
export const SENDING_STATES = ['ok', 'flagged', 'paused'] as const;
type SendingState = (typeof SENDING_STATES)[number];

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
