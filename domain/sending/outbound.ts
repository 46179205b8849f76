/** States and numbers of outgoing mail. */

/**
 * Of one recipient:
 *
 *   queued ──attempt──▶ sending ──accepted──▶ sent | captured
 *     ▲                  │  └─refused for good, or two days passed──▶ bounced
 *     └──temporary──────┘
 *   sent ──a report says that it failed later──▶ bounced
 *   queued ──on the suppression list──▶ suppressed;  ──consent denied, blocked, cancelled──▶ denied
 *
 * A local recipient goes from the start to sent or bounced.
 */
export const RECIPIENT_STATUSES = ['queued', 'sending', 'sent', 'captured', 'bounced', 'suppressed', 'denied'] as const;
export type RecipientStatus = (typeof RECIPIENT_STATUSES)[number];

/** Of the message: combined from its recipients, or what it waits for. */
/** Said to a client that submits a message again with the same `clientId`, or a draft that was sent. */
export const REPEATED_SENTENCE = 'This message was submitted before, and nothing was sent now.';

export const OUTBOUND_STATUSES = ['consent_pending', 'scheduled', ...RECIPIENT_STATUSES] as const;
export type OutboundStatus = (typeof OUTBOUND_STATUSES)[number];

/**
 * `held` waits for consent, `scheduled` for its time, the end of a stop, or, once approved, its release; `sending` has a recipient that is not final, `denied` and
 * `done` are final.
 */
export type OutboundState = 'held' | 'scheduled' | 'sending' | 'done' | 'denied';

/** How a message relates to a stored one: a reply to it, or a forward of it. */
export type AnsweredAs = 'answered' | 'forwarded';

/** Otherwise a scheduled message was approved and is released at once. */
export const waitsForTime = ({
  sendAt,
  stoppedAt,
}: {
  readonly sendAt: Date | null;
  readonly stoppedAt: Date | null;
}): boolean => sendAt !== null || stoppedAt !== null;

/** While one recipient is not final, the message is not; afterwards the status that most needs attention is shown. */
const SHOWN_FIRST: readonly RecipientStatus[] = ['sending', 'queued', 'bounced', 'denied', 'suppressed', 'sent'];

/** @param isWaiting of a scheduled message: `waitsForTime` */
export function outboundStatus(
  state: OutboundState,
  recipients: readonly RecipientStatus[],
  isWaiting = true,
): OutboundStatus {
  if (state === 'held') return 'consent_pending';
  if (state === 'scheduled' && isWaiting) return 'scheduled';
  if (state === 'denied') return 'denied';
  return SHOWN_FIRST.find((status) => recipients.includes(status)) ?? 'captured';
}

/** The result of an attempt; `partial`: different for different recipients. */
export const ATTEMPT_OUTCOMES = ['sent', 'captured', 'partial', 'deferred', 'failed'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];
/** The newest attempts of a message that its status lists. */
export const ATTEMPTS_SHOWN_MAX = 100;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits after a temporary failure; the last one is repeated. */
export const OUTBOUND_RETRY_DELAYS_MS: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
];
/** A recipient who could not be reached within this time after the submission or release is given up (4.4.7). */
export const OUTBOUND_GIVE_UP_MS = 48 * HOUR_MS;
/** The sender is notified once if a message still waits this long after its submission or release. */
export const OUTBOUND_DELAY_NOTICE_AFTER_MS = 4 * HOUR_MS;
/** Maximum silence of the other host before its greeting, and later (RFC 5321 §4.5.3.2). */
export const OUTBOUND_GREETING_TIMEOUT_MS = 30_000;
export const OUTBOUND_SILENCE_TIMEOUT_MS = 5 * MINUTE_MS;
/** Maximum duration of one session: a host must not keep a connection by sending slowly. */
export const OUTBOUND_SESSION_MAX_MS = 15 * MINUTE_MS;
/** Recipients due within this time are attempted together with due ones. */
export const OUTBOUND_DUE_TOGETHER_MS = 10_000;
/** Messages above 256 KiB that one process has in memory for sending: 16 of 30 MiB, one copy each. */
export const OUTBOUND_LARGE_AT_ONCE = 16;
/** Destinations of one message that are attempted side by side. */
export const OUTBOUND_DESTINATIONS_AT_ONCE = 5;
/**
 * No further destination of a message is started this long after the first; the rest is attempted in another run at
 * once.
 */
export const OUTBOUND_ATTEMPTS_BEGIN_WITHIN_MS = 5 * MINUTE_MS;
/** Connections of one process to the mail hosts of one domain at once. */
export const MX_CONNECTIONS_PER_DOMAIN_MAX = 5;
/** Burst: messages to one domain that may be sent without a pause, before the rate limit applies. */
export const MX_BURST_MESSAGES = 20;
/** A message waits for a connection or for the rate this long before it is put off. */
export const MX_PATIENCE_MS = 30_000;
/** Messages to one domain that wait in one process; further ones get a time to try again. */
export const MX_LINE_MAX = 50;
/** Addresses of mail hosts tried in one attempt, and the time after which no further one is begun. */
export const MX_ADDRESSES_TRIED_MAX = 10;
export const MX_TRYING_MAX_MS = 3 * MINUTE_MS;
/** An MTA-STS policy that could not be fetched is asked for again after this time (RFC 8461 §3.3). */
export const MTA_STS_FETCH_AGAIN_MS = 5 * MINUTE_MS;
export const MTA_STS_FETCH_TIMEOUT_MS = 10_000;
export const MTA_STS_POLICY_MAX_BYTES = 65_536;
/** A workflow that has not shown itself this long after it was due is started again. */
export const OUTBOUND_OVERDUE_MS = 10 * MINUTE_MS;
/** The same for a held message that was decided: its signal was lost. */
export const OUTBOUND_DECIDED_OVERDUE_MS = 15_000;
/** The sweep checks a message again after this time, if starting its workflow did not help. */
export const OUTBOUND_SWEEP_AGAIN_MS = MINUTE_MS;
/** Retention of the content of a finished message: notices about later bounces do not contain its header. */
export const OUTBOUND_CONTENT_RETENTION_DAYS = 30;
/** A second copy of a sent message within this time is the same message. */
export const SENT_COPY_WINDOW_MINUTES = 60;
/** Messages of one mailbox within one thread and hour: two agents that answer each other stop there. */
export const SENDS_PER_THREAD_HOUR_MAX = 10;
/** RFC 5321 §4.5.3.1.3, without the angle brackets. */
export const ADDRESS_MAX_CHARACTERS = 254;
export const REFERENCES_MAX = 20;
/** The outbox lists decided and failed messages for this time. */
export const OUTBOX_RECENT_MS = 24 * HOUR_MS;
/** How far ahead a message may be scheduled. */
export const SEND_AT_AHEAD_MAX_DAYS = 90;

/** Errors about the address of the sender, for any recipient: bad syntax, bad domain (RFC 3463 §3.2). */
const ABOUT_THE_SENDER: ReadonlySet<string> = new Set(['5.1.7', '5.1.8']);

/** Whether a status code (RFC 3463 §3.2) says that there is no such recipient: it is not written to again. */
export const isHardBounce = (code: string): boolean => code.startsWith('5.1.') && !ABOUT_THE_SENDER.has(code);

/** @param attempts failed so far, at least 1 */
export const retryDelayMs = (ladderMs: readonly number[], attempts: number): number =>
  ladderMs[Math.min(attempts, ladderMs.length) - 1] ?? 0;
