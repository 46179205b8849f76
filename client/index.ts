/** The published client: `import { MailboxClient, OrganizationClient, verifyWebhook } from '@agent-mailbox/client'`. */
export { ApiError, type ErrorDetail } from './api-error.ts';
export { attachment } from './attachment.ts';
export type { OrganizationCredential } from './credential.ts';
export { DeviceSignInClient } from './device-sign-in.ts';
export type { StreamOptions } from './event-stream.ts';
export type { FilesClient, FileToUpload } from './files-client.ts';
export type { CallOptions, ClientOptions, Fetch } from './http.ts';
export { MailboxClient, type MailboxClientOptions, type MailboxCredential } from './mailbox-client.ts';
export { OrganizationClient, type OrganizationClientOptions } from './organization-client.ts';
export type { PagedList } from './paged-list.ts';
export { signWebhook } from './sign-webhook.ts';
export { tlsFailureOf } from './tls-failure.ts';
export type * from './types.ts';
export { type VerifyOptions, verifyWebhook, type WebhookHeaders, type WebhookKey } from './verify-webhook.ts';
export { type HandedOut, RECENT_SECONDS, waitForRecent } from './wait-for-recent.ts';
export { type WebhookJwk, WebhookVerificationError } from './webhook-secret.ts';
