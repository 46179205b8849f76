import type { QueryClient } from '@tanstack/react-query';
import { activeOrganizationId } from '../../api/organization.ts';
import { sessionQuery } from '../../api/session.ts';
import { waitingQuery } from '../../api/waiting.ts';
import { isDismissed } from './dismissed.ts';
import { firstRunQuery, isFirstRunDone } from './queries.ts';

/** Where a person begins: at the first steps while there are some and nothing waits for a decision. */
export async function landingPage(queries: QueryClient): Promise<'/approvals' | '/mailboxes'> {
  const session = await queries.ensureQueryData(sessionQuery);
  const organization = session?.organizations.find(({ id }) => id === activeOrganizationId());
  if (organization === undefined || isDismissed(organization.id)) return '/approvals';
  try {
    const [steps, waiting] = await Promise.all([queries.fetchQuery(firstRunQuery), queries.fetchQuery(waitingQuery)]);
    return waiting.count > 0 || isFirstRunDone(steps, organization.plan) ? '/approvals' : '/mailboxes';
  } catch {
    // The page says what is wrong.
    return '/approvals';
  }
}
