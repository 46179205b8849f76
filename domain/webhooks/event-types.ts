/** The event types and the scopes that receive them: eight of the interface (§6), then the results of outgoing mail. */
export const EVENT_TYPES = [
  'email_received',
  'email_sent',
  'email_blocked',
  'mailbox_created',
  'mailbox_deleted',
  'outbound_consent_requested',
  'outbound_consent_approved',
  'outbound_consent_denied',
  'email_delivered',
  'email_bounced',
  'email_complained',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/**
 * Types that are recorded only where an endpoint subscribed: there may be one for each recipient, and the outbox has the
 * same facts.
 */
export const SUBSCRIBED_ONLY_TYPES = [
  'email_delivered',
  'email_bounced',
  'email_complained',
] as const satisfies readonly EventType[];

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
  email_delivered: { organization: true, mailbox: true },
  email_bounced: { organization: true, mailbox: true },
  email_complained: { organization: true, mailbox: true },
};

export const isEventType = (text: string): text is EventType => (EVENT_TYPES as readonly string[]).includes(text);

/** Event types a mailbox endpoint may subscribe to. */
export const MAILBOX_EVENT_TYPES: readonly EventType[] = EVENT_TYPES.filter((type) => EVENT_SCOPES[type].mailbox);

/** Who caused an event. Fields that do not apply to the type are null. */
export const ACTOR_TYPES = ['user', 'api_key', 'mailbox', 'external', 'system'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

export interface Actor {
  readonly type: ActorType;
  readonly id: string | null;
  readonly name: string | null;
  readonly email: string | null;
  readonly address: string | null;
}

export const SYSTEM_ACTOR: Actor = { type: 'system', id: null, name: null, email: null, address: null };

export interface EnvelopeOrganization {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
}

export interface EnvelopeMailbox {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly localPart: string;
  readonly domain: string;
}

/** Body of every delivery (interface §2, "Event envelope"). */
export interface EventEnvelope<Data = unknown> {
  readonly id: string;
  readonly type: EventType;
  /** ISO 8601, UTC, with milliseconds. */
  readonly occurredAt: string;
  readonly organization: EnvelopeOrganization;
  readonly mailbox: EnvelopeMailbox | null;
  readonly actor: Actor;
  readonly data: Data;
}
