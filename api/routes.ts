import { healthRoutes } from './health/routes.ts';
import { mailboxRoutes } from './mailboxes/routes.ts';
import type { Route } from './route.ts';

/** Every route of the API. What is not in this table is not served, not documented and not tested. */
export const routes: readonly Route[] = [...mailboxRoutes, ...healthRoutes];
