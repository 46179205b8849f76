import { useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, type Schemas, service } from '../../api/client.ts';
import { organizationQuery } from '../../api/queries.ts';

export type Organization = Schemas['Organization'];
export type ConsentMode = Organization['settings']['outboundConsent'];
export type SendingMode = Organization['settings']['newMailboxSendingMode'];

/** What each form of the page is given. */
export interface OrganizationProps {
  readonly organization: Organization;
  readonly mayChange: boolean;
}

interface OrganizationChange {
  name?: string;
  slug?: string;
  settings?: Partial<Organization['settings']>;
}

export function useUpdateOrganization() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: OrganizationChange) => bodyOf(service.PATCH('/api/organization', { body })),
    onSuccess: (organization) => {
      queries.setQueryData(organizationQuery.queryKey, organization);
      return queries.invalidateQueries({ queryKey: ['session'] });
    },
  });
}
