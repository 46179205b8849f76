import type { EventType } from './event-types.ts';

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
