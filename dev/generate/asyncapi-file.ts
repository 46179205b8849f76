import { documentedEvents } from '#api/documents/documented-events.ts';
import { currentAsyncApi } from '#api/documents/serve-documents.ts';

/** `docs/asyncapi.json`: what every installation serves at /asyncapi.json, with an address of none. */
export const asyncApiFile = (): string =>
  `${JSON.stringify(currentAsyncApi(documentedEvents, 'https://mail.example.com'), null, 2)}\n`;
