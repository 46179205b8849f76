import type { DocumentedEvent } from './openapi.ts';
import { webhookEvents } from './webhooks/event-schemas.ts';

/** The events of the `webhooks` section of the OpenAPI document and of /docs/events. */
export const documentedEvents: readonly DocumentedEvent[] = webhookEvents;
