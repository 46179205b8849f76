/** The published client: `import { MailboxClient, OrganizationClient, verifyWebhook } from '@agent-mailbox/client'`. */
export { ApiError, type ErrorDetail } from './api-error.ts';
export { DeviceSignInClient } from './device-sign-in.ts';
export type { StreamOptions } from './event-stream.ts';
export type { FilesClient, FileToUpload } from './files-client.ts';
export { attachment } from './files-client.ts';
export type { CallOptions, ClientOptions, Fetch, OrganizationCredential } from './http.ts';
export { MailboxClient, type MailboxClientOptions, type MailboxCredential } from './mailbox-client.ts';
export { fenced as forModel } from './model-text.ts';
export type { PagedList } from './operation-call.ts';
export { OrganizationClient, type OrganizationClientOptions } from './organization-client.ts';
export { tlsFailureOf } from './tls-failure.ts';
export type * from './types.ts';
export { type HandedOut, RECENT_SECONDS, waitForRecent } from './wait-for-recent.ts';
export {
  signWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  type WebhookJwk,
  type WebhookKey,
  WebhookVerificationError,
} from './webhook-signature.ts';
