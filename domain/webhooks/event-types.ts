/** The eight event types and the scopes that receive them (interface §6). */
export const EVENT_TYPES = [
  'email_received',
  'email_sent',
  'email_blocked',
  'mailbox_created',
  'mailbox_deleted',
  'outbound_consent_requested',
  'outbound_consent_approved',
  'outbound_consent_denied',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** Which endpoint scopes an event type can reach. An endpoint with a `mailboxId` has mailbox scope. */
export interface EventScopes {
  readonly organization: boolean;
  readonly mailbox: boolean;
}

/** Interface §6, "Endpoint scope and delivery". A mailbox endpoint receives only events of its own mailbox. */
export const EVENT_SCOPES: Readonly<Record<EventType, EventScopes>> = {
  email_received: { organization: true, mailbox: true },
  email_sent: { organization: true, mailbox: true },
  email_blocked: { organization: true, mailbox: true },
  mailbox_created: { organization: true, mailbox: false },
  mailbox_deleted: { organization: true, mailbox: false },
  outbound_consent_requested: { organization: true, mailbox: true },
  outbound_consent_approved: { organization: true, mailbox: false },
  outbound_consent_denied: { organization: true, mailbox: false },
};

export const isEventType = (text: string): text is EventType => (EVENT_TYPES as readonly string[]).includes(text);

/** Event types a mailbox endpoint may subscribe to. */
export const MAILBOX_EVENT_TYPES: readonly EventType[] = EVENT_TYPES.filter((type) => EVENT_SCOPES[type].mailbox);
