/** The published client: `import { MailboxClient } from 'agent-mailbox'`. */
export { ApiError, type ErrorDetail } from './api-error.ts';
export { ConsentsClient, type OrganizationCredential } from './consents-client.ts';
export type { CallOptions, ClientOptions, Fetch } from './http.ts';
export { MailboxClient, type MailboxClientOptions } from './mailbox-client.ts';
export type * from './types.ts';
