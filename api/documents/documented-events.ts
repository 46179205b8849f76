import { webhookEvents } from '#api/webhooks/event-schemas.ts';
import type { DocumentedEvent } from './openapi.ts';

/** The events of the `webhooks` section of the OpenAPI document and of /docs/events. */
export const documentedEvents: readonly DocumentedEvent[] = webhookEvents;
