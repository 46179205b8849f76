import { auditRoutes } from './audit/routes.ts';
import { consentRoutes } from './consents/routes.ts';
import { domainRoutes } from './domains/routes.ts';
import { draftRoutes } from './drafts/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { folderRoutes } from './folders/routes.ts';
import { healthRoutes } from './health/routes.ts';
import { keyRoutes } from './keys/routes.ts';
import { listRoutes } from './lists/routes.ts';
import { mailboxRoutes } from './mailboxes/routes.ts';
import { memberRoutes } from './members/routes.ts';
import { messageChangeRoutes } from './messages/change-routes.ts';
import { messageRoutes } from './messages/routes.ts';
import { messageSearchRoutes } from './messages/search-routes.ts';
import { sendRoutes } from './messages/send-routes.ts';
import { messageWaitRoutes } from './messages/wait-routes.ts';
import { noticeRoutes } from './notices/routes.ts';
import { organizationRoutes } from './organization/routes.ts';
import type { Route } from './route.ts';
import { sessionRoutes } from './sessions/routes.ts';
import { suppressionRoutes } from './suppressions/routes.ts';
import { threadRoutes } from './threads/routes.ts';
import { usageRoutes } from './usage/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** Every route of the API. What is not in this table is not served, not documented and not tested. */
export const routes: readonly Route[] = [
  ...mailboxRoutes,
  // Before those with a message id in the same place.
  ...messageSearchRoutes,
  ...messageWaitRoutes,
  ...messageRoutes,
  ...messageChangeRoutes,
  ...sendRoutes,
  ...draftRoutes,
  ...eventRoutes,
  ...consentRoutes,
  ...listRoutes,
  ...suppressionRoutes,
  ...threadRoutes,
  ...folderRoutes,
  ...domainRoutes,
  ...sessionRoutes,
  ...organizationRoutes,
  ...noticeRoutes,
  ...memberRoutes,
  ...keyRoutes,
  ...usageRoutes,
  ...auditRoutes,
  ...webhookRoutes,
  ...healthRoutes,
];
