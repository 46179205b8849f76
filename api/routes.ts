import { acrossRoutes } from './across-mailboxes/routes.ts';
import { activityRoutes } from './activity/routes.ts';
import { approvalRoutes } from './approval/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { consentMessageRoutes } from './consents/message-routes.ts';
import { consentRoutes } from './consents/routes.ts';
import { decisionRuleRoutes } from './decision-rules/routes.ts';
import { deviceSignInRoutes } from './device-sign-ins/routes.ts';
import { domainReportRoutes } from './domains/reports.ts';
import { domainRoutes } from './domains/routes.ts';
import { draftRoutes } from './drafts/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { fileRoutes } from './files/routes.ts';
import { firstRunRoutes } from './first-run/routes.ts';
import { folderRoutes } from './folders/routes.ts';
import { healthRoutes } from './health/routes.ts';
import { heldMailRoutes } from './held-mail/routes.ts';
import type { Route } from './http/route.ts';
import { keyRoutes } from './keys/routes.ts';
import { legalHoldRoutes } from './legal-holds/routes.ts';
import { listRoutes } from './lists/routes.ts';
import { aliasRoutes } from './mailboxes/alias-routes.ts';
import { mailboxGroupRoutes } from './mailboxes/group-routes.ts';
import { mailboxRoutes } from './mailboxes/routes.ts';
import { mailboxTokenRoutes } from './mailboxes/token-routes.ts';
import { mailboxTryRoutes } from './mailboxes/try-routes.ts';
import { memberRoutes } from './members/routes.ts';
import { messageBulkRoutes, messageChangeRoutes } from './messages/changing/change-routes.ts';
import { attachmentTextRoutes, remoteImageRoutes } from './messages/reading/attachment-routes.ts';
import { messageExtractRoutes, messageSearchRoutes } from './messages/reading/search-routes.ts';
import { messageRoutes } from './messages/routes.ts';
import { outboxRoutes } from './messages/sending/outbox-routes.ts';
import { sendRoutes } from './messages/sending/send-routes.ts';
import { messageWaitRoutes } from './messages/waiting/wait-routes.ts';
import { noticeRoutes } from './notices/routes.ts';
import { noticeSettingsRoutes } from './notices/settings-routes.ts';
import { oauthRoutes } from './oauth/routes.ts';
import { operatorRoutes } from './operators/routes.ts';
import { organizationRoutes } from './organization/routes.ts';
import { organizationStreamRoutes } from './organization/stream-route.ts';
import { passwordResetRoutes } from './password-resets/routes.ts';
import { receiverRoutes } from './receiver/routes.ts';
import { secondFactorRoutes } from './second-factor/routes.ts';
import { oidcRoutes } from './sessions/oidc-routes.ts';
import { passkeyRoutes } from './sessions/passkey-routes.ts';
import { sessionRoutes } from './sessions/routes.ts';
import { standingApprovalRoutes } from './standing-approvals/routes.ts';
import { suppressionRoutes } from './suppressions/routes.ts';
import { threadRoutes } from './threads/routes.ts';
import { usageRoutes } from './usage/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** Every route of the API. A route outside this table is not served, documented or tested. */
export const routes: readonly Route[] = [
  ...mailboxRoutes,
  ...mailboxTokenRoutes,
  ...aliasRoutes,
  ...mailboxGroupRoutes,
  ...mailboxTryRoutes,
  ...acrossRoutes,
  // Before those with a message id in the same place.
  ...messageSearchRoutes,
  ...messageWaitRoutes,
  ...outboxRoutes,
  ...messageRoutes,
  ...attachmentTextRoutes,
  ...messageExtractRoutes,
  ...remoteImageRoutes,
  ...messageBulkRoutes,
  ...messageChangeRoutes,
  ...sendRoutes,
  ...draftRoutes,
  ...fileRoutes,
  ...eventRoutes,
  ...consentRoutes,
  ...heldMailRoutes,
  ...consentMessageRoutes,
  ...approvalRoutes,
  ...legalHoldRoutes,
  ...listRoutes,
  ...standingApprovalRoutes,
  ...decisionRuleRoutes,
  ...suppressionRoutes,
  ...threadRoutes,
  ...folderRoutes,
  ...domainRoutes,
  ...domainReportRoutes,
  ...noticeSettingsRoutes,
  // Before those with a session id in the same place.
  ...passkeyRoutes,
  ...oidcRoutes,
  ...sessionRoutes,
  ...secondFactorRoutes,
  ...passwordResetRoutes,
  ...deviceSignInRoutes,
  ...oauthRoutes,
  ...organizationRoutes,
  ...organizationStreamRoutes,
  ...firstRunRoutes,
  ...noticeRoutes,
  ...memberRoutes,
  ...keyRoutes,
  ...usageRoutes,
  ...auditRoutes,
  ...activityRoutes,
  ...webhookRoutes,
  ...receiverRoutes,
  ...operatorRoutes,
  ...healthRoutes,
];
