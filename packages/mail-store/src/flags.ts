/** System flags of a message in a folder (RFC 9051 §2.3.2) as bits of `PlacementState.flags`. */
export const MAIL_FLAGS = { seen: 1, answered: 2, flagged: 4, deleted: 8, draft: 16 } as const;
export type MailFlag = keyof typeof MAIL_FLAGS;
