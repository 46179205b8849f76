/** Consent of a person to mail that leaves the organization. */

/** When mail to an outside address waits for a person: never, at the first contact, always. */
export const OUTBOUND_CONSENT_MODES = ['off', 'first_contact', 'always'] as const;
export type OutboundConsentMode = (typeof OUTBOUND_CONSENT_MODES)[number];
export const OUTBOUND_CONSENT_DEFAULT: OutboundConsentMode = 'first_contact';

/**
 *   pending ──approve──▶ approved (scope)
 *      └─deny, or nobody decided in time──▶ denied
 */
export const CONSENT_STATUSES = ['pending', 'approved', 'denied'] as const;
export type ConsentStatus = (typeof CONSENT_STATUSES)[number];

/** What an approval covers: this message (and answers in its thread), its recipients for good, their domains for good. */
export const CONSENT_SCOPES = ['message', 'address', 'domain'] as const;
export type ConsentScope = (typeof CONSENT_SCOPES)[number];

export const CONSENT_REASON_MAX_CHARACTERS = 1_000;

/** What a door tells who submitted a message that is held (specification of the API, "Messages"). */
export const HELD_SENTENCE = 'Held for approval. This is not a failure; do not send it again.';
