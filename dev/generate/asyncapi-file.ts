import { currentAsyncApi } from '#api/documents/serve-documents.ts';
import { webhookEvents } from '#api/webhooks/event-schemas.ts';

/** `docs/asyncapi.json`: what every installation serves at /asyncapi.json, with an address of none. */
export const asyncApiFile = (): string =>
  `${JSON.stringify(currentAsyncApi(webhookEvents, 'https://mail.example.com'), null, 2)}\n`;
