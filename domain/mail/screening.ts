/**
 * The screener: mail that waits outside its mailbox until a member has decided about it.
 *
 *   held ──release──▶ released (delivered as it would have been, with its time of arrival)
 *     ├────block────▶ blocked  (deleted; further mail of the sender is refused)
 *     └────report───▶ spam     (deleted)
 */
import { SUSPICIONS } from './message-signals.ts';

/** `suspicious`: what has suspicious combinations of signals; `first_senders`: that, and mail of unknown senders. */
export const SCREENING_MODES = ['off', 'suspicious', 'first_senders'] as const;
export type ScreeningMode = (typeof SCREENING_MODES)[number];
/** Of organizations that are created from now on. */
export const NEW_ORGANIZATION_SCREENING: ScreeningMode = 'suspicious';

/** `unlisted_sender`: mail to an alias whose list of senders does not name its author. */
export const HELD_REASONS = [...SUSPICIONS, 'first_sender', 'unlisted_sender'] as const;
export type HeldReason = (typeof HELD_REASONS)[number];

export const HELD_STATES = ['held', 'released', 'blocked', 'spam'] as const;
export type HeldState = (typeof HELD_STATES)[number];

export const HELD_DECISIONS = ['release', 'release_and_trust', 'block', 'report_spam'] as const;
export type HeldDecision = (typeof HELD_DECISIONS)[number];

/** After its arrival, decided or not. */
export const HELD_MAIL_RETENTION_DAYS = 30;
/** A released thread is known for its author this long. */
export const RELEASED_THREAD_RETENTION_DAYS = 400;

const MIB_BYTES = 1_048_576;
/** What may wait in one mailbox: of one author, from one network, and in all. A sender beyond it is answered 4xx. */
export const HELD_PER_AUTHOR = { messages: 20, bytes: 40 * MIB_BYTES } as const;
export const HELD_PER_SOURCE = { messages: 100, bytes: 100 * MIB_BYTES } as const;
export const HELD_PER_MAILBOX = { messages: 1_000, bytes: 500 * MIB_BYTES } as const;
