/**
 * An organization that the operator has suspended: its credentials are refused, it sends and receives nothing, and all
 * its data is kept. What waits goes on when it is resumed.
 */

/** What other hosts are answered: try again later (4xx), or refused for good (5xx). */
export const SUSPENDED_RECEIVE = ['defer', 'reject'] as const;
export type SuspendedReceive = (typeof SUSPENDED_RECEIVE)[number];

export const SUSPENSION_REASON_MAX = 500;
