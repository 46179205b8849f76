import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { followOrganization } from '../api/live.ts';
import { activeOrganizationId } from '../api/organization.ts';
import { useSignedIn } from '../api/session.ts';

/** Keeps every page of the organization true while it is shown. */
export function useLive(): void {
  const queries = useQueryClient();
  const organizationId = activeOrganizationId();
  // Everything that a page shows was answered after the first answer about the session.
  const [{ changesId }] = useState(useSignedIn());
  useEffect(() => {
    const shown = new AbortController();
    followOrganization(queries, organizationId, changesId, shown.signal);
    return () => shown.abort();
  }, [queries, organizationId, changesId]);
}
