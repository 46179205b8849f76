import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { DISABLED_REASONS } from '#domain/webhooks/delivery-status.ts';
import type { EventType } from '#domain/webhooks/event-types.ts';
import { Mailbox } from './mailbox.ts';
import { Organization } from './organization.ts';

/** A customer's HTTPS destination. Deleted rows stay (with `deletedAt`) so that waiting deliveries can read it. */
export const WebhookEndpoint = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    id: p.text().primary(),
    organization: () => p.manyToOne(Organization).ref(),
    /** Null: organization scope. Never changes. */
    mailbox: () => p.manyToOne(Mailbox).ref().nullable(),
    url: p.text(),
    eventTypes: p.array<EventType>(),
    description: p.text().nullable(),
    active: p.boolean().default(true),
    disabledReason: p.enum(DISABLED_REASONS).nullable(),
    authHeaderName: p.text().nullable(),
    authHeaderValueSealed: p.text().nullable(),
    secretSealed: p.text(),
    /** `whsec_` and the first characters, to distinguish secrets. */
    secretPrefix: p.text(),
    previousSecretSealed: p.text().nullable(),
    previousSecretExpiresAt: p.datetime().nullable(),
    /** Deliveries have `v1a` signatures too. */
    publicKeySignature: p.boolean().default(false),
    /** Events of received mail have its codes and links. */
    includeExtracts: p.boolean().default(false),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p
      .datetime()
      .defaultRaw('now()')
      .onUpdate(() => new Date()),
    deletedAt: p.datetime().nullable(),
    lastSuccessAt: p.datetime().nullable(),
    failingSince: p.datetime().nullable(),
    /** Until then a worker considers it slow: its deliveries are not put into fan-outs. */
    troubledUntil: p.datetime().nullable(),
    /** Earlier answers came from another server. */
    urlChangedAt: p.datetime().nullable(),
  },
});
export type WebhookEndpointRow = InferEntity<typeof WebhookEndpoint>;
